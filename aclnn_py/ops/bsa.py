"""Block-sparse attention (BSA)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..creation import empty
from ..operator import op
from ..stream import Stream
from ..tensor import Tensor
from ._inputs import contiguous, require, require_rank

_BSASelectBlockMask = "aclnnBSASelectBlockMask"


def _numbers(name: str, values: Any) -> list[int] | None:
    """A list of ints of an iterable or an array of any shape; TypeError for anything but whole numbers."""
    if values is None:
        return None
    array = np.asarray(values)
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"bsa_select_block_mask: {name} must be whole numbers, got {array.dtype}")
    return [int(value) for value in array.ravel()]


def _block_lens(name: str, values: Any, layout: str, batch: int, blocks: int) -> list[int] | None:
    """The same of the lengths of blocks; ValueError for rows that are not those of the batches."""
    shape = np.shape(values) if values is not None else ()
    if layout == "BNSD" and len(shape) > 1 and shape != (batch, blocks):
        raise ValueError(
            f"bsa_select_block_mask: {name} has shape {shape}, it must be [B, blocks] = {(batch, blocks)}"
        )
    return _numbers(name, values)


def _blocks(layout: str, shape: Sequence[int], lengths: list[int] | None, block: int) -> int:
    """Blocks of the longest sequence. The call refuses lengths that are wrong, not this."""
    longest = shape[2] if layout == "BNSD" else min(max(lengths or [0]), shape[0])
    return -(-longest // block) if layout == "BNSD" else max(1, -(-longest // block))


def bsa_select_block_mask(
    query: Any,
    key: Any,
    *,
    sparsity: float,
    block_shape: Sequence[int] = (128, 128),
    layout: str = "BNSD",
    scale: float | None = None,
    actual_seq_lengths: Sequence[int] | None = None,
    actual_seq_lengths_k: Sequence[int] | None = None,
    actual_block_len_query: Any = None,
    actual_block_len_key: Any = None,
    stream: Stream | None = None,
) -> Tensor:
    """The mask that a block-sparse attention needs, from query and key (aclnnBSASelectBlockMask).

    Blocks of X x Y tokens are compared by the softmax of the products of their means; per batch and head the
    best share `sparsity` of the blocks is kept.

    Each of these is a Tensor or a NumPy array; strided Tensors are made dense first:
      query  float16 or bfloat16  BNSD [B, N, Sq, 128], or TND [Tq, N, 128]
      key    dtype of query       [B, N, Sk, 128], or [Tk, N, 128]
    `sparsity` is the share of blocks to KEEP, above 0 and below 1. `block_shape` is (X, Y), multiples of 64.
    `scale` multiplies the products, None is 1 / sqrt(128). `actual_seq_lengths` and `actual_seq_lengths_k`
    are the tokens of each batch (not cumulative): required for TND, where they add up to exactly T; in BNSD
    what lies behind them is ignored. `actual_block_len_query` and `actual_block_len_key` say how many tokens
    count in each block: [B, Xblocks] and [B, Yblocks], in TND the blocks of all batches one after the other.
    A block of length 0 is never chosen.

    Returns at once with the mask on the device, int8 [B, N, Xblocks, Yblocks] of 0 and 1, where Xblocks is
    ceil(Sq / X) and Yblocks ceil(Sk / Y), in TND for the longest sequence; `.numpy()` waits for it. Exactly
    max(1, round(sparsity * blocks)) blocks of a batch and head are 1 (fewer if fewer have tokens), blocks
    that a batch does not have are 0. Of equal scores the lower index is chosen; NaN is the largest score.

    Errors: TypeError for a wrong kind or dtype (nothing is cast); ValueError for a wrong layout or rank, a
    block_shape that is not two numbers above 0, rows of block lengths that do not fit; AclnnParameterError
    (161002) and AclnnInnerError (561002, the tiling) for what the operator itself refuses.
    """
    name = "bsa_select_block_mask"
    require(name, "query", query, ("float16", "bfloat16"))
    require(name, "key", key, ("float16", "bfloat16"))
    if layout not in ("BNSD", "TND"):
        raise ValueError(f"{name}: layout is {layout!r}, it must be 'BNSD' or 'TND'")
    form = "[B, N, S, 128] in the layout BNSD" if layout == "BNSD" else "[T, N, 128] in the layout TND"
    require_rank(name, "query", query, (len(layout),), form)
    require_rank(name, "key", key, (len(layout),), form)
    blocks = _numbers("block_shape", block_shape) or []
    if len(blocks) != 2 or min(blocks) <= 0:
        raise ValueError(f"{name}: block_shape is {block_shape!r}, it must be two numbers above 0")
    lengths = _numbers("actual_seq_lengths", actual_seq_lengths)
    lengths_k = _numbers("actual_seq_lengths_k", actual_seq_lengths_k)
    call = op(_BSASelectBlockMask)
    x_blocks = _blocks(layout, query.shape, lengths, blocks[0])
    y_blocks = _blocks(layout, key.shape, lengths_k, blocks[1])
    batch = query.shape[0] if layout == "BNSD" else max(1, len(lengths or []))
    heads = query.shape[1]
    mask = empty((batch, heads, x_blocks, y_blocks), "int8")
    call(
        contiguous(query, stream),
        contiguous(key, stream),
        blocks,
        None,
        lengths,
        lengths_k,
        _block_lens("actual_block_len_query", actual_block_len_query, layout, batch, x_blocks),
        _block_lens("actual_block_len_key", actual_block_len_key, layout, batch, y_blocks),
        layout,
        layout,
        heads,
        0.0 if scale is None else scale,
        sparsity,
        mask,
        stream=stream,
    )
    return mask
