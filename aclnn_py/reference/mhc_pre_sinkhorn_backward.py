"""Manifold-constrained hyper-connections: the gradients of the projections in front of a layer."""

from __future__ import annotations

from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

Array = NDArray[Any]

# Widened x of one chunk of tokens takes about this many bytes.
_CHUNK_BYTES = 16 << 20


class MhcPreSinkhornGradients(NamedTuple):
    """Result of :func:`mhc_pre_sinkhorn_backward`, named as in C."""

    grad_x: Array  # shape of x
    grad_phi: Array  # [n*n + 2n, n*c]
    grad_alpha: Array  # [3]
    grad_bias: Array  # [n*n + 2n]


def sinkhorn_backward(grad: Array, sums: Array, norms: Array) -> Array:
    """Gradient of the matrices in front of the first row step's softmax quotient, before its exponential.

    grad : [..., n, n], the gradient of Sinkhorn's result.
    sums, norms : [2 * iters, ..., n] and [2 * iters, ..., n, n], the slots of `sinkhorn`. Of the norms only
        the even slots are read.

    Returns d loss / d e, where e holds the softmax's exponentials: [..., n, n].
    """
    for i in range(len(sums) // 2 - 1, -1, -1):
        row, column = sums[2 * i][..., :, None], sums[2 * i + 1][..., None, :]
        quotient = norms[2 * i]
        grad = grad / column - (grad * quotient / column**2).sum(axis=-2, keepdims=True)
        grad = grad / row - (grad * quotient / row).sum(axis=-1, keepdims=True)
    return grad


def mhc_pre_sinkhorn_backward(
    grad_hin: ArrayLike,
    grad_h_post: ArrayLike,
    grad_h_res: ArrayLike,
    x: ArrayLike,
    phi: ArrayLike,
    alpha: ArrayLike,
    bias: ArrayLike,
    h_pre: ArrayLike,
    hc_before_norm: ArrayLike,
    inv_rms: ArrayLike,
    sum_out: ArrayLike,
    norm_out: ArrayLike,
    *,
    hc_eps: float = 1e-6,
    dtype: DTypeLike = np.float32,
    exact_sigmoid: bool = False,
    grad_x_dtype: DTypeLike | None = None,
) -> MhcPreSinkhornGradients:
    """aclnnMhcPreSinkhornBackward: from the gradients of hin, hPost and hRes to those of the four inputs.

    With `lead` standing for (b, s) or (t,), n and c for x's last axes and mix for n*n + 2n:
    grad_hin : float16 or bfloat16 [*lead, c], x : the same dtype [*lead, n, c].
    grad_h_post : float32 [*lead, n]; grad_h_res : float32 [*lead, n*n] or [*lead, n, n].
    phi, alpha, bias : float32 [mix, n*c], [3], [mix], as the forward operator took them.
    h_pre, hc_before_norm, inv_rms, sum_out, norm_out : as the forward operator saved them, float32 or, to
        follow rounding errors, of the working precision.
    hc_eps : the forward operator's.
    dtype : the working precision; the operator's own is float32.
    exact_sigmoid : the operator derives hPre from sigma - hc_eps, which is off by about hc_eps; with True its
        derivative is that of sigma.
    grad_x_dtype : dtype of grad_x, by default x's; it is rounded once from the working precision.

    The other gradients are returned in the working precision. Raises TypeError for a dtype and ValueError for
    a shape other than these.
    """
    work: np.dtype[Any] = np.dtype(dtype)
    x, grad_hin = np.asarray(x), np.asarray(grad_hin)
    if x.dtype not in (np.float16, ml_dtypes.bfloat16):
        raise TypeError(f"x must be float16 or bfloat16, got {x.dtype}")
    if grad_hin.dtype != x.dtype:
        raise TypeError(f"grad_hin must have the dtype of x, {x.dtype}, got {grad_hin.dtype}")
    if x.ndim not in (3, 4):
        raise ValueError(f"x must be [b, s, n, c] or [t, n, c], got {list(x.shape)}")
    (*lead, n, c), mix = x.shape, x.shape[-2] ** 2 + 2 * x.shape[-2]
    if grad_hin.shape != (*lead, c):
        raise ValueError(f"grad_hin must be {[*lead, c]}, got {list(grad_hin.shape)}")
    tokens = int(np.prod(lead))
    slots = np.shape(sum_out)[0]

    def checked(name: str, array: ArrayLike, saved: bool, *shapes: tuple[int, ...]) -> Array:
        array = np.asarray(array)
        if array.dtype not in ((np.float32, work) if saved else (np.float32,)):
            raise TypeError(f"{name} must be float32, got {array.dtype}")
        if array.shape not in shapes:
            raise ValueError(
                f"{name} must be {' or '.join(str(list(s)) for s in shapes)}, got {list(array.shape)}"
            )
        return array.astype(work)

    grad_post = checked("grad_h_post", grad_h_post, True, (*lead, n)).reshape(tokens, n)
    grad_res = checked("grad_h_res", grad_h_res, True, (*lead, n * n), (*lead, n, n)).reshape(tokens, n, n)
    weights = checked("phi", phi, False, (mix, n * c))
    scale = np.repeat(checked("alpha", alpha, False, (3,)), (n, n, n * n))
    offset = checked("bias", bias, False, (mix,))
    pre = checked("h_pre", h_pre, True, (*lead, n)).reshape(tokens, n)
    before_norm = checked("hc_before_norm", hc_before_norm, True, (*lead, mix)).reshape(tokens, mix)
    inverse = checked("inv_rms", inv_rms, True, (*lead, 1)).reshape(tokens, 1)
    sums = checked("sum_out", sum_out, True, (slots, *lead, n)).reshape(slots, tokens, n)
    norms = checked("norm_out", norm_out, True, (slots, *lead, n, n)).reshape(slots, tokens, n, n)
    if slots % 2:
        raise ValueError(f"sum_out must have two slots per iteration, got {slots}")

    rows, grads = x.reshape(tokens, n, c), grad_hin.reshape(tokens, c)
    step = max(1, _CHUNK_BYTES // max(1, n * c * work.itemsize))
    parts = [slice(first, first + step) for first in range(0, tokens, step)]
    grad_pre = np.empty((tokens, n), work)
    for part in parts:
        grad_pre[part] = (grads[part, None, :].astype(work) * rows[part].astype(work)).sum(axis=-1)

    with np.errstate(all="ignore"):
        normed = before_norm * inverse
        z = normed * scale + offset
        z_pre, z_post, z_res = z[:, :n], z[:, n : 2 * n], z[:, 2 * n :].reshape(tokens, n, n)
        s = 1 / (1 + np.exp(-z_pre))
        if not exact_sigmoid:
            s = s - np.float32(hc_eps).astype(work)
        d_pre = grad_pre * s * (1 - s)
        s = 1 / (1 + np.exp(-z_post))
        d_post = 2 * grad_post * s * (1 - s)
        e = np.exp(z_res - z_res.max(axis=-1, keepdims=True))
        d_res = e * sinkhorn_backward(grad_res, sums, norms)
        first = np.arange(n) == z_res.argmax(axis=-1)[..., None]
        d_res = d_res - first * d_res.sum(axis=-1, keepdims=True)  # the softmax's subtraction of the maximum

        dz = np.concatenate([d_pre, d_post, d_res.reshape(tokens, n * n)], axis=-1)
        grad_scale = (normed * dz).sum(axis=0)
        grad_alpha = np.array(
            [grad_scale[:n].sum(), grad_scale[n : 2 * n].sum(), grad_scale[2 * n :].sum()], work
        )
        grad_normed = dz * scale
        grad_before = grad_normed * inverse
        grad_inverse = (before_norm * grad_normed).sum(axis=-1, keepdims=True)
        shrink = inverse**3 * grad_inverse / np.asarray(n * c, work)

        grad_x = np.empty((tokens, n * c), x.dtype if grad_x_dtype is None else grad_x_dtype)
        grad_phi = np.zeros((mix, n * c), work)
        for part in parts:
            flat = rows[part].reshape(-1, n * c).astype(work)
            grad_phi += grad_before[part].T @ flat
            spread = pre[part, :, None] * grads[part, None, :].astype(work)
            grad_x[part] = (
                spread.reshape(-1, n * c) - shrink[part] * flat + grad_before[part] @ weights
            ).astype(grad_x.dtype)
    return MhcPreSinkhornGradients(grad_x.reshape(x.shape), grad_phi, grad_alpha, dz.sum(axis=0))
