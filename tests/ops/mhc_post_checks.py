"""Results of MhcPost and MhcPostBackward on the SoC of this process; run by test_mhc_post.py."""

import itertools
import json
import os
from pathlib import Path

import ml_dtypes
import numpy as np

import aclnn_py as aclnn
from aclnn_py.reference import mhc_post as forward
from aclnn_py.reference import mhc_post_backward as backward
from aclnn_py.testing import compare

BF16 = ml_dtypes.bfloat16
DATA = Path(__file__).parents[1] / "data"
ON_950 = "950" in os.environ.get("ACLEMU_SOC", "")
STREAMS = (4, 6, 8) if ON_950 else (4,)
# Two SoCs get all token counts; the others differ from them in the number of cores only.
THOROUGH = os.environ.get("ACLEMU_SOC") in ("Ascend910B3", "Ascend950PR_9579")
COUNTS = (1, 2, 3, 33, 130) if THOROUGH else (3, 57)
TOLERANCE = {np.dtype(np.float16): 1e-3, np.dtype(BF16): 4e-3, np.dtype(np.float32): 1e-4}
GRADIENTS = ("grad_x", "grad_h_res", "grad_h_out", "grad_h_post")


def normal(rng, *shape):
    return rng.standard_normal(shape, np.float32)


def random_case(lead, n, tail, dtype, seed=0, mixed=True, scale=1.0):
    """x, h_res, h_out, h_post."""
    rng = np.random.default_rng(seed)
    x, res = normal(rng, *lead, n, tail), normal(rng, *lead, n, n)
    out, post = normal(rng, *lead, tail), normal(rng, *lead, n)
    return [(x * scale).astype(dtype), res if mixed else None, (out * scale).astype(dtype), post]


def constant_case(lead, n, tail, dtype):
    return [
        np.full((*lead, n, tail), 0.125, dtype),
        np.full((*lead, n, n), 1 / n, np.float32),
        np.full((*lead, tail), 0.5, dtype),
        np.full((*lead, n), 2.0, np.float32),
    ]


def right(name, actual, expected):
    assert actual.dtype == expected.dtype, f"{name}: {actual.dtype}"
    tolerance = TOLERANCE[expected.dtype]
    found = compare(actual, expected, tolerance, tolerance, 1 if expected.itemsize == 2 else 0, name)
    assert found.passed, str(found)


def try_forward(case, name):
    right(name, aclnn.ops.mhc_post(*case).numpy(), forward(*case))


def try_backward(gradient, case, name):
    results, wanted = aclnn.ops.mhc_post_backward(gradient, *case), backward(gradient, *case)
    for field, actual, expected in zip(GRADIENTS, results, wanted, strict=True):
        right(f"{name} {field}", actual.numpy(), expected)


def load(path):
    with np.load(path) as file:
        header = json.loads(str(file["attrs"]))
        arrays = dict.fromkeys(header["null"]) | {
            name: file[name].view(BF16) if dtype == "bfloat16" else file[name]
            for name, dtype in header["dtypes"].items()
        }
    return arrays, [arrays[name] for name in ("x", "hRes", "hOut", "hPost")]


def here(case):
    """Whether this SoC takes the case."""
    return ON_950 or (case[0].shape[-2] == 4 and case[1] is not None)


def check_vectors():
    tried = 0
    for path in sorted(DATA.glob("aclnnMhcPost*.npz")):
        arrays, case = load(path)
        if not here(case):
            continue
        tried += 1
        if "out" in arrays:
            right(path.stem, aclnn.ops.mhc_post(*case).numpy(), arrays["out"])
        else:
            results = aclnn.ops.mhc_post_backward(arrays["gradOutput"], *case)
            for name, result in zip(("gradX", "gradHres", "gradHout", "gradHpost"), results, strict=True):
                right(f"{path.stem} {name}", result.numpy(), arrays[name])
    assert tried == (6 if ON_950 else 4)


def check_forward_sweep():
    """Every way to cut the work: many tokens and few, whole rows and parts."""
    tails = (1, 7, 16, 65, 130, 4097) if ON_950 else (128, 256, 384, 2560, 7168)
    streams = (1, 4, 31) if ON_950 else (4,)
    for n, tail, tokens in itertools.product(streams, tails, COUNTS):
        if n * tail * tokens > 100_000:
            continue
        dtype = (np.float16, BF16)[(n + tail + tokens) % 2]
        for mixed in (True, False) if ON_950 else (True,):
            case = random_case((1, tokens), n, tail, dtype, tokens, mixed)
            try_forward(case, f"T {tokens} n {n} D {tail} {np.dtype(dtype)} mixed {mixed}")


def check_forward_keys_give_the_same_bits():
    """Token by token with scalars, and several tokens per instruction."""
    for tail, tokens, dtype in itertools.product((128, 384), (50, 300), (np.float16, BF16)):
        for mixed in (True, False) if ON_950 else (True,):
            case = random_case((tokens,), 4, tail, dtype, tail, mixed)
            bits = []
            for key in (0, 2):
                os.environ["ACLEMU_TILING_KEY"] = str(key + (not mixed))
                bits.append(aclnn.ops.mhc_post(*case).numpy().view(np.uint16))
            del os.environ["ACLEMU_TILING_KEY"]
            np.testing.assert_array_equal(*bits)


def check_a_wrong_key_is_refused():
    os.environ["ACLEMU_TILING_KEY"] = "7"
    try:
        aclnn.ops.mhc_post(*random_case((2,), 4, 128, BF16))
    except aclnn.AclnnInnerError as error:
        assert error.code == 561103 and "tiling key 7" in str(error)
    else:
        raise AssertionError("accepted")
    finally:
        del os.environ["ACLEMU_TILING_KEY"]


def check_backward_sweep():
    for n, tail, tokens in itertools.product(STREAMS, (128, 384, 1152, 7168), COUNTS):
        if n * tail * tokens > 150_000:
            continue
        for dtype, mixed in ((np.float16, True), (BF16, not ON_950)):
            case = random_case((1, tokens), n, tail, dtype, tokens, mixed)
            gradient = normal(np.random.default_rng(tail), *case[0].shape).astype(dtype)
            try_backward(gradient, case, f"T {tokens} n {n} D {tail} {np.dtype(dtype)} mixed {mixed}")


def check_layouts():
    """[b, s] and [t] are the same tokens."""
    case = random_case((2, 3), 4, 256, BF16)
    flat = [a.reshape(6, *a.shape[2:]) for a in case]
    grid, line = (aclnn.ops.mhc_post(*c).numpy().view(np.uint16) for c in (case, flat))
    np.testing.assert_array_equal(grid.reshape(line.shape), line)
    gradients = [aclnn.ops.mhc_post_backward(c[0], *c) for c in (case, flat)]
    for a, b in zip(*gradients, strict=True):
        np.testing.assert_array_equal(a.numpy().reshape(b.shape), b.numpy())


def check_constant_and_steep_inputs():
    for dtype, scale in itertools.product((np.float16, BF16), (1e-3, 30.0)):
        for tail in (128, 4096):
            case = random_case((1, 5), 4, tail, dtype, 3, True, scale)
            right("steep", aclnn.ops.mhc_post(*case).numpy(), forward(*case))
            gradient = case[0][..., ::-1].copy()
            results, wanted = aclnn.ops.mhc_post_backward(gradient, *case), backward(gradient, *case)
            for field, actual, expected in zip(GRADIENTS, results, wanted, strict=True):
                bound = max(1.0, float(np.abs(expected.astype(np.float32)).max()))
                tolerance = TOLERANCE[expected.dtype]
                assert compare(actual.numpy(), expected, tolerance, tolerance * bound, 1, field).passed
    for dtype in (np.float16, BF16):
        case = constant_case((2, 3), 4, 2560, dtype)
        try_forward(case, "constant")
        try_backward(case[0], case, "constant")


def check_largest_tail():
    case = random_case((1, 1), 4, 99968, BF16)
    try_forward(case, "D 99968")
    # 100 thousand products per sum, where the reference's own float32 error shows: those in float64.
    results = aclnn.ops.mhc_post_backward(case[0], *case)
    single, double = (backward(case[0], *case, dtype=dtype) for dtype in (np.float32, np.float64))
    for field, actual, rounded, exact in zip(GRADIENTS, results, single, double, strict=True):
        if rounded.itemsize == 2:
            right(field, actual.numpy(), rounded)
        else:
            np.testing.assert_allclose(actual.numpy(), exact, rtol=1e-5, atol=4e-3, err_msg=field)


def check_many_tokens_short_rows():
    tokens, tail = (20_000, 16) if ON_950 else (3_000, 128)
    case = random_case((tokens,), 4, tail, BF16, 1)
    try_forward(case, "many tokens")
    if tail % 128 == 0:
        try_backward(case[0], case, "many tokens")


def strided(array):
    """The same values, every second element of a larger tensor along each axis."""
    large = np.zeros(tuple(2 * s for s in array.shape), array.dtype)
    view = large[tuple(slice(None, None, 2) for _ in array.shape)]
    view[...] = array
    return aclnn.tensor(large)[tuple(slice(None, None, 2) for _ in array.shape)]


def check_strided_inputs_and_outputs():
    case = random_case((2, 3), 4, 128, np.float16, 5)
    gradient = normal(np.random.default_rng(6), *case[0].shape).astype(np.float16)
    views = [strided(a) for a in (gradient, *case)]
    assert not any(view.is_contiguous for view in views)
    right("out", aclnn.ops.mhc_post(*views[1:]).numpy(), forward(*case))
    for actual, expected in zip(aclnn.ops.mhc_post_backward(*views), backward(gradient, *case), strict=True):
        right("gradient", actual.numpy(), expected)

    wanted = (forward(*case), *backward(gradient, *case))
    outputs = [strided(np.full(a.shape, 7, a.dtype)) for a in wanted]
    aclnn.op("aclnnMhcPost")(*views[1:], outputs[0])
    aclnn.op("aclnnMhcPostBackward")(*views, *outputs[1:])
    for output, expected in zip(outputs, wanted, strict=True):
        right("strided output", output.numpy(), expected)


def check_nan_stays_in_its_token():
    case = random_case((6,), 4, 256, BF16, 2)
    clean = aclnn.ops.mhc_post(*case).numpy(), aclnn.ops.mhc_post_backward(case[0], *case)
    gradients = [g.numpy() for g in clean[1]]
    case[0][2, 1, 7] = np.nan
    dirty = aclnn.ops.mhc_post(*case).numpy(), aclnn.ops.mhc_post_backward(case[0], *case)
    others = [0, 1, 3, 4, 5]
    np.testing.assert_array_equal(clean[0][others], dirty[0][others])
    assert np.isnan(dirty[0][2, :, 7].astype(np.float32)).all()
    for before, after in zip(gradients, dirty[1], strict=True):
        np.testing.assert_array_equal(before[others], after.numpy()[others])


def check_empty():
    for lead in ((0, 3), (2, 0), (0,)):
        case = random_case(lead, 4, 128, BF16)
        assert aclnn.ops.mhc_post(*case).shape == (*lead, 4, 128)
        try:
            aclnn.ops.mhc_post_backward(case[0], *case)
        except aclnn.AclnnParameterError as error:
            assert error.code == 161002 and "gradOutput" in str(error)
        else:
            raise AssertionError("accepted")


def refused(code, name, function, *arguments):
    try:
        function(*arguments)
    except aclnn.AclnnError as error:
        assert error.code == code and name in str(error), f"{error.code} {error}"
    else:
        raise AssertionError(f"accepted, expected {code}")


def check_limits():
    post, gradients = aclnn.ops.mhc_post, aclnn.ops.mhc_post_backward
    for n, tail, ok in ((4, 100, ON_950), (4, 100_096, ON_950), (5, 128, ON_950), (4, 99_968, True)):
        case = random_case((1, 1), n, tail, np.float16)
        if ok:
            try_forward(case, f"n {n} D {tail}")
        else:
            refused(561103, "x", post, *case)
    for n, tail in ((4, 100), (4, 100_096), (5, 128), (3, 128)):
        case = random_case((1, 1), n, tail, np.float16)
        refused(161002, "x", gradients, case[0], *case)
    if ON_950:
        try_forward(random_case((3,), 124, 200, BF16, 1), "n 124")
        refused(561103, "do not fit", post, *random_case((1,), 126, 200, BF16))
    else:
        for n in (6, 8):
            case = random_case((1, 1), n, 128, np.float16)
            refused(161002, "x", gradients, case[0], *case)
        case = random_case((2, 3), 4, 128, BF16, mixed=False)
        refused(361001, "hRes", post, *case)
        refused(161001, "hRes", gradients, case[0], *case)


if __name__ == "__main__":
    from soc_checks import main

    main(globals())
