"""Making tensors: from arrays, numbers, lists and what other libraries lend, or fresh."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Number
from typing import Any

import numpy as np

from . import dlpack, dtypes, memory, views
from .dtypes import host_array
from .memory import DeviceBuffer
from .tensor import Tensor
from .values import shown


def tensor(data: Any, dtype: Any = None) -> Tensor:
    """A new dense device tensor with the elements of a NumPy array, number or nested list.

    Strided and Fortran-ordered arrays become dense (row-major); make strided device tensors by slicing or
    transposing the result. 0-d and zero-size arrays keep their shape. Without `dtype` an array keeps its own:
    nothing is cast unasked. An integer `dtype` takes integers, and arrays of whole numbers; nothing wraps. An
    aclDataType without a NumPy type (ACL_HIFLOAT8 ...) takes codes, see `dtypes`. The array may be changed as
    soon as this returns.

    TypeError for object, structured, masked and foreign-endian arrays, and for fractions where integers are
    due; OverflowError for a number outside an integer dtype; OutOfDeviceMemory.
    """
    if isinstance(data, Tensor):
        raise TypeError("data is an aclnn Tensor already; use a view of it, or .numpy() for a copy")
    if dtype is not None and not isinstance(data, np.ma.MaskedArray):
        data = _cast(data, dtypes.element(dtype))
    elif not isinstance(data, (np.ndarray, np.generic)):
        data = np.asarray(data)
    source = np.asarray(host_array(data, "data"), order="C")
    made = empty(source.shape, source.dtype if dtype is None else dtype)
    memory.upload(made._buffer, 0, source if made.element.bits % 8 == 0 else made.element.pack(source))
    return made


def _cast(data: Any, element: dtypes.Element) -> np.ndarray:
    """The data in the dtype of the element. An integer dtype takes whole numbers in its range only."""
    array = np.asarray(data)
    given = isinstance(data, (np.ndarray, np.generic))
    if array.dtype.names or (given and array.dtype.hasobject):
        host_array(array, "data")
    if array.dtype.hasobject:  # integers too large for NumPy, or no numbers at all
        for value in array.flat:
            if not isinstance(value, Number):
                raise TypeError(f"data must hold numbers, got {shown(value)}")
    if element.limits is not None:
        if array.size and array.dtype != element.dtype:
            _check_integers(array if given else data, element)
    elif array.dtype.kind == "c" and element.dtype.kind != "c":
        raise TypeError(f"data is complex, the dtype {element.dtype}; pass its .real")
    return array.astype(element.dtype, copy=False)


def _check_integers(data: Any, element: dtypes.Element) -> None:
    """TypeError, OverflowError unless the array or the nested list holds integers that fit."""
    name, (low, high) = dtypes.spelled(element.acl), element.limits or (0, 0)
    array = np.asarray(data)
    if array.dtype.kind not in "iub":
        if not isinstance(data, np.ndarray):
            array = np.array(data, object)
            wrong = [value for value in array.flat if not isinstance(value, (int, np.integer))]
        else:  # whole numbers pass, but no code is made from a float
            codes = element.dtype not in dtypes.PACKED and dtypes.TO_ACL[element.dtype] != element.acl
            array = array if array.dtype.kind == "c" else array.astype(np.float64)
            wrong = list(
                array.flat[:1] if codes or array.dtype.kind == "c" else array[array != np.trunc(array)]
            )
        if wrong:
            raise TypeError(f"data of {name} must be integers, got {shown(wrong[0])}; use .astype")
    for value in (array.min(), array.max()):
        if not low <= value <= high:
            raise OverflowError(f"data holds {value}, {name} goes from {low} to {high}")


def from_dlpack(data: Any) -> Tensor:
    """A new device tensor with a copy of what has `__dlpack__` in host memory, a PyTorch tensor for example.

    A read-only array is taken too: it is only read. TypeError for another device, or a dtype without an
    aclDataType.
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
