"""Tensor: a strided view of device memory, with the aclTensor descriptor that operators take."""

from __future__ import annotations

import ctypes
import math
import weakref
from collections.abc import Sequence
from types import EllipsisType
from typing import TYPE_CHECKING, Any

import numpy as np

from . import dlpack, dtypes, memory, runtime, views
from .abi import acl
from .dtypes import host_array
from .enums import aclDataType, aclFormat
from .memory import DeviceBuffer
from .status import fail
from .views import View

if TYPE_CHECKING:
    from .stream import Stream

PRIVATE_FORMATS = frozenset(f for f in aclFormat if "C1HWC0" in f.name or "FRACTAL" in f.name)
Kept = tuple[DeviceBuffer, View, dtypes.Element]
Key = int | slice | EllipsisType | None | tuple[int | slice | EllipsisType | None, ...]


class Tensor:
    """Elements of one dtype in device memory, as a view (shape, strides, offset) of a buffer.

    Made by `aclnn.tensor`, `aclnn.empty`, `aclnn.zeros`, and as views by slicing, `reshape`, `transpose`.
    Views share the buffer, which is freed when the last tensor on it and the last stream that needs it let
    go. `close()`, `with` and garbage collection release a tensor; everything but `closed`, `repr` and a
    second `close()` is then a ValueError.
    """

    # _aclTensor is the C object, ready to be passed. The slot is empty once the tensor is closed or ACL was
    # finalized, so that no call can pass it on.
    __slots__ = (
        "__weakref__",
        "_aclTensor",
        "_buffer",
        "_kept",
        "_storage_shape",
        "_view",
        "dtype",
        "element",
        "format",
    )
    _aclTensor: Any
    _buffer: DeviceBuffer
    _kept: Kept  # what a stream keeps of it: the memory, and what was in it

    def __init__(
        self,
        buffer: DeviceBuffer,
        view: View,
        dtype: Any,
        storage_shape: tuple[int, ...] | None = None,
        format: aclFormat = aclFormat.ACL_FORMAT_ND,
    ) -> None:
        self.element = dtypes.element(dtype)
        end = self.element.nbytes(view.offset + view.extent) if view.size else 0
        if end > buffer.nbytes:
            raise ValueError(f"the view ends at byte {end} of a buffer of {buffer.nbytes} bytes")
        self.dtype = self.element.dtype
        self.format = format
        self._view = view
        self._storage_shape = view.shape if storage_shape is None else storage_shape
        handle = create_descriptor(view, self.data_type, format, self._storage_shape, buffer.address)
        self._aclTensor = ctypes.c_void_p.from_param(handle)
        self._buffer = buffer
        self._kept = (buffer, view, self.element)
        runtime.live_owners[id(self)] = weakref.ref(self)

    @property
    def data_type(self) -> aclDataType:
        """CANN's element type. `dtype` is NumPy's, unsigned integers where NumPy has none (see dtypes)."""
        return self.element.acl

    @property
    def storage_shape(self) -> tuple[int, ...]:
        """Shape of the memory as a whole, in the order of `format`."""
        return self._storage_shape

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
        """Bytes of the elements of the view on the device."""
        return self.element.nbytes(self._view.size)

    @property
    def is_contiguous(self) -> bool:
        return self._view.is_contiguous

    @property
    def closed(self) -> bool:
        return not hasattr(self, "_buffer")

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

        Errors: what the wait reports (DeviceFault ...), ValueError for a closed tensor or one whose format is
        private to the device (see `storage`).
        """
        buffer = self._plain_buffer()
        memory.wait_for_users(buffer)
        storage = self._download_extent(buffer)
        if self.is_contiguous:
            return storage.reshape(self.shape)
        return np.array(self._on_host(storage))

    def _plain_buffer(self) -> DeviceBuffer:
        buffer = self._live_buffer()
        if self.format in PRIVATE_FORMATS:
            raise ValueError(
                f"the elements of {self!r} lie in the order of its format; .storage() shows them as they lie"
            )
        return buffer

    def _download_extent(self, buffer: DeviceBuffer) -> np.ndarray:
        count, element = self._view.extent, self.element
        if element.bits % 8 == 0:
            storage: np.ndarray = np.empty(count, self.dtype)
            memory.download(storage, buffer, element.nbytes(self.offset))
            return storage
        start, skip = divmod(self.offset * element.bits, 8)
        raw = np.empty(element.nbytes(self.offset + count) - start if count else 0, np.uint8)
        memory.download(raw, buffer, start)
        return element.unpack(raw, skip, count)

    def _on_host(self, storage: np.ndarray) -> np.ndarray:
        return dtypes.strided(storage, 0, self.shape, self.strides)

    def copy_from(self, array: Any, stream: Stream | None = None) -> Tensor:
        """Overwrites the elements with those of a NumPy array of the same shape and dtype; returns the
        tensor.

        Waits for the streams that still use the memory. The array may be changed as soon as this returns.
        With `stream` the copy is put on that stream instead: the tensor must be dense, and the array is kept
        alive but must not be changed until the stream was waited for.
        """
        source = host_array(array, "copy_from: array")
        if source.dtype != self.dtype:
            raise TypeError(
                f"copy_from: array has dtype {source.dtype}, the tensor {self.dtype}; use .astype"
            )
        if source.shape != self.shape:
            raise ValueError(f"copy_from: array has shape {source.shape}, the tensor {self.shape}")
        if any(step == 0 and n > 1 for step, n in zip(self.strides, self.shape)):
            raise ValueError(f"copy_from: elements of {self!r} share memory")
        buffer = self._plain_buffer()
        at, rest = divmod(self.offset * self.element.bits, 8)
        if stream is not None:
            if not self.is_contiguous or rest or self.nbytes * 8 != self.size * self.element.bits:
                raise ValueError(f"copy_from: {self!r} is not dense, so it cannot be filled on a stream")
            memory.copy_on_stream(stream, buffer, at, self.element.pack(source), upload=True)
            return self
        memory.wait_for_users(buffer)
        if self.element.bits % 8 == 0:
            storage = np.asarray(source, order="C") if self.is_contiguous else self._download_extent(buffer)
            if not self.is_contiguous:
                self._on_host(storage)[...] = source
            memory.upload(buffer, at, storage)
            return self
        # Elements that share a byte with ours must stay
        whole = Tensor(buffer, views.contiguous((buffer.nbytes * 8 // self.element.bits,)), self.element)
        elements = whole._download_extent(buffer)
        self._on_host(elements[self.offset :])[...] = source
        memory.upload(buffer, 0, self.element.pack(elements))
        return self

    def copy_to(self, array: np.ndarray, stream: Stream) -> None:
        """Puts a copy of the elements into a C-contiguous array of the same shape and dtype on a stream.

        The array holds them once the stream was waited for; it is kept alive until then. The tensor must be
        dense and its dtype not packed. TypeError, ValueError.
        """
        host_array(array, "copy_to: array")
        if array.dtype != self.dtype or array.shape != self.shape:
            raise ValueError(f"copy_to: array is {array.dtype} {array.shape}, the tensor {self!r}")
        if not (array.flags.c_contiguous and array.flags.writeable):
            raise ValueError("copy_to: array must be C-contiguous and writeable")
        if not self.is_contiguous or self.element.bits % 8:
            raise ValueError(f"copy_to: {self!r} is not dense; use .numpy()")
        at = self.element.nbytes(self.offset)
        memory.copy_on_stream(stream, self._plain_buffer(), at, array, upload=False)

    def to_device(self, device: int | runtime.Device) -> Tensor:
        """This tensor if it is on the device, else a dense copy there, by way of the host."""
        target = device if isinstance(device, runtime.Device) else runtime.Device(device)
        if self.device == target:
            return self
        array = self.numpy()
        with target:
            from .creation import tensor

            return tensor(array, self.element)

    def storage(self) -> Tensor:
        """The memory as it lies: a dense view of `storage_shape` in the format ND."""
        return Tensor(self._live_buffer(), views.contiguous(self._storage_shape), self.element)

    def with_format(self, format: aclFormat, storage_shape: Sequence[int] | None = None) -> Tensor:
        """A view with another format, and another storage shape if given; no element moves.

        ValueError if the storage shape is larger than the memory.
        """
        shape = self._storage_shape if storage_shape is None else views.checked(storage_shape)
        buffer = self._live_buffer()
        needed = self.element.nbytes(math.prod(shape))
        if needed > buffer.nbytes:
            raise ValueError(f"storage shape {shape} needs {needed} bytes, the buffer has {buffer.nbytes}")
        return Tensor(buffer, self._view, self.element, shape, aclFormat(format))

    def _view_as(self, view: View) -> Tensor:
        return Tensor(self._live_buffer(), view, self.element, self._storage_shape, self.format)

    def __getitem__(self, key: Key) -> Tensor:
        return self._view_as(views.index(self._view, key))

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a 0-d tensor has no length")
        return self.shape[0]

    def transpose(self, *axes: int | Sequence[int]) -> Tensor:
        """A view with the axes in the given order, as numbers or one tuple; without axes, reversed."""
        return self._view_as(views.transpose(self._view, views.integers(axes, "axes")))

    @property
    def T(self) -> Tensor:
        """A view with the axes reversed."""
        return self.transpose()

    def reshape(self, *shape: int | Sequence[int]) -> Tensor:
        """A view of another shape; one length may be -1. ValueError if it would need a copy."""
        return self._view_as(views.reshape(self._view, views.integers(shape, "a shape")))

    def broadcast_to(self, *shape: int | Sequence[int]) -> Tensor:
        """A view repeated to a larger shape, by strides of 0. ValueError if NumPy would refuse."""
        return self._view_as(views.broadcast(self._view, views.integers(shape, "a shape")))

    def __dlpack__(self, **options: Any) -> Any:
        """A DLPack capsule that shares the memory, after waiting for the streams that still use it."""
        return dlpack.export(self, **options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return dlpack.device_of(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("a device tensor cannot become a NumPy array without a copy")
        array = self.numpy()
        return array if dtype is None else array.astype(dtype, copy=False)

    def close(self) -> None:
        """Releases the tensor. Its memory goes when no other tensor and no unfinished work uses it."""
        self._release()
        try:
            del self._buffer, self._kept
        except AttributeError:  # closed before, or its __init__ failed
            pass

    def _release(self) -> None:
        """Destroys the C object."""
        try:
            handle = self._aclTensor
            del self._aclTensor
        except AttributeError:
            return
        runtime.live_owners.pop(id(self), None)
        if runtime.host_objects_usable():
            acl.aclDestroyTensor(handle)

    def __del__(self) -> None:
        try:
            self.close()
        except KeyboardInterrupt:
            runtime.interrupt_again()
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
        coded = dtypes.TO_ACL.get(self.dtype) != self.data_type and self.dtype not in dtypes.PACKED
        name = self.data_type.name if coded else self.dtype.name
        parts = [f"shape={self.shape}", f"dtype={name}"]
        if not self.is_contiguous:
            parts.append(f"strides={self.strides}")
        if self.offset:
            parts.append(f"offset={self.offset}")
        if self.format != aclFormat.ACL_FORMAT_ND:
            parts.append(f"format={self.format.name}")
            if self._storage_shape != self.shape:
                parts.append(f"storage_shape={self._storage_shape}")
        parts.append("closed" if self.closed else f"device={self._buffer.device}")
        return f"Tensor({', '.join(parts)})"

    def describe(self) -> str:
        """One line for error messages: dtype, shape, strides unless dense, format."""
        strides = "contiguous" if self.is_contiguous else f"strides {list(self.strides)} offset {self.offset}"
        where = self.format.name.removeprefix("ACL_FORMAT_")
        return f"{dtypes.spelled(self.data_type):<8}  {list(self.shape)}  {strides}  {where}"


def create_descriptor(
    view: View, data_type: aclDataType, format: aclFormat, storage_shape: tuple[int, ...], address: int | None
) -> int:
    """A new aclTensor for the view. The caller destroys it. ValueError for too many dimensions."""
    rank, storage_rank = len(view.shape), len(storage_shape)
    views.check_rank(max(rank, storage_rank))
    handle = acl.aclCreateTensor(
        (ctypes.c_int64 * rank)(*view.shape),
        rank,
        data_type,
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
