"""Sinkhorn normalisation (mHC)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ..creation import empty
from ..operator import op
from ..stream import Stream
from ..tensor import Tensor
from ._inputs import require, require_rank
from .mhc import _slots

_LANES = 8


class MhcSinkhorn(NamedTuple):
    """Results of `mhc_sinkhorn`. The last two are None unless `need_backward`."""

    output: Tensor  # float32, shape of x
    norm_out: Tensor | None = None  # float32, flat, 2*num_iters * T * n * 8 elements
    sum_out: Tensor | None = None  # float32, flat, 2*num_iters * T * 8 elements


def mhc_sinkhorn(
    x: Any,
    *,
    eps: float = 1e-6,
    num_iters: int = 20,
    need_backward: bool = False,
    stream: Stream | None = None,
) -> MhcSinkhorn:
    """Makes each n x n matrix of x nearly doubly stochastic (aclnnMhcSinkhorn, Ascend 950 only).

    x is a float32 Tensor or NumPy array [b, s, n, n] or [t, n, n] with n = 4, 6 or 8. A softmax over the
    rows, plus `eps`; then columns and rows in turn are divided by their sums plus `eps` (a C float),
    `num_iters` (1 to 100) rounds in all. The last step is a column step. A NaN or infinity makes its matrix
    NaN.

    With `need_backward`, norm_out holds the matrix after each step and sum_out what the step divided by:
    slots of [T, n, 8] and [T, 8], lanes n..7 zero, even slots for row steps. T = b*s or t. That is the
    emulator's order; on an NPU it depends on the kernel's tiling, as it is meant for the backward operator
    only.

    Returns at once with device tensors (see MhcSinkhorn); `.numpy()` waits for them.

    Errors: TypeError for a wrong kind or dtype (nothing is cast), ValueError for a wrong rank of x,
    AclnnParameterError (161002) for what the operator itself refuses: shapes, `num_iters`, an empty x, other
    chips.
    """
    require("mhc_sinkhorn", "x", x, ("float32",))
    require_rank("mhc_sinkhorn", "x", x, (3, 4), "[b, s, n, n] or [t, n, n]")
    call = op("aclnnMhcSinkhorn")
    result = MhcSinkhorn(empty(tuple(x.shape)))
    # A num_iters out of range is refused for itself, not for the sizes of slots that follow from it.
    if need_backward and num_iters in range(1, 101):
        rows = _slots(num_iters) * math.prod(x.shape[:-2]) * _LANES
        result = result._replace(norm_out=empty((rows * x.shape[-1],)), sum_out=empty((rows,)))
    call(x, eps, num_iters, *result, stream=stream)
    return result
