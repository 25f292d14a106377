"""When a block mask is as good as the reference's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..reference.bsa import BSASelectBlockMaskOutputs

Array = NDArray[Any]

_NAN_BITS = 0x3FFF  # NaN is the largest score; the others end at 1.0, 0x3c00


@dataclass(frozen=True)
class MaskComparison:
    """What :func:`check_block_mask` found."""

    heads: int
    wrong_counts: int  # heads whose number of ones differs
    differing: int  # cells that differ
    bad: int  # of these, cells whose score is not within one float16 ulp of the cut

    @property
    def passed(self) -> bool:
        return self.wrong_counts == self.bad == 0

    def __str__(self) -> str:
        return (
            f"{self.heads} heads, {self.wrong_counts} with a wrong number of ones; "
            f"{self.differing} cells differ, {self.bad} of them away from the cut"
        )


def check_block_mask(actual: ArrayLike, expected: BSASelectBlockMaskOutputs) -> MaskComparison:
    """Compares a mask [B, N, Xblocks, Yblocks] with the reference's.

    Every head must have exactly the reference's number of ones. A cell may differ only where its score lies
    within one float16 ulp of the smallest one that was chosen: scores that close come out differently when
    float32 sums are ordered differently.

    Raises ValueError when the shapes differ, or for an `actual` that is not int8 of 0 and 1.
    """
    mask = np.asarray(actual)
    if mask.shape != expected.mask.shape or mask.dtype != np.int8:
        raise ValueError(
            f"the mask must be int8 {list(expected.mask.shape)}, got {mask.dtype} {list(mask.shape)}"
        )
    if not np.isin(mask, (0, 1)).all():
        raise ValueError(f"the mask must be of 0 and 1, got {np.setdiff1d(mask, (0, 1)).tolist()}")
    heads = mask.shape[0] * mask.shape[1]
    scores = np.where(np.isnan(expected.scores), _NAN_BITS, expected.scores.view(np.int16))
    wrong = differing = bad = 0
    for ours, theirs, bits in zip(
        *(a.reshape(heads, -1) for a in (mask, expected.mask, scores.astype(np.int32))), strict=True
    ):
        different = ours != theirs
        wrong += int(ours.sum(dtype=np.int64) != theirs.sum(dtype=np.int64))
        differing += int(different.sum())
        if different.any():
            cut = bits[theirs == 1].min() if theirs.any() else _NAN_BITS
            bad += int((np.abs(bits[different] - cut) > 1).sum())
    return MaskComparison(heads, wrong, differing, bad)
