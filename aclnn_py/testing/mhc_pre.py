"""Inputs and tolerances of MhcPre and MhcPreV2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
from numpy.typing import DTypeLike, NDArray

from .compare import FLOAT32_TOLERANCE, HIN_TOLERANCE, Comparison, compare

Array = NDArray[Any]

MHC_PRE_OUTPUTS = ("h_in", "h_post", "h_res", "inv_rms", "h_mix", "h_pre")
_HF32 = 2e-3


class MhcPreCase(NamedTuple):
    """The input tensors of MhcPre; gamma may be None."""

    x: Array
    phi: Array
    alpha: Array
    bias: Array
    gamma: Array | None


def mhc_pre_case(
    lead: Sequence[int],
    d: int,
    dtype: DTypeLike = ml_dtypes.bfloat16,
    *,
    n: int = 4,
    scales: int = 3,
    gamma: bool = True,
    seed: int = 0,
) -> MhcPreCase:
    """Random inputs: x [*lead, n, d] is standard normal in ``dtype``, phi uniform within +-1/sqrt(n*d), alpha
    (``scales`` of them, 3 or 2) and bias normal, gamma uniform in 0.5 to 1.5, or None."""
    rng = np.random.default_rng(seed)
    rows = 2 * n + (n * n if scales == 3 else 0)
    bound = 1 / np.sqrt(max(1, n * d))
    return MhcPreCase(
        x=rng.standard_normal((*lead, n, d), np.float32).astype(dtype),
        phi=rng.uniform(-bound, bound, (rows, n * d)).astype(np.float32),
        alpha=rng.standard_normal(scales, np.float32),
        bias=rng.standard_normal(rows, np.float32),
        gamma=rng.uniform(0.5, 1.5, (n, d)).astype(np.float32) if gamma else None,
    )


def check_mhc_pre(
    actual: Sequence[Array | None],
    expected: Sequence[Array | None],
    *,
    hf32: bool = False,
    ulps: int = 1,
) -> list[Comparison]:
    """Compares results of MhcPre, output by output in C order, under the operator's tolerances.

    Both hold the six outputs; None on both sides counts as not asked for. ``hf32`` allows for how chips round
    to HF32: 2e-3, for h_mix relative to its size. ``ulps`` is granted to h_in only, as in
    `check_mhc_pre_sinkhorn`. Raises ValueError when the number of outputs or a shape differs and TypeError
    when a dtype does.
    """
    report = []
    for name, a, e in zip(MHC_PRE_OUTPUTS, actual, expected, strict=True):
        if a is None and e is None:
            continue
        if a is None or e is None:
            raise ValueError(f"{name}: given on one side only")
        a, e = np.asarray(a), np.asarray(e)
        if a.dtype != e.dtype:
            raise TypeError(f"{name}: dtype {a.dtype} where {e.dtype} is expected")
        if name == "h_in":
            rtol, atol = HIN_TOLERANCE[e.dtype]
        elif hf32:
            size = np.sqrt(np.mean(np.square(e, dtype=np.float64))) if name == "h_mix" and e.size else 1.0
            rtol, atol = _HF32, _HF32 * max(1.0, float(size))
        else:
            rtol, atol = FLOAT32_TOLERANCE
        report.append(compare(a, e, rtol, atol, ulps if name == "h_in" else 0, name))
    return report
