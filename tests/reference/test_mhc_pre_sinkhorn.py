"""The reference against outputs that came from elsewhere, and against what the formulas imply."""

import json
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from aclnn_py.reference import mhc_pre_sinkhorn, sinkhorn
from aclnn_py.testing import cases, check_mhc_pre_sinkhorn

DATA = Path(__file__).parents[1] / "data"
VECTORS = sorted(DATA.glob("aclnnMhcPreSinkhorn_*.npz"))
C_NAMES = ["hin", "hPost", "hRes", "hPre", "hcBeforeNorm", "invRms", "sumOut", "normOut"]


def load(path):
    with np.load(path) as file:
        header = json.loads(str(file["attrs"]))
        arrays = {
            name: file[name].view(ml_dtypes.bfloat16) if dtype == "bfloat16" else file[name]
            for name, dtype in header["dtypes"].items()
        }
    return header["attrs"], arrays


def run(arrays, attrs, **options):
    return mhc_pre_sinkhorn(
        *(arrays[name] for name in ("x", "phi", "alpha", "bias")),
        hc_mult=attrs["hcMult"],
        num_iters=attrs["numIters"],
        hc_eps=attrs["hcEps"],
        norm_eps=attrs["normEps"],
        need_backward=attrs["needBackward"],
        **options,
    )


def test_there_are_vectors():
    assert len(VECTORS) == 3


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: path.stem)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_vectors(path, dtype):
    attrs, arrays = load(path)
    hin, *others = run(arrays, attrs, dtype=dtype)
    results = [hin, *(None if r is None else r.astype(np.float32) for r in others)]
    report = check_mhc_pre_sinkhorn(results, [arrays.get(name) for name in C_NAMES])
    assert len(report) == (8 if attrs["needBackward"] else 3)
    assert all(c.passed for c in report), "\n".join(map(str, report))


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: path.stem)
def test_vectors_leave_room_under_the_tolerance(path):
    """The reference is a yardstick only if its own error is far below what it has to judge."""
    attrs, arrays = load(path)
    for name, result in zip(C_NAMES[1:], run(arrays, attrs)[1:], strict=True):
        if result is not None:
            np.testing.assert_allclose(result, arrays[name], rtol=2e-6, atol=2e-6, err_msg=name)


def test_result_is_one_statement_of_the_formulas():
    """Token by token in plain Python, so that no broadcasting mistake can hide on both sides."""
    case = cases.random_case((2, 3), 8, seed=5)
    got = mhc_pre_sinkhorn(*case, need_backward=True, dtype=np.float64)
    n, c, eps = 4, 8, float(np.float32(1e-6))
    x, phi, alpha, bias = (a.astype(np.float64) for a in case)
    for token in np.ndindex(2, 3):
        flat = [x[token][i][d] for i in range(n) for d in range(c)]
        inv_rms = (sum(v * v for v in flat) / (n * c) + eps) ** -0.5
        before = [sum(p * v for p, v in zip(row, flat, strict=True)) for row in phi]
        scale = [alpha[0]] * n + [alpha[1]] * n + [alpha[2]] * n * n
        z = [b * inv_rms * a + offset for b, a, offset in zip(before, scale, bias, strict=True)]
        pre = [1 / (1 + np.exp(-v)) + eps for v in z[:n]]
        post = [2 / (1 + np.exp(-v)) for v in z[n : 2 * n]]
        hin = [sum(pre[i] * x[token][i][d] for i in range(n)) for d in range(c)]
        m = [[np.exp(z[2 * n + i * n + j]) for j in range(n)] for i in range(n)]
        m = [[v / sum(row) + eps for v in row] for row in m]
        for step in range(1, 40):
            if step % 2:
                column = [sum(m[i][j] for i in range(n)) + eps for j in range(n)]
                m = [[m[i][j] / column[j] for j in range(n)] for i in range(n)]
            else:
                m = [[v / (sum(row) + eps) for v in row] for row in m]
        np.testing.assert_allclose(got.inv_rms[token], [inv_rms], rtol=1e-12)
        np.testing.assert_allclose(got.hc_before_norm[token], before, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(got.h_pre[token], pre, rtol=1e-12)
        np.testing.assert_allclose(got.h_post[token], post, rtol=1e-12)
        np.testing.assert_allclose(got.h_res[token], np.ravel(m), rtol=1e-9)
        np.testing.assert_allclose(got.norm_out[39][token], m, rtol=1e-9)
        np.testing.assert_allclose(got.hin[token].astype(float), hin, rtol=2**-8, atol=1e-6)


def test_hc_eps_is_in_h_pre_and_hin_but_not_in_h_post():
    case = cases.random_case((3, 1), 16, np.float16, seed=2)
    small = mhc_pre_sinkhorn(*case, hc_eps=0.0, need_backward=True)
    large = mhc_pre_sinkhorn(*case, hc_eps=0.25, need_backward=True)
    np.testing.assert_allclose(large.h_pre, small.h_pre + 0.25, rtol=1e-6)
    np.testing.assert_array_equal(large.h_post, small.h_post)
    streams = case.x.astype(np.float32)
    np.testing.assert_allclose(large.hin - small.hin.astype(np.float32), 0.25 * streams.sum(-2), atol=4e-3)


@pytest.mark.parametrize("make", [cases.random_case, cases.constant_case, cases.steep_case])
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_saved_slots_belong_together(make, dtype):
    r = mhc_pre_sinkhorn(*make((2, 5), 64, dtype), need_backward=True)
    norm, total = r.norm_out, r.sum_out
    np.testing.assert_array_equal(norm[39].reshape(r.h_res.shape), r.h_res)
    for slot in range(1, 40):
        axis = -1 if slot % 2 == 0 else -2
        np.testing.assert_allclose(total[slot], norm[slot - 1].sum(axis=axis) + np.float32(1e-6), rtol=1e-6)
        np.testing.assert_allclose(norm[slot] * np.expand_dims(total[slot], axis), norm[slot - 1], rtol=1e-6)


def test_columns_sum_to_one_and_rows_nearly():
    r = mhc_pre_sinkhorn(*cases.random_case((4, 32), 32, seed=9))
    matrix = r.h_res.reshape(4, 32, 4, 4)
    np.testing.assert_allclose(matrix.sum(-2), 1, atol=1e-5)
    np.testing.assert_allclose(matrix.sum(-1), 1, atol=1e-2)
    assert (matrix > 0).all()


def test_constant_input_gives_uniform_weights():
    r = mhc_pre_sinkhorn(*cases.constant_case((1, 2), 4096, np.float16), need_backward=True)
    np.testing.assert_allclose(r.h_res, 0.25, atol=1e-6)
    # phi.x = 0.125 * sqrt(4c), invRms = 1 / sqrt(1/64 + 1e-6)
    logit = 0.25 * 16 / np.sqrt(1 / 64 + 1e-6)
    np.testing.assert_allclose(r.hc_before_norm, 16, rtol=1e-6)
    np.testing.assert_allclose(r.h_post, 2 / (1 + np.exp(-logit)), rtol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_steep_logits_stay_finite_and_equal_float64(seed):
    case = cases.steep_case((1, 7), 128, seed=seed)
    single = mhc_pre_sinkhorn(*case, need_backward=True)
    double = mhc_pre_sinkhorn(*case, need_backward=True, dtype=np.float64)
    assert check_mhc_pre_sinkhorn(single[:1], double[:1])[0].passed
    assert np.isfinite(single.hin.astype(np.float32)).all()
    for name, a, b in zip(single._fields[1:], single[1:], double[1:], strict=True):
        assert np.isfinite(a).all(), name
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-5, err_msg=name)
    assert set(np.unique(single.h_post)) >= {np.float32(0), np.float32(2)}


@pytest.mark.parametrize("size", [1e4, float(np.finfo(np.float32).max) / 2])
def test_sinkhorn_alone_on_huge_logits(size):
    rng = np.random.default_rng(3)
    z = rng.choice([-size, size], (50, 4, 4))
    single, double = sinkhorn(z.astype(np.float32), 20, 1e-6), sinkhorn(z.astype(np.float64), 20, 1e-6)
    for a, b in zip(single, double, strict=True):
        assert np.isfinite(a).all()
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_one_nan_spoils_its_token_only():
    case = cases.random_case((1, 6), 32, np.float16)
    clean = mhc_pre_sinkhorn(*case)
    case.x[0, 2, 1, 7] = np.nan
    dirty = mhc_pre_sinkhorn(*case)
    others = [0, 1, 3, 4, 5]
    for a, b in zip(clean[:3], dirty[:3], strict=True):
        np.testing.assert_array_equal(a[:, others], b[:, others])
        assert np.isnan(b[0, 2].astype(np.float32)).all()


@pytest.mark.parametrize("n, c, iters", [(4, 5, 20), (6, 33, 3), (8, 7, 1), (1, 1, 2)])
def test_three_axes_odd_tails_other_stream_counts(n, c, iters):
    case = cases.random_case((6,), c, n=n, seed=n)
    flat = mhc_pre_sinkhorn(*case, hc_mult=n, num_iters=iters, need_backward=True)
    grid = mhc_pre_sinkhorn(
        case.x.reshape(2, 3, n, c), *case[1:], hc_mult=n, num_iters=iters, need_backward=True
    )
    assert flat.hin.shape == (6, c) and flat.hin.dtype == ml_dtypes.bfloat16
    assert flat.h_res.shape == (6, n * n)
    assert flat.norm_out.shape == (2 * iters, 6, n, n)
    assert grid.sum_out.shape == (2 * iters, 2, 3, n)
    assert grid.inv_rms.shape == (2, 3, 1)
    for a, b in zip(flat, grid, strict=True):
        np.testing.assert_array_equal(a, b.reshape(a.shape))


@pytest.mark.parametrize("lead", [(0, 5), (5, 0), (0,)])
def test_no_tokens(lead):
    r = mhc_pre_sinkhorn(*cases.random_case(lead, 128), need_backward=True)
    assert r.hin.shape == (*lead, 128)
    assert r.norm_out.shape == (40, *lead, 4, 4)


def test_no_tail():
    r = mhc_pre_sinkhorn(*cases.random_case((2, 3), 0), need_backward=True)
    assert r.hin.shape == (2, 3, 0)
    np.testing.assert_array_equal(r.hc_before_norm, 0)
    assert np.isnan(r.inv_rms).all()


def test_many_tokens_go_in_chunks():
    case = cases.random_case((1, 300), 8192, seed=4)  # 37 MB once widened, more than a chunk
    whole = mhc_pre_sinkhorn(*case)
    for part in (slice(0, 1), slice(127, 130), slice(299, 300)):
        alone = mhc_pre_sinkhorn(case.x[:, part], *case[1:])
        report = check_mhc_pre_sinkhorn(alone[:3], [r[:, part] for r in whole[:3]])
        assert all(c.passed and c.max_abs < 1e-5 for c in report[1:]) and report[0].passed


def test_strided_input_equals_its_copy():
    case = cases.random_case((3, 8), 64)
    view = case.x[:, ::2, :, 1::3]
    phi = case.phi[:, : 4 * view.shape[-1]]
    strided, copied = (mhc_pre_sinkhorn(x, phi, *case[2:])[:3] for x in (view, view.copy()))
    for a, b in zip(strided, copied, strict=True):
        np.testing.assert_array_equal(a, b)


def test_hf32_drops_low_bits_of_phi():
    case = cases.random_case((1, 16), 4096)
    plain, cut = (mhc_pre_sinkhorn(*case, need_backward=True, hf32=hf32) for hf32 in (False, True))
    error = np.abs(plain.hc_before_norm - cut.hc_before_norm).max()
    assert 1e-5 < error < 2e-3
    # At most eight bits of mantissa, so nothing to drop.
    coarse = case._replace(phi=np.round(case.phi * 2**14).astype(np.float32) / 2**14)
    for a, b in zip(mhc_pre_sinkhorn(*coarse), mhc_pre_sinkhorn(*coarse, hf32=True), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    "change, error, text",
    [
        ({"x": np.zeros((1, 2, 4, 8), np.float32)}, TypeError, "x must be float16 or bfloat16, got float32"),
        ({"x": np.zeros((2, 3, 8), np.float16)}, ValueError, "x must be"),
        ({"x": np.zeros((4, 8), np.float16)}, ValueError, "x must be"),
        ({"phi": np.zeros((24, 31), np.float32)}, ValueError, r"phi must be \[24, 32\], got \[24, 31\]"),
        ({"phi": np.zeros((24, 32), np.float64)}, TypeError, "phi must be float32, got float64"),
        ({"alpha": np.zeros(2, np.float32)}, ValueError, "alpha must be"),
        ({"bias": np.zeros((1, 24), np.float32)}, ValueError, "bias must be"),
    ],
)
def test_wrong_input_is_named(change, error, text):
    case = cases.random_case((1, 2), 8, np.float16)._replace(**change)
    with pytest.raises(error, match=text):
        mhc_pre_sinkhorn(*case)


def test_sinkhorn_refuses():
    with pytest.raises(ValueError, match="two equal axes"):
        sinkhorn(np.zeros((3, 4), np.float32), 2, 1e-6)
    with pytest.raises(ValueError, match="iters must be at least 1, got 0"):
        sinkhorn(np.zeros((4, 4), np.float32), 0, 1e-6)


def test_reference_and_package_do_not_load_each_other():
    code = """
import sys, aclnn_py
assert "aclnn_py.reference" not in sys.modules
before = set(sys.modules)
import aclnn_py.reference
loaded = {m for m in set(sys.modules) - before if m.startswith("aclnn_py")}
print("aclnn_py.reference.mhc" in loaded, {m for m in loaded if not m.startswith("aclnn_py.reference")})
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "True set()"
