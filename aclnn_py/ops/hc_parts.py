"""The small operators of the HcPre family: hc_pre_inv_rms, hc_pre_sinkhorn, hc_post."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..creation import empty
from ..operator import op
from ..stream import Stream
from ..tensor import Tensor
from ._inputs import contiguous, require, require_rank, require_shape

_STREAMS = 4
_FLOATS = ("float16", "bfloat16", "float32")


class HcPreSinkhorn(NamedTuple):
    """Results of `hc_pre_sinkhorn`; [...] stands for [b, s] or [t]."""

    y: Tensor  # bfloat16, [..., d]
    post: Tensor  # float32, [..., 4]
    comb_frag: Tensor  # float32, [..., 4, 4]


def _require_streams(op_name: str, name: str, value: Any) -> None:
    """ValueError unless `value` is [b, s, 4, d] or [t, 4, d] with no axis of length 0."""
    require_rank(op_name, name, value, (3, 4), "[b, s, 4, d] or [t, 4, d]")
    shape = list(value.shape)
    if shape[-2] != _STREAMS:
        raise ValueError(f"{op_name}: {name} has shape {shape}, the axis before the last must be {_STREAMS}")
    if 0 in shape:
        raise ValueError(f"{op_name}: {name} has shape {shape}, no axis may have length 0")


def hc_pre_inv_rms(x: Any, *, epsilon: float = 1e-20, stream: Stream | None = None) -> Tensor:
    """1 / sqrt(mean(x^2) + epsilon) over all streams of each token (aclnnHcPreInvRms, a custom operator).

    x        float16, bfloat16 or float32, a Tensor or a NumPy array: [b, s, n, d] or [t, n, d], or [t, n*d]
             if the streams are joined already
    epsilon  greater than 0. The default is that of `npu_hc_pre_inv_rms`; the op definition has 1e-6

    Returns at once with a float32 device tensor [b, s, 1] or [t, 1]; `.numpy()` waits for it.

    Errors: TypeError for a wrong kind or dtype, ValueError for a wrong rank or an axis of length 0,
    AclnnInnerError (561002) for an epsilon that is not greater than 0 in float32.
    """
    name = "hc_pre_inv_rms"
    require(name, "x", x, _FLOATS)
    require_rank(name, "x", x, (2, 3, 4), "[b, s, n, d], [t, n, d] or [t, n*d]")
    if 0 in x.shape:
        raise ValueError(f"{name}: x has shape {list(x.shape)}, no axis may have length 0")
    call = op("aclnnHcPreInvRms")
    out = empty((*x.shape[: max(1, len(x.shape) - 2)], 1))
    call(contiguous(x, stream), epsilon, out, stream=stream)
    return out


def hc_pre_sinkhorn(
    mixes: Any,
    rsqrt: Any,
    hc_scale: Any,
    hc_base: Any,
    x: Any,
    *,
    hc_mult: int = 4,
    hc_sinkhorn_iters: int = 20,
    hc_eps: float = 1e-6,
    stream: Stream | None = None,
) -> HcPreSinkhorn:
    """Gates and Sinkhorn matrix of each token, and the weighted sum of its streams (aclnnHcPreSinkhorn).

    The last of the HcPre family's separate operators, behind `hc_pre_inv_rms` and the projection. Each of
    these is a Tensor or a NumPy array; [...] stands for [b, s] or [t]:
      mixes     float32   [..., 24]: the projections of x, 4 pre, 4 post, 16 comb
      rsqrt     float32   [..., 1] or [...]: what `hc_pre_inv_rms` gives
      hc_scale  float32   [3]: pre, post, comb
      hc_base   float32   [24]
      x         bfloat16  [..., 4, d]
    `hc_mult` must be 4, `hc_sinkhorn_iters` 1 to 100. `hc_eps` is added after the sigmoid of pre and in
    Sinkhorn's sums; `npu_hc_pre_sinkhorn` has 1e-5 where the op definition and this function have 1e-6.

    Returns at once with device tensors (see HcPreSinkhorn); `.numpy()` waits for them.

    Errors: TypeError for a wrong kind or dtype, ValueError for a shape that does not fit the others,
    AclnnInnerError (561002) for an attribute that the operator refuses.
    """
    name = "hc_pre_sinkhorn"
    for what, value in (("mixes", mixes), ("rsqrt", rsqrt), ("hc_scale", hc_scale), ("hc_base", hc_base)):
        require(name, what, value, ("float32",))
    require(name, "x", x, ("bfloat16",))
    _require_streams(name, "x", x)
    *tokens, n, d = x.shape
    mix = n * n + 2 * n
    require_shape(name, "mixes", mixes, (*tokens, mix))
    require_shape(name, "rsqrt", rsqrt, (*tokens, 1), tuple(tokens))
    require_shape(name, "hc_scale", hc_scale, (3,))
    require_shape(name, "hc_base", hc_base, (mix,))
    call = op("aclnnHcPreSinkhorn")
    result = HcPreSinkhorn(
        y=empty((*tokens, d), x.dtype),
        post=empty((*tokens, n)),
        comb_frag=empty((*tokens, n, n)),
    )
    inputs = (contiguous(value, stream) for value in (mixes, rsqrt, hc_scale, hc_base, x))
    call(*inputs, hc_mult, hc_sinkhorn_iters, hc_eps, *result, stream=stream)
    return result


def hc_post(x: Any, residual: Any, post: Any, comb: Any, *, stream: Stream | None = None) -> Tensor:
    """Spreads a layer's output over the residual streams and mixes these (aclnnHcPost, a custom operator).

    y[j] = post[j] * x + sum over i of comb[i, j] * residual[i]. Each of these is a Tensor or a NumPy array;
    [...] stands for [b, s] or [t]:
      x         float16, bfloat16 or float32  [..., d]
      residual  dtype of x                    [..., 4, d]
      post      float16, bfloat16 or float32  [..., 4]
      comb      dtype of post                 [..., 4, 4]
    The vendor's PyTorch layer takes d 4096 and 7168 only; the operator and this function take any.

    Returns at once with a device tensor like residual; `.numpy()` waits for it.

    Errors: TypeError for a wrong kind or dtype, ValueError for a shape that does not fit the others.
    """
    name = "hc_post"
    require(name, "x", x, _FLOATS)
    require(name, "residual", residual, (str(x.dtype),))
    require(name, "post", post, _FLOATS)
    require(name, "comb", comb, (str(post.dtype),))
    _require_streams(name, "residual", residual)
    *tokens, n, d = residual.shape
    require_shape(name, "x", x, (*tokens, d))
    require_shape(name, "post", post, (*tokens, n))
    require_shape(name, "comb", comb, (*tokens, n, n))
    call = op("aclnnHcPost")
    y = empty(residual.shape, residual.dtype)
    call(*(contiguous(value, stream) for value in (x, residual, post, comb)), y, stream=stream)
    return y
