"""The friendly functions: what they refuse before any C call. Numbers are checked in tests/ops."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import aclnn_py as aclnn


def good() -> dict[str, Any]:
    return {
        "x": np.zeros((1, 2, 4, 128), np.float16),
        "phi": np.zeros((24, 512), np.float32),
        "alpha": np.zeros(3, np.float32),
        "bias": np.zeros(24, np.float32),
    }


@pytest.mark.parametrize(
    ("name", "value", "error", "words"),
    [
        ("x", np.zeros((1, 2, 4, 128)), TypeError, r"x is float64, it must be float16 or bfloat16: .*astype"),
        (
            "x",
            np.zeros((2, 128), np.float16),
            ValueError,
            r"x has shape \(2, 128\), it must be \[b, s, n, c\] or",
        ),
        (
            "x",
            None,
            TypeError,
            r"x must be an aclnn\.Tensor or a NumPy array of float16 or bfloat16, got None",
        ),
        ("x", np.zeros((1, 1, 4, 128), object), TypeError, "x has dtype object"),
        ("phi", np.zeros((24, 512), np.float16), TypeError, "phi is float16, it must be float32"),
        (
            "alpha",
            np.array([1.0, 1.0, 1.0]),
            TypeError,
            r"alpha is float64, it must be float32: .*alpha\.astype",
        ),
        ("alpha", None, TypeError, "alpha must be"),
        ("bias", [0.0] * 24, TypeError, "bias must be an aclnn.Tensor or a NumPy array of float32, got"),
        (
            "bias",
            np.zeros(24, ">f4"),
            TypeError,
            "bias has dtype >f4, which is not in this machine's byte order",
        ),
    ],
)
def test_mhc_pre_sinkhorn_refuses(name: str, value: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match="mhc_pre_sinkhorn: " + words):
        aclnn.ops.mhc_pre_sinkhorn(**(good() | {name: value}))


def test_attributes_are_keyword_only() -> None:
    with pytest.raises(TypeError, match="positional"):
        aclnn.ops.mhc_pre_sinkhorn(*good().values(), 4)
    parameters = inspect.signature(aclnn.ops.mhc_pre_sinkhorn).parameters
    assert parameters["need_backward"].default is False
    assert (parameters["hc_eps"].default, parameters["norm_eps"].default) == (1e-6, 1e-6)


def test_result_fields_are_the_c_outputs_in_order() -> None:
    fields = ["hin", "h_post", "h_res", "h_pre", "hc_before_norm", "inv_rms", "sum_out", "norm_out"]
    assert list(aclnn.ops.MhcPreSinkhorn._fields) == fields
