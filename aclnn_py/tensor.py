"""Tensor: a strided view of device memory, with the aclTensor descriptor that operators take."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from types import EllipsisType
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from . import dtypes, memory, runtime, views
from .abi import acl
from .enums import aclFormat
from .memory import DeviceBuffer
from .status import fail
from .views import View

Key = int | slice | EllipsisType | None | tuple[int | slice | EllipsisType | None, ...]


class Tensor:
    """Elements of one dtype in device memory, as a view (shape, strides, offset) of a buffer.

    Made by `aclnn.tensor`, `aclnn.empty`, `aclnn.zeros`, and as views by slicing, `reshape`, `transpose`.
    Views share the buffer, which is freed when the last tensor on it and the last stream that needs it let
    go. `close()`, `with` and garbage collection release a tensor; everything but `closed`, `repr` and a
    second `close()` is then a ValueError.
    """

    # _tensor is the aclTensor*, ready to be passed. The slot is empty once the tensor is closed, so that no
    # call can pass it on.
    __slots__ = ("__weakref__", "_buffer", "_storage_shape", "_tensor", "_view", "dtype", "format")
    _tensor: Any
    _buffer: DeviceBuffer

    def __init__(
        self,
        buffer: DeviceBuffer,
        view: View,
        dtype: np.dtype[Any],
        storage_shape: tuple[int, ...] | None = None,
        format: aclFormat = aclFormat.ACL_FORMAT_ND,
    ) -> None:
        end = (view.offset + view.extent) * dtype.itemsize if view.size else 0
        if end > buffer.nbytes:
            raise ValueError(f"the view ends at byte {end} of a buffer of {buffer.nbytes} bytes")
        self.dtype = dtype
        self.format = format
        self._view = view
        self._storage_shape = view.shape if storage_shape is None else storage_shape
        handle = create_descriptor(view, dtype, format, self._storage_shape, buffer.address)
        self._tensor = ctypes.c_void_p.from_param(handle)
        self._buffer = buffer

    @property
    def shape(self) -> tuple[int, ...]:
        return self._view.shape

    @property
    def strides(self) -> tuple[int, ...]:
        """Distance between neighbours of each axis, in elements (not bytes)."""
        return self._view.strides

    @property
    def offset(self) -> int:
        """Where the view begins in its buffer, in elements."""
        return self._view.offset

    @property
    def ndim(self) -> int:
        return len(self._view.shape)

    @property
    def size(self) -> int:
        return self._view.size

    @property
    def nbytes(self) -> int:
        """Bytes of the elements of the view."""
        return self._view.size * self.dtype.itemsize

    @property
    def is_contiguous(self) -> bool:
        return self._view.is_contiguous

    @property
    def closed(self) -> bool:
        return not hasattr(self, "_tensor")

    @property
    def device(self) -> runtime.Device:
        return runtime.Device(self._live_buffer().device)

    def _live_buffer(self) -> DeviceBuffer:
        if self.closed:
            raise ValueError(f"{self!r} was closed")
        runtime.refuse_if_over()
        if not self._buffer.alive():
            raise ValueError(f"the memory of {self!r} went when ACL was finalized")
        runtime.enter()
        return self._buffer

    def numpy(self) -> np.ndarray:
        """A NumPy copy of the elements, dense, after waiting for the streams that still use the memory.

        Errors: what the wait reports (DeviceFault ...), ValueError for a closed tensor.
        """
        buffer = self._live_buffer()
        memory.wait_for_users(buffer)
        storage = self._download_extent(buffer)
        if self.is_contiguous:
            return storage.reshape(self.shape)
        return np.array(self._on_host(storage))

    def _download_extent(self, buffer: DeviceBuffer) -> np.ndarray:
        storage: np.ndarray = np.empty(self._view.extent, self.dtype)
        memory.download(storage, buffer, self.offset * self.dtype.itemsize)
        return storage

    def _on_host(self, storage: np.ndarray) -> np.ndarray:
        steps = tuple(s * self.dtype.itemsize for s in self.strides)
        return as_strided(storage, self.shape, steps)

    def copy_from(self, array: Any) -> Tensor:
        """Overwrites the elements with those of a NumPy array of the same shape and dtype; returns the
        tensor.

        Waits for the streams that still use the memory. The array may be changed as soon as this returns.
        """
        source = host_array(array, "copy_from: array")
        if source.dtype != self.dtype:
            raise TypeError(
                f"copy_from: array has dtype {source.dtype}, the tensor {self.dtype}; use .astype"
            )
        if source.shape != self.shape:
            raise ValueError(f"copy_from: array has shape {source.shape}, the tensor {self.shape}")
        buffer = self._live_buffer()
        memory.wait_for_users(buffer)
        if self.is_contiguous:
            storage = np.asarray(source, order="C")
        else:
            storage = self._download_extent(buffer)
            self._on_host(storage)[...] = source
        memory.upload(buffer, self.offset * self.dtype.itemsize, storage)
        return self

    def _view_as(self, view: View) -> Tensor:
        return Tensor(self._live_buffer(), view, self.dtype, self._storage_shape, self.format)

    def __getitem__(self, key: Key) -> Tensor:
        return self._view_as(views.index(self._view, key))

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a 0-d tensor has no length")
        return self.shape[0]

    def transpose(self, *axes: int) -> Tensor:
        """A view with the axes in the given order; without axes, reversed."""
        return self._view_as(views.transpose(self._view, axes))

    @property
    def T(self) -> Tensor:
        """A view with the axes reversed."""
        return self.transpose()

    def reshape(self, *shape: int | Sequence[int]) -> Tensor:
        """A view of another shape; one length may be -1. ValueError if it would need a copy."""
        if len(shape) == 1 and not isinstance(shape[0], int):
            return self._view_as(views.reshape(self._view, tuple(shape[0])))
        return self._view_as(views.reshape(self._view, shape))  # type: ignore[arg-type]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("a device tensor cannot become a NumPy array without a copy")
        array = self.numpy()
        return array if dtype is None else array.astype(dtype, copy=False)

    def close(self) -> None:
        """Releases the tensor. Its memory goes when no other tensor and no unfinished work uses it."""
        try:
            handle = self._tensor
            del self._tensor
        except AttributeError:
            return
        del self._buffer
        if runtime.host_objects_usable():
            acl.aclDestroyTensor(handle)

    def __del__(self) -> None:
        try:
            self.close()
        except Exception:  # at interpreter exit half the module may be gone
            pass

    def __enter__(self) -> Tensor:
        self._live_buffer()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError("a device tensor cannot be pickled; pickle its .numpy()")

    def __repr__(self) -> str:
        parts = [f"shape={self.shape}", f"dtype={self.dtype.name}"]
        if not self.is_contiguous:
            parts.append(f"strides={self.strides}")
        if self.offset:
            parts.append(f"offset={self.offset}")
        if self.format != aclFormat.ACL_FORMAT_ND:
            parts.append(f"format={self.format.name}")
        parts.append("closed" if self.closed else f"device={self._buffer.device}")
        return f"Tensor({', '.join(parts)})"

    def describe(self) -> str:
        """One line for error messages: dtype, shape, strides unless dense, format."""
        strides = "contiguous" if self.is_contiguous else f"strides {list(self.strides)} offset {self.offset}"
        where = self.format.name.removeprefix("ACL_FORMAT_")
        return f"{dtypes.spelled(self.dtype):<8}  {list(self.shape)}  {strides}  {where}"


def create_descriptor(
    view: View, dtype: np.dtype[Any], format: aclFormat, storage_shape: tuple[int, ...], address: int | None
) -> int:
    """A new aclTensor for the view. The caller destroys it."""
    rank, storage_rank = len(view.shape), len(storage_shape)
    handle = acl.aclCreateTensor(
        (ctypes.c_int64 * rank)(*view.shape),
        rank,
        dtypes.TO_ACL[dtype],
        (ctypes.c_int64 * rank)(*view.strides),
        view.offset,
        format,
        (ctypes.c_int64 * storage_rank)(*storage_shape),
        storage_rank,
        address,
    )
    if not handle:
        fail(561103, "aclCreateTensor", hint="it returned NULL")
    return int(handle)


def host_array(array: Any, what: str) -> np.ndarray:
    """A NumPy array that can be uploaded. TypeError naming `what` for another thing or an unusable dtype."""
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"{what} is a masked array; fill it first: .filled(value)")
    if not isinstance(array, (np.ndarray, np.generic)):
        raise TypeError(f"{what} must be a NumPy array, got {type(array).__name__}")
    problem = dtypes.unusable(array.dtype)
    if problem:
        raise TypeError(f"{what} has dtype {array.dtype}, which {problem}")
    return np.asarray(array)


def _shape(shape: int | Sequence[int]) -> tuple[int, ...]:
    sizes = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    if not all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) for n in sizes):
        raise TypeError(f"a shape is made of integers, got {shape!r}")
    if any(n < 0 for n in sizes):
        raise ValueError(f"a shape has no negative lengths, got {tuple(sizes)}")
    return tuple(int(n) for n in sizes)


def tensor(data: Any, dtype: Any = None) -> Tensor:
    """A new dense device tensor with the elements of a NumPy array, number or nested list.

    Strided and Fortran-ordered arrays become dense (row-major); make strided device tensors by slicing or
    transposing the result. 0-d and zero-size arrays keep their shape. Without `dtype` an array keeps its own:
    nothing is cast unasked. The array may be changed as soon as this returns. TypeError for object,
    structured, masked and foreign-endian arrays; OutOfDeviceMemory.
    """
    if isinstance(data, Tensor):
        raise TypeError("data is an aclnn Tensor already; use a view of it, or .numpy() for a copy")
    if dtype is not None and not isinstance(data, np.ma.MaskedArray):
        data = np.asarray(data).astype(dtypes.as_dtype(dtype), copy=False)
    elif not isinstance(data, (np.ndarray, np.generic)):
        data = np.asarray(data)
    source = np.asarray(host_array(data, "data"), order="C")
    made = empty(source.shape, source.dtype)
    memory.upload(made._buffer, 0, source)
    return made


def empty(shape: int | Sequence[int], dtype: Any = np.float32) -> Tensor:
    """A new dense device tensor whose elements are not set. `dtype` as in `dtypes.as_dtype`."""
    element = dtypes.as_dtype(dtype)
    view = views.contiguous(_shape(shape))
    return Tensor(DeviceBuffer(view.size * element.itemsize), view, element)


def zeros(shape: int | Sequence[int], dtype: Any = np.float32) -> Tensor:
    """A new dense device tensor of zeros."""
    made = empty(shape, dtype)
    memory.clear(made._buffer)
    return made
