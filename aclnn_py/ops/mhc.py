"""Manifold-constrained hyper-connections (mHC)."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

from ..creation import empty
from ..operator import op
from ..stream import Stream
from ..tensor import Tensor
from ._inputs import require, require_rank

_MhcPreSinkhorn = "aclnnMhcPreSinkhorn"


def _slots(num_iters: Any) -> int:
    """2 * num_iters where that can be right. The call refuses the rest, and need not fill memory first."""
    most = 100
    try:
        return 2 * min(max(operator.index(num_iters), 0), most)
    except TypeError:
        return 0


class MhcPreSinkhorn(NamedTuple):
    """Results of `mhc_pre_sinkhorn`; [...] stands for [b, s] or [t], mix for n*n + 2n. The last five are None
    unless `need_backward`."""

    hin: Tensor  # dtype of x, [..., c]
    h_post: Tensor  # float32, [..., n]
    h_res: Tensor  # float32, [..., n*n]: an n x n matrix per token, row-major
    h_pre: Tensor | None = None  # float32, [..., n]
    hc_before_norm: Tensor | None = None  # float32, [..., mix]
    inv_rms: Tensor | None = None  # float32, [..., 1]
    sum_out: Tensor | None = None  # float32, [2*num_iters, ..., n]
    norm_out: Tensor | None = None  # float32, [2*num_iters, ..., n, n]


def mhc_pre_sinkhorn(
    x: Any,
    phi: Any,
    alpha: Any,
    bias: Any,
    *,
    hc_mult: int = 4,
    num_iters: int = 20,
    hc_eps: float = 1e-6,
    norm_eps: float = 1e-6,
    need_backward: bool = False,
    stream: Stream | None = None,
) -> MhcPreSinkhorn:
    """RMS norm, the three mHC projections and Sinkhorn's iteration in one operator (aclnnMhcPreSinkhorn).

    Each of these is a Tensor or a NumPy array:
      x      float16 or bfloat16  [b, s, n, c], or [t, n, c] on Ascend 950
      phi    float32              [n*n + 2n, n*c]
      alpha  float32              [3]: pre, post, res
      bias   float32              [n*n + 2n]
    `hc_mult` (= n) must be 4 and `num_iters` 20 on today's devices. `hc_eps` is added after the sigmoid of
    h_pre and in Sinkhorn's sums, `norm_eps` under the square root.

    Returns at once with device tensors (see MhcPreSinkhorn); `.numpy()` waits for them.

    Errors: TypeError for a wrong kind or dtype (nothing is cast), ValueError for a wrong rank of x,
    AclnnParameterError (161001, 161002) for what the operator itself refuses: shapes, attribute values.
    """
    name = "mhc_pre_sinkhorn"
    require(name, "x", x, ("float16", "bfloat16"))
    require(name, "phi", phi, ("float32",))
    require(name, "alpha", alpha, ("float32",))
    require(name, "bias", bias, ("float32",))
    require_rank(name, "x", x, (3, 4), "[b, s, n, c] or [t, n, c]")
    call = op(_MhcPreSinkhorn)
    *tokens, n, c = x.shape
    result = MhcPreSinkhorn(
        hin=empty((*tokens, c), x.dtype),
        h_post=empty((*tokens, n)),
        h_res=empty((*tokens, n * n)),
    )
    if need_backward:
        slots = _slots(num_iters)
        result = result._replace(
            h_pre=empty((*tokens, n)),
            hc_before_norm=empty((*tokens, n * n + 2 * n)),
            inv_rms=empty((*tokens, 1)),
            sum_out=empty((slots, *tokens, n)),
            norm_out=empty((slots, *tokens, n, n)),
        )
    call(x, phi, alpha, bias, hc_mult, num_iters, hc_eps, norm_eps, need_backward, *result, stream=stream)
    return result
