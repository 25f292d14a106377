"""DLPack both ways: tensors lent to other libraries without a copy, and arrays of other libraries taken in.

The emulator's device memory is host memory, so a tensor there is lent as CPU memory (kDLCPU) and NumPy,
PyTorch and others see it at once. On CANN it is lent as kDLExtDev, which is what PyTorch with NPU support
takes. A borrower keeps the memory alive, also past the end of a `Runtime` block, which then leaves ACL up;
what is written on either side is seen on the other. A borrower that asks for a copy, or for host memory when
the tensor is elsewhere, gets a copy.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes, libraries, memory, runtime
from .enums import aclDataType

if TYPE_CHECKING:
    from .memory import DeviceBuffer
    from .tensor import Tensor

_CPU, _EXT_DEV = 1, 12
_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
_ML_CODES = {
    aclDataType.ACL_BF16: 4,
    aclDataType.ACL_FLOAT8_E4M3FN: 10,
    aclDataType.ACL_FLOAT8_E5M2: 12,
    aclDataType.ACL_FLOAT8_E8M0: 14,
}


class _Tensor(ctypes.Structure):  # DLTensor
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Managed(ctypes.Structure):  # DLManagedTensor
    _fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class _Versioned(ctypes.Structure):  # DLManagedTensorVersioned
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    ]


_IS_COPIED = 2
_FORMS: tuple[tuple[bytes, bytes, type[_Managed] | type[_Versioned]], ...] = (
    (b"dltensor_versioned", b"used_dltensor_versioned", _Versioned),
    (b"dltensor", b"used_dltensor", _Managed),
)


def _capsule_function(name: str, result: Any, *arguments: Any) -> Any:
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


_is_valid = _capsule_function("PyCapsule_IsValid", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)
_pointer = _capsule_function("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
_rename = _capsule_function("PyCapsule_SetName", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)


class Loan:
    """What a borrower holds: the buffer, and the array interface that shows its memory to NumPy."""

    __slots__ = ("__array_interface__", "__weakref__", "buffer")

    def __init__(self, tensor: Tensor, buffer: DeviceBuffer, carrier: np.dtype[Any]) -> None:
        self.buffer = buffer
        self.__array_interface__ = {
            "version": 3,
            "data": ((buffer.address or 0) + tensor.element.nbytes(tensor.offset), False),
            "shape": tensor.shape,
            "strides": tuple(s * carrier.itemsize for s in tensor.strides),
            "typestr": carrier.str,
        }
        runtime.loans.add(self)


def device_of(tensor: Tensor) -> tuple[int, int]:
    """(device type, number) in DLPack's terms."""
    if libraries.is_emulator(libraries.root()):
        return _CPU, 0
    return _EXT_DEV, tensor.device.number


def export(
    tensor: Tensor,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """A capsule that shares the tensor's memory. BufferError for what DLPack or the borrower excludes."""
    buffer = tensor._plain_buffer()
    element = tensor.element
    if dtypes.TO_ACL.get(element.dtype) != element.acl:
        raise BufferError(f"DLPack has no type for {element.acl.name}")
    own = device_of(tensor)
    place = own if dl_device is None else (int(dl_device[0]), int(dl_device[1]))
    if place not in (own, (_CPU, 0)) or (place != own and copy is False):
        raise BufferError(f"the tensor is on the DLPack device {own}, it cannot be lent on {place}")
    carrier = np.dtype(np.complex128 if element.bits == 128 else f"u{element.bits // 8}")
    copied = bool(copy) or place != own
    if place[0] == _CPU and copied:
        lent = tensor.numpy().view(carrier)
    else:
        if copied:
            from .creation import tensor as made

            tensor = made(tensor.numpy(), element)
            buffer = tensor._plain_buffer()
        memory.wait_for_users(buffer)
        # Without elements there is no memory to lend
        lent = np.asarray(Loan(tensor, buffer, carrier)) if tensor.size else np.empty(tensor.shape, carrier)
    return _capsule(lent, element, place, max_version, _IS_COPIED if copied else 0)


def _capsule(
    lent: np.ndarray,
    element: dtypes.Element,
    place: tuple[int, int],
    max_version: tuple[int, int] | None,
    flags: int,
) -> Any:
    """NumPy's capsule for the array, with our device and dtype.

    NumPy's functions let go of the memory. One of ours, written in Python, could not: borrowers let go while
    an exception is set, and calling Python then loses it.
    """
    capsule = None
    if max_version is not None and max_version[0] >= 1:
        try:
            capsule = lent.__dlpack__(max_version=max_version)
        except TypeError:
            pass  # NumPy before 2.1 knows the older form only
    if capsule is None:
        capsule = lent.__dlpack__()
    _, _, managed = _opened(capsule)
    own = managed.tensor
    own.device_type, own.device_id = place
    own.code = _ML_CODES.get(element.acl, _CODES.get(element.dtype.kind, -1))
    if isinstance(managed, _Versioned):
        managed.flags |= flags
    return capsule


def _opened(capsule: Any) -> tuple[bytes, int, Any]:
    """(name to give it once taken, address, structure) of a capsule. TypeError if it is none of DLPack's."""
    for name, used, form in _FORMS:
        if _is_valid(capsule, name):
            address = _pointer(capsule, name)
            managed = form.from_address(address)
            if isinstance(managed, _Versioned) and managed.major != 1:
                raise TypeError(f"data comes in version {managed.major} of DLPack, known is version 1")
            return used, address, managed
    raise TypeError("data.__dlpack__() returned no DLPack capsule, or one that was taken already")


def _dtype(code: int, bits: int) -> np.dtype[Any]:
    for acl, dtype in dtypes.TO_NUMPY.items():
        own = _ML_CODES.get(acl, _CODES.get(dtype.kind, -1))
        if (own, dtype.itemsize * 8) == (code, bits):
            return dtype
    raise TypeError(f"no aclDataType for DLPack's type of code {code} and {bits} bits")


def to_numpy(source: Any) -> np.ndarray:
    """A NumPy copy of anything with `__dlpack__` in host memory. TypeError for another device or dtype."""
    if not (hasattr(source, "__dlpack__") and hasattr(source, "__dlpack_device__")):
        raise TypeError(f"data must have __dlpack__ and __dlpack_device__, got {type(source).__name__}")
    if int(source.__dlpack_device__()[0]) != _CPU:
        where = tuple(map(int, source.__dlpack_device__()))
        raise TypeError(f"data is on the DLPack device {where}; copy it to the host first")
    try:
        capsule = source.__dlpack__(max_version=(1, 0))
    except TypeError:  # older than DLPack 1.0
        capsule = source.__dlpack__()
    used, address, managed = _opened(capsule)
    own = managed.tensor
    dtype = _dtype(own.code, own.bits * own.lanes)
    shape = tuple(own.shape[: own.ndim])
    copied = np.empty(shape, dtype)
    if copied.size:
        if own.strides:
            steps = tuple(own.strides[: own.ndim])
        else:
            steps = tuple(s // dtype.itemsize for s in copied.strides)
        low = sum(min(0, (n - 1) * s) for n, s in zip(shape, steps))
        high = sum(max(0, (n - 1) * s) for n, s in zip(shape, steps))
        start = own.data + own.byte_offset + low * dtype.itemsize
        raw = (ctypes.c_uint8 * ((high - low + 1) * dtype.itemsize)).from_address(start)
        copied[...] = dtypes.strided(np.frombuffer(raw, np.uint8).view(dtype), -low, shape, steps)
    if managed.deleter:
        _rename(capsule, used)
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(managed.deleter)(address)
    return copied


def lent() -> int:
    """How many tensors other libraries hold at the moment."""
    return sum(1 for _ in runtime.loans)
