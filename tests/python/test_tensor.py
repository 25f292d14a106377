"""Device tensors, on whatever libraries are there."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aclnn_py as aclnn
from aclnn_py.dtypes import TO_ACL

pytestmark = pytest.mark.usefixtures("any_root")


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Equal in dtype, shape and every bit."""
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@pytest.mark.parametrize("dtype", TO_ACL, ids=lambda d: d.name)
@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (5,), (2, 3, 4)])
def test_round_trip_of_every_dtype(dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    size = int(np.prod(shape)) * dtype.itemsize
    raw = rng.integers(0, 2 if dtype.kind == "b" else 256, size, dtype=np.uint8)
    array = raw.view(dtype).reshape(shape)
    t = aclnn.tensor(array)
    assert (t.shape, t.dtype, t.ndim, t.size, t.nbytes) == (
        shape,
        dtype,
        len(shape),
        array.size,
        array.nbytes,
    )
    assert same(t.numpy(), array)


def test_bfloat16_results_are_ordinary_arrays() -> None:
    array = np.ones((4, 128), ml_dtypes.bfloat16)
    result = aclnn.tensor(array).numpy()
    assert result.dtype == ml_dtypes.bfloat16
    assert same(pickle.loads(pickle.dumps(result)), array) and same(copy.copy(result), array)
    result[0, 0] = 2  # writable, and its own


@pytest.mark.parametrize(
    "array",
    [
        np.arange(24).reshape(2, 3, 4).T,
        np.asfortranarray(np.arange(12.0).reshape(3, 4)),
        np.arange(10)[::-2],
        np.broadcast_to(np.float32(3), (2, 5)),
        np.arange(6).reshape(2, 3).view(np.matrix),
    ],
)
def test_strided_input_becomes_dense(array: np.ndarray) -> None:
    t = aclnn.tensor(array)
    assert t.is_contiguous and same(t.numpy(), np.array(array, order="C", subok=False))


def test_numbers_and_lists() -> None:
    assert aclnn.tensor([[1, 2], [3, 4]], "float32").numpy().tolist() == [[1, 2], [3, 4]]
    assert aclnn.tensor(2.5).dtype == np.float64 and aclnn.tensor(np.float16(1)).shape == ()
    assert aclnn.tensor([1.0], "bfloat16").dtype == ml_dtypes.bfloat16


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (np.array([1, "a"], object), "data has dtype object, which holds Python objects"),
        (np.zeros(2, [("a", "f4")]), "structured"),
        (np.zeros(2, ">f4"), r"byte order; use \.astype\('float32'\)"),
        (np.ma.masked_array([1.0, 2.0], [True, False]), "data is a masked array"),
        (["a"], "no aclDataType"),
        (None, "Python objects"),
        (np.zeros(2, "datetime64[s]"), "no aclDataType"),
        (np.zeros(2, ml_dtypes.int2), "no aclDataType"),
    ],
)
def test_input_that_cannot_be_a_tensor(data: object, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        aclnn.tensor(data)


def test_a_tensor_is_no_input_of_tensor() -> None:
    with pytest.raises(TypeError, match="is an aclnn Tensor already"):
        aclnn.tensor(aclnn.zeros(1))


@pytest.mark.parametrize("shape", [5, (2, 3), [4], (), (0, 2), np.int64(3)])
def test_empty_and_zeros(shape: Any) -> None:
    expected = np.zeros(shape, ml_dtypes.bfloat16)
    assert same(aclnn.zeros(shape, "bfloat16").numpy(), expected)
    made = aclnn.empty(shape, "bfloat16")
    assert (made.shape, made.dtype) == (expected.shape, expected.dtype)
    assert aclnn.empty(shape).dtype == np.float32


@pytest.mark.parametrize("shape", [-1, (2, -3)])
def test_negative_shape(shape: Any) -> None:
    with pytest.raises(ValueError, match="no negative lengths"):
        aclnn.empty(shape)


@pytest.mark.parametrize("shape", [1.5, ("a",), (True,), (2.0,)])
def test_shape_that_is_none(shape: Any) -> None:
    with pytest.raises(TypeError):
        aclnn.empty(shape)


@st.composite
def steps(draw: st.DrawFn) -> list[tuple[str, Any]]:
    return draw(
        st.lists(
            st.one_of(
                st.tuples(st.just("T"), st.none()),
                st.tuples(st.just("slice"), st.slices(4).filter(lambda s: s.step is None or s.step > 0)),
                st.tuples(st.just("new"), st.none()),
                st.tuples(st.just("last"), st.integers(0, 1)),
            ),
            max_size=4,
        )
    )


@settings(max_examples=60, deadline=None)
@given(steps(), st.sampled_from([np.int8, np.float32, np.int64]))
def test_views_of_views_like_numpy(chain: list[tuple[str, Any]], dtype: type) -> None:
    array = np.arange(2 * 4 * 3).reshape(2, 4, 3).astype(dtype)
    t = aclnn.tensor(array)
    buffer = t._buffer
    for what, value in chain:
        if what == "T":
            array, t = array.T, t.T
        elif what == "slice" and array.ndim:
            array, t = array[value], t[value]
        elif what == "new":
            array, t = array[..., None], t[..., None]
        elif what == "last" and array.ndim and array.shape[-1] > value:
            array, t = np.asarray(array[..., value]), t[..., value]
    assert t._buffer is buffer
    assert same(t.numpy(), np.ascontiguousarray(array).reshape(array.shape))
    fresh = np.full(array.shape, 7, dtype)
    assert same(t.copy_from(fresh).numpy(), fresh)


def test_views_share_memory() -> None:
    t = aclnn.zeros((3, 4))
    t[1, 1:3].copy_from(np.ones(2, np.float32))
    t.T[0].copy_from(np.full(3, 5, np.float32))
    assert t.numpy().tolist() == [[5, 0, 0, 0], [5, 1, 1, 0], [5, 0, 0, 0]]
    assert t.reshape(2, 6)[1].numpy().tolist() == [1, 0, 5, 0, 0, 0]
    assert t.reshape((-1,)).shape == (12,)


def test_a_view_keeps_the_memory() -> None:
    t = aclnn.tensor(np.arange(4))
    view = t[2:]
    t.close()
    assert view.numpy().tolist() == [2, 3]


def test_copy_from_refuses() -> None:
    t = aclnn.zeros((2, 3))
    with pytest.raises(TypeError, match="array has dtype float64, the tensor float32"):
        t.copy_from(np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"array has shape \(3, 2\), the tensor \(2, 3\)"):
        t.copy_from(np.zeros((3, 2), np.float32))
    with pytest.raises(TypeError, match="must be a NumPy array, got list"):
        t.copy_from([[1]])


@pytest.mark.parametrize(
    "make",
    [
        lambda: aclnn.empty((1,) * 26),
        lambda: aclnn.zeros((0,) * 30),
        lambda: aclnn.tensor(np.zeros((1,) * 26)),
        lambda: aclnn.empty((1,) * 25)[None],
        lambda: aclnn.empty(1).reshape((1,) * 26),
        lambda: aclnn.empty(4).with_format(aclnn.aclFormat.ACL_FORMAT_ND, (1,) * 26),
    ],
)
def test_too_many_dimensions(make: Any) -> None:
    with pytest.raises(
        ValueError, match=r"of (26|30) dimensions.*at most 25, and aclnn operators.* at most 8$"
    ):
        make()
    assert aclnn.empty((1,) * 25).shape == (1,) * 25


def test_numpy_functions_take_tensors() -> None:
    t = aclnn.tensor(np.arange(3, dtype=np.float32))
    assert np.asarray(t).tolist() == [0, 1, 2] and np.asarray(t, np.int64).dtype == np.int64
    assert np.array(t).sum() == 3 and [float(e.numpy()) for e in t] == [0, 1, 2]
    assert len(t) == 3
    with pytest.raises(TypeError, match="0-d"):
        len(aclnn.tensor(1))


def test_repr() -> None:
    t = aclnn.zeros((2, 3), "bfloat16")
    assert repr(t) == "Tensor(shape=(2, 3), dtype=bfloat16, device=0)"
    assert repr(t.T[1:]) == "Tensor(shape=(2, 2), dtype=bfloat16, strides=(1, 3), offset=1, device=0)"
    t.close()
    assert repr(t) == "Tensor(shape=(2, 3), dtype=bfloat16, closed)"


def test_with_closes() -> None:
    with aclnn.zeros(3) as t:
        assert not t.closed
    assert t.closed
    with pytest.raises(ValueError, match="was closed"):
        t.numpy()


def test_a_tensor_is_not_pickled() -> None:
    with pytest.raises(TypeError, match=r"pickle its \.numpy\(\)"):
        pickle.dumps(aclnn.zeros(1))


def test_a_view_cannot_leave_its_buffer() -> None:
    from aclnn_py.memory import DeviceBuffer
    from aclnn_py.views import View

    buffer = DeviceBuffer(2000)
    with pytest.raises(ValueError, match="ends at byte 4000 of a buffer of 2000 bytes"):
        aclnn.Tensor(buffer, View((1000,), (1,)), np.dtype(np.float32))
    with pytest.raises(ValueError, match="ends at byte 2004"):
        aclnn.Tensor(buffer, View((2,), (1,), 499), np.dtype(np.float32))
