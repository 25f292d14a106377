"""The layer's output goes back into the residual streams (mHC), and the gradients of that."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..creation import empty
from ..operator import op
from ..stream import Stream
from ..tensor import Tensor
from ._inputs import require, require_rank


class MhcPostGradients(NamedTuple):
    """Results of `mhc_post_backward`; [...] stands for [b, s] or [t]."""

    grad_x: Tensor  # dtype of x, [..., n, D]
    grad_h_res: Tensor  # float32, [..., n, n]
    grad_h_out: Tensor  # dtype of x, [..., D]
    grad_h_post: Tensor  # float32, [..., n]


def mhc_post(x: Any, h_res: Any, h_out: Any, h_post: Any, *, stream: Stream | None = None) -> Tensor:
    """Puts the output of a layer back into the n residual streams and mixes them (aclnnMhcPost).

    out_j = h_post_j * h_out + sum_i h_res_ij * x_i for each token, in float32, rounded once. Each of these
    is a Tensor or a NumPy array; [...] stands for [b, s] or [t]:
      x       float16 or bfloat16  [..., n, D], the streams in front of the layer
      h_res   float32              [..., n, n], or [..., n*n] as `mhc_pre_sinkhorn` gives it; the first index
                                   is the source stream. None (Ascend 950 only) is the identity:
                                   out_j = x_j + h_post_j * h_out
      h_out   dtype of x           [..., D], what the layer made
      h_post  float32              [..., n]
    Off Ascend 950 n is 4, and D a multiple of 128 below 100000.

    Returns out, shape and dtype of x, on the device, at once; `.numpy()` waits for it.

    Errors: TypeError for a wrong kind or dtype (nothing is cast), ValueError for a wrong rank of x,
    AclnnError for what the operator itself refuses: 161002 shapes, 561103 n and D, 361001 no h_res off
    Ascend 950.
    """
    _require("mhc_post", x, h_res, h_out, h_post)
    call = op("aclnnMhcPost")
    out = empty(tuple(x.shape), x.dtype)
    call(x, _matrices(h_res, x), h_out, h_post, out, stream=stream)
    return out


def mhc_post_backward(
    grad_output: Any, x: Any, h_res: Any, h_out: Any, h_post: Any, *, stream: Stream | None = None
) -> MhcPostGradients:
    """The gradients of `mhc_post` (aclnnMhcPostBackward).

    grad_output is like x, the other arguments are those of `mhc_post`. With g = grad_output:
    grad_x_i = sum_j h_res_ij g_j (g_i without h_res), grad_h_res_ij = <x_i, g_j> over D,
    grad_h_out = sum_j h_post_j g_j, grad_h_post_j = <h_out, g_j> over D. D is a multiple of 128 up to
    100000; n is 4, on Ascend 950 also 6 or 8. Without h_res, grad_h_res is what it would be at the identity.

    Returns at once with device tensors (see MhcPostGradients); `.numpy()` waits for them.

    Errors: TypeError for a wrong kind or dtype (nothing is cast), ValueError for a wrong rank of x,
    AclnnParameterError for what the operator itself refuses: 161002 shapes, n and D, 161001 no h_res off
    Ascend 950.
    """
    _require("mhc_post_backward", x, h_res, h_out, h_post)
    require("mhc_post_backward", "grad_output", grad_output, (str(x.dtype),))
    call = op("aclnnMhcPostBackward")
    *tokens, n, tail = x.shape
    result = MhcPostGradients(
        grad_x=empty((*tokens, n, tail), x.dtype),
        grad_h_res=empty((*tokens, n, n)),
        grad_h_out=empty((*tokens, tail), x.dtype),
        grad_h_post=empty((*tokens, n)),
    )
    call(grad_output, x, _matrices(h_res, x), h_out, h_post, *result, stream=stream)
    return result


def _matrices(h_res: Any, x: Any) -> Any:
    """h_res as [..., n, n] where it is [..., n*n]; what fits neither is for the operator to refuse."""
    *tokens, n, _ = x.shape
    if h_res is not None and tuple(h_res.shape) == (*tokens, n * n):
        return h_res.reshape(*tokens, n, n)
    return h_res


def _require(name: str, x: Any, h_res: Any, h_out: Any, h_post: Any) -> None:
    require(name, "x", x, ("float16", "bfloat16"))
    if h_res is not None:
        require(name, "h_res", h_res, ("float32",))
    require(name, "h_out", h_out, (str(x.dtype),))
    require(name, "h_post", h_post, ("float32",))
    require_rank(name, "x", x, (3, 4), "[b, s, n, D] or [t, n, D]")
