"""Manifold-constrained hyper-connections: the projections in front of a layer, and Sinkhorn normalisation."""

from __future__ import annotations

from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

Array = NDArray[Any]

# Widened x of one chunk of tokens takes about this many bytes.
_CHUNK_BYTES = 16 << 20


class SinkhornSteps(NamedTuple):
    """Result of :func:`sinkhorn`; slot 2k is the k-th row step, slot 2k + 1 the k-th column step."""

    result: Array  # [..., n, n], the last norm slot
    sum_out: Array  # [2 * iters, ..., n]
    norm_out: Array  # [2 * iters, ..., n, n]


class MhcPreSinkhornOutputs(NamedTuple):
    """Outputs of `mhc_pre_sinkhorn`, named as in C; without ``need_backward`` the last five are None."""

    hin: Array
    h_post: Array
    h_res: Array
    h_pre: Array | None
    hc_before_norm: Array | None
    inv_rms: Array | None
    sum_out: Array | None
    norm_out: Array | None


def sinkhorn(z: Array, iters: int, eps: float) -> SinkhornSteps:
    """Turns each n x n matrix of ``z`` into a nearly doubly stochastic one.

    z : floating array [..., n, n]; all arithmetic is done in its dtype. A NaN or infinity makes its matrix
        NaN.
    iters : row-and-column rounds, at least 1. The first row step is a softmax whose quotient gets ``eps``
        added.
    eps : narrowed to float32, then added to every sum that divides, except the softmax's own.

    Raises ValueError for a ``z`` that does not end in two equal axes or for ``iters`` below 1.
    """
    if z.ndim < 2 or z.shape[-1] != z.shape[-2]:
        raise ValueError(f"z must end in two equal axes, got shape {z.shape}")
    if iters < 1:
        raise ValueError(f"iters must be at least 1, got {iters}")
    small = z.dtype.type(np.float32(eps))
    sums = np.empty((2 * iters, *z.shape[:-1]), z.dtype)
    norms = np.empty((2 * iters, *z.shape), z.dtype)
    with np.errstate(all="ignore"):
        e = np.exp(z - z.max(axis=-1, keepdims=True, initial=-np.inf))
        row = e.sum(axis=-1, keepdims=True)
        sums[0] = row[..., 0] + small
        norms[0] = e / row + small
        for slot in range(1, 2 * iters):
            axis = -1 if slot % 2 == 0 else -2
            total = norms[slot - 1].sum(axis=axis, keepdims=True) + small
            sums[slot] = total.squeeze(axis)
            norms[slot] = norms[slot - 1] / total
    return SinkhornSteps(norms[-1], sums, norms)


def mhc_pre_sinkhorn(
    x: ArrayLike,
    phi: ArrayLike,
    alpha: ArrayLike,
    bias: ArrayLike,
    *,
    hc_mult: int = 4,
    num_iters: int = 20,
    hc_eps: float = 1e-6,
    norm_eps: float = 1e-6,
    need_backward: bool = False,
    dtype: DTypeLike = np.float32,
    hf32: bool = False,
) -> MhcPreSinkhornOutputs:
    """aclnnMhcPreSinkhorn: three projections of the RMS-normalised streams, and the streams' weighted sum.

    x : float16 or bfloat16 [b, s, n, c] or [t, n, c], the n = ``hc_mult`` residual streams of each token.
    phi : float32 [n*n + 2n, n*c]; the rows are n for pre, n for post, n*n for res. ``bias`` is ordered alike.
    alpha : float32 [3], the scales of pre, post and res.
    bias : float32 [n*n + 2n].
    dtype : the working precision. The operator's own is float32; float64 shows how much of an error is
        rounding.
    hf32 : drop the 13 low bits of both operands of the projection, as the cube unit does in its HF32 mode.

    With `lead` standing for (b, s) or (t,) the outputs are hin [*lead, c] in x's dtype, rounded once from the
    working precision, and in the working precision h_post [*lead, n] and h_res [*lead, n*n]; with
    ``need_backward`` also h_pre [*lead, n], hc_before_norm [*lead, n*n + 2n], inv_rms [*lead, 1], sum_out
    [2*num_iters, *lead, n] and norm_out [2*num_iters, *lead, n, n]. If c is 0 the mean square is 0/0, hence
    NaN.

    Raises TypeError for a dtype and ValueError for a shape other than these.
    """
    x, phi, alpha, bias = (np.asarray(a) for a in (x, phi, alpha, bias))
    n = hc_mult
    mix = n * n + 2 * n
    if x.dtype not in (np.float16, ml_dtypes.bfloat16):
        raise TypeError(f"x must be float16 or bfloat16, got {x.dtype}")
    if x.ndim not in (3, 4) or x.shape[-2] != n:
        raise ValueError(f"x must be [b, s, {n}, c] or [t, {n}, c], got {list(x.shape)}")
    lead, c = x.shape[:-2], x.shape[-1]
    wanted = {"phi": (phi, (mix, n * c)), "alpha": (alpha, (3,)), "bias": (bias, (mix,))}
    for name, (array, shape) in wanted.items():
        if array.dtype != np.float32:
            raise TypeError(f"{name} must be float32, got {array.dtype}")
        if array.shape != shape:
            raise ValueError(f"{name} must be {list(shape)}, got {list(array.shape)}")

    work: np.dtype[Any] = np.dtype(dtype)
    hc_small, norm_small = (np.float32(eps).astype(work) for eps in (hc_eps, norm_eps))
    tokens = int(np.prod(lead))
    rows = x.reshape(tokens, n, c)
    weights = _truncate_hf32(phi) if hf32 else phi
    weights = weights.astype(work)
    before_norm = np.empty((tokens, mix), work)
    mean_square = np.empty((tokens, 1), work)
    step = max(1, _CHUNK_BYTES // max(1, n * c * work.itemsize))
    with np.errstate(all="ignore"):
        for first in range(0, tokens, step):
            part = slice(first, first + step)
            flat = rows.reshape(tokens, n * c)[part].astype(work)
            # x needs no truncation for HF32: both of its dtypes fit ten mantissa bits.
            before_norm[part] = flat @ weights.T
            mean_square[part] = np.square(flat).sum(axis=-1, keepdims=True) / np.asarray(n * c, work)
        inv_rms = 1 / np.sqrt(mean_square + norm_small)

        scale = np.repeat(alpha, (n, n, n * n)).astype(work)
        logits = before_norm * inv_rms * scale + bias.astype(work)
        h_pre = _sigmoid(logits[:, :n]) + hc_small
        h_post = 2 * _sigmoid(logits[:, n : 2 * n])
        steps = sinkhorn(logits[:, 2 * n :].reshape(tokens, n, n), num_iters, hc_eps)

        hin = np.empty((tokens, c), x.dtype)
        for first in range(0, tokens, step):
            part = slice(first, first + step)
            weighted = h_pre[part, :, None] * rows[part].astype(work)
            hin[part] = weighted.sum(axis=1).astype(x.dtype)

    main = (hin.reshape(*lead, c), h_post.reshape(*lead, n), steps.result.reshape(*lead, n * n))
    if not need_backward:
        return MhcPreSinkhornOutputs(*main, None, None, None, None, None)
    return MhcPreSinkhornOutputs(
        *main,
        h_pre.reshape(*lead, n),
        before_norm.reshape(*lead, mix),
        inv_rms.reshape(*lead, 1),
        steps.sum_out.reshape(2 * num_iters, *lead, n),
        steps.norm_out.reshape(2 * num_iters, *lead, n, n),
    )


def _sigmoid(z: Array) -> Array:
    # No clipping: exp overflows to infinity below about -88.7 and the quotient is then exactly 0.
    result: Array = 1 / (1 + np.exp(-z))
    return result


def _truncate_hf32(a: Array) -> Array:
    bits: Array = np.ascontiguousarray(a, np.float32).view(np.uint32) & np.uint32(0xFFFFE000)
    return bits.view(np.float32)
