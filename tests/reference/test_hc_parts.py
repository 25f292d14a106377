"""The references of the HcPre family's parts against outputs from elsewhere, and against the formulas."""

import json
import math
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from aclnn_py.reference import hc_post, hc_pre_inv_rms, hc_pre_sinkhorn
from aclnn_py.testing import compare

DATA = Path(__file__).parents[1] / "data"
BF16 = ml_dtypes.bfloat16


def load(path):
    with np.load(path) as file:
        header = json.loads(str(file["attrs"]))
        arrays = {
            name: file[name].view(BF16) if dtype == "bfloat16" else file[name]
            for name, dtype in header["dtypes"].items()
        }
    return header["attrs"], arrays


def vectors(op):
    found = sorted(DATA.glob(f"{op}_*.npz"))
    assert len(found) == 3
    return pytest.mark.parametrize("path", found, ids=lambda path: path.stem)


@vectors("HcPreInvRms")
def test_inv_rms_vectors(path):
    attrs, arrays = load(path)
    result = hc_pre_inv_rms(arrays["x"], **attrs)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, arrays["y"], rtol=1e-6)


@vectors("HcPreSinkhorn")
def test_sinkhorn_vectors(path):
    attrs, arrays = load(path)
    result = hc_pre_sinkhorn(*(arrays[n] for n in ("mixes", "rsqrt", "hc_scale", "hc_base", "x")), **attrs)
    assert compare(result.y, arrays["y"], 1e-4, 1e-4, ulps=1).passed
    np.testing.assert_allclose(result.post, arrays["post"], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(result.comb_frag, arrays["comb_frag"], rtol=1e-5, atol=1e-6)


@vectors("HcPost")
def test_post_vectors(path):
    _, arrays = load(path)
    y = arrays.pop("y")
    result = hc_post(*(arrays[n] for n in ("x", "residual", "post", "comb")))
    assert result.dtype == y.dtype
    assert compare(result, y, 0, 1e-4, ulps=1).passed


def test_sinkhorn_is_one_statement_of_the_formulas():
    """Token by token in plain Python, so that no broadcasting mistake can hide on both sides."""
    rng = np.random.default_rng(1)
    mixes, rsqrt = rng.uniform(-2, 2, (2, 3, 24)), rng.uniform(0.5, 2, (2, 3, 1))
    scale, base = rng.uniform(-2, 2, 3), rng.uniform(-2, 2, 24)
    x = rng.uniform(-2, 2, (2, 3, 4, 5)).astype(BF16)
    inputs = [a.astype(np.float32) for a in (mixes, rsqrt, scale, base)]
    got = hc_pre_sinkhorn(*inputs, x, hc_sinkhorn_iters=2, hc_eps=0.25, dtype=np.float64)
    mixes, rsqrt, scale, base = (a.astype(np.float64) for a in inputs)
    for token in np.ndindex(2, 3):
        factors = [scale[0]] * 4 + [scale[1]] * 4 + [scale[2]] * 16
        w = [m * rsqrt[token][0] * f + b for m, f, b in zip(mixes[token], factors, base, strict=True)]
        pre = [1 / (1 + math.exp(-v)) + 0.25 for v in w[:4]]
        post = [2 / (1 + math.exp(-v)) for v in w[4:8]]
        rows = [[math.exp(v) for v in w[8 + 4 * i : 12 + 4 * i]] for i in range(4)]
        rows = [[v / sum(row) + 0.25 for v in row] for row in rows]
        columns = [sum(row[j] for row in rows) + 0.25 for j in range(4)]
        rows = [[v / c for v, c in zip(row, columns, strict=True)] for row in rows]
        rows = [[v / (sum(row) + 0.25) for v in row] for row in rows]
        columns = [sum(row[j] for row in rows) + 0.25 for j in range(4)]
        rows = [[v / c for v, c in zip(row, columns, strict=True)] for row in rows]
        y = [sum(pre[i] * float(x[token][i][d]) for i in range(4)) for d in range(5)]
        np.testing.assert_allclose(got.post[token], post, rtol=1e-12)
        np.testing.assert_allclose(got.comb_frag[token], rows, rtol=1e-12)
        np.testing.assert_array_equal(got.y[token], np.array(y).astype(BF16))


def test_post_is_one_statement_of_the_formulas():
    rng = np.random.default_rng(2)
    x, residual = rng.uniform(-10, 10, (3, 5)), rng.uniform(-10, 10, (3, 4, 5))
    post, comb = rng.uniform(-10, 10, (3, 4)), rng.uniform(-10, 10, (3, 4, 4))
    inputs = [a.astype(np.float32) for a in (x, residual, post, comb)]
    got = hc_post(*inputs, dtype=np.float64)
    x, residual, post, comb = (a.astype(np.float64) for a in inputs)
    for t, j, d in np.ndindex(3, 4, 5):
        expected = post[t, j] * x[t, d] + sum(comb[t, i, j] * residual[t, i, d] for i in range(4))
        assert got[t, j, d] == np.float32(expected)


@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (6, 4, 5), (6, 20)])
def test_inv_rms_joins_the_streams(shape):
    values = np.linspace(-1, 1, 120, dtype=np.float32).reshape(6, 20)
    expected = [1 / math.sqrt(sum(float(v) ** 2 for v in row) / 20 + 0.5) for row in values]
    got = hc_pre_inv_rms(values.reshape(shape), epsilon=0.5, dtype=np.float64)
    assert got.shape == ((2, 3, 1) if len(shape) == 4 else (6, 1))
    np.testing.assert_allclose(got.ravel(), expected, rtol=1e-12)


def test_rsqrt_without_its_last_axis():
    rng = np.random.default_rng(3)
    inputs = [rng.uniform(-2, 2, s).astype(np.float32) for s in ((5, 24), (5, 1), (3,), (24,))]
    x = rng.uniform(-2, 2, (5, 4, 8)).astype(BF16)
    full = hc_pre_sinkhorn(*inputs, x)
    short = hc_pre_sinkhorn(inputs[0], inputs[1][:, 0], *inputs[2:], x)
    for a, b in zip(full, short, strict=True):
        np.testing.assert_array_equal(a, b)


def test_refusals():
    f32, x = np.float32, np.zeros((5, 4, 8), BF16)
    with pytest.raises(TypeError, match="x must be float16 or bfloat16 or float32, got int32"):
        hc_pre_inv_rms(np.zeros((2, 8), np.int32))
    with pytest.raises(ValueError, match=r"x must be .*got \[8\]"):
        hc_pre_inv_rms(np.zeros(8, f32))
    good = [np.zeros(s, f32) for s in ((5, 24), (5, 1), (3,), (24,))]
    with pytest.raises(ValueError, match=r"mixes must be \[5, 24\], got \[5, 23\]"):
        hc_pre_sinkhorn(good[0][:, :23], *good[1:], x)
    with pytest.raises(TypeError, match="x must be bfloat16, got float16"):
        hc_pre_sinkhorn(*good, x.astype(np.float16))
    post = [np.zeros(s, f32) for s in ((5, 8), (5, 4, 8), (5, 4), (5, 4, 4))]
    with pytest.raises(TypeError, match="comb must be float32, got float16"):
        hc_post(*post[:3], post[3].astype(np.float16))
    with pytest.raises(ValueError, match=r"comb must be \[5, 4, 4\], got \[5, 16\]"):
        hc_post(*post[:3], post[3].reshape(5, 16))
