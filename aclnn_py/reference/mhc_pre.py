"""Manifold-constrained hyper-connections: MhcPre, the projections in front of a layer without Sinkhorn."""

from __future__ import annotations

from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from .mhc import _CHUNK_BYTES, _sigmoid, _truncate_hf32

Array = NDArray[Any]


class MhcPreOutputs(NamedTuple):
    """Outputs of `mhc_pre`, named as in C; h_res is None with an alpha of 2, the last three without
    ``need_optional``."""

    h_in: Array
    h_post: Array
    h_res: Array | None
    inv_rms: Array | None
    h_mix: Array | None
    h_pre: Array | None


def mhc_pre(
    x: ArrayLike,
    phi: ArrayLike,
    alpha: ArrayLike,
    bias: ArrayLike,
    gamma: ArrayLike | None = None,
    *,
    norm_eps: float = 1e-6,
    hc_eps: float = 1e-6,
    op_impl_mode: int = 0,
    need_optional: bool = False,
    dtype: DTypeLike = np.float32,
) -> MhcPreOutputs:
    """aclnnMhcPre and V2: projections of the RMS-normalised streams, and the streams' weighted sum.

    x : float16 or bfloat16 [B, S, n, D] or [T, n, D], the n residual streams of each token.
    phi : float32 [rows, n*D] with rows = n*n + 2n, ordered n for pre, n for post, n*n for res; or without
        those for res, rows = 2n. ``bias`` is ordered alike.
    alpha : float32 [3], the scales of pre, post and res; or [2] without res.
    bias : float32 [rows].
    gamma : float32 [n, D] or None. Multiplies x in front of the projection, not in the RMS nor in h_in.
    op_impl_mode : 0 for a float32 projection, 1 for HF32: the 13 low bits of both operands are dropped.
    dtype : the working precision. The operator's own is float32; float64 shows how much of an error is
        rounding.

    With `lead` standing for (B, S) or (T,) the outputs are h_in [*lead, D] in x's dtype, rounded once from
    the working precision, and in the working precision h_post [*lead, n] and with an alpha of 3 the raw
    logits h_res [*lead, n, n]; with ``need_optional`` also inv_rms [*lead], h_mix [*lead, rows] (in front of
    the RMS factor) and h_pre [*lead, n]. ``hc_eps`` is added to h_pre, and with an alpha of 2 also to h_post.

    Raises TypeError for a dtype and ValueError for a shape or mode other than these.
    """
    x, phi, alpha, bias = (np.asarray(a) for a in (x, phi, alpha, bias))
    scale = None if gamma is None else np.asarray(gamma)
    if x.dtype not in (np.float16, ml_dtypes.bfloat16):
        raise TypeError(f"x must be float16 or bfloat16, got {x.dtype}")
    if x.ndim not in (3, 4):
        raise ValueError(f"x must be [B, S, n, D] or [T, n, D], got {list(x.shape)}")
    if alpha.shape not in ((2,), (3,)):
        raise ValueError(f"alpha must be [3] or [2], got {list(alpha.shape)}")
    if op_impl_mode not in (0, 1):
        raise ValueError(f"op_impl_mode must be 0 or 1, got {op_impl_mode}")
    *lead, n, d = x.shape
    has_res = alpha.shape == (3,)
    rows = 2 * n + (n * n if has_res else 0)
    wanted = {"phi": (phi, (rows, n * d)), "alpha": (alpha, alpha.shape), "bias": (bias, (rows,))}
    if scale is not None:
        wanted["gamma"] = (scale, (n, d))
    for name, (array, shape) in wanted.items():
        if array.dtype != np.float32:
            raise TypeError(f"{name} must be float32, got {array.dtype}")
        if array.shape != shape:
            raise ValueError(f"{name} must be {list(shape)}, got {list(array.shape)}")

    work: np.dtype[Any] = np.dtype(dtype)
    hc_small, norm_small = (np.float32(eps).astype(work) for eps in (hc_eps, norm_eps))
    tokens = int(np.prod(lead))
    streams = x.reshape(tokens, n, d)
    weights = (_truncate_hf32(phi) if op_impl_mode == 1 else phi).astype(work)
    h_mix = np.empty((tokens, rows), work)
    inv_rms = np.empty((tokens, 1), work)
    step = max(1, _CHUNK_BYTES // max(1, n * d * work.itemsize))
    parts = [slice(first, first + step) for first in range(0, tokens, step)]
    with np.errstate(all="ignore"):
        for part in parts:
            flat = streams[part].reshape(-1, n * d).astype(work)
            mean_square = np.square(flat).sum(axis=-1, keepdims=True) / np.asarray(n * d, work)
            inv_rms[part] = 1 / np.sqrt(mean_square + norm_small)
            if scale is not None:
                flat = flat * scale.reshape(1, n * d).astype(work)
                if op_impl_mode == 1:  # without gamma both dtypes of x fit ten mantissa bits
                    flat = _truncate_hf32(flat.astype(np.float32)).astype(work)
            h_mix[part] = flat @ weights.T

        counts = (n, n, n * n) if has_res else (n, n)
        logits = h_mix * inv_rms * np.repeat(alpha, counts).astype(work) + bias.astype(work)
        h_pre = _sigmoid(logits[:, :n]) + hc_small
        h_post = 2 * _sigmoid(logits[:, n : 2 * n])
        if not has_res:
            h_post = h_post + hc_small

        h_in = np.empty((tokens, d), x.dtype)
        for part in parts:
            weighted = h_pre[part, :, None] * streams[part].astype(work)
            h_in[part] = weighted.sum(axis=1).astype(x.dtype)

    h_res = logits[:, 2 * n :].reshape(*lead, n, n) if has_res else None
    main = h_in.reshape(*lead, d), h_post.reshape(*lead, n), h_res
    if not need_optional:
        return MhcPreOutputs(*main, None, None, None)
    return MhcPreOutputs(*main, inv_rms.reshape(lead), h_mix.reshape(*lead, rows), h_pre.reshape(*lead, n))
