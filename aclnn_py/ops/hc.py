"""The fused operators of the HcPre family: hc_pre and hc_pre_v2."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

from ..creation import empty, tensor
from ..operator import op
from ..stream import Stream
from ..tensor import Tensor
from ..values import shown
from ._inputs import contiguous, require, require_rank, require_shape
from .hc_parts import hc_pre_inv_rms, hc_pre_sinkhorn

_STREAMS = 4
_MIX = _STREAMS * _STREAMS + 2 * _STREAMS
_ITERS = 20
_TAILS = (4096, 5120, 7168)
_ROUTES = ("auto", "fused", "composite", "documented")
_KEEP_DTYPE = 0  # of aclnnMatmul's cubeMathType: multiply in the operands' own precision
_WIDENED_BYTES = 64 << 20  # float32 copy of x at a time on the composite route


class HcPre(NamedTuple):
    """Results of `hc_pre`; [...] stands for [b, s] or [T]."""

    y: Tensor  # bfloat16, [..., d]
    post: Tensor  # float32, [..., 4]
    comb_frag: Tensor  # float32, [..., 4, 4]


class HcPreV2(NamedTuple):
    """Results of `hc_pre_v2`; [...] stands for [b, s] or [T]."""

    y: Tensor  # bfloat16, [..., d]
    post: Tensor  # float32, [..., 4]
    comb_frag: Tensor  # float32, [..., 4, 4]
    hc_pre: Tensor  # float32, [..., 4]: the pre_mix of the next round


def _require_value(name: str, what: str, value: Any, only: int) -> None:
    try:
        good = not isinstance(value, bool) and operator.index(value) == only
    except TypeError:
        raise TypeError(f"{name}: {what} must be an int, got {shown(value)}") from None
    if not good:
        raise ValueError(f"{name}: {what} is {value}, it must be {only}")


def _require_all(
    name: str,
    x: Any,
    hc_fn: Any,
    hc_scale: Any,
    hc_base: Any,
    pre_mix: Any,
    hc_mult: Any,
    hc_sinkhorn_iters: Any,
    route: Any,
) -> None:
    """What the vendor's PyTorch layer checks before it calls the operator."""
    require(name, "x", x, ("bfloat16",))
    for what, value in (("hc_fn", hc_fn), ("hc_scale", hc_scale), ("hc_base", hc_base)):
        require(name, what, value, ("float32",))
    require_rank(name, "x", x, (3, 4), "[b, s, 4, d] or [T, 4, d]")
    shape = list(x.shape)
    *tokens, n, d = shape
    if 0 in shape:
        raise ValueError(f"{name}: x has shape {shape}, no axis may have length 0")
    if n != _STREAMS:
        raise ValueError(f"{name}: x has shape {shape}, the axis before the last must be {_STREAMS}")
    if d not in _TAILS:
        raise ValueError(f"{name}: x has shape {shape}, the last axis must be 4096, 5120 or 7168")
    require_shape(name, "hc_fn", hc_fn, (_MIX, n * d))
    require_shape(name, "hc_scale", hc_scale, (3,))
    require_shape(name, "hc_base", hc_base, (_MIX,))
    if pre_mix is not None:
        require(name, "pre_mix", pre_mix, ("float32",))
        require_shape(name, "pre_mix", pre_mix, (*tokens, n))
    _require_value(name, "hc_mult", hc_mult, _STREAMS)
    _require_value(name, "hc_sinkhorn_iters", hc_sinkhorn_iters, _ITERS)
    if route not in _ROUTES:
        raise ValueError(f"{name}: route is {shown(route)}, it must be one of {', '.join(_ROUTES)}")


def _is_fused(route: str, tokens: int) -> bool:
    if route == "documented":
        return tokens <= 128 and tokens % 16 == 0
    return route != "composite"


def hc_pre(
    x: Any,
    hc_fn: Any,
    hc_scale: Any,
    hc_base: Any,
    *,
    hc_mult: int = 4,
    hc_sinkhorn_iters: int = 20,
    norm_eps: float = 1e-6,
    hc_eps: float = 1e-6,
    route: str = "auto",
    stream: Stream | None = None,
) -> HcPre:
    """RMS norm, projection, gates, Sinkhorn, weighted sum in front of a layer (aclnnHcPre, custom operator).

    Each of these is a Tensor or a NumPy array; a strided Tensor is made dense first:
      x         bfloat16  [b, s, 4, d] or [T, 4, d], d 4096, 5120 or 7168
      hc_fn     float32   [24, 4*d], rows: 4 pre, 4 post, 16 comb
      hc_scale  float32   [3]: pre, post, comb
      hc_base   float32   [24]
    `hc_mult` must be 4 and `hc_sinkhorn_iters` 20. `norm_eps` is added under the square root, `hc_eps` after
    the sigmoid of the weights and in Sinkhorn's sums; in C hc_eps comes first.

    `route`: "fused" (what "auto" takes) is the one operator, which multiplies x and hc_fn in the cube's HF32
    format. "composite" runs aclnnHcPreInvRms, aclnnMatmul in float32 and aclnnHcPreSinkhorn one after the
    other: hc_fn keeps all its bits. "documented" chooses as the vendor's document says: fused for T <= 128
    and T % 16 == 0 (T = b*s), else composite.

    Returns at once with device tensors (see HcPre); `.numpy()` waits for them.

    Errors: TypeError for a wrong kind or dtype (nothing is cast), ValueError for a shape, attribute or route
    that is not supported, LibraryNotFound where the custom package is not installed, AclnnInnerError (561002)
    on the composite route for a norm_eps that is not greater than 0 in float32.
    """
    name = "hc_pre"
    _require_all(name, x, hc_fn, hc_scale, hc_base, None, hc_mult, hc_sinkhorn_iters, route)
    *tokens, n, d = x.shape
    if not _is_fused(route, x.size // (n * d)):
        return HcPre(*_composite(x, hc_fn, hc_scale, hc_base, norm_eps, hc_eps, stream))
    call = op("aclnnHcPre")
    result = HcPre(empty((*tokens, d), x.dtype), empty((*tokens, n)), empty((*tokens, n, n)))
    inputs = (contiguous(value, stream) for value in (x, hc_fn, hc_scale, hc_base))
    call(*inputs, hc_mult, hc_sinkhorn_iters, hc_eps, norm_eps, *result, stream=stream)
    return result


def hc_pre_v2(
    x: Any,
    hc_fn: Any,
    hc_scale: Any,
    hc_base: Any,
    pre_mix: Any = None,
    *,
    hc_mult: int = 4,
    hc_sinkhorn_iters: int = 20,
    norm_eps: float = 1e-6,
    hc_eps: float = 1e-6,
    stream: Stream | None = None,
) -> HcPreV2:
    """`hc_pre` with the weights of y given, and this call's weights as a fourth result (aclnnHcPreV2).

    Arguments as for `hc_pre` (there is no composite route), and
      pre_mix   float32   [..., 4], the weights of y, usually the hc_pre of the round before; they are used as
                          they are and change nothing but y. None: this call's hc_pre
    Returns at once with device tensors (see HcPreV2); `.numpy()` waits for them. Errors as for `hc_pre`.
    """
    name = "hc_pre_v2"
    _require_all(name, x, hc_fn, hc_scale, hc_base, pre_mix, hc_mult, hc_sinkhorn_iters, "fused")
    *tokens, n, d = x.shape
    call = op("aclnnHcPreV2")
    result = HcPreV2(
        empty((*tokens, d), x.dtype), empty((*tokens, n)), empty((*tokens, n, n)), empty((*tokens, n))
    )
    inputs = (contiguous(value, stream) for value in (x, hc_fn, hc_scale, hc_base, pre_mix))
    call(*inputs, hc_mult, hc_sinkhorn_iters, hc_eps, norm_eps, *result, stream=stream)
    return result


def _composite(
    x: Any, hc_fn: Any, hc_scale: Any, hc_base: Any, norm_eps: float, hc_eps: float, stream: Stream | None
) -> tuple[Tensor, Tensor, Tensor]:
    x, hc_fn = (
        contiguous(value if isinstance(value, Tensor) else tensor(value), stream) for value in (x, hc_fn)
    )
    rsqrt = hc_pre_inv_rms(x, epsilon=norm_eps, stream=stream)
    mixes = empty((*x.shape[:-2], _MIX))
    width = x.shape[-2] * x.shape[-1]
    rows, products = x.reshape(-1, width), mixes.reshape(-1, _MIX)
    count = max(1, _WIDENED_BYTES // (4 * width))
    widened = empty((min(count, len(rows)), width))
    for first in range(0, len(rows), count):
        part = rows[first : first + count]
        wide = widened[: len(part)]
        op("aclnnCast")(part, wide.data_type, wide, stream=stream)
        op("aclnnMatmul")(wide, hc_fn.T, products[first : first + len(part)], _KEEP_DTYPE, stream=stream)
    return hc_pre_sinkhorn(mixes, rsqrt, hc_scale, hc_base, x, hc_eps=hc_eps, stream=stream)
