"""When two results count as equal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[Any]

# (relative, absolute); the 16-bit output has its own pair per dtype.
FLOAT32_TOLERANCE = (1e-4, 1e-4)
HIN_TOLERANCE = {np.dtype(np.float16): (1e-3, 1e-3), np.dtype(ml_dtypes.bfloat16): (4e-3, 4e-3)}

MHC_PRE_SINKHORN_OUTPUTS = (
    "hin", "h_post", "h_res", "h_pre", "hc_before_norm", "inv_rms", "sum_out", "norm_out",
)  # fmt: skip


@dataclass(frozen=True)
class Comparison:
    """What :func:`compare` found. The errors are taken over the elements that are finite on both sides."""

    name: str
    size: int
    bad: int  # elements outside the tolerance
    max_abs: float
    max_rel: float  # relative to the expected value, where that is not zero
    worst: tuple[int, ...] | None  # index of the element furthest outside, or nearest to it; None if empty
    actual: float  # the values there
    expected: float

    @property
    def passed(self) -> bool:
        return self.bad == 0

    def __str__(self) -> str:
        text = f"{self.name or 'values'}: max abs {self.max_abs:.3g}, max rel {self.max_rel:.3g}"
        if self.passed:
            return text
        where = list(self.worst or ())
        values = f"{self.actual:.9g}, expected {self.expected:.9g}"
        return f"{text}, {self.bad} of {self.size} bad, worst at {where}: {values}"


def compare(
    actual: ArrayLike, expected: ArrayLike, rtol: float, atol: float, ulps: int = 0, name: str = ""
) -> Comparison:
    """Compares two floating arrays of one shape.

    An element is good if |actual - expected| <= atol + rtol * |expected|, or if it is at most ``ulps``
    representable values of ``actual``'s dtype away from ``expected`` rounded to that dtype. NaN equals NaN
    and an infinity equals itself; otherwise neither equals anything. Raises ValueError if the shapes differ.
    """
    a, e = np.asarray(actual), np.asarray(expected)
    if a.shape != e.shape:
        raise ValueError(f"{name or 'values'}: shape {list(a.shape)} where {list(e.shape)} is expected")
    wide_a, wide_e = _widen(a), _widen(e)
    with np.errstate(all="ignore"):
        error = np.abs(wide_a - wide_e)
        excess = error - (atol + rtol * np.abs(wide_e))
        relative = error / np.abs(wide_e)
    finite = np.isfinite(wide_a) & np.isfinite(wide_e)
    same = (wide_a == wide_e) | (np.isnan(wide_a) & np.isnan(wide_e))
    good = same | (finite & (excess <= 0))
    if ulps:
        good |= finite & (_ulp_distance(a, e) <= ulps)

    worst, at_actual, at_expected = None, np.nan, np.nan
    if a.size:
        rank = np.where(finite, excess, np.where(same, -np.inf, np.inf))
        # A bad element always outranks one that only the ulp rule saved.
        rank = rank if good.all() else np.where(good, -np.inf, rank)
        worst = tuple(int(i) for i in np.unravel_index(int(np.argmax(rank)), a.shape))
        at_actual, at_expected = float(wide_a[worst]), float(wide_e[worst])
    return Comparison(
        name=name,
        size=a.size,
        bad=int(a.size - np.count_nonzero(good)),
        max_abs=float(error[finite].max(initial=0.0)),
        max_rel=float(relative[finite & (wide_e != 0)].max(initial=0.0)),
        worst=worst,
        actual=at_actual,
        expected=at_expected,
    )


def check_mhc_pre_sinkhorn(
    actual: Sequence[Array | None], expected: Sequence[Array | None], ulps: int = 1
) -> list[Comparison]:
    """Compares results of MhcPreSinkhorn, output by output in C order, under the operator's tolerances.

    ``actual`` and ``expected`` hold the three or eight outputs; trailing None on both sides counts as not
    asked for. ``ulps`` is granted to hin only: where the exact value lies next to a rounding boundary, two
    right answers can differ by one unit of its dtype, which at a power of two is more than the tolerance.
    Raises ValueError when the number of outputs or a shape differs and TypeError when a dtype does.
    """
    given = [list(outputs) + [None] * (8 - len(outputs)) for outputs in (actual, expected)]
    report = []
    for name, a, e in zip(MHC_PRE_SINKHORN_OUTPUTS, *given, strict=True):
        if a is None and e is None:
            continue
        if a is None or e is None:
            raise ValueError(f"{name}: given on one side only")
        a, e = np.asarray(a), np.asarray(e)
        if a.dtype != e.dtype:
            raise TypeError(f"{name}: dtype {a.dtype} where {e.dtype} is expected")
        rtol, atol = HIN_TOLERANCE[e.dtype] if name == "hin" else FLOAT32_TOLERANCE
        report.append(compare(a, e, rtol, atol, ulps if name == "hin" else 0, name))
    return report


def _widen(a: Array) -> Array:
    return a.astype(np.float32).astype(np.float64) if a.dtype.itemsize < 4 else a.astype(np.float64)


def _ulp_distance(actual: Array, expected: Array) -> Array:
    """How many representable values of actual's dtype lie between the two."""
    kind = np.dtype(f"i{actual.dtype.itemsize}")

    def ordinal(values: Array) -> Array:
        bits = np.ascontiguousarray(values).view(kind).reshape(values.shape).astype(np.int64)
        # Patterns of negative numbers count downwards; mirror them so that -0 and +0 meet.
        return np.where(bits < 0, np.int64(np.iinfo(kind).min) - bits, bits)

    with np.errstate(over="ignore"):
        rounded = expected.astype(actual.dtype)
    # float64: the distance of two float64 patterns can exceed an int64.
    return np.abs(ordinal(actual).astype(np.float64) - ordinal(rounded).astype(np.float64))
