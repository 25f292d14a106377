"""Sinkhorn normalisation as an operator of its own."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .mhc import sinkhorn

Array = NDArray[Any]


class MhcSinkhornOutputs(NamedTuple):
    """Outputs of `mhc_sinkhorn`, named as in C."""

    output: Array  # shape of x
    norm_out: Array  # [2 * num_iters * T * n * 8]: slots of [T][n][8], lanes n..7 zero
    sum_out: Array  # [2 * num_iters * T * 8]: slots of [T][8], lanes n..7 zero


def mhc_sinkhorn(x: ArrayLike, *, eps: float = 1e-6, num_iters: int = 20) -> MhcSinkhornOutputs:
    """aclnnMhcSinkhorn: makes each n x n matrix of ``x`` nearly doubly stochastic; see :func:`sinkhorn`.

    x : floating array [b, s, n, n] or [t, n, n], n at most 8; all arithmetic is done in its dtype. A NaN or
        infinity makes everything of its matrix NaN.
    eps : narrowed to float32.
    num_iters : row-and-column rounds, at least 1.

    Raises ValueError for another shape of ``x`` or for ``num_iters`` below 1.
    """
    x = np.asarray(x)
    if x.ndim not in (3, 4) or x.shape[-1] > 8:
        raise ValueError(f"x must be [b, s, n, n] or [t, n, n] with n at most 8, got {list(x.shape)}")
    n = x.shape[-1]
    spoilt = np.where(np.isfinite(x).all(axis=(-2, -1), keepdims=True), x.dtype.type(0), x.dtype.type(np.nan))
    steps = sinkhorn(x + spoilt, num_iters, eps)
    norm = np.zeros((*steps.norm_out.shape[:-1], 8), x.dtype)
    norm[..., :n] = steps.norm_out
    total = np.zeros((*steps.sum_out.shape[:-1], 8), x.dtype)
    total[..., :n] = steps.sum_out
    return MhcSinkhornOutputs(steps.result, norm.ravel(), total.ravel())
