"""The comparison of the HcPre family's public tests: a share of the elements may be off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[Any]

# threshold, share of bad elements that is let pass
HC_PRE_TOLERANCES = {
    "y": (0.004, 0.02),
    "post": (1e-4, 0.005),
    "comb_frag": (1e-4, 0.005),
    "hc_pre": (1e-4, 0.005),
}

_BLOCK = 1 << 20  # elements compared at a time


@dataclass(frozen=True)
class ShareComparison:
    """What :func:`compare_share` found."""

    name: str
    size: int
    bad: int  # elements whose error is above the threshold
    share: float  # of bad elements that is let pass
    largest: float  # error; infinite where only one side is a number

    @property
    def passed(self) -> bool:
        return self.bad <= self.share * self.size

    def __str__(self) -> str:
        share = self.bad / max(1, self.size)
        found = f"{self.bad} of {self.size} bad ({share:.3g}), largest {self.largest:.3g}"
        return f"{self.name or 'values'}: {found}"


def compare_share(
    actual: ArrayLike, expected: ArrayLike, threshold: float, share: float, name: str = ""
) -> ShareComparison:
    """Compares two floating arrays of one shape.

    The error of an element is its absolute difference where that is below `threshold`, else its difference
    relative to the larger of the two magnitudes (at least 2^-14 / threshold). It is bad if that is above
    `threshold`; the arrays agree if at most `share` of the elements are bad. NaN equals NaN and an infinity
    itself. Raises ValueError if the shapes differ.
    """
    a, e = np.asarray(actual), np.asarray(expected)
    if a.shape != e.shape:
        raise ValueError(f"{name or 'values'}: shape {list(a.shape)} where {list(e.shape)} is expected")
    bad, largest = 0, 0.0
    a, e = a.reshape(-1), e.reshape(-1)
    for first in range(0, a.size, _BLOCK):
        error = _errors(a[first : first + _BLOCK], e[first : first + _BLOCK], threshold)
        bad += int(np.count_nonzero(error > threshold))
        largest = max(largest, float(error.max()))
    return ShareComparison(name, a.size, bad, share, largest)


def _errors(actual: Array, expected: Array, threshold: float) -> Array:
    a, e = (v.astype(np.float32).astype(np.float64) for v in (actual, expected))
    with np.errstate(all="ignore"):
        difference = np.abs(a - e)
        size = np.maximum(np.maximum(np.abs(a), np.abs(e)), 2.0**-14 / threshold)
        error = np.where(difference < threshold, difference, difference / (size + 1e-9))
    same = (a == e) | (np.isnan(a) & np.isnan(e))
    result: Array = np.where(same, 0.0, np.where(np.isfinite(a) & np.isfinite(e), error, np.inf))
    return result


def check_hc_pre(actual: Sequence[Array | None], expected: Sequence[Array | None]) -> list[ShareComparison]:
    """Compares the three results of HcPre, or the four of HcPreV2, under the family's tolerances.

    Raises ValueError when the number of outputs or a shape differs and TypeError when a dtype does.
    """
    if len(actual) != len(expected) or len(actual) not in (3, 4):
        raise ValueError(f"{len(actual)} outputs where {len(expected)} are expected")
    report = []
    for (name, (threshold, share)), a, e in zip(HC_PRE_TOLERANCES.items(), actual, expected):
        a, e = np.asarray(a), np.asarray(e)
        if a.dtype != e.dtype:
            raise TypeError(f"{name}: dtype {a.dtype} where {e.dtype} is expected")
        report.append(compare_share(a, e, threshold, share, name))
    return report
