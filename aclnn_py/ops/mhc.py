"""Manifold-constrained hyper-connections (mHC)."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

from ..creation import empty, tensor, zeros
from ..operator import op
from ..stream import Stream
from ..tensor import Tensor
from ._inputs import require, require_rank

_MhcPreSinkhorn = "aclnnMhcPreSinkhorn"
_MhcPreSinkhornBackward = "aclnnMhcPreSinkhornBackward"


def _slots(num_iters: Any) -> int:
    """2 * num_iters where that can be right. The call refuses the rest, and need not fill memory first."""
    most = 100
    try:
        return 2 * min(max(operator.index(num_iters), 0), most)
    except TypeError:
        return 0


class _MhcPreSinkhornOutputs(NamedTuple):
    """The fields of MhcPreSinkhorn, which cannot have others while it is a NamedTuple itself."""

    hin: Tensor
    h_post: Tensor
    h_res: Tensor
    h_pre: Tensor | None = None
    hc_before_norm: Tensor | None = None
    inv_rms: Tensor | None = None
    sum_out: Tensor | None = None
    norm_out: Tensor | None = None


class _Inputs(NamedTuple):
    """What `MhcPreSinkhorn.backward` needs besides the outputs."""

    x: Tensor
    phi: Tensor
    alpha: Tensor
    bias: Tensor
    hc_eps: float
    stream: Stream | None


class MhcPreSinkhorn(_MhcPreSinkhornOutputs):
    """Results of `mhc_pre_sinkhorn`, a named tuple of device tensors; [...] stands for [b, s] or [t], mix for
    n*n + 2n. The last five are None unless `need_backward`.

      hin             dtype of x  [..., c]
      h_post          float32     [..., n]
      h_res           float32     [..., n*n]: an n x n matrix per token, row-major
      h_pre           float32     [..., n]
      hc_before_norm  float32     [..., mix]
      inv_rms         float32     [..., 1]
      sum_out         float32     [2*num_iters, ..., n]
      norm_out        float32     [2*num_iters, ..., n, n]
    """

    _inputs: _Inputs | None = None

    def backward(
        self, grad_hin: Any, grad_h_post: Any, grad_h_res: Any, *, stream: Stream | None = None
    ) -> MhcPreSinkhornGradients:
        """The gradients of x, phi, alpha and bias, given those of hin, h_post and h_res
        (`mhc_pre_sinkhorn_backward` with what the forward call read and saved).

        Each gradient is a Tensor or a NumPy array: `grad_hin` of x's dtype [..., c], `grad_h_post` float32
        [..., n], `grad_h_res` float32 [..., n*n] or [..., n, n]. The work runs on `stream`, by default the
        forward call's. Device tensors that the forward call was given are kept, not copied: what has been
        written to them since then is what the gradients are taken at.

        Errors: RuntimeError unless this is what `mhc_pre_sinkhorn(..., need_backward=True)` returned; else as
        `mhc_pre_sinkhorn_backward`.
        """
        inputs = self._inputs
        if inputs is None:
            raise RuntimeError(
                "mhc_pre_sinkhorn: backward needs what the forward call saves; call "
                "mhc_pre_sinkhorn(..., need_backward=True) and backward of the very result"
            )
        return mhc_pre_sinkhorn_backward(
            grad_hin,
            grad_h_post,
            grad_h_res,
            inputs.x,
            inputs.phi,
            inputs.alpha,
            inputs.bias,
            *self[3:],
            hc_eps=inputs.hc_eps,
            stream=inputs.stream if stream is None else stream,
        )


class MhcPreSinkhornGradients(NamedTuple):
    """Results of `mhc_pre_sinkhorn_backward`."""

    grad_x: Tensor  # dtype and shape of x
    grad_phi: Tensor  # float32, [n*n + 2n, n*c]
    grad_alpha: Tensor  # float32, [3]
    grad_bias: Tensor  # float32, [n*n + 2n]


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
    c is a multiple of 128 up to 100000, on Ascend 950 4096 or 7168. `hc_mult` (= n) must be 4 and
    `num_iters` 20 on today's devices. `hc_eps` is added after the sigmoid of h_pre and in Sinkhorn's sums,
    `norm_eps` under the square root.

    Returns at once with device tensors (see MhcPreSinkhorn); `.numpy()` waits for them. With `need_backward`
    the result also remembers the inputs, and its method `backward` gives the gradients. Where x has no
    elements nothing is computed: what c = 0 leaves of the results is zero.

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
    made = zeros if 0 in x.shape else empty  # the operator writes nothing then
    result = MhcPreSinkhorn(
        hin=empty((*tokens, c), x.dtype),
        h_post=made((*tokens, n)),
        h_res=made((*tokens, n * n)),
    )
    if need_backward:
        x, phi, alpha, bias = (v if isinstance(v, Tensor) else tensor(v) for v in (x, phi, alpha, bias))
        slots = _slots(num_iters)
        result = result._replace(
            h_pre=made((*tokens, n)),
            hc_before_norm=made((*tokens, n * n + 2 * n)),
            inv_rms=made((*tokens, 1)),
            sum_out=made((slots, *tokens, n)),
            norm_out=made((slots, *tokens, n, n)),
        )
    call(x, phi, alpha, bias, hc_mult, num_iters, hc_eps, norm_eps, need_backward, *result, stream=stream)
    if need_backward:
        result._inputs = _Inputs(x, phi, alpha, bias, hc_eps, stream)
    return result


def mhc_pre_sinkhorn_backward(
    grad_hin: Any,
    grad_h_post: Any,
    grad_h_res: Any,
    x: Any,
    phi: Any,
    alpha: Any,
    bias: Any,
    h_pre: Any,
    hc_before_norm: Any,
    inv_rms: Any,
    sum_out: Any,
    norm_out: Any,
    *,
    hc_eps: float = 1e-6,
    stream: Stream | None = None,
) -> MhcPreSinkhornGradients:
    """The gradients of `mhc_pre_sinkhorn`'s inputs from those of its outputs (aclnnMhcPreSinkhornBackward).

    Each of these is a Tensor or a NumPy array; [...] stands for [b, s], or for [t] on Ascend 950:
      grad_hin                float16 or bfloat16  [..., c]
      grad_h_post             float32              [..., n]
      grad_h_res              float32              [..., n*n] or [..., n, n]
      x                       dtype of grad_hin    [..., n, c]
      phi, alpha, bias        float32              [n*n + 2n, n*c], [3], [n*n + 2n]
      h_pre ... norm_out      float32              as the forward call saved them, see MhcPreSinkhorn
    n is 4, on Ascend 950 1 to 8; c a multiple of 128 below 100000. `hc_eps` is the forward call's. Without
    any tokens the gradients of phi, alpha and bias are zero.

    Returns at once with device tensors (see MhcPreSinkhornGradients); `.numpy()` waits for them.

    Errors: TypeError for a wrong kind or dtype (nothing is cast), ValueError for a wrong rank of x and for
    an empty argument beside an x that is not, AclnnParameterError (161001, 161002) for what the operator
    itself refuses.
    """
    name = "mhc_pre_sinkhorn_backward"
    require(name, "grad_hin", grad_hin, ("float16", "bfloat16"))
    require(name, "x", x, ("float16", "bfloat16"))
    wide = {
        "grad_h_post": grad_h_post,
        "grad_h_res": grad_h_res,
        "phi": phi,
        "alpha": alpha,
        "bias": bias,
        "h_pre": h_pre,
        "hc_before_norm": hc_before_norm,
        "inv_rms": inv_rms,
        "sum_out": sum_out,
        "norm_out": norm_out,
    }
    for argument, value in wide.items():
        require(name, argument, value, ("float32",))
    require_rank(name, "x", x, (3, 4), "[b, s, n, c] or [t, n, c]")
    nothing = 0 in x.shape
    for argument, value in {"grad_hin": grad_hin, **wide}.items():
        if 0 in value.shape and not nothing and argument not in ("phi", "alpha", "bias"):
            # The operator would take it for "nothing to do", and leave the gradients unwritten.
            raise ValueError(
                f"{name}: {argument} has shape {tuple(value.shape)}, no elements, but x has some"
            )
    call = op(_MhcPreSinkhornBackward)
    made = zeros if nothing else empty  # the operator writes nothing then
    result = MhcPreSinkhornGradients(
        grad_x=empty(x.shape, x.dtype),
        grad_phi=made(phi.shape),
        grad_alpha=made(alpha.shape),
        grad_bias=made(bias.shape),
    )
    saved = (h_pre, hc_before_norm, inv_rms, sum_out, norm_out)
    call(grad_hin, grad_h_post, grad_h_res, x, phi, alpha, bias, *saved, hc_eps, *result, stream=stream)
    return result
