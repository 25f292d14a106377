"""Results of aclnnHcPreInvRms, aclnnHcPreSinkhorn and aclnnHcPost against the NumPy reference."""

import itertools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import aclnn_py as aclnn
from aclnn_py import reference
from aclnn_py.testing import compare, compare_share

BF16 = np.dtype(ml_dtypes.bfloat16)
FLOATS = [np.dtype(np.float32), np.dtype(np.float16), BF16]
HERE = Path(__file__).parent
DATA = HERE.parent / "data"
TOKENS = [1, 2, 3, 16, 31, 33, 41, 130, 700]
LIMIT = {np.dtype(np.float32): 1e-6, np.dtype(np.float16): 1e-3, BF16: 8e-3}


def uniform(rng, size, shape, dtype=np.float32):
    return rng.uniform(-size, size, shape).astype(dtype)


def sinkhorn_case(lead, d, seed=0):
    rng = np.random.default_rng(seed)
    shapes = [(*lead, 24), (*lead, 1), (3,), (24,)]
    return [*(uniform(rng, 2, s) for s in shapes), uniform(rng, 2, (*lead, 4, d), BF16)]


def post_case(lead, d, dtype=BF16, post_dtype=np.float32, seed=0):
    rng = np.random.default_rng(seed)
    wide, narrow = ((*lead, d), (*lead, 4, d)), ((*lead, 4), (*lead, 4, 4))
    return [*(uniform(rng, 10, s, dtype) for s in wide), *(uniform(rng, 10, s, post_dtype) for s in narrow)]


def load(path):
    with np.load(path) as file:
        header = json.loads(str(file["attrs"]))
        return header["attrs"], {
            name: file[name].view(BF16) if dtype == "bfloat16" else file[name]
            for name, dtype in header["dtypes"].items()
        }


def vectors(op):
    found = sorted(DATA.glob(f"{op}_*.npz"))
    assert len(found) == 3
    return pytest.mark.parametrize("path", found, ids=lambda path: path.stem)


def numpy_of(results):
    return [tensor.numpy() for tensor in results]


def assert_inv_rms(actual, x, epsilon):
    expected = reference.hc_pre_inv_rms(x, epsilon=epsilon, dtype=np.float64)
    assert actual.dtype == np.float32
    found = compare_share(actual, expected, 1e-4, 5e-4)
    assert found.passed and found.largest <= 1e-4, str(found)
    np.testing.assert_allclose(actual, expected, rtol=3e-6)


def assert_sinkhorn(actual, expected):
    """The bounds of the family's public test; y may also be the other neighbour of a rounding border."""
    y, post, comb_frag = actual
    assert (y.dtype, post.dtype, comb_frag.dtype) == (BF16, np.float32, np.float32)
    assert compare(y, expected.y, 1e-4, 1e-4, ulps=1).passed
    assert (y != expected.y).mean() < 1e-3
    np.testing.assert_allclose(post, expected.post, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(comb_frag, expected.comb_frag, rtol=1e-5, atol=1e-5)


def assert_post(actual, case):
    expected = reference.hc_post(*case, dtype=np.float64)
    assert actual.dtype == expected.dtype
    found = compare(actual, expected, 0, 1e-3, ulps=0 if actual.dtype == np.float32 else 1)
    assert found.passed, str(found)


# hc_pre_inv_rms


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("epsilon", [1e-20, 1e-6, 0.5])
def test_inv_rms(dtype, epsilon):
    rng = np.random.default_rng(1)
    for tokens in TOKENS:
        x = uniform(rng, 1, (tokens, 4, 64), dtype)
        assert_inv_rms(aclnn.ops.hc_pre_inv_rms(x, epsilon=epsilon).numpy(), x, epsilon)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(
    "shape", [(1, 4, 1), (3, 4, 5), (2, 3, 4, 4096), (1, 2, 4, 7168), (3, 1, 4097), (5, 77), (2, 4, 20000)]
)
def test_inv_rms_of_any_row_in_one_piece_or_more(monkeypatch, dtype, shape):
    x = uniform(np.random.default_rng(2), 1, shape, dtype)
    result = aclnn.ops.hc_pre_inv_rms(x).numpy()
    assert result.shape == (*shape[: max(1, len(shape) - 2)], 1)
    assert_inv_rms(result, x, 1e-20)
    monkeypatch.setenv("ACLEMU_TILING_KEY", "1001")
    np.testing.assert_array_equal(aclnn.ops.hc_pre_inv_rms(x).numpy(), result)


def test_inv_rms_key_is_whole_rows_where_they_fit(monkeypatch):
    x = uniform(np.random.default_rng(3), 1, (2, 4, 7168), np.float16)
    result = aclnn.ops.hc_pre_inv_rms(x).numpy()
    monkeypatch.setenv("ACLEMU_TILING_KEY", "1000")
    np.testing.assert_array_equal(aclnn.ops.hc_pre_inv_rms(x).numpy(), result)
    with pytest.raises(aclnn.AclnnInnerError, match="rows of 100000 elements do not fit the unified buffer"):
        aclnn.ops.hc_pre_inv_rms(np.ones((2, 100000), np.float32))


@vectors("HcPreInvRms")
def test_inv_rms_vectors(path):
    attrs, arrays = load(path)
    result = aclnn.ops.hc_pre_inv_rms(arrays["x"], **attrs).numpy()
    found = compare_share(result, arrays["y"], 1e-4, 5e-4)
    assert found.passed and found.largest <= 1e-4, str(found)


def test_inv_rms_of_zeros_constants_and_what_is_no_number():
    x = np.ones((5, 4, 100), np.float32) * np.array([0, 0.125, 1e-30, 1e30, 1], np.float32)[:, None, None]
    x[4, 2, 3] = np.nan
    result = aclnn.ops.hc_pre_inv_rms(x, epsilon=1e-20).numpy()[:, 0]
    np.testing.assert_allclose(result[:3], [1e10, 8, 1e10], rtol=1e-6)
    assert result[3] == 0 and np.isnan(result[4])  # the squares of the fourth row overflow


def test_inv_rms_refuses_epsilon():
    x = np.ones((2, 4, 8), np.float32)
    for epsilon in (0, -1e-6, 1e-60, float("nan")):
        with pytest.raises(aclnn.AclnnInnerError, match=r"(?s)561002.*epsilon is .*greater than 0") as caught:
            aclnn.ops.hc_pre_inv_rms(x, epsilon=epsilon)
        assert caught.value.code == 561002
    np.testing.assert_allclose(aclnn.ops.hc_pre_inv_rms(x).numpy(), 1)


# hc_pre_sinkhorn


@pytest.mark.parametrize("iters", [1, 2, 20, 100])
def test_sinkhorn(iters):
    for tokens in TOKENS:
        case = sinkhorn_case((tokens,), 64, seed=tokens)
        result = aclnn.ops.hc_pre_sinkhorn(*case, hc_sinkhorn_iters=iters)
        expected = reference.hc_pre_sinkhorn(*case, hc_sinkhorn_iters=iters, dtype=np.float64)
        assert_sinkhorn(numpy_of(result), expected)


@pytest.mark.parametrize("d", [1, 7, 16, 33, 4096, 4097, 5120, 7168])
def test_sinkhorn_of_any_tail(d):
    case = sinkhorn_case((2, 3), d, seed=d)
    result = aclnn.ops.hc_pre_sinkhorn(*case, hc_eps=0.25)
    assert_sinkhorn(numpy_of(result), reference.hc_pre_sinkhorn(*case, hc_eps=0.25, dtype=np.float64))
    assert [t.shape for t in result] == [(2, 3, d), (2, 3, 4), (2, 3, 4, 4)]


@vectors("HcPreSinkhorn")
def test_sinkhorn_vectors(path):
    attrs, arrays = load(path)
    inputs = [arrays[n] for n in ("mixes", "rsqrt", "hc_scale", "hc_base", "x")]
    expected = reference.hc_parts.HcPreSinkhornOutputs(arrays["y"], arrays["post"], arrays["comb_frag"])
    assert_sinkhorn(numpy_of(aclnn.ops.hc_pre_sinkhorn(*inputs, **attrs)), expected)


def test_rsqrt_without_its_last_axis():
    case = sinkhorn_case((3, 7), 48)
    full = numpy_of(aclnn.ops.hc_pre_sinkhorn(*case))
    short = numpy_of(aclnn.ops.hc_pre_sinkhorn(case[0], case[1][..., 0], *case[2:]))
    for a, b in zip(full, short, strict=True):
        np.testing.assert_array_equal(a, b)


def test_sinkhorn_of_steep_and_of_equal_logits():
    case = sinkhorn_case((2, 20), 32)
    levels = np.array([1e4, -1e4, 3e3, -3e3], np.float32)
    case[3] = np.concatenate([levels, levels, levels, levels[::-1], levels, levels[::-1]])
    steep = numpy_of(aclnn.ops.hc_pre_sinkhorn(*case))
    assert all(np.isfinite(a.astype(np.float32)).all() for a in steep)
    assert_sinkhorn(steep, reference.hc_pre_sinkhorn(*case))
    case[0][:], case[3][:] = 0.125, 0
    equal = numpy_of(aclnn.ops.hc_pre_sinkhorn(*case))
    np.testing.assert_allclose(equal[2], 0.25, rtol=1e-5)


def test_one_nan_spoils_its_token_only():
    case = sinkhorn_case((70,), 32)
    expected = reference.hc_pre_sinkhorn(*case, dtype=np.float64)
    case[0][40] = np.nan
    result = numpy_of(aclnn.ops.hc_pre_sinkhorn(*case))
    rest = [t for t in range(70) if t != 40]
    assert all(np.isnan(a[40].astype(np.float32)).all() for a in result)
    assert_sinkhorn([a[rest] for a in result], type(expected)(*(a[rest] for a in expected)))


def test_the_parts_make_the_whole():
    """inv_rms, a projection in NumPy, then sinkhorn: what MhcPreSinkhorn computes."""
    rng = np.random.default_rng(5)
    x = uniform(rng, 1, (2, 9, 4, 128), BF16)
    phi, alpha, bias = uniform(rng, 0.05, (24, 512)), uniform(rng, 1, 3), uniform(rng, 1, 24)
    mixes = x.astype(np.float32).reshape(2, 9, 512) @ phi.T
    rsqrt = aclnn.ops.hc_pre_inv_rms(x, epsilon=1e-6)
    y, post, comb_frag = numpy_of(aclnn.ops.hc_pre_sinkhorn(mixes, rsqrt, alpha, bias, x))
    whole = reference.mhc_pre_sinkhorn(x, phi, alpha, bias)
    assert compare(y, whole.hin, 1e-4, 1e-4, ulps=1).passed
    np.testing.assert_allclose(post, whole.h_post, rtol=1e-4)
    np.testing.assert_allclose(comb_frag.reshape(2, 9, 16), whole.h_res, rtol=1e-4, atol=1e-6)


# hc_post


@pytest.mark.parametrize(("dtype", "post_dtype"), list(itertools.product(FLOATS, FLOATS)), ids=str)
def test_post(monkeypatch, dtype, post_dtype):
    """Every combination of dtypes; rows one by one and several together give the same bits."""
    base = 2 * FLOATS.index(post_dtype)
    cases = [((tokens,), 64) for tokens in TOKENS]
    cases += [((1,), 1), ((3,), 5), ((2, 3), 33), ((41,), 7), ((2, 2), 4096), ((3,), 4097), ((1,), 7168)]
    for lead, d in cases:
        case = post_case(lead, d, dtype, post_dtype, seed=d)
        monkeypatch.delenv("ACLEMU_TILING_KEY", raising=False)
        result = aclnn.ops.hc_post(*case).numpy()
        assert_post(result, case)
        for key in (base, base + 1) if d <= 64 else (base,):
            monkeypatch.setenv("ACLEMU_TILING_KEY", str(key))
            np.testing.assert_array_equal(aclnn.ops.hc_post(*case).numpy(), result)


@vectors("HcPost")
def test_post_vectors(path):
    _, arrays = load(path)
    y = arrays.pop("y")
    result = aclnn.ops.hc_post(*(arrays[n] for n in ("x", "residual", "post", "comb"))).numpy()
    found = compare(result, y, 0, 1e-3, ulps=0 if y.dtype == np.float32 else 1)
    assert found.passed, str(found)


def test_post_sums_over_the_first_index_of_comb():
    """comb moves stream i to stream i + 1; post adds x to stream 0 only."""
    x = np.full((2, 5), 3, np.float32)
    residual = np.broadcast_to(np.arange(1, 5, dtype=np.float32)[:, None], (2, 4, 5)).copy()
    comb = np.broadcast_to(np.eye(4, k=1, dtype=np.float32), (2, 4, 4)).copy()
    post = np.broadcast_to(np.array([1, 0, 0, 0], np.float32), (2, 4)).copy()
    result = aclnn.ops.hc_post(x, residual, post, comb).numpy()
    np.testing.assert_array_equal(result[:, :, 0], [[3, 1, 2, 3]] * 2)
    assert (result == result[:, :, :1]).all()


@pytest.mark.parametrize("dtype", [np.float16, BF16])
def test_post_is_rounded_once_to_nearest(dtype):
    case = post_case((30,), 512, dtype, np.float32)
    exact = reference.hc_post(*case, dtype=np.float64)
    assert (aclnn.ops.hc_post(*case).numpy() != exact).mean() < 0.01


def test_post_of_what_is_no_number():
    case = post_case((3,), 40, np.float32)
    expected = reference.hc_post(*case)
    case[2][1, 2] = np.nan
    case[1][2, 0, 7] = np.inf
    result = aclnn.ops.hc_post(*case).numpy()
    assert np.isnan(result[1, 2]).all() and np.isinf(result[2, :, 7]).all()
    result[1, 2], result[2, :, 7] = expected[1, 2], expected[2, :, 7]
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-3)


# all of them


def test_32768_tokens():
    case = sinkhorn_case((4, 8192), 16, seed=4)
    assert_sinkhorn(
        numpy_of(aclnn.ops.hc_pre_sinkhorn(*case)), reference.hc_pre_sinkhorn(*case, dtype=np.float64)
    )
    assert_inv_rms(aclnn.ops.hc_pre_inv_rms(case[4]).numpy(), case[4], 1e-20)
    case = post_case((4, 8192), 16)
    assert_post(aclnn.ops.hc_post(*case).numpy(), case)


def test_strided_tensors_are_made_dense_first():
    x, residual, post, comb = post_case((6,), 64, np.float32)
    views = [
        aclnn.tensor(np.repeat(x, 2, axis=0))[::2],
        aclnn.tensor(np.ascontiguousarray(np.swapaxes(residual, 0, 1))).transpose(1, 0, 2),
        aclnn.tensor(np.ascontiguousarray(post.T)).T,
        aclnn.tensor(np.concatenate([comb, comb], axis=2))[:, :, :4],
    ]
    assert not any(view.is_contiguous for view in views)
    dense = aclnn.ops.hc_post(x, residual, post, comb).numpy()
    np.testing.assert_array_equal(aclnn.ops.hc_post(*views).numpy(), dense)
    inv_rms = aclnn.ops.hc_pre_inv_rms(residual).numpy()
    np.testing.assert_array_equal(aclnn.ops.hc_pre_inv_rms(views[1]).numpy(), inv_rms)
    case = sinkhorn_case((6,), 16)
    wide = aclnn.tensor(np.concatenate([case[0], case[0]], axis=1))[:, :24]
    for a, b in zip(
        aclnn.ops.hc_pre_sinkhorn(wide, *case[1:]), aclnn.ops.hc_pre_sinkhorn(*case), strict=True
    ):
        np.testing.assert_array_equal(a.numpy(), b.numpy())


def test_python_refuses_what_cannot_be_right():
    ops = aclnn.ops
    x, residual, post, comb = post_case((2, 3), 8, np.float32)
    with pytest.raises(TypeError, match="hc_post: residual is float16, it must be float32"):
        ops.hc_post(x, residual.astype(np.float16), post, comb)
    with pytest.raises(TypeError, match="hc_post: comb is float32, it must be float16"):
        ops.hc_post(x, residual, post.astype(np.float16), comb)
    with pytest.raises(
        ValueError, match=r"hc_post: residual has shape \[2, 3, 8\], the axis before the last must be 4"
    ):
        ops.hc_post(x[0], x, post[0], comb[0])
    with pytest.raises(ValueError, match=r"hc_post: post has shape \[2, 4\], it must be \[2, 3, 4\]"):
        ops.hc_post(x, residual, post[:, 0], comb)
    with pytest.raises(
        ValueError, match=r"hc_post: residual has shape \[0, 3, 4, 8\], no axis may have length 0"
    ):
        ops.hc_post(x[:0], residual[:0], post[:0], comb[:0])
    with pytest.raises(
        TypeError, match="hc_pre_inv_rms: x is float64, it must be float16 or bfloat16 or float32"
    ):
        ops.hc_pre_inv_rms(residual.astype(np.float64))
    with pytest.raises(ValueError, match=r"hc_pre_inv_rms: x has shape .* it must be"):
        ops.hc_pre_inv_rms(residual[None])
    case = sinkhorn_case((2, 3), 8)
    with pytest.raises(TypeError, match="hc_pre_sinkhorn: x is float32, it must be bfloat16"):
        ops.hc_pre_sinkhorn(*case[:4], residual)
    with pytest.raises(ValueError, match=r"rsqrt has shape \[3\], it must be \[2, 3, 1\] or \[2, 3\]"):
        ops.hc_pre_sinkhorn(case[0], case[1][0, :, 0], *case[2:])
    for attribute, value in (("hc_mult", 3), ("hc_sinkhorn_iters", 0), ("hc_sinkhorn_iters", 101)):
        with pytest.raises(aclnn.AclnnInnerError, match="561002"):
            ops.hc_pre_sinkhorn(*case, **{attribute: value})


def subprocess_results(path, **settings):
    ran = subprocess.run(
        [sys.executable, str(HERE / "hc_parts_case.py"), str(path)],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


@pytest.fixture(scope="module")
def usual_results(tmp_path_factory):
    return subprocess_results(tmp_path_factory.mktemp("usual") / "results.npz")


@pytest.mark.parametrize(("cores", "threads"), [("1:1", "1"), ("4:7", "1"), ("4:7", "3"), ("20", "4")])
def test_core_counts_and_thread_counts(tmp_path, usual_results, cores, threads):
    """Neither the threads that play the cores nor the number of cores change a bit: a row is summed alone."""
    results = subprocess_results(tmp_path / "results.npz", ACLEMU_AICORES=cores, ACLEMU_THREADS=threads)
    assert results.keys() == usual_results.keys() and len(results) > 20
    for name, array in results.items():
        np.testing.assert_array_equal(array, usual_results[name], err_msg=name)


@pytest.mark.parametrize(
    "soc", ["Ascend910B1", "Ascend910B3", "Ascend910B4", "Ascend910_9391", "Ascend950PR_9579"]
)
def test_every_soc(tmp_path, soc):
    """hc_parts_case compares with the reference itself."""
    results = subprocess_results(tmp_path / "results.npz", ACLEMU_SOC=soc)
    assert str(results["soc"]) == soc


def test_samples_agree(emulator_root, tmp_path):
    """The C++ program, compiled as its comment says, and the Python one print the same line."""
    compiler = os.environ.get("CXX") or shutil.which("g++")
    if not compiler:
        pytest.skip("no g++ on PATH to compile the C++ sample with")
    samples, program = HERE.parents[1] / "samples", tmp_path / "hc_post"
    vendor = emulator_root / "opp" / "vendors" / "aclnn_py" / "op_api"
    folders = [emulator_root / "lib64", vendor / "lib"]
    command = [
        compiler,
        "-std=c++17",
        "-Wall",
        "-Werror",
        f"-I{emulator_root / 'include'}",
        f"-I{vendor / 'include'}",
    ]
    command += [samples / "c" / "hc_post.cpp", *(f"-L{folder}" for folder in folders)]
    command += ["-lcust_opapi", "-lopapi", "-lnnopbase", "-lascendcl"]
    command += [*(f"-Wl,-rpath,{folder}" for folder in folders), "-o", program]
    lines = []
    python = [sys.executable, samples / "hc_post.py"]
    for step in (command, [program], [*python, "--digest"], python):
        ran = subprocess.run(list(map(str, step)), capture_output=True, text=True, timeout=120, check=False)
        assert ran.returncode == 0, ran.stderr
        lines.append(ran.stdout)
    assert lines[1] == lines[2] and lines[1].startswith("y [2, 64, 4, 4096] ")
