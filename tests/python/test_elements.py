"""Tensors of types that NumPy stores otherwise or not at all, formats, views that are not dense, DLPack."""

from __future__ import annotations

import gc
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aclnn_py as aclnn
from aclnn_py import aclDataType, aclFormat, dlpack, dtypes, libraries

pytestmark = pytest.mark.usefixtures("any_root")
PACKED = sorted(dtypes.PACKED, key=str)


def codes(array: np.ndarray) -> np.ndarray:
    """Comparable values: NaNs and signed zeros of small floats are told apart by their bits."""
    return array.astype(np.int8) if array.dtype.name == "int4" else array.view(np.uint8)


def random_packed(dtype: np.dtype, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    raw = np.random.default_rng(seed).integers(0, 2 ** dtypes.PACKED[dtype].bits, shape, np.uint8)
    return (raw.astype(np.int8) - 8).astype(dtype) if dtype.name == "int4" else raw.view(dtype)


def device_bytes(t: aclnn.Tensor) -> bytes:
    """The memory of the tensor as it lies."""
    view = aclnn.Tensor(t._buffer, aclnn.zeros(t._buffer.nbytes, "uint8")._view, np.dtype(np.uint8))
    return view.numpy().tobytes()


def test_int4_is_packed_low_nibble_first() -> None:
    t = aclnn.tensor(np.array([1, -1, 7, -8, 3], np.int8), "int4")
    assert t.nbytes == 3 and device_bytes(t) == bytes([0xF1, 0x87, 0x03])
    assert t.numpy().dtype == ml_dtypes.int4 and t.numpy().astype(int).tolist() == [1, -1, 7, -8, 3]
    assert t.data_type is aclDataType.ACL_INT4 and "dtype=int4" in repr(t)


@pytest.mark.parametrize("dtype", PACKED, ids=str)
@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 5), (2, 3, 4), (0, 3)])
def test_packed_round_trip(dtype: np.dtype, shape: tuple[int, ...]) -> None:
    array = random_packed(dtype, shape)
    t = aclnn.tensor(array)
    assert (t.dtype, t.shape, t.nbytes) == (dtype, shape, -(-array.size * dtypes.PACKED[dtype].bits // 8))
    assert np.array_equal(codes(t.numpy()), codes(array))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(PACKED), st.slices(9), st.slices(5), st.booleans(), st.integers(0, 99))
def test_views_of_packed_tensors(dtype: np.dtype, rows: slice, columns: slice, turn: bool, seed: int) -> None:
    rows, columns = (slice(s.start, s.stop, abs(s.step) if s.step else None) for s in (rows, columns))
    array = random_packed(dtype, (9, 5), seed)
    t = aclnn.tensor(array)
    part, expected = (
        (t.T[columns, rows], array.T[columns, rows]) if turn else (t[rows, columns], array[rows, columns])
    )
    assert np.array_equal(codes(part.numpy()), codes(np.ascontiguousarray(expected)))
    new = random_packed(dtype, expected.shape, seed + 1)
    part.copy_from(new)
    expected[...] = new
    assert np.array_equal(codes(t.numpy()), codes(array))  # the neighbours in the same bytes are as they were


@pytest.mark.parametrize(
    ("kind", "dtype", "bits"),
    [("ACL_HIFLOAT8", np.uint8, 8), ("ACL_COMPLEX32", np.uint32, 32), ("ACL_UINT1", np.uint8, 1)],
)
def test_types_without_numpy_go_as_codes(kind: str, dtype: type, bits: int) -> None:
    values = (np.arange(10) * 37 % (1 << min(bits, 8))).astype(dtype)
    t = aclnn.tensor(values, aclDataType[kind])
    assert (t.dtype, t.data_type.name, t.nbytes) == (np.dtype(dtype), kind, -(-10 * bits // 8))
    assert t.numpy().tolist() == values.tolist() and f"dtype={kind}" in repr(t)
    assert t[2:5].numpy().tolist() == values[2:5].tolist() and t[2:].data_type == t.data_type


def test_broadcast_views() -> None:
    t = aclnn.tensor(np.arange(3, dtype=np.float32))
    wide = t.reshape(3, 1).broadcast_to(2, 3, 4)
    assert wide.strides == (0, 1, 0) and wide._buffer is t._buffer
    assert np.array_equal(wide.numpy(), np.broadcast_to(np.arange(3.0)[:, None], (2, 3, 4)))
    with pytest.raises(ValueError, match="share memory"):
        wide.copy_from(np.zeros((2, 3, 4), np.float32))
    for wrong in [(2,), (4, 2), (-1, 3)]:
        with pytest.raises(ValueError, match="cannot broadcast"):
            t.broadcast_to(wrong)


def test_formats_and_storage_shape() -> None:
    t = aclnn.zeros((32, 64), "float16").with_format(aclFormat.ACL_FORMAT_FRACTAL_NZ, (4, 2, 16, 16))
    assert t.shape == (32, 64) and t.storage_shape == (4, 2, 16, 16)
    assert "format=ACL_FORMAT_FRACTAL_NZ, storage_shape=(4, 2, 16, 16)" in repr(t)
    for use in (t.numpy, lambda: t.copy_from(np.zeros((32, 64), np.float16))):
        with pytest.raises(ValueError, match=r"in the order of its format; \.storage\(\)"):
            use()
    assert t.storage().shape == (4, 2, 16, 16) and t.storage().numpy().sum() == 0
    with pytest.raises(ValueError, match=r"needs 8192 bytes, the buffer has 4096"):
        t.with_format(aclFormat.ACL_FORMAT_FRACTAL_NZ, (4, 4, 16, 16))
    nchw = aclnn.zeros((1, 2, 3, 4)).with_format(aclFormat.ACL_FORMAT_NCHW)
    assert nchw.numpy().shape == (1, 2, 3, 4) and nchw[0].format == aclFormat.ACL_FORMAT_NCHW


def test_to_device() -> None:
    t = aclnn.tensor(np.arange(6, dtype=np.int32).reshape(2, 3))
    assert t.to_device(0) is t and t.to_device(t.device) is t
    if aclnn.Device.count() > 1:
        moved = t.T.to_device(1)
        assert moved.device == aclnn.Device(1) and moved.numpy().tolist() == [[0, 3], [1, 4], [2, 5]]
    with pytest.raises(aclnn.AclRuntimeError):
        t.to_device(99)
    assert aclnn.Device.current() == aclnn.Device(0)


needs_host_memory = pytest.mark.skipif(
    not aclnn.is_available() or not libraries.is_emulator(libraries.root()),
    reason="device memory is host memory on the emulator only",
)


@needs_host_memory
@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "uint64", "bool", "complex64"])
def test_numpy_borrows_by_dlpack(dtype: str) -> None:
    array = np.arange(12).reshape(3, 4).astype(dtype)
    t = aclnn.tensor(array)
    borrowed = np.from_dlpack(t[1:].T)
    assert borrowed.dtype == array.dtype and np.array_equal(borrowed, array[1:].T)
    before = dlpack.lent()
    t.copy_from(array[::-1])
    assert np.array_equal(borrowed, array[::-1][1:].T)  # the same memory
    del t
    gc.collect()
    assert np.array_equal(borrowed, array[::-1][1:].T)  # and it lives
    del borrowed
    assert dlpack.lent() == before - 1


@needs_host_memory
def test_dlpack_capsules() -> None:
    t = aclnn.zeros(3)
    before = dlpack.lent()
    capsule = t.__dlpack__(max_version=(1, 0))
    assert "dltensor" in repr(capsule) and dlpack.lent() == before + 1
    del capsule
    assert dlpack.lent() == before
    for options, words in (
        ({"dl_device": (2, 0)}, r"it cannot be lent on \(2, 0\)"),
        ({"dl_device": (12, 0), "copy": True}, r"it cannot be lent on \(12, 0\)"),
    ):
        with pytest.raises(BufferError, match=words):
            t.__dlpack__(**options)
    with pytest.raises(BufferError, match="no type for ACL_INT4"):
        aclnn.zeros(4, "int4").__dlpack__()
    bf16 = aclnn.tensor(np.array([1, 2, 3], ml_dtypes.bfloat16))
    assert aclnn.from_dlpack(bf16).numpy().tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.arange(24, dtype=np.int16).reshape(2, 3, 4)[::-1, :, ::2].T,
        np.zeros((0, 3), np.float32),
        np.array(5, np.uint8),
    ],
)
def test_from_dlpack_copies_any_strides(array: np.ndarray) -> None:
    t = aclnn.from_dlpack(array)
    assert t.dtype == array.dtype and np.array_equal(t.numpy(), array)


def test_from_dlpack_refuses() -> None:
    class Elsewhere:
        def __dlpack_device__(self) -> tuple[int, int]:
            return 2, 0

        def __dlpack__(self) -> Any:
            raise AssertionError

    with pytest.raises(TypeError, match=r"on the DLPack device \(2, 0\); copy it to the host first"):
        aclnn.from_dlpack(Elsewhere())
    with pytest.raises(TypeError, match="must have __dlpack__ and __dlpack_device__, got list"):
        aclnn.from_dlpack([1])
