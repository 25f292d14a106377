"""The NumPy oracle of HcPre and HcPreV2 on known inputs and outputs, and by its own words."""

import json
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from aclnn_py.reference import hc_pre, hc_pre_inv_rms, hc_pre_sinkhorn, hc_pre_v2
from aclnn_py.testing import cases, check_hc_pre

BF16 = np.dtype(ml_dtypes.bfloat16)
DATA = Path(__file__).parents[1] / "data"
VECTORS = sorted([*DATA.glob("HcPre_*.npz"), *DATA.glob("HcPreV2_*.npz")])


def load(path):
    with np.load(path) as file:
        header = json.loads(str(file["attrs"]))
        return header, {
            k: file[k].view(BF16) if t == "bfloat16" else file[k] for k, t in header["dtypes"].items()
        }


def test_there_are_vectors():
    assert len(VECTORS) == 6


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: path.stem)
def test_vectors(path):
    header, arrays = load(path)
    inputs = [arrays[name] for name in ("x", "hc_fn", "hc_scale", "hc_base")]
    if header["op"] == "HcPre":
        got, names = hc_pre(*inputs, **header["attrs"]), ("y", "post", "comb_frag")
    else:
        got = hc_pre_v2(*inputs, arrays.get("pre_mix"), **header["attrs"])
        names = ("y", "post", "comb_frag", "hc_pre")
    np.testing.assert_array_equal(got.y, arrays["y"])
    for name in names[1:]:
        np.testing.assert_allclose(getattr(got, name), arrays[name], rtol=0, atol=5e-7, err_msg=name)


def test_without_hf32_it_is_the_three_operators_in_a_row():
    case = cases.hc_pre_case((3, 5), 64, seed=4)
    rsqrt = hc_pre_inv_rms(case.x, epsilon=1e-6)
    mixes = case.x.reshape(3, 5, -1).astype(np.float32) @ case.hc_fn.T
    parts = hc_pre_sinkhorn(mixes, rsqrt, case.hc_scale, case.hc_base, case.x)
    for found in check_hc_pre(hc_pre(*case, hf32=False), parts):
        assert found.bad == 0, found


def test_pre_mix_is_used_as_it_is():
    case = cases.hc_pre_case((4,), 32, seed=5)
    pre_mix = np.zeros((4, 4), np.float32)
    pre_mix[:, 2] = -3
    plain, mixed = hc_pre_v2(*case), hc_pre_v2(*case, pre_mix)
    np.testing.assert_array_equal(mixed.y, (-3 * case.x[:, 2].astype(np.float32)).astype(BF16))
    for a, b in zip(plain[1:], mixed[1:], strict=True):
        np.testing.assert_array_equal(a, b)
    own = hc_pre_v2(*case, plain.hc_pre)
    np.testing.assert_array_equal(own.y, plain.y)


def test_working_precision():
    case = cases.hc_pre_case((6,), 256, seed=6)
    single, double = (hc_pre_v2(*case, dtype=dtype) for dtype in (np.float32, np.float64))
    assert single.post.dtype == np.float32 and double.post.dtype == np.float64 and double.y.dtype == BF16
    np.testing.assert_allclose(single.comb_frag, double.comb_frag, atol=1e-6)
    np.testing.assert_allclose(double.comb_frag.sum(-2), 1, atol=1e-5)


def test_wrong_inputs():
    case = cases.hc_pre_case((2,), 32)
    with pytest.raises(TypeError, match="x must be bfloat16"):
        hc_pre(case.x.astype(np.float16), *case[1:])
    with pytest.raises(TypeError, match="pre_mix must be float32"):
        hc_pre_v2(*case, np.zeros((2, 4)))
    with pytest.raises(ValueError, match=r"pre_mix must be \[2, 4\]"):
        hc_pre_v2(*case, np.zeros((2, 3), np.float32))
