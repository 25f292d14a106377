"""Geometry of strided views, without memory: shapes and strides in elements. No copies anywhere."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple


class View(NamedTuple):
    """Shape, strides and offset, all in elements."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def is_contiguous(self) -> bool:
        """Row-major without gaps. Strides of axes of length 1 do not count, nor any of 0 or 1 elements."""
        if self.size <= 1:
            return True
        expected = 1
        for n, stride in zip(reversed(self.shape), reversed(self.strides)):
            if n != 1 and stride != expected:
                return False
            expected *= n
        return True

    @property
    def extent(self) -> int:
        """Elements from the first to the last one of the view, both included; 0 for an empty view."""
        if self.size == 0:
            return 0
        return 1 + sum((n - 1) * stride for n, stride in zip(self.shape, self.strides))


MOST_DIMENSIONS = 25  # CANN's MAX_DIM_NUM, which it does not check itself


def check_rank(rank: int) -> None:
    """ValueError for more dimensions than an aclTensor has room for."""
    if rank > MOST_DIMENSIONS:
        raise ValueError(
            f"a tensor of {rank} dimensions: an aclTensor has at most {MOST_DIMENSIONS}, and aclnn operators "
            "take at most 8"
        )


def checked(shape: int | Sequence[int]) -> tuple[int, ...]:
    """A shape as a tuple of ints. TypeError for other things, ValueError for a negative length."""
    sizes: Any = (shape,) if _is_int(shape) else tuple(shape)  # type: ignore[arg-type]
    if not all(_is_int(n) for n in sizes):
        raise TypeError(f"a shape is made of integers, got {shape!r}")
    if any(n < 0 for n in sizes):
        raise ValueError(f"a shape has no negative lengths, got {tuple(sizes)}")
    return tuple(int(n) for n in sizes)


def integers(given: Sequence[Any], what: str) -> tuple[int, ...]:
    """What came as `f(1, 2)` or `f((1, 2))`, as a tuple. TypeError for anything but integers."""
    values = given[0] if len(given) == 1 and not _is_int(given[0]) else given
    if isinstance(values, str) or not hasattr(values, "__iter__") or not all(_is_int(n) for n in values):
        raise TypeError(f"{what} must be integers, got {values!r}")
    return tuple(int(n) for n in values)


def contiguous(shape: Sequence[int], offset: int = 0) -> View:
    """The row-major view of a shape."""
    strides = []
    step = 1
    for n in reversed(shape):
        strides.append(step)
        step *= n
    return View(tuple(shape), tuple(reversed(strides)), offset)


def index(view: View, key: Any) -> View:
    """The view that `key` (int, slice with positive step, ..., None, or a tuple of them) selects."""
    keys = list(key) if isinstance(key, tuple) else [key]
    for k in keys:
        if not (k is None or k is Ellipsis or isinstance(k, slice) or _is_int(k)):
            raise TypeError(
                f"a device tensor is indexed with integers, slices, ... and None, not {type(k).__name__}; "
                "use .numpy() for anything else"
            )
    rank = len(view.shape)
    used = sum(k is not None and k is not Ellipsis for k in keys)
    if sum(k is Ellipsis for k in keys) > 1:
        raise IndexError("an index can have only one ellipsis (...)")
    if used > rank:
        raise IndexError(f"too many indices: {used} for a tensor of {rank} dimensions")
    if not any(k is Ellipsis for k in keys):
        keys.append(Ellipsis)
    shape: list[int] = []
    strides: list[int] = []
    offset = view.offset
    axis = 0
    for k in keys:
        if k is None:
            shape.append(1)
            strides.append(0)
        elif k is Ellipsis:
            count = rank - used
            shape += view.shape[axis : axis + count]
            strides += view.strides[axis : axis + count]
            axis += count
        elif isinstance(k, slice):
            start, stop, step = k.indices(view.shape[axis])
            if step < 0:
                raise ValueError(
                    "a slice of a device tensor needs a positive step: strides cannot be negative"
                )
            count = len(range(start, stop, step))
            shape.append(count)
            strides.append(view.strides[axis] * step)
            offset += start * view.strides[axis] if count else 0
            axis += 1
        else:
            n, i = view.shape[axis], k.__index__()
            if not -n <= i < n:
                raise IndexError(f"index {i} is out of range for axis {axis} of length {n}")
            offset += (i % n) * view.strides[axis]
            axis += 1
    return View(tuple(shape), tuple(strides), offset)


def _is_int(value: Any) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool) and getattr(value, "ndim", 0) == 0


def transpose(view: View, axes: Sequence[int]) -> View:
    """The view with its axes in another order; no axes: reversed."""
    rank = len(view.shape)
    order = [a % rank if -rank <= a < rank else -1 for a in axes] if axes else list(reversed(range(rank)))
    if sorted(order) != list(range(rank)):
        raise ValueError(f"axes {tuple(axes)} are not a permutation of the {rank} axes")
    return View(tuple(view.shape[a] for a in order), tuple(view.strides[a] for a in order), view.offset)


def broadcast(view: View, shape: Sequence[int]) -> View:
    """The view repeated to a larger shape, with strides of 0. ValueError if NumPy's rules do not allow it."""
    wanted = tuple(shape)
    extra = len(wanted) - len(view.shape)
    fits = extra >= 0 and all(n in (1, w) for n, w in zip(view.shape, wanted[extra:]))
    if not fits or any(n < 0 for n in wanted):
        raise ValueError(f"cannot broadcast {view.shape} to {wanted}")
    strides = [0 if n == 1 and w != 1 else s for n, w, s in zip(view.shape, wanted[extra:], view.strides)]
    return View(wanted, (*[0] * extra, *strides), view.offset)


def reshape(view: View, shape: Sequence[int]) -> View:
    """The same elements in row-major order under another shape (one -1 is worked out).

    ValueError if the sizes differ, or if the strides allow it only with a copy.
    """
    wanted = list(shape)
    if wanted.count(-1) == 1:
        rest = math.prod(n for n in wanted if n != -1)
        if rest == 0 or view.size % rest:
            raise ValueError(f"cannot reshape {view.shape} into {tuple(shape)}")
        wanted[wanted.index(-1)] = view.size // rest
    if any(n < 0 for n in wanted) or math.prod(wanted) != view.size:
        raise ValueError(f"cannot reshape {view.shape} into {tuple(shape)}")
    if view.is_contiguous:
        return contiguous(wanted, view.offset)
    # Runs of old axes that can be walked with one stride, innermost first; each must be filled by whole new
    # axes.
    old = [(n, s) for n, s in zip(view.shape, view.strides) if n != 1]
    strides: list[int] = []
    for n in reversed(wanted):
        if n == 1:
            strides.append(0)
            continue
        while old[-1][0] % n and len(old) > 1 and old[-2][1] == old[-1][0] * old[-1][1]:
            outer, inner = old[-2], old.pop()
            old[-1] = (outer[0] * inner[0], inner[1])
        have, stride = old.pop()
        if have % n:
            raise ValueError(
                f"reshaping a view of strides {view.strides} into {tuple(wanted)} would need a copy"
            )
        strides.append(stride)
        if have != n:
            old.append((have // n, stride * n))
    return View(tuple(wanted), tuple(reversed(strides)), view.offset)
