"""The parts of the HcPre family: inverse RMS, gates and Sinkhorn behind the projection, hc_post."""

from __future__ import annotations

from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from .mhc import sinkhorn

Array = NDArray[Any]

_FLOATS = (np.float16, ml_dtypes.bfloat16, np.float32)


class HcPreSinkhornOutputs(NamedTuple):
    """Outputs of `hc_pre_sinkhorn`, named as in the op definition."""

    y: Array  # [..., d] in x's dtype
    post: Array  # [..., n]
    comb_frag: Array  # [..., n, n]


def hc_pre_inv_rms(x: ArrayLike, *, epsilon: float = 1e-20, dtype: DTypeLike = np.float32) -> Array:
    """aclnnHcPreInvRms: 1 / sqrt(mean(x^2) + epsilon) over all streams of a token.

    x : float16, bfloat16 or float32 [b, s, n, d] or [t, n, d]; [t, n*d] if the streams are joined already.
    epsilon : narrowed to float32 first.
    dtype : the working precision, that of the result too. The operator's own is float32.

    Returns [b, s, 1] or [t, 1]. Raises TypeError for another dtype and ValueError for another rank of x.
    """
    x = np.asarray(x)
    _require(x.dtype, _FLOATS, "x")
    if x.ndim not in (2, 3, 4):
        raise ValueError(f"x must be [b, s, n, d], [t, n, d] or [t, n*d], got {list(x.shape)}")
    lead = x.shape[: max(1, x.ndim - 2)]
    work: np.dtype[Any] = np.dtype(dtype)
    wide = x.reshape(*lead, -1).astype(work)
    with np.errstate(all="ignore"):
        mean = np.square(wide).sum(axis=-1, keepdims=True) / np.asarray(wide.shape[-1], work)
        result: Array = 1 / np.sqrt(mean + np.float32(epsilon).astype(work))
    return result


def hc_pre_sinkhorn(
    mixes: ArrayLike,
    rsqrt: ArrayLike,
    hc_scale: ArrayLike,
    hc_base: ArrayLike,
    x: ArrayLike,
    *,
    hc_mult: int = 4,
    hc_sinkhorn_iters: int = 20,
    hc_eps: float = 1e-6,
    dtype: DTypeLike = np.float32,
) -> HcPreSinkhornOutputs:
    """aclnnHcPreSinkhorn: gates and Sinkhorn matrix from the projections of a token, and its streams' sum.

    With n = ``hc_mult`` and [...] for [b, s] or [t]:

    mixes : float32 [..., n*n + 2n], the projections before normalisation: n pre, n post, n*n comb.
    rsqrt : float32 [..., 1] or [...], the inverse RMS of each token.
    hc_scale : float32 [3], for pre, post and comb; hc_base : float32 [n*n + 2n].
    x : bfloat16 [..., n, d].
    dtype : the working precision, that of post and comb_frag too. The operator's own is float32.

    w = mixes * rsqrt * scale + base; post = 2 sigmoid(w), comb_frag = Sinkhorn's iteration of w, and
    y = sum over streams of (sigmoid(w) + hc_eps) * x, rounded once to x's dtype.

    Raises TypeError for a dtype and ValueError for a shape other than these.
    """
    mixes, rsqrt, hc_scale, hc_base, x = (np.asarray(a) for a in (mixes, rsqrt, hc_scale, hc_base, x))
    n = hc_mult
    mix = n * n + 2 * n
    _require(x.dtype, (ml_dtypes.bfloat16,), "x")
    if x.ndim not in (3, 4) or x.shape[-2] != n:
        raise ValueError(f"x must be [b, s, {n}, d] or [t, {n}, d], got {list(x.shape)}")
    lead = x.shape[:-2]
    if rsqrt.shape == lead:
        rsqrt = rsqrt[..., None]
    wanted = {
        "mixes": (mixes, (*lead, mix)),
        "rsqrt": (rsqrt, (*lead, 1)),
        "hc_scale": (hc_scale, (3,)),
        "hc_base": (hc_base, (mix,)),
    }
    for name, (array, shape) in wanted.items():
        _require(array.dtype, (np.float32,), name)
        if array.shape != shape:
            raise ValueError(f"{name} must be {list(shape)}, got {list(array.shape)}")

    work: np.dtype[Any] = np.dtype(dtype)
    eps = np.float32(hc_eps).astype(work)
    scale = np.repeat(hc_scale, (n, n, n * n)).astype(work)
    with np.errstate(all="ignore"):
        w = mixes.astype(work) * rsqrt.astype(work) * scale + hc_base.astype(work)
        gates = 1 / (1 + np.exp(-w[..., : 2 * n]))
        pre = gates[..., :n] + eps
        comb = sinkhorn(w[..., 2 * n :].reshape(*lead, n, n), hc_sinkhorn_iters, hc_eps).result
        y = (pre[..., None] * x.astype(work)).sum(axis=-2).astype(x.dtype)
    return HcPreSinkhornOutputs(y, 2 * gates[..., n:], comb)


def hc_post(
    x: ArrayLike, residual: ArrayLike, post: ArrayLike, comb: ArrayLike, *, dtype: DTypeLike = np.float32
) -> Array:
    """aclnnHcPost: spreads a layer's output over the residual streams and mixes these among themselves.

    With [...] for [b, s] or [t]:

    x : float16, bfloat16 or float32 [..., d]; residual : the same dtype [..., n, d].
    post, comb : one dtype of float16, bfloat16 and float32, [..., n] and [..., n, n].
    dtype : the working precision. The operator's own is float32.

    Returns y[j] = post[j] * x + sum over i of comb[i, j] * residual[i], like residual, rounded once.
    Raises TypeError for a dtype and ValueError for a shape other than these.
    """
    x, residual, post, comb = (np.asarray(a) for a in (x, residual, post, comb))
    _require(x.dtype, _FLOATS, "x")
    _require(residual.dtype, (x.dtype,), "residual")
    _require(post.dtype, _FLOATS, "post")
    _require(comb.dtype, (post.dtype,), "comb")
    if residual.ndim not in (3, 4):
        raise ValueError(f"residual must be [b, s, n, d] or [t, n, d], got {list(residual.shape)}")
    *lead, n, d = residual.shape
    wanted = {"x": (x, (*lead, d)), "post": (post, (*lead, n)), "comb": (comb, (*lead, n, n))}
    for name, (array, shape) in wanted.items():
        if array.shape != shape:
            raise ValueError(f"{name} must be {list(shape)}, got {list(array.shape)}")
    work: np.dtype[Any] = np.dtype(dtype)
    with np.errstate(all="ignore"):
        y = post.astype(work)[..., None] * x.astype(work)[..., None, :]
        for i in range(n):
            weights = comb[..., i, :, None].astype(work)
            y = y + weights * residual[..., i, None, :].astype(work)
        result: Array = y.astype(x.dtype)
    return result


def _require(dtype: Any, allowed: Any, name: str) -> None:
    if dtype not in [np.dtype(a) for a in allowed]:
        names = " or ".join(str(np.dtype(a)) for a in allowed)
        raise TypeError(f"{name} must be {names}, got {dtype}")
