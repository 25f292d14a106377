"""View geometry against NumPy's own, on random shapes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aclnn_py.views import View, contiguous, index, reshape, transpose

SHAPES = st.lists(st.integers(0, 4), max_size=4).map(tuple)


def base(shape: tuple[int, ...]) -> tuple[View, np.ndarray]:
    return contiguous(shape), np.arange(int(np.prod(shape))).reshape(shape)


def elements(view: View, total: int) -> np.ndarray:
    """What the view selects from 0, 1, 2, ..."""
    grid = np.indices(view.shape, dtype=int).reshape(len(view.shape), view.size)
    flat = view.offset + (np.array(view.strides, dtype=int)[:, None] * grid).sum(0)
    assert ((flat >= 0) & (flat < max(total, 1))).all()
    return np.asarray(flat).reshape(view.shape)


@st.composite
def keys(draw: st.DrawFn, rank: int) -> object:
    parts = draw(
        st.lists(
            st.one_of(
                st.integers(-5, 5),
                st.just(None),
                st.slices(5).filter(lambda s: s.step is None or s.step > 0),
            ),
            max_size=rank + 2,
        )
    )
    if draw(st.booleans()):
        parts.insert(draw(st.integers(0, len(parts))), Ellipsis)
    return tuple(parts)


@given(st.data(), SHAPES)
def test_index_and_transpose_like_numpy(data: st.DataObject, shape: tuple[int, ...]) -> None:
    view, array = base(shape)
    for _ in range(2):
        axes = data.draw(st.permutations(range(len(view.shape))))
        view, array = transpose(view, axes), array.transpose(axes)
        key = data.draw(keys(len(view.shape)))
        try:
            expected = array[key]
        except IndexError:
            with pytest.raises(IndexError):
                index(view, key)
            return
        view, array = index(view, key), np.asarray(expected)
        assert view.shape == array.shape
        assert np.array_equal(elements(view, int(np.prod(shape))), array)
        assert view.is_contiguous == bool(array.flags.c_contiguous) or view.size <= 1
        last = elements(view, int(np.prod(shape))).max(initial=-1)
        assert view.extent == (last - view.offset + 1 if view.size else 0)


@given(st.data(), st.lists(st.sampled_from([1, 2, 3, 4, 6]), max_size=4).map(tuple))
def test_reshape_like_numpy_without_copies(data: st.DataObject, shape: tuple[int, ...]) -> None:
    view, array = base(shape)
    axes = data.draw(st.permutations(range(len(shape))))
    view, array = transpose(view, axes), array.transpose(axes)
    steps = tuple(slice(None, None, data.draw(st.integers(1, 2))) for _ in shape)
    view, array = index(view, steps), array[(*steps, ...)]
    assume(array.size > 0)
    wanted: list[int] = []
    rest = array.size
    while rest > 1 and len(wanted) < 5:
        n = data.draw(st.sampled_from([d for d in range(1, rest + 1) if rest % d == 0]))
        wanted.append(n)
        rest //= n
    wanted.append(rest)
    expected = array.reshape(wanted)
    if not np.shares_memory(expected, array):
        with pytest.raises(ValueError, match="would need a copy"):
            reshape(view, wanted)
        return
    assert np.array_equal(elements(reshape(view, wanted), int(np.prod(shape))), expected)


def test_reshape_works_out_one_length() -> None:
    assert reshape(contiguous((2, 6)), (3, -1)).shape == (3, 4)
    for wrong in [(5, -1), (-1, -1), (7,), (0, -1), (-2, 6)]:
        with pytest.raises(ValueError, match="cannot reshape"):
            reshape(contiguous((2, 6)), wrong)


@pytest.mark.parametrize(
    ("key", "error", "words"),
    [
        ([0, 1], TypeError, "list"),
        (np.array([True, False]), TypeError, "ndarray"),
        (True, TypeError, "bool"),
        (1.0, TypeError, "float"),
        (slice(None, None, -1), ValueError, "positive step"),
        (5, IndexError, "out of range for axis 0 of length 2"),
        ((0, 0, 0), IndexError, "too many indices"),
        ((..., ...), IndexError, "only one ellipsis"),
    ],
)
def test_index_refuses(key: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        index(contiguous((2, 3)), key)


def test_transpose_refuses_wrong_axes() -> None:
    with pytest.raises(ValueError, match="not a permutation"):
        transpose(contiguous((2, 3)), (0, 0))
    with pytest.raises(ValueError, match="not a permutation"):
        transpose(contiguous((2, 3)), (0, 7))
