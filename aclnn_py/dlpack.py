"""DLPack both ways: tensors lent to other libraries without a copy, and arrays of other libraries taken in.

The emulator's device memory is host memory, so a tensor there is lent as CPU memory (kDLCPU) and NumPy,
PyTorch and others see it at once. On CANN it is lent as kDLExtDev, which is what PyTorch with NPU support
takes. A borrower keeps the memory alive; what is written on either side is seen on the other.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from . import dtypes, libraries, memory
from .enums import aclDataType

if TYPE_CHECKING:
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


_lent: dict[int, Any] = {}  # address of a DLManagedTensor -> everything that it points to
_NAME, _USED = b"dltensor", b"used_dltensor"


def _capsule_function(name: str, result: Any, *arguments: Any) -> Any:
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


_new = _capsule_function("PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_pointer = _capsule_function("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
_rename = _capsule_function("PyCapsule_SetName", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)
# The same on a bare address, for a capsule that is being destroyed and must not be counted again
_is_valid = _capsule_function("PyCapsule_IsValid", ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)
_address = _capsule_function("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)


def _give_back(managed: int) -> None:
    _lent.pop(managed, None)


def _destroy(capsule: int) -> None:
    if _is_valid(capsule, _NAME):  # nobody took it
        _lent.pop(_address(capsule, _NAME), None)


_deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_give_back)
_destructor = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(_destroy)


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
    if dl_device is not None and tuple(dl_device) != device_of(tensor):
        raise BufferError("use .numpy() for a copy in host memory")
    if copy:
        raise BufferError("the memory is shared, not copied; use .numpy() for a copy")
    memory.wait_for_users(buffer)
    code = _ML_CODES.get(element.acl, _CODES.get(element.dtype.kind, -1))
    rank = tensor.ndim
    shape, strides = (ctypes.c_int64 * rank)(*tensor.shape), (ctypes.c_int64 * rank)(*tensor.strides)
    managed = _Managed()
    managed.tensor = _Tensor(
        buffer.address,
        *device_of(tensor),
        rank,
        code,
        element.bits,
        1,
        shape,
        strides,
        element.nbytes(tensor.offset),
    )
    managed.deleter = ctypes.cast(_deleter, ctypes.c_void_p)
    place = ctypes.addressof(managed)
    _lent[place] = managed, shape, strides, buffer
    return _new(place, _NAME, ctypes.cast(_destructor, ctypes.c_void_p))


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
    capsule = source.__dlpack__()
    managed = _Managed.from_address(_pointer(capsule, _NAME))
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
        elements = np.frombuffer(raw, np.uint8).view(dtype)[-low:]
        copied[...] = as_strided(elements, shape, tuple(s * dtype.itemsize for s in steps))
    if managed.deleter:
        _rename(capsule, _USED)
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(managed.deleter)(ctypes.addressof(managed))
    return copied


def lent() -> int:
    """How many tensors other libraries hold at the moment."""
    return len(_lent)
