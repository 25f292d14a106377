"""MhcPre and MhcPreV2: the projections in front of a layer without Sinkhorn."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..creation import empty
from ..operator import op
from ..stream import Stream
from ..tensor import Tensor
from ._inputs import require, require_rank


class MhcPre(NamedTuple):
    """Results of `mhc_pre` and `mhc_pre_v2`; [...] stands for [B, S] or [T], rows for those of phi. h_res is
    None with an alpha of 2, the last three are None unless `need_optional`."""

    h_in: Tensor  # dtype of x, [..., D]
    h_post: Tensor  # float32, [..., n]
    h_res: Tensor | None = None  # float32, [..., n, n]: raw logits
    inv_rms: Tensor | None = None  # float32, [...]
    h_mix: Tensor | None = None  # float32, [..., rows]
    h_pre: Tensor | None = None  # float32, [..., n]


def _outputs(name: str, inputs: tuple[Any, ...], need_optional: bool) -> MhcPre:
    x, phi, alpha, bias, gamma = inputs
    require(name, "x", x, ("float16", "bfloat16"))
    require(name, "phi", phi, ("float32",))
    require(name, "alpha", alpha, ("float32",))
    require(name, "bias", bias, ("float32",))
    if gamma is not None:
        require(name, "gamma", gamma, ("float32",))
    require_rank(name, "x", x, (3, 4), "[B, S, n, D] or [T, n, D]")
    *tokens, n, d = x.shape
    has_res = tuple(alpha.shape) == (3,)
    result = MhcPre(
        h_in=empty((*tokens, d), x.dtype),
        h_post=empty((*tokens, n)),
        h_res=empty((*tokens, n, n)) if has_res else None,
    )
    if need_optional:
        result = result._replace(
            inv_rms=empty(tuple(tokens)),
            h_mix=empty((*tokens, 2 * n + (n * n if has_res else 0))),
            h_pre=empty((*tokens, n)),
        )
    return result


def mhc_pre(
    x: Any,
    phi: Any,
    alpha: Any,
    bias: Any,
    gamma: Any = None,
    *,
    norm_eps: float = 1e-6,
    hc_eps: float = 1e-6,
    need_optional: bool = False,
    stream: Stream | None = None,
) -> MhcPre:
    """RMS norm, the mHC projections and the input of the layer in one operator (aclnnMhcPre).

    Each of these is a Tensor or a NumPy array:
      x      float16 or bfloat16  [B, S, n, D] or [T, n, D]; n 4, on Ascend 950 also 6 and 8
      phi    float32              [n*n + 2n, n*D], or [2n, n*D] with an alpha of 2
      alpha  float32              [3]: pre, post, res; or [2]: no h_res
      bias   float32              [n*n + 2n] or [2n]
      gamma  float32              [n, D], or None: multiplies x in front of the projection
    D is a multiple of 128 up to 100000, on Ascend 950 a multiple of 16 up to 16384.
    `hc_eps` is added after the sigmoid of h_pre and, with an alpha of 2, to h_post; `norm_eps` under the
    square root. `need_optional` also returns inv_rms, h_mix and h_pre.

    Returns at once with device tensors (see MhcPre); `.numpy()` waits for them.

    Errors: TypeError for a wrong kind or dtype (nothing is cast), ValueError for a wrong rank of x,
    AclnnParameterError (161001, 161002) for what the operator itself refuses: shapes, empty tensors.
    """
    result = _outputs("mhc_pre", (x, phi, alpha, bias, gamma), need_optional)
    op("aclnnMhcPre")(x, phi, alpha, bias, gamma, norm_eps, hc_eps, *result, stream=stream)
    return result


def mhc_pre_v2(
    x: Any,
    phi: Any,
    alpha: Any,
    bias: Any,
    gamma: Any = None,
    *,
    norm_eps: float = 1e-6,
    hc_eps: float = 1e-6,
    op_impl_mode: int = 0,
    need_optional: bool = False,
    stream: Stream | None = None,
) -> MhcPre:
    """`mhc_pre` with a choice of how the projection multiplies (aclnnMhcPreV2).

    `op_impl_mode` 0 multiplies in float32, 1 in HF32, on Ascend 950 only: both operands keep 10 bits of
    mantissa, the sum is float32. All else is as in `mhc_pre`, errors too; a mode that the device does not
    have is an AclnnParameterError (161002).
    """
    result = _outputs("mhc_pre_v2", (x, phi, alpha, bias, gamma), need_optional)
    call = op("aclnnMhcPreV2")
    call(x, phi, alpha, bias, gamma, norm_eps, hc_eps, op_impl_mode, *result, stream=stream)
    return result
