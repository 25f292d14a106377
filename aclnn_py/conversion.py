"""Which Python values each parameter of an operator takes, decided by its C type.

A converter returns what the generated call uses: an object whose slot holds the handle, or a plain Python
value. Errors are TypeError, ValueError for a closed object, OverflowError for a number that does not fit; the
text names operator, parameter, C type and what came.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import c_void_p
from typing import Any

import numpy as np

from .abi import BY_VALUE
from .arguments import BoolArray, FloatArray, IntArray, Scalar, ScalarList, TensorList
from .creation import tensor
from .dtypes import host_array
from .prototype import Parameter
from .tensor import Tensor
from .values import shown, to_bool, to_data_type, to_float, to_format, to_int, to_string

# Kind of parameter -> slot that holds the handle of its class. An object of another kind has not got that
# slot, so it cannot be passed by mistake; nor has a closed one.
SLOTS = {
    "tensor": "_aclTensor",
    "tensor_list": TensorList._slot,
    "scalar": Scalar._slot,
    "scalar_list": ScalarList._slot,
    "int_array": IntArray._slot,
    "float_array": FloatArray._slot,
    "bool_array": BoolArray._slot,
}


class _Null:
    """NULL in place of any object."""

    __slots__ = ()
    _aclTensor = _aclTensorList = _aclScalar = _aclScalarList = _aclIntArray = _aclFloatArray = (
        _aclBoolArray
    ) = _kept = None

    def __repr__(self) -> str:
        return "NULL"

    describe = __repr__


NULL = _Null()


def _to_input(value: Any) -> Tensor:
    if isinstance(value, (np.ndarray, np.generic)):
        return tensor(host_array(value, ""))
    raise TypeError(f"must be an aclnn.Tensor, a NumPy array or None, got {shown(value)}")


def _to_output(value: Any) -> Tensor:
    if isinstance(value, (np.ndarray, np.generic)):
        raise TypeError(
            f"must be an aclnn.Tensor (make one with aclnn.empty), got {shown(value)}: its result is lost "
            "unless the call has copy_back=True"
        )
    raise TypeError(f"must be an aclnn.Tensor or None, got {shown(value)}")


def _to_unknown(value: Any) -> Tensor:
    if isinstance(value, (np.ndarray, np.generic)):
        raise TypeError(
            f"must be an aclnn.Tensor (make one with aclnn.tensor or aclnn.empty), got {shown(value)}: the "
            "header does not say which tensor is the output, and if this is it, its result would be lost "
            "unless the call has copy_back=True"
        )
    raise TypeError(f"must be an aclnn.Tensor or None, got {shown(value)}")


def _for_role(role: str) -> Callable[[Any], Tensor]:
    return {"in": _to_input, "unknown": _to_unknown}.get(role, _to_output)


def _to_tensor_list(value: Any, role: str) -> TensorList:
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"must be a list of aclnn.Tensor or None, got {shown(value)}")
    convert = _for_role(role)
    tensors = []
    for i, item in enumerate(value):
        try:
            tensors.append(item if item is None or isinstance(item, Tensor) else convert(item))
        except TypeError as problem:
            raise TypeError(f"element {i} {problem}") from None
    return TensorList(tensors)


def _to_scalar(value: Any) -> Scalar:
    try:
        return Scalar(value)
    except TypeError:
        raise TypeError(f"must be a number, an aclnn.Scalar or None, got {shown(value)}") from None


def _to_address(value: Any, ctype: str) -> Any:
    """What a pointer to plain numbers takes: host memory as a ctypes object or a NumPy array."""
    if isinstance(value, (ctypes.Array, ctypes._SimpleCData, ctypes._Pointer)):
        return ctypes.cast(ctypes.byref(value) if isinstance(value, ctypes._SimpleCData) else value, c_void_p)
    pointed = ctype.removeprefix("const ").removesuffix("*")
    wanted = None if pointed == "void" else np.dtype(BY_VALUE[pointed])
    if not isinstance(value, np.ndarray) or (wanted is not None and value.dtype != wanted):
        raise TypeError(f"must be a NumPy array of {wanted or 'any dtype'} or None, got {shown(value)}")
    if not value.flags.c_contiguous or not (value.flags.writeable or ctype.startswith("const ")):
        raise TypeError("must be a C-contiguous array, writeable unless the pointer is const")
    made = c_void_p(value.ctypes.data)
    made._array = value  # type: ignore[attr-defined]  # lives as long as its address is in use
    return made


def _from_sequence(make: type, what: str) -> Callable[[Any], Any]:
    def convert(value: Any) -> Any:
        is_list = isinstance(value, (list, tuple, range)) or (
            isinstance(value, np.ndarray) and value.ndim == 1
        )
        if not is_list:
            raise TypeError(f"must be a list of {what} or None, got {shown(value)}")
        return make(value)

    return convert


# kind -> (the class that passes as it is, conversion of anything else given the parameter)
_CONVERSIONS: dict[str, tuple[Any, Callable[[Parameter], Callable[[Any], Any]]]] = {
    "tensor": (Tensor, lambda p: _for_role(p.role)),
    "tensor_list": (TensorList, lambda p: lambda value: _to_tensor_list(value, p.role)),
    "scalar": (Scalar, lambda p: _to_scalar),
    "scalar_list": (ScalarList, lambda p: _from_sequence(ScalarList, "numbers")),
    "int_array": (IntArray, lambda p: _from_sequence(IntArray, "ints")),
    "float_array": (FloatArray, lambda p: _from_sequence(FloatArray, "real numbers")),
    "bool_array": (BoolArray, lambda p: _from_sequence(BoolArray, "bools")),
    "int": (None, lambda p: lambda value: to_int(value, p.ctype)),
    "float": (None, lambda p: lambda value: to_float(value, p.ctype)),
    "bool": (None, lambda p: to_bool),
    "string": (None, lambda p: to_string),
    "dtype": (None, lambda p: to_data_type),
    "format": (None, lambda p: to_format),
    "pointer": (c_void_p, lambda p: lambda value: _to_address(value, p.ctype)),
}


def converter(operator: str, parameter: Parameter) -> Callable[[Any], Any]:
    """The conversion of Python values for one parameter of an operator."""
    own, make = _CONVERSIONS[parameter.kind]
    convert = make(parameter)
    label = f"{operator}: {parameter.name} ({parameter.ctype})"

    def checked(value: Any) -> Any:
        if value is None and parameter.is_pointer:
            return NULL if parameter.kind in SLOTS else None
        if own is not None and isinstance(value, own):
            if parameter.kind in SLOTS and not hasattr(value, SLOTS[parameter.kind]):
                how = "was closed" if value.closed else "is used after ACL was finalized"
                raise ValueError(f"{label} {how}: {value!r}")
            return value
        try:
            return convert(value)
        except (TypeError, OverflowError, ValueError) as problem:
            if type(problem) not in (TypeError, OverflowError, ValueError):
                raise
            raise type(problem)(f"{label} {str(problem).lstrip()}") from None

    return checked
