"""The fused operators of the HcPre family."""

from __future__ import annotations

from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from .mhc import mhc_pre_sinkhorn

Array = NDArray[Any]

_CHUNK = 1024  # tokens whose streams are widened at a time


class HcPreOutputs(NamedTuple):
    """Outputs of `hc_pre`, named as in the op definition."""

    y: Array  # [..., d] in x's dtype
    post: Array  # [..., n]
    comb_frag: Array  # [..., n, n]


class HcPreV2Outputs(NamedTuple):
    """Outputs of `hc_pre_v2`, named as in the op definition."""

    y: Array
    post: Array
    comb_frag: Array
    hc_pre: Array  # [..., n]


def hc_pre(
    x: ArrayLike,
    hc_fn: ArrayLike,
    hc_scale: ArrayLike,
    hc_base: ArrayLike,
    *,
    hc_mult: int = 4,
    hc_sinkhorn_iters: int = 20,
    norm_eps: float = 1e-6,
    hc_eps: float = 1e-6,
    hf32: bool = True,
    dtype: DTypeLike = np.float32,
) -> HcPreOutputs:
    """aclnnHcPre: `hc_pre_v2` without pre_mix, and without its fourth result."""
    made = hc_pre_v2(
        x,
        hc_fn,
        hc_scale,
        hc_base,
        hc_mult=hc_mult,
        hc_sinkhorn_iters=hc_sinkhorn_iters,
        norm_eps=norm_eps,
        hc_eps=hc_eps,
        hf32=hf32,
        dtype=dtype,
    )
    return HcPreOutputs(made.y, made.post, made.comb_frag)


def hc_pre_v2(
    x: ArrayLike,
    hc_fn: ArrayLike,
    hc_scale: ArrayLike,
    hc_base: ArrayLike,
    pre_mix: ArrayLike | None = None,
    *,
    hc_mult: int = 4,
    hc_sinkhorn_iters: int = 20,
    norm_eps: float = 1e-6,
    hc_eps: float = 1e-6,
    hf32: bool = True,
    dtype: DTypeLike = np.float32,
) -> HcPreV2Outputs:
    """aclnnHcPreV2: the mHC projections of the RMS-normalised streams, and the streams' weighted sum.

    x : bfloat16 [b, s, n, d] or [t, n, d], the n = ``hc_mult`` residual streams of each token.
    hc_fn, hc_scale, hc_base : float32 [n*n + 2n, n*d], [3], [n*n + 2n], ordered pre, post, comb.
    pre_mix : float32 [..., n], the weights of y, used as they are; otherwise this call's hc_pre. Nothing else
        depends on it.
    hf32 : drop the 13 low bits of hc_fn, as the cube unit does in its HF32 mode; False is the composite path,
        which multiplies in plain float32.
    dtype : the working precision. The operator's own is float32.

    y [..., d] is rounded once to bfloat16; post [..., n], comb_frag [..., n, n] and hc_pre [..., n] have the
    working precision. Raises TypeError for a dtype and ValueError for a shape other than these.
    """
    x = np.asarray(x)
    if x.dtype != ml_dtypes.bfloat16:
        raise TypeError(f"x must be bfloat16, got {x.dtype}")
    made = mhc_pre_sinkhorn(
        x,
        hc_fn,
        hc_scale,
        hc_base,
        hc_mult=hc_mult,
        num_iters=hc_sinkhorn_iters,
        hc_eps=hc_eps,
        norm_eps=norm_eps,
        need_backward=True,
        dtype=dtype,
        hf32=hf32,
    )
    *lead, n, d = x.shape
    weights = made.h_pre
    assert weights is not None
    y = made.hin
    if pre_mix is not None:
        given = np.asarray(pre_mix)
        if given.dtype != np.float32:
            raise TypeError(f"pre_mix must be float32, got {given.dtype}")
        if given.shape != weights.shape:
            raise ValueError(f"pre_mix must be {list(weights.shape)}, got {list(given.shape)}")
        y = _weighted_sum(x.reshape(-1, n, d), given.reshape(-1, n).astype(dtype)).reshape(y.shape)
    return HcPreV2Outputs(y, made.h_post, made.h_res.reshape(*lead, n, n), weights)


def _weighted_sum(streams: Array, weights: Array) -> Array:
    result = np.empty((streams.shape[0], streams.shape[2]), streams.dtype)
    for first in range(0, len(streams), _CHUNK):
        part = slice(first, first + _CHUNK)
        wide = weights[part, :, None] * streams[part].astype(weights.dtype)
        result[part] = wide.sum(axis=1).astype(streams.dtype)
    return result
