"""Results of MhcPre and MhcPreV2 on the SoC of this process; run by test_mhc_pre.py."""

import contextlib
import itertools
import json
import os
from pathlib import Path

import ml_dtypes
import numpy as np

import aclnn_py as aclnn
from aclnn_py.reference import mhc_pre as reference
from aclnn_py.testing import check_mhc_pre as compare_all
from aclnn_py.testing.mhc_pre import mhc_pre_case

BF16 = ml_dtypes.bfloat16
DATA = Path(__file__).parents[1] / "data"
ON_950 = "950" in os.environ.get("ACLEMU_SOC", "")
STREAMS = (4, 6, 8) if ON_950 else (4,)
MODES = (0, 1) if ON_950 else (0,)
C_NAMES = ("hIn", "hPost", "hRes", "invRmsOptional", "hMixOptional", "hPreOptional")


@contextlib.contextmanager
def tiling_key(key):
    os.environ["ACLEMU_TILING_KEY"] = str(key)
    try:
        yield
    finally:
        del os.environ["ACLEMU_TILING_KEY"]


def run(case, mode=0, optional=True, **eps):
    result = aclnn.ops.mhc_pre_v2(*case, op_impl_mode=mode, need_optional=optional, **eps)
    return [None if tensor is None else tensor.numpy() for tensor in result]


def right(actual, expected, what=""):
    report = compare_all(actual, expected)
    wrong = [str(found) for found in report if not found.passed]
    assert not wrong, f"{what}: " + "; ".join(wrong)
    return len(report)


def try_case(case, what="", mode=0, optional=True, **eps):
    expected = reference(*case, op_impl_mode=mode, need_optional=optional, **eps)
    count = right(run(case, mode, optional, **eps), expected, what)
    assert count == 2 + (len(case.alpha) == 3) + 3 * optional


def same_bits(first, second):
    for a, b in zip(first, second, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_array_equal(a.view(f"u{a.itemsize}"), b.view(f"u{b.itemsize}"))


def refused(code, name, function, *arguments, **keywords):
    try:
        function(*arguments, **keywords)
    except aclnn.AclnnError as error:
        assert error.code == code and name in str(error), f"{error.code} {error}"
    else:
        raise AssertionError(f"accepted, expected {code}")


def check_vectors():
    tried = 0
    for path in sorted([*DATA.glob("aclnnMhcPre_*.npz"), *DATA.glob("aclnnMhcPreV2_*.npz")]):
        with np.load(path) as file:
            header = json.loads(str(file["attrs"]))
            arrays = {
                n: file[n].view(BF16) if t == "bfloat16" else file[n] for n, t in header["dtypes"].items()
            }
        mode = header["attrs"].get("opImplMode", 0)
        if not ON_950 and (mode or arrays["x"].shape[-2] != 4 or arrays["x"].shape[-1] % 128):
            continue
        tried += 1
        case = [arrays.get(name) for name in ("x", "phi", "alpha", "bias", "gammaOptional")]
        optional = "hPreOptional" in arrays
        if header["op"] == "aclnnMhcPre":
            outputs = [t and t.numpy() for t in aclnn.ops.mhc_pre(*case, need_optional=optional)]
        else:
            outputs = run(case, mode, optional)
        right(outputs, [arrays.get(name) for name in C_NAMES], path.stem)
    assert tried == (6 if ON_950 else 1)


def check_sweep():
    """Token counts on both sides of the tile sizes, tails that end inside a chunk, both ways to split."""
    tails = (16, 48, 80, 272, 1040) if ON_950 else (128, 256, 384, 1152)
    for (tokens, tail), n, scales in itertools.product(
        itertools.product((1, 2, 3, 31, 33, 65, 130, 517), tails), STREAMS, (3, 2)
    ):
        if tokens * n * tail > 150_000:
            continue
        seed = tokens + tail + n + scales
        dtype, gamma, mode = (np.float16, BF16)[seed % 2], seed // 2 % 2 == 0, MODES[seed // 3 % len(MODES)]
        case = mhc_pre_case((tokens,), tail, dtype, n=n, scales=scales, gamma=gamma, seed=seed)
        expected = reference(*case, op_impl_mode=mode, need_optional=True)
        for key in (0, 1):
            with tiling_key(key):
                right(run(case, mode), expected, f"T {tokens} D {tail} n {n} alpha {scales} key {key}")


def check_every_key():
    """The whole key, each with each dtype, mode and gamma or none."""
    for n, scales, split in itertools.product(STREAMS, (3, 2), (0, 1)):
        with tiling_key(100 * n + (0 if scales == 3 else 10) + split):
            for dtype, gamma, mode in itertools.product((np.float16, BF16), (True, False), MODES):
                case = mhc_pre_case((2, 18), 128, dtype, n=n, scales=scales, gamma=gamma, seed=n)
                try_case(case, f"n {n} alpha {scales} split {split} {np.dtype(dtype)}", mode)


def check_a_key_of_another_family_is_refused():
    case = mhc_pre_case((3,), 128)
    for key in (2, 410, 402, 600):
        with tiling_key(key):
            refused(561103, f"tiling key {key}", run, case)


def check_many_tokens():
    for n in STREAMS:
        for mode in MODES:
            case = mhc_pre_case((2, 700), 128 if n == 4 else 48, np.float16, n=n, seed=n)
            try_case(case, f"n {n}", mode, optional=mode == 0)


def check_largest_tail():
    """Four hundred thousand products per sum, and the largest rows of an Ascend 950."""
    if ON_950:
        try_case(mhc_pre_case((3,), 16384, BF16, n=8, scales=2, seed=1), "D 16384", 1)
    else:
        try_case(mhc_pre_case((1, 1), 99968, BF16, seed=1), "D 99968")


def check_constant_inputs():
    """All ones, the operator's published example: every sum is exact."""
    for mode, dtype in itertools.product(MODES, (np.float16, BF16)):
        ones = mhc_pre_case((9,), 2560, dtype)
        ones = ones._replace(**{name: np.ones_like(array) for name, array in ones._asdict().items()})
        h_in, h_post, h_res, inv_rms, h_mix, h_pre = run(ones, mode)
        assert (h_mix == 10240).all() and (h_in.astype(np.float32) == 4).all() and (h_post == 2).all()
        np.testing.assert_allclose(inv_rms, 1 - 5e-7, rtol=1e-7)
        np.testing.assert_allclose(h_pre, 1 + 1e-6, rtol=1e-7)
        np.testing.assert_allclose(h_res, 10241, rtol=1e-6)


def check_steep_inputs():
    """Gates at both ends: exp overflows without a trace, and nothing is NaN."""
    for scales, n in itertools.product((3, 2), STREAMS):
        case = mhc_pre_case((2, 17), 256, np.float16, n=n, scales=scales, seed=3)
        case = case._replace(bias=np.resize(np.array([1e4, -1e4, 90, -90], np.float32), len(case.bias)))
        results = run(case)
        assert all(np.isfinite(a.astype(np.float32)).all() for a in results if a is not None)
        right(results, reference(*case, need_optional=True), "steep")


def check_other_eps():
    for scales in (3, 2):
        case = mhc_pre_case((1, 9), 128, np.float16, scales=scales, seed=11)
        try_case(case, "eps", norm_eps=0.5, hc_eps=0.25)
        h_post = {eps: run(case, hc_eps=eps)[1] for eps in (0.25, 1e-6)}
        change = h_post[0.25] - h_post[1e-6]
        np.testing.assert_allclose(change, 0 if scales == 3 else 0.25, atol=1e-5)


def check_layouts():
    """[B, S] and [T] are the same tokens."""
    case = mhc_pre_case((2, 3), 256, BF16)
    flat = case._replace(x=case.x.reshape(6, 4, 256))
    grid, line = run(case), run(flat)
    assert [a.shape for a in line] == [(6, 256), (6, 4), (6, 4, 4), (6,), (6, 24), (6, 4)]
    same_bits([a.reshape(b.shape) for a, b in zip(grid, line, strict=True)], line)


def check_v1_is_v2_in_mode_0():
    for gamma, scales, optional in itertools.product((True, False), (3, 2), (True, False)):
        case = mhc_pre_case((1, 40), 384, np.float16, scales=scales, gamma=gamma)
        eps = {"norm_eps": 0.5, "hc_eps": 0.25}  # far apart, lest they change places unseen
        first = aclnn.ops.mhc_pre(*case, need_optional=optional, **eps)
        same_bits([t and t.numpy() for t in first], run(case, 0, optional, **eps))


def check_hf32():
    """Mode 1 truncates both operands: what the float32 reference gives is noticeably different. Mode 0 is not
    changed by a mode 1 in between."""
    if not ON_950:
        refused(161002, "opImplMode", run, mhc_pre_case((3,), 128), 1)
        return
    case = mhc_pre_case((70,), 1024, BF16, seed=5)
    before, hf32, after = run(case, 0), run(case, 1), run(case, 0)
    same_bits(before, after)
    exact, reduced = (reference(*case, op_impl_mode=mode, need_optional=True).h_mix for mode in (0, 1))
    np.testing.assert_allclose(hf32[4], reduced, atol=2e-6)
    assert np.abs(hf32[4] - exact).max() > 1e-4 and np.abs(before[4] - reduced).max() > 1e-4
    plain = case._replace(gamma=None, phi=(case.phi * 4096).astype(np.float16).astype(np.float32))
    same_bits(run(plain, 0), run(plain, 1))  # nothing to truncate


def check_gamma_is_not_in_the_rms_nor_in_h_in():
    case = mhc_pre_case((5,), 128, np.float16)
    huge = case._replace(gamma=case.gamma * 1000, phi=case.phi / 1000)
    for a, b in zip(run(case), run(huge), strict=True):
        np.testing.assert_allclose(a.astype(np.float32), b.astype(np.float32), rtol=2e-3, atol=1e-3)
    np.testing.assert_array_equal(run(case)[3], run(case._replace(gamma=None))[3])


def check_outputs_that_are_not_asked_for():
    """The same bits with and without the optional group; with an alpha of 2 an hRes stays as it was."""
    for scales in (3, 2):
        case = mhc_pre_case((2, 19), 256, BF16, scales=scales)
        full, short = run(case), run(case, optional=False)
        assert short[3:] == [None] * 3
        same_bits(full[:3], short[:3])
    for mode in MODES:
        tensors = [aclnn.tensor(a) for a in case]
        sizes = ((2, 19, 256), BF16), ((2, 19, 4), np.float32), ((2, 19, 4, 4), np.float32)
        outputs = [aclnn.tensor(np.full(shape, 7, dtype)) for shape, dtype in sizes]
        aclnn.op("aclnnMhcPreV2")(*tensors, 1e-6, 1e-6, mode, *outputs, None, None, None)
        assert (outputs[2].numpy() == 7).all()
        right([*(t.numpy() for t in outputs[:2]), None] + [None] * 3, reference(*case, op_impl_mode=mode))


def strided(array):
    """The same values, every second element of a larger tensor along each axis."""
    large = np.zeros(tuple(2 * s for s in array.shape), array.dtype)
    every = tuple(slice(None, None, 2) for _ in array.shape)
    large[every] = array
    return aclnn.tensor(large)[every]


def check_strided_inputs_and_outputs():
    case = mhc_pre_case((2, 3), 128, np.float16, seed=5)
    views = [strided(a) for a in case]
    assert not any(view.is_contiguous for view in views)
    dense = run(case)
    same_bits(run(views), dense)
    for name, attributes in (("aclnnMhcPre", ()), ("aclnnMhcPreV2", (0,))):
        outputs = [strided(np.full(a.shape, 7, a.dtype)) for a in dense]
        aclnn.op(name)(*views, 1e-6, 1e-6, *attributes, *outputs)
        same_bits([t.numpy() for t in outputs], dense)


def check_a_strided_output_leaves_its_gaps_alone():
    case = mhc_pre_case((4,), 128, np.float16, seed=6)
    large = aclnn.tensor(np.full((4, 256), 7, np.float16))
    h_post, h_res = aclnn.empty((4, 4)), aclnn.empty((4, 4, 4))
    tensors = [aclnn.tensor(a) for a in case]
    aclnn.op("aclnnMhcPre")(*tensors, 1e-6, 1e-6, large[:, 128:], h_post, h_res, None, None, None)
    written = large.numpy()
    assert (written[:, :128] == 7).all()
    np.testing.assert_array_equal(written[:, 128:], run(case)[0])


def check_a_plan_takes_other_tensors():
    """Also into strided outputs, whose addresses are read when the plan runs."""
    first, second = (mhc_pre_case((3,), 128, np.float16, seed=seed) for seed in (7, 8))
    shapes = [a.shape for a in run(first)[1:]]
    kept = [aclnn.empty((3, 256), np.float16)[:, ::2] for _ in range(2)]
    rest = [aclnn.empty(shape) for shape in shapes]
    inputs = [aclnn.tensor(a) for a in first]
    plan = aclnn.op("aclnnMhcPreV2").plan(*inputs, 1e-6, 1e-6, 0, kept[0], *rest)
    plan()
    same_bits([t.numpy() for t in (kept[0], *rest)], run(first))
    plan.rebind(x=aclnn.tensor(second.x), hIn=kept[1])
    plan()
    same_bits([t.numpy() for t in (kept[1], *rest)], run(first._replace(x=second.x)))
    same_bits([kept[0].numpy()], run(first)[:1])


def check_extreme_sizes_of_x():
    """RMS normalisation takes the size out again; h_in and h_mix keep it: compared relative to it."""
    for dtype in (np.float16, BF16):
        case = mhc_pre_case((6,), 128, dtype, seed=2)
        sizes = np.array([0, 1e-4, 1e3, 1e4, 1, 1], np.float32)[:, None]
        case.x[...] = (np.clip(case.x.astype(np.float32), -1, 1) * sizes[:, :, None]).astype(dtype)
        result, expected = run(case), list(reference(*case, need_optional=True))
        for outputs, index in itertools.product((result, expected), (0, 4)):
            small = outputs[index].astype(np.float32) / np.maximum(sizes, 1)
            outputs[index] = small.astype(outputs[index].dtype)
        right(result, expected, str(np.dtype(dtype)))


def check_nan_stays_in_its_token():
    case = mhc_pre_case((70,), 128, np.float16)
    clean = run(case)
    case.x[40, 2, 5] = np.nan
    dirty = run(case)
    others = [t for t in range(70) if t != 40]
    same_bits([a[others] for a in clean], [a[others] for a in dirty])
    assert all(np.isnan(a[40].astype(np.float32)).all() for a in dirty)


def check_empty():
    """No short cut: empty inputs are refused."""
    for lead, tail in (((0, 3), 128), ((2, 0), 128), ((0,), 128), ((2, 3), 0)):
        case = mhc_pre_case(lead, tail, np.float16, gamma=False)
        refused(161002, "x", run, case)


def check_limits():
    good = [(4, 128), (4, 16384)]
    bad = [(4, 16400), (4, 100_096), (5, 128), (3, 128), (4, 120), (16, 128)]
    (good if ON_950 else bad).extend([(4, 16), (4, 144), (6, 128), (8, 128)])
    (bad if ON_950 else good).append((4, 16512))
    for n, tail in good + bad:
        case = mhc_pre_case((1, 2), tail, np.float16, n=n, scales=2, gamma=False)
        if (n, tail) in good:
            try_case(case, f"n {n} D {tail}", optional=False)
        else:
            refused(161002, "x", run, case)
    case = mhc_pre_case((1, 2), 128, np.float16)
    for mode in (2, -1):
        refused(161002, "opImplMode", run, case, mode)


def check_repeats_bit_for_bit():
    for lead in ((3,), (2, 90)):
        case = mhc_pre_case(lead, 384, BF16, seed=4)
        first = run(case)
        for _ in range(4):
            same_bits(first, run(case))


if __name__ == "__main__":
    from soc_checks import main

    main(globals())
