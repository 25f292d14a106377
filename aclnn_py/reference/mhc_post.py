"""Manifold-constrained hyper-connections: the layer's output back into the streams, and the gradients."""

from __future__ import annotations

from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

Array = NDArray[Any]


class MhcPostGradients(NamedTuple):
    """Outputs of `mhc_post_backward`, in the order of the C function."""

    grad_x: Array  # dtype of x, [*lead, n, D]
    grad_h_res: Array  # working precision, [*lead, n, n]
    grad_h_out: Array  # dtype of h_out, [*lead, D]
    grad_h_post: Array  # working precision, [*lead, n]


def mhc_post(
    x: ArrayLike,
    h_res: ArrayLike | None,
    h_out: ArrayLike,
    h_post: ArrayLike,
    *,
    dtype: DTypeLike = np.float32,
) -> Array:
    """aclnnMhcPost: out_j = h_post_j * h_out + sum_i h_res_ij * x_i. The first index of h_res is the source.

    x : float16 or bfloat16 [b, s, n, D] or [t, n, D], the n streams of each token in front of the layer.
    h_res : float32 [*lead, n, n] with `lead` for (b, s) or (t,); None is the identity: out_j = x_j + ...
    h_out : dtype of x [*lead, D], what the layer made.
    h_post : float32 [*lead, n].
    dtype : the working precision. The operator's own is float32.

    Returns out, shape and dtype of x, rounded once from the working precision. Raises TypeError for a dtype
    and ValueError for a shape other than these.
    """
    x, h_out, h_post = (np.asarray(a) for a in (x, h_out, h_post))
    h_res = None if h_res is None else np.asarray(h_res)
    _check(x, h_res, h_out, h_post)
    work = np.dtype(dtype)
    with np.errstate(all="ignore"):
        total = h_post[..., None].astype(work) * h_out[..., None, :].astype(work)
        if h_res is None:
            total += x.astype(work)
        else:
            for i in range(x.shape[-2]):
                total += h_res[..., i, :, None].astype(work) * x[..., i, None, :].astype(work)
        result: Array = total.astype(x.dtype)
    return result


def mhc_post_backward(
    grad_output: ArrayLike,
    x: ArrayLike,
    h_res: ArrayLike | None,
    h_out: ArrayLike,
    h_post: ArrayLike,
    *,
    dtype: DTypeLike = np.float32,
) -> MhcPostGradients:
    """aclnnMhcPostBackward: the gradients of `mhc_post`.

    ``grad_output`` is like x, the rest as there. With g = grad_output: grad_x_i = sum_j h_res_ij g_j (g_i
    without h_res), grad_h_res_ij = <x_i, g_j>, grad_h_out = sum_j h_post_j g_j, grad_h_post_j = <h_out, g_j>.
    grad_x and grad_h_out are rounded once to the dtype of x; the sums over D stay in the working precision.

    Raises TypeError for a dtype and ValueError for a shape other than these.
    """
    grad_output, x, h_out, h_post = (np.asarray(a) for a in (grad_output, x, h_out, h_post))
    h_res = None if h_res is None else np.asarray(h_res)
    _check(x, h_res, h_out, h_post)
    _expect("grad_output", grad_output, x.dtype, x.shape)
    work = np.dtype(dtype)
    with np.errstate(all="ignore"):
        g, wide_x, wide_h = (a.astype(work) for a in (grad_output, x, h_out))
        grad_x = g if h_res is None else np.einsum("...ij,...jd->...id", h_res.astype(work), g)
        return MhcPostGradients(
            grad_x.astype(x.dtype),
            np.stack([_dots(wide_x[..., i, :], g) for i in range(x.shape[-2])], axis=-2),
            np.einsum("...j,...jd->...d", h_post.astype(work), g).astype(x.dtype),
            _dots(wide_h, g),
        )


def _dots(row: Array, g: Array) -> Array:
    """<row, g_j> for each stream j. NumPy's sum adds in pairs, so that long rows keep their precision."""
    return np.stack([(row * g[..., j, :]).sum(axis=-1) for j in range(g.shape[-2])], axis=-1)


def _check(x: Array, h_res: Array | None, h_out: Array, h_post: Array) -> None:
    if x.dtype not in (np.float16, ml_dtypes.bfloat16):
        raise TypeError(f"x must be float16 or bfloat16, got {x.dtype}")
    if x.ndim not in (3, 4):
        raise ValueError(f"x must be [b, s, n, D] or [t, n, D], got {list(x.shape)}")
    *lead, n, tail = x.shape
    if h_res is not None:
        _expect("h_res", h_res, np.float32, (*lead, n, n))
    _expect("h_out", h_out, x.dtype, (*lead, tail))
    _expect("h_post", h_post, np.float32, (*lead, n))


def _expect(name: str, array: Array, dtype: DTypeLike, shape: tuple[int, ...]) -> None:
    if array.dtype != dtype:
        raise TypeError(f"{name} must be {np.dtype(dtype)}, got {array.dtype}")
    if array.shape != shape:
        raise ValueError(f"{name} must be {list(shape)}, got {list(array.shape)}")
