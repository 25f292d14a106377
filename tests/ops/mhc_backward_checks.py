"""Results of MhcPreSinkhornBackward on the SoC of this process; run by test_mhc_pre_sinkhorn_backward.py."""

import contextlib
import itertools
import json
import os
from pathlib import Path

import ml_dtypes
import numpy as np

import aclnn_py as aclnn
from aclnn_py.reference import mhc_pre_sinkhorn_backward as reference
from aclnn_py.testing import backward_case, cases
from aclnn_py.testing import check_mhc_pre_sinkhorn_backward as comparisons

BF16 = ml_dtypes.bfloat16
DATA = Path(__file__).parents[1] / "data"
SOC = os.environ.get("ACLEMU_SOC", "")
ON_950 = "950" in SOC
# Two SoCs get everything; the others differ from them in the number of cores only.
THOROUGH = SOC in ("Ascend910B3", "Ascend950PR_9579")
OUTPUTS = ("gradX", "gradPhi", "gradAlpha", "gradBias")


@contextlib.contextmanager
def tiling_key(key):
    if key is not None:
        os.environ["ACLEMU_TILING_KEY"] = str(key)
    try:
        yield
    finally:
        os.environ.pop("ACLEMU_TILING_KEY", None)


def run(case, **attributes):
    return [tensor.numpy() for tensor in aclnn.ops.mhc_pre_sinkhorn_backward(*case, **attributes)]


def assert_right(actual, expected, name=""):
    report = comparisons(actual, expected)
    assert len(report) == 4
    assert all(found.passed for found in report), f"{name}:\n" + "\n".join(map(str, report))


def try_case(case, name=""):
    assert_right(run(case), reference(*case), name)


def check_token_counts():
    """Both sides of groups of 16, tiles of 64 and loops of 32, with each tiling key."""
    counts = (1, 2, 17, 32, 33, 63, 64, 65, 200) if THOROUGH else (3, 70)
    for tokens, dtype in itertools.product(counts, (np.float16, BF16)):
        case = backward_case(cases.random_case((1, tokens), 128, dtype, seed=tokens))
        expected = reference(*case)
        for key in (None, 0, 1):
            with tiling_key(key):
                assert_right(run(case), expected, f"T {tokens} {np.dtype(dtype)} key {key}")


def check_tails():
    for tail, dtype in ((384, np.float16), (384, BF16), (4096, BF16)) if THOROUGH else ((256, BF16),):
        try_case(backward_case(cases.random_case((2, 3), tail, dtype, seed=tail)), f"c {tail}")


def check_a_thousand_tokens():
    if THOROUGH:
        try_case(backward_case(cases.random_case((4, 250), 256, BF16, seed=1)), "T 1000")


def check_stream_counts():
    for n, tokens in itertools.product(range(1, 9) if ON_950 else (4,), (1, 5, 70)):
        dtype = (np.float16, BF16)[(n + tokens) % 2]
        case = backward_case(cases.random_case((1, tokens), 256, dtype, n=n, seed=n))
        try_case(case, f"n {n} T {tokens}")


def check_layouts():
    """[b, s] and [t] are the same tokens; grad_h_res comes in two forms."""
    case = backward_case(cases.random_case((1, 21), 128, BF16, seed=4))
    bits = run(case)
    square = case._replace(grad_h_res=case.grad_h_res.reshape(1, 21, 4, 4))
    flat = case._replace(
        **{name: getattr(case, name)[0] for name in case._fields[:4] + case._fields[7:10]},
        sum_out=case.sum_out[:, 0],
        norm_out=case.norm_out[:, 0],
    )
    for other in (square, flat) if ON_950 else (square,):
        for a, b in zip(bits, run(other), strict=True):
            np.testing.assert_array_equal(a.view(np.uint8), b.reshape(a.shape).view(np.uint8))


def check_constant_and_steep_inputs():
    for dtype in (np.float16, BF16):
        for make in (cases.constant_case, cases.steep_case):
            case = backward_case(make((1, 40), 256, dtype))
            assert all(np.isfinite(output.astype(np.float32)).all() for output in run(case))
            try_case(case, make.__name__)
        for steepness in (6.0, 25.0):
            case = backward_case(cases.steep_case((1, 40), 256, dtype, steepness=steepness))
            try_case(case, f"steepness {steepness}")


def check_equal_maxima():
    """Logits without any difference, rows with two equal maxima, and differences in the last bit."""
    made = cases.random_case((1, 20), 128, BF16, seed=8)
    made.alpha[2] = 0
    for bias in (
        np.full(16, 0.5),
        np.tile([0, 2, 1, 2], 4),
        np.tile([2, np.nextafter(np.float32(2), np.float32(3)), 1, 2], 4),
        np.tile([0, 1e-45, 0, 1e-45], 4),
        np.tile([-0.0, 0.0, -1e-38, -2e-38], 4),
    ):
        made.bias[8:] = bias
        case = backward_case(made)
        spoiled = case._replace(
            norm_out=case.norm_out * np.float32(0.7)
        )  # then the row's sum is not about zero
        try_case(case, str(bias))
        try_case(spoiled, str(bias))


def check_other_attributes():
    """eps as large as shows, and saved slots of another number of iterations."""
    made = cases.random_case((1, 9), 128, np.float16, seed=11)
    case = backward_case(made, hc_eps=0.25, norm_eps=0.5)
    assert_right(run(case, hc_eps=0.25), reference(*case, hc_eps=0.25))
    wrong = reference(*case, hc_eps=0.25, exact_sigmoid=True)
    assert not all(c.passed for c in comparisons(run(case, hc_eps=0.25), wrong))
    for iters in (1, 7):
        try_case(backward_case(made, num_iters=iters), f"{iters} iterations")


def check_vectors():
    tried = 0
    for path in sorted(DATA.glob("aclnnMhcPreSinkhornBackward_*.npz")):
        with np.load(path) as file:
            header = json.loads(str(file["attrs"]))
            arrays = {
                name: file[name].view(BF16) if dtype == "bfloat16" else file[name]
                for name, dtype in header["dtypes"].items()
            }
        if arrays["x"].shape[-1] % 128:
            continue  # the operator refuses it
        tried += 1
        inputs = [array for name, array in arrays.items() if name not in OUTPUTS]
        assert_right(run(inputs, hc_eps=header["attrs"]["hcEps"]), [arrays[name] for name in OUTPUTS])
    assert tried == 1


def check_chain():
    """Forward and backward with exactly what the forward kernel saved, from arrays and from tensors."""
    tail = 4096 if ON_950 else 256
    made = cases.random_case((2, 35), tail, BF16, seed=6)
    case = backward_case(made, seed=9)
    for inputs in (made, [aclnn.tensor(array) for array in made]):
        result = aclnn.ops.mhc_pre_sinkhorn(*inputs, need_backward=True)
        got = [tensor.numpy() for tensor in result.backward(*case[:3])]
        saved = [tensor.numpy() for tensor in result]
        assert_right(got, reference(*case[:3], *made, *saved[3:]), "from what the kernel saved")
        assert_right(got, reference(*case), "from what the reference saves")


def check_gradients_by_float64():
    """Far closer to float64 than the tolerances ask for."""
    case = backward_case(cases.random_case((1, 130), 256, np.float16, seed=14))
    exact = reference(*case, dtype=np.float64, grad_x_dtype=np.float64)
    for name, actual, wanted in zip(OUTPUTS, run(case), exact, strict=True):
        error = np.abs(actual.astype(np.float64) - wanted).max() / np.abs(wanted).max()
        assert error < (5e-4 if name == "gradX" else 3e-6), f"{name} {error}"


def check_rounding_is_to_nearest():
    for dtype in (np.float16, BF16):
        case = backward_case(cases.random_case((2, 20), 512, dtype, seed=21))
        differing = run(case)[0] != reference(*case).grad_x
        assert differing.mean() < 0.01


def strided(array):
    """The same values, every second element of a larger tensor along each axis."""
    large = np.zeros(tuple(2 * s for s in array.shape), array.dtype)
    every = tuple(slice(None, None, 2) for _ in array.shape)
    large[every] = array
    return aclnn.tensor(large)[every]


def check_strided_inputs_and_outputs():
    case = backward_case(cases.random_case((2, 3), 128, np.float16, seed=5))
    views = [strided(array) for array in case]
    assert_right([tensor.numpy() for tensor in aclnn.ops.mhc_pre_sinkhorn_backward(*views)], reference(*case))
    expected = reference(*case)
    outputs = [strided(np.full(array.shape, 7, array.dtype)) for array in expected]
    assert not any(output.is_contiguous for output in outputs)
    aclnn.op("aclnnMhcPreSinkhornBackward")(*views, 1e-6, *outputs)
    assert_right([output.numpy() for output in outputs], expected)


def check_nan_and_infinity_stay_in_their_token():
    for bad in (np.nan, np.inf):
        case = backward_case(cases.random_case((1, 70), 128, np.float16, seed=2))
        before = run(case)[0]
        case.x[0, 40, 2, 5] = bad
        after = run(case)[0]
        rest = [t for t in range(70) if t != 40]
        np.testing.assert_array_equal(before[0, rest], after[0, rest])
        assert not np.isfinite(after[0, 40, 2, 5].astype(np.float32))


def check_empty():
    made = cases.random_case((1, 2), 128, BF16)
    case = backward_case(made)
    for lead in ((0, 3), (2, 0)):
        empty = [a if a.ndim < 3 else np.zeros((*lead, *a.shape[2:]), a.dtype) for a in case[:10]]
        empty += [np.zeros((40, *lead, *a.shape[3:]), a.dtype) for a in case[10:]]
        grad_x, *others = run(empty)
        assert grad_x.shape == (*lead, 4, 128)
        assert [a.shape for a in others] == [(24, 512), (3,), (24,)] and not any(a.any() for a in others)


def check_a_wrong_key_is_refused():
    case = backward_case(cases.random_case((1, 2), 128, BF16))
    with tiling_key(7):
        try:
            run(case)
        except aclnn.AclnnInnerError as error:
            assert error.code == 561103 and "tiling key 7" in str(error)
        else:
            raise AssertionError("accepted")


if __name__ == "__main__":
    from soc_checks import main

    main(globals())
