"""The NumPy reference of MhcPre against outputs from elsewhere, itself in float64, and hand-made cases."""

import json
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from aclnn_py.reference import mhc_pre
from aclnn_py.testing import check_mhc_pre
from aclnn_py.testing.mhc_pre import mhc_pre_case

BF16 = ml_dtypes.bfloat16
DATA = Path(__file__).parents[1] / "data"
VECTORS = sorted([*DATA.glob("aclnnMhcPre_*.npz"), *DATA.glob("aclnnMhcPreV2_*.npz")])
C_NAMES = ("hIn", "hPost", "hRes", "invRmsOptional", "hMixOptional", "hPreOptional")


def test_there_are_vectors():
    assert len(VECTORS) == 6


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: path.stem)
def test_vectors(path):
    with np.load(path) as file:
        header = json.loads(str(file["attrs"]))
        arrays = {n: file[n].view(BF16) if t == "bfloat16" else file[n] for n, t in header["dtypes"].items()}
    outputs = mhc_pre(
        *(arrays.get(name) for name in ("x", "phi", "alpha", "bias", "gammaOptional")),
        op_impl_mode=header["attrs"].get("opImplMode", 0),
        need_optional="hPreOptional" in arrays,
    )
    expected = [arrays.get(name) for name in C_NAMES]
    report = check_mhc_pre(outputs, expected)
    assert len(report) == sum(e is not None for e in expected)
    assert all(found.passed and found.max_abs < 1e-5 * (1 + abs(found.expected)) for found in report), report


@pytest.mark.parametrize("mode", [0, 1])
@pytest.mark.parametrize("n, scales, dtype", [(4, 3, np.float16), (6, 2, BF16), (8, 3, BF16)])
def test_float64_agrees(mode, n, scales, dtype):
    case = mhc_pre_case((2, 5), 160, dtype, n=n, scales=scales)
    single = mhc_pre(*case, op_impl_mode=mode, need_optional=True)
    double = mhc_pre(*case, op_impl_mode=mode, need_optional=True, dtype=np.float64)
    for name, a, b in zip(single._fields, single, double, strict=True):
        if a is not None:
            tolerance = 1e-5 if a.itemsize == 4 else 1e-2
            np.testing.assert_allclose(
                a.astype(np.float64), b.astype(np.float64), rtol=tolerance, atol=tolerance, err_msg=name
            )


def test_one_token_by_hand():
    """n 4, D 1: every formula written out for each row."""
    rng = np.random.default_rng(3)
    x = rng.standard_normal((1, 4, 1), np.float32).astype(np.float16)
    phi, bias = rng.standard_normal((24, 4), np.float32), rng.standard_normal(24, np.float32)
    alpha, gamma = np.array([2, 3, 5], np.float32), rng.standard_normal((4, 1), np.float32)
    found = mhc_pre(x, phi, alpha, bias, gamma, norm_eps=0.25, hc_eps=0.125, need_optional=True)
    values = [float(v) for v in x.ravel()]
    inv = 1 / np.sqrt(sum(v * v for v in values) / 4 + 0.25)
    mix = [sum(values[k] * float(gamma[k, 0]) * float(phi[row, k]) for k in range(4)) for row in range(24)]
    z = [mix[row] * inv * (2 if row < 4 else 3 if row < 8 else 5) + float(bias[row]) for row in range(24)]
    pre = [1 / (1 + np.exp(-v)) + 0.125 for v in z[:4]]
    np.testing.assert_allclose(found.inv_rms, [inv], rtol=1e-6)
    np.testing.assert_allclose(found.h_mix[0], mix, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found.h_pre[0], pre, rtol=1e-6)
    np.testing.assert_allclose(found.h_post[0], [2 / (1 + np.exp(-v)) for v in z[4:8]], rtol=1e-5)
    np.testing.assert_allclose(found.h_res[0].ravel(), z[8:], rtol=1e-5, atol=1e-5)
    h_in = sum(p * v for p, v in zip(pre, values, strict=True))
    np.testing.assert_allclose(found.h_in.astype(np.float64), [[h_in]], rtol=1e-3)


def test_an_alpha_of_2():
    three = mhc_pre_case((3,), 32, np.float16, seed=2)
    two = three._replace(phi=three.phi[:8], alpha=three.alpha[:2], bias=three.bias[:8])
    a, b = (mhc_pre(*case, hc_eps=0.5, need_optional=True) for case in (three, two))
    assert b.h_res is None
    np.testing.assert_allclose(b.h_post, a.h_post + np.float32(0.5), rtol=1e-6)  # eps behind the doubling
    np.testing.assert_allclose(b.h_mix, a.h_mix[:, :8], rtol=1e-5, atol=1e-6)


def test_hf32_drops_thirteen_bits_of_both_operands():
    case = mhc_pre_case((4,), 64, np.float16, seed=4)
    cut = np.uint32(0xFFFFE000)
    phi = (case.phi.view(np.uint32) & cut).view(np.float32)
    product = case.x.reshape(4, 256).astype(np.float32) * case.gamma.ravel()
    product = (product.view(np.uint32) & cut).view(np.float32)
    found = mhc_pre(*case, op_impl_mode=1, need_optional=True).h_mix
    np.testing.assert_allclose(found, product.astype(np.float64) @ phi.astype(np.float64).T, atol=1e-6)


@pytest.mark.parametrize(
    "changes, error",
    [
        ({"x": np.ones((2, 4, 8), np.float32)}, TypeError),
        ({"x": np.ones((4, 8), np.float16)}, ValueError),
        ({"phi": np.ones((24, 31), np.float32)}, ValueError),
        ({"phi": np.ones((24, 32))}, TypeError),
        ({"alpha": np.ones(4, np.float32)}, ValueError),
        ({"bias": np.ones(8, np.float32)}, ValueError),
        ({"gamma": np.ones((8, 4), np.float32)}, ValueError),
        ({"op_impl_mode": 2}, ValueError),
    ],
)
def test_wrong_input(changes, error):
    arguments = mhc_pre_case((2,), 8, np.float16)._asdict() | changes
    mode = arguments.pop("op_impl_mode", 0)
    with pytest.raises(error):
        mhc_pre(**arguments, op_impl_mode=mode)
