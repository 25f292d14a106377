"""C objects that are arguments besides tensors: scalars, arrays, lists. Each goes with its Python object."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Iterable
from types import NoneType
from typing import Any

import numpy as np

from . import dtypes, runtime
from .abi import acl
from .dtypes import host_array
from .status import fail
from .tensor import Tensor, create_descriptor
from .values import brief, shown, to_bool, to_float, to_int


class _Owned:
    """A C object of ours: destroyed by close(), at the end of a `with` block, or with the Python object."""

    __slots__ = ("__weakref__", "_values")
    _slot = ""  # each class has a slot of its own name for the handle; see conversion.SLOTS
    _destroy = ""

    def _take(self, handle: int | None, maker: str, values: Any) -> None:
        self._values = values
        if not handle:
            fail(561103, maker, hint="it returned NULL")
        setattr(self, self._slot, ctypes.c_void_p.from_param(handle))  # ready to be passed, with its C type
        runtime.live_owners[id(self)] = weakref.ref(self)

    @property
    def closed(self) -> bool:
        return not hasattr(self, self._slot)

    def close(self) -> None:
        """Destroys the C object. Closing twice is fine."""
        self._release()

    def _release(self) -> None:
        try:
            handle = getattr(self, self._slot)
            delattr(self, self._slot)
        except AttributeError:
            return
        runtime.live_owners.pop(id(self), None)
        if runtime.host_objects_usable():
            getattr(acl, self._destroy)(handle)

    def __del__(self) -> None:
        try:
            self.close()
        except KeyboardInterrupt:
            runtime.interrupt_again()
        except Exception:  # at interpreter exit half the module may be gone
            pass

    def __enter__(self) -> Any:
        if self.closed:
            raise ValueError(f"{type(self).__name__}({self._values!r}) was closed")
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        values = brief(self._values) if isinstance(self._values, list) else repr(self._values)
        return f"{type(self).__name__}({values}{', closed' if self.closed else ''})"

    describe = __repr__


class Scalar(_Owned):
    """An aclScalar made from one number.

    Without `dtype`: bool -> BOOL, int -> INT64, float -> DOUBLE, complex -> COMPLEX128, and a NumPy scalar or
    0-d array keeps its own dtype. TypeError for other things, OverflowError for a number outside the range of
    the dtype; inf and nan given as such pass.
    """

    __slots__ = ("_aclScalar", "dtype")
    _aclScalar: Any
    _slot = "_aclScalar"
    _destroy = "aclDestroyScalar"

    def __init__(self, value: Any, dtype: Any = None) -> None:
        if not isinstance(value, (bool, int, float, complex, np.generic, np.ndarray)) or np.ndim(value):
            raise TypeError(f"a Scalar is made from one number, got {type(value).__name__}")
        if isinstance(value, int) and not isinstance(value, bool) and dtype is None:
            dtype = np.int64
        array = np.asarray(value) if dtype is None else _exact(value, dtypes.as_dtype(dtype))
        array = host_array(array, "a Scalar's value")
        if array.dtype not in dtypes.TO_ACL:
            raise TypeError(f"CANN has no scalars of {array.dtype}")
        self.dtype = array.dtype
        self._take(_create_scalar(array), "aclCreateScalar", array[()])


def _create_scalar(array: np.ndarray) -> int | None:
    runtime.enter()
    handle: int | None = acl.aclCreateScalar(array.ctypes.data, dtypes.TO_ACL[array.dtype])
    return handle


def _exact(value: Any, dtype: np.dtype[Any]) -> np.ndarray:
    array = np.asarray(value)
    if isinstance(value, int) and array.dtype.kind == "O" and dtype.kind != "b":
        if dtype.kind in "iu" or abs(value) > float(np.finfo(np.float64).max):
            raise OverflowError(f"{shown(value)} does not fit {dtype.name}")
        array = np.asarray(float(value))
    if dtype.kind in "iub":
        if array.dtype.kind not in "iub" or (dtype.kind == "b") != (array.dtype.kind == "b"):
            raise TypeError(f"a Scalar of {dtype.name} is not made from {value!r}")
        if dtype.kind != "b":
            info = np.iinfo(dtype)
            if not info.min <= int(value) <= info.max:
                raise OverflowError(f"{value!r} does not fit {dtype.name}")
    elif array.dtype.kind == "c" and dtype.kind != "c":
        raise TypeError(f"a Scalar of {dtype.name} is not made from the complex {value!r}")
    with np.errstate(over="ignore"):
        made = array.astype(dtype)
    if np.isfinite(array) and not np.isfinite(made):
        raise OverflowError(f"{value!r} does not fit {dtype.name}")
    return made


class _Array(_Owned):
    __slots__ = ()
    _maker = ""
    _element: Any = None
    _item: Any  # each class's own: the C value of one element

    def __init__(self, values: Iterable[Any]) -> None:
        items = []
        for i, value in enumerate(values):
            try:
                items.append(self._item(value))
            except (TypeError, OverflowError) as problem:
                raise type(problem)(f"element {i} {problem}") from None
        runtime.enter()
        handle = getattr(acl, self._maker)((self._element * len(items))(*items), len(items))
        self._take(handle, self._maker, items)

    def __len__(self) -> int:
        return len(self._values)


class IntArray(_Array):
    """An aclIntArray of int64 from any integers: list, tuple, range, integer NumPy array."""

    __slots__ = ("_aclIntArray",)
    _slot = "_aclIntArray"
    _maker, _destroy, _element = "aclCreateIntArray", "aclDestroyIntArray", ctypes.c_int64

    @staticmethod
    def _item(value: Any) -> int:
        return to_int(value, "int64_t")


class FloatArray(_Array):
    """An aclFloatArray of float32 from any real numbers."""

    __slots__ = ("_aclFloatArray",)
    _slot = "_aclFloatArray"
    _maker, _destroy, _element = "aclCreateFloatArray", "aclDestroyFloatArray", ctypes.c_float

    @staticmethod
    def _item(value: Any) -> float:
        return to_float(value, "float")


class BoolArray(_Array):
    """An aclBoolArray from bools."""

    __slots__ = ("_aclBoolArray",)
    _slot = "_aclBoolArray"
    _maker, _destroy, _element = "aclCreateBoolArray", "aclDestroyBoolArray", ctypes.c_bool

    @staticmethod
    def _item(value: Any) -> bool:
        return to_bool(value)


class TensorList(_Owned):
    """An aclTensorList over tensors, which stay usable: the C list owns descriptors of its own.

    None stands for an element that is not given (NULL), where the operator allows it.
    """

    __slots__ = ("_kept", "_aclTensorList")
    _slot = "_aclTensorList"
    _destroy = "aclDestroyTensorList"

    def __init__(self, tensors: Iterable[Tensor | None]) -> None:
        items = list(tensors)
        for i, t in enumerate(items):
            if not isinstance(t, (Tensor, NoneType)):
                raise TypeError(f"element {i} of a TensorList must be a Tensor or None, got {shown(t)}")
        runtime.enter()
        for t in items:
            if t is not None:
                t._live_buffer()
        self._kept = tuple(None if t is None else t._kept for t in items)  # what a stream must keep
        elements = [
            None
            if t is None
            else create_descriptor(t._view, t.data_type, t.format, t._storage_shape, t._buffer.address)
            for t in items
        ]
        self._take(create_list(elements), "aclCreateTensorList", items)

    @property
    def tensors(self) -> list[Tensor | None]:
        return list(self._values)

    def __len__(self) -> int:
        return len(self._values)


def create_list(elements: list[int | None]) -> int:
    """A new aclTensorList that owns the descriptors, which are destroyed if it cannot be made."""
    handle = acl.aclCreateTensorList((ctypes.c_void_p * len(elements))(*elements), len(elements))
    if not handle:
        for element in filter(None, elements):
            acl.aclDestroyTensor(element)
        fail(561103, "aclCreateTensorList", hint="it returned NULL")
    return int(handle)


class ScalarList(_Owned):
    """An aclScalarList from numbers (see Scalar for the dtype rule)."""

    __slots__ = ("_aclScalarList",)
    _slot = "_aclScalarList"
    _destroy = "aclDestroyScalarList"

    def __init__(self, values: Iterable[Any], dtype: Any = None) -> None:
        items = []
        for i, value in enumerate(values):
            try:
                items.append(value if isinstance(value, Scalar) else Scalar(value, dtype))
            except (TypeError, OverflowError) as problem:
                raise type(problem)(f"element {i} ({shown(value)}): {problem}") from None
            if items[-1].closed:
                raise ValueError(f"element {i} was closed: {value!r}")
        runtime.enter()
        elements = [_create_scalar(np.asarray(s._values)) for s in items]  # the list will own these
        handle = acl.aclCreateScalarList((ctypes.c_void_p * len(elements))(*elements), len(elements))
        if not handle:
            for element in elements:
                acl.aclDestroyScalar(element)
        self._take(handle, "aclCreateScalarList", [s._values for s in items])

    def __len__(self) -> int:
        return len(self._values)
