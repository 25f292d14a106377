"""Making tensors: from arrays, numbers, lists and what other libraries lend, or fresh."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import dlpack, dtypes, memory, views
from .dtypes import host_array
from .memory import DeviceBuffer
from .tensor import Tensor


def tensor(data: Any, dtype: Any = None) -> Tensor:
    """A new dense device tensor with the elements of a NumPy array, number or nested list.

    Strided and Fortran-ordered arrays become dense (row-major); make strided device tensors by slicing or
    transposing the result. 0-d and zero-size arrays keep their shape. Without `dtype` an array keeps its own:
    nothing is cast unasked. An aclDataType without a NumPy type (ACL_HIFLOAT8 ...) takes codes, see `dtypes`.
    The array may be changed as soon as this returns. TypeError for object, structured, masked and
    foreign-endian arrays; OutOfDeviceMemory.
    """
    if isinstance(data, Tensor):
        raise TypeError("data is an aclnn Tensor already; use a view of it, or .numpy() for a copy")
    if dtype is not None and not isinstance(data, np.ma.MaskedArray):
        data = np.asarray(data).astype(dtypes.element(dtype).dtype, copy=False)
    elif not isinstance(data, (np.ndarray, np.generic)):
        data = np.asarray(data)
    source = np.asarray(host_array(data, "data"), order="C")
    made = empty(source.shape, source.dtype if dtype is None else dtype)
    memory.upload(made._buffer, 0, source if made.element.bits % 8 == 0 else made.element.pack(source))
    return made


def from_dlpack(data: Any) -> Tensor:
    """A new device tensor with a copy of what has `__dlpack__` in host memory, a PyTorch tensor for example.

    TypeError for another device, or a dtype without an aclDataType.
    """
    return tensor(dlpack.to_numpy(data))


def empty(shape: int | Sequence[int], dtype: Any = np.float32) -> Tensor:
    """A new dense device tensor whose elements are not set.

    `dtype` is a dtype, a type, a name or an aclDataType. TypeError, OutOfDeviceMemory.
    """
    element = dtypes.element(dtype)
    view = views.contiguous(views.checked(shape))
    return Tensor(DeviceBuffer(element.nbytes(view.size)), view, element)


def zeros(shape: int | Sequence[int], dtype: Any = np.float32) -> Tensor:
    """A new dense device tensor of zeros."""
    made = empty(shape, dtype)
    memory.clear(made._buffer)
    return made
