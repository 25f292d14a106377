"""Block-sparse attention: which blocks of query and key tokens are worth computing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[Any]


class BSASelectBlockMaskOutputs(NamedTuple):
    """Result of :func:`bsa_select_block_mask`; both are [B, N, Xblocks, Yblocks]."""

    mask: Array  # int8: 1 for a chosen block
    scores: Array  # float16: what the blocks were chosen by; 0 for blocks a batch does not have


def cells_to_keep(sparsity: float, cells: int) -> int:
    """round(sparsity * cells) in float32, half away from zero, and at least 1."""
    product = np.float32(sparsity) * np.float32(cells)
    return max(1, int(np.floor(np.float64(product) + 0.5)))


def half_ties_away(x: Array) -> Array:
    """float32 to float16, to nearest; halfway cases away from zero. Non-negative numbers and NaN."""
    nearest = x.astype(np.float16)
    with np.errstate(all="ignore"):
        up = np.nextafter(nearest, np.float16(np.inf))
        middle = (nearest.astype(np.float64) + up.astype(np.float64)) / 2
        return np.where(x.astype(np.float64) == middle, up, nearest)


def bsa_select_block_mask(
    query: ArrayLike,
    key: ArrayLike,
    *,
    sparsity: float,
    block_shape: Sequence[int] = (128, 128),
    layout: str = "BNSD",
    scale: float | None = None,
    actual_seq_lengths: Sequence[int] | None = None,
    actual_seq_lengths_k: Sequence[int] | None = None,
    actual_block_len_query: ArrayLike | None = None,
    actual_block_len_key: ArrayLike | None = None,
) -> BSASelectBlockMaskOutputs:
    """aclnnBSASelectBlockMask: per head, the blocks with the largest softmax scores between block means.

    query, key : float16 or bfloat16, BNSD [B, N, S, D] or TND [T, N, D].
    sparsity : the share of blocks to keep, of those that the batch has.
    block_shape : query and key tokens of a block.
    scale : factor of the products, in float32; None, or 0 as a float32, is 1 / sqrt(D).
    actual_seq_lengths, actual_seq_lengths_k : tokens of each batch, required for TND.
    actual_block_len_query, actual_block_len_key : tokens that count in each block: B times the blocks of the
        mask for BNSD, the batches' own blocks one after the other for TND. A block of length 0 is never
        chosen; it still has a score of its own and is counted among the blocks.

    A block's mean is its float32 sum divided by its number of tokens, rounded to float16. NaN scores are the
    largest. Equal scores: the smaller x * Yblocks + y is chosen.

    Raises TypeError for a dtype and ValueError for a shape or length other than these.
    """
    query, key = np.asarray(query), np.asarray(key)
    for name, array in {"query": query, "key": key}.items():
        if array.dtype not in (np.float16, ml_dtypes.bfloat16):
            raise TypeError(f"{name} must be float16 or bfloat16, got {array.dtype}")
    if layout not in ("BNSD", "TND") or query.ndim != len(layout) or key.ndim != len(layout):
        raise ValueError(
            f"query {list(query.shape)} and key {list(key.shape)} must be BNSD or TND, got {layout!r}"
        )
    block_x, block_y = block_shape
    queries = _sequences(query, layout, actual_seq_lengths)
    keys = _sequences(key, layout, actual_seq_lengths_k)
    if len(queries) != len(keys):
        raise ValueError(f"query has {len(queries)} sequences, key {len(keys)}")
    tnd = layout == "TND"
    x_blocks = -(-(max(q.shape[1] for q in queries) if tnd else query.shape[2]) // block_x)
    y_blocks = -(-(max(k.shape[1] for k in keys) if tnd else key.shape[2]) // block_y)
    lens_x = _block_lens(actual_block_len_query, queries, block_x, x_blocks, tnd)
    lens_y = _block_lens(actual_block_len_key, keys, block_y, y_blocks, tnd)
    factor = np.float32(scale or 0) or np.float32(query.shape[-1] ** -0.5)

    heads = query.shape[1]
    mask = np.zeros((len(queries), heads, x_blocks, y_blocks), np.int8)
    scores = np.zeros(mask.shape, np.float16)
    for b, (q, k) in enumerate(zip(queries, keys, strict=True)):
        rows, columns = len(lens_x[b]), len(lens_y[b])
        if rows * columns == 0:
            continue
        keep = cells_to_keep(sparsity, rows * columns)
        usable = np.outer(lens_x[b] > 0, lens_y[b] > 0)
        for n in range(heads):
            means_q, means_k = _means(q[n], block_x, lens_x[b]), _means(k[n], block_y, lens_y[b])
            cells = _softmax(means_q, means_k, factor)
            scores[b, n, :rows, :columns] = cells
            mask[b, n, :rows, :columns] = _largest(cells, usable, keep)
    return BSASelectBlockMaskOutputs(mask, scores)


def _sequences(array: Array, layout: str, lengths: Sequence[int] | None) -> list[Array]:
    """[N, tokens, D] of each batch."""
    if layout == "BNSD":
        whole = [array.shape[2]] * len(array) if lengths is None else list(lengths)
        if len(whole) != len(array) or any(not 0 <= length <= array.shape[2] for length in whole):
            raise ValueError(f"lengths {whole} do not fit the shape {list(array.shape)}")
        return [batch[:, :length] for batch, length in zip(array, whole, strict=True)]
    if lengths is None or sum(lengths) != len(array) or any(length < 0 for length in lengths):
        raise ValueError(f"TND needs lengths that add up to the {len(array)} tokens, got {lengths}")
    parts = np.split(array, np.cumsum(lengths)[:-1])
    return [part.transpose(1, 0, 2) for part in parts]


def _block_lens(
    given: ArrayLike | None, sequences: list[Array], block: int, blocks: int, tnd: bool
) -> list[Array]:
    """Tokens of each block of each batch, as many as the sequence has."""
    result = []
    values = None if given is None else np.asarray(given).ravel()
    start = 0
    for sequence in sequences:
        tokens = sequence.shape[1]
        first = np.arange(-(-tokens // block)) * block
        lens = np.minimum(block, tokens - first)
        if values is not None:
            lens = np.minimum(lens, values[start : start + len(lens)])
            start += len(lens) if tnd else blocks
        result.append(lens)
    return result


def _means(tokens: Array, block: int, lens: Array) -> Array:
    means = np.zeros((len(lens), tokens.shape[-1]), np.float32)
    with np.errstate(all="ignore"):
        for i, length in enumerate(lens):
            if length > 0:
                part = tokens[i * block : i * block + length].astype(np.float32)
                means[i] = part.sum(axis=0, dtype=np.float32) / np.float32(length)
        return means.astype(np.float16)


def _softmax(means_q: Array, means_k: Array, factor: np.float32) -> Array:
    with np.errstate(all="ignore"):
        products = factor * (means_q.astype(np.float32) @ means_k.astype(np.float32).T)
        e = np.exp(products - products.max(axis=-1, keepdims=True))
        return half_ties_away(e / e.sum(axis=-1, keepdims=True, dtype=np.float32))


def _largest(cells: Array, usable: Array, keep: int) -> Array:
    """1 for the `keep` largest usable cells; sorting is stable, so that the lower index wins."""
    order = np.where(np.isnan(cells), np.float32(2), cells.astype(np.float32))
    order = np.where(usable, order, np.float32(-1)).ravel()
    chosen = np.argsort(-order, kind="stable")[: min(keep, int(usable.sum()))]
    result = np.zeros(cells.size, np.int8)
    result[chosen] = 1
    return result.reshape(cells.shape)
