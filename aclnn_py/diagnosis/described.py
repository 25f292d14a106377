"""Arguments as JSON, and the elements of tensors as plain arrays: what traces and reproducers write.

A tensor is {"dtype": "BFLOAT16", "shape": [2, 3], "format": "ND"}, with "strides", "offset" and
"storage_shape" where it is not dense; NULL is null; an array of numbers is {"ints": [...]} ("floats",
"bools"); a scalar {"scalar": "FLOAT", "value": 1.0}; a list of tensors {"tensors": [...]}; a number, bool,
string or dtype {"value": ...}. Infinities and NaN are the strings "inf", "-inf", "nan": JSON has none.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import dtypes
from ..arguments import BoolArray, FloatArray, IntArray, Scalar, ScalarList, TensorList
from ..enums import aclDataType, aclFormat
from ..prototype import Parameter
from ..tensor import Tensor

_ARRAYS = {"int_array": "ints", "float_array": "floats", "bool_array": "bools"}
_OBJECTS = (IntArray, FloatArray, BoolArray)
MOST_VALUES = 4096  # of an array of numbers; a longer one is told by its length


def argument(parameter: Parameter, value: Any, most: int = MOST_VALUES) -> dict[str, Any]:
    """One argument as it came or as it was converted: {"name": ..., and the value}."""
    return {"name": parameter.name, **_value(parameter.kind, value, most)}


def _value(kind: str, value: Any, most: int) -> dict[str, Any]:
    if value is None or type(value).__name__ == "_Null":
        return {"value": None}
    if isinstance(value, (Tensor, np.ndarray, np.generic)) and kind in ("tensor", "unknown"):
        return tensor(value)
    if kind == "tensor_list":
        items = list(value.tensors if isinstance(value, TensorList) else value)
        return {"tensors": [None if item is None else tensor(item) for item in items]}
    if kind in _ARRAYS:
        items = value._values if isinstance(value, _OBJECTS) else value
        numbers = [_number(v) for v in list(items)[:most]]
        more = {"length": len(items)} if len(items) > most else {}
        return {_ARRAYS[kind]: numbers, **more}
    if kind == "scalar":
        scalar = value if isinstance(value, Scalar) else Scalar(value)
        return _scalar(scalar)
    if kind == "scalar_list":
        items = value._values if isinstance(value, ScalarList) else value
        return {"scalars": [_scalar(v if isinstance(v, Scalar) else Scalar(v)) for v in items]}
    if kind == "dtype":
        return {"value": dtypes.spelled(_data_type(value))}
    if kind == "format":
        return {"value": aclFormat(value).name.removeprefix("ACL_FORMAT_")}
    if kind in ("int", "float", "bool"):
        return {"value": _number(value)}
    if kind == "string":
        return {"value": value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)}
    return {"unsupported": type(value).__name__}


def _data_type(value: Any) -> aclDataType:
    if isinstance(value, (int, np.integer)):
        return aclDataType(int(value))
    return dtypes.element(value).acl


def _scalar(scalar: Scalar) -> dict[str, Any]:
    value = scalar._values
    if np.iscomplexobj(value):
        return {"scalar": dtypes.spelled(dtypes.element(scalar.dtype).acl), "value": [value.real, value.imag]}
    return {"scalar": dtypes.spelled(dtypes.element(scalar.dtype).acl), "value": _number(value)}


def _number(value: Any) -> Any:
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    number = float(value)
    return number if math.isfinite(number) else str(number)


def tensor(value: Any) -> dict[str, Any]:
    """A Tensor, or a NumPy array that becomes one: dense on its way up."""
    if not isinstance(value, Tensor):
        array = np.asarray(value)
        try:
            dtype = dtypes.spelled(dtypes.element(array.dtype).acl)
        except TypeError:
            dtype = str(array.dtype)
        return {"dtype": dtype, "shape": list(array.shape), "format": "ND"}
    made: dict[str, Any] = {
        "dtype": dtypes.spelled(value.data_type),
        "shape": list(value.shape),
        "format": value.format.name.removeprefix("ACL_FORMAT_"),
    }
    if not value.is_contiguous:
        made["strides"] = list(value.strides)
    if value.offset:
        made["offset"] = value.offset
    if value.storage_shape != value.shape:
        made["storage_shape"] = list(value.storage_shape)
    return made


def nbytes(value: Any) -> int:
    """How much `elements` would give."""
    if isinstance(value, Tensor):
        return value.element.nbytes(value._view.extent)
    return int(np.asarray(value).nbytes)


def elements(value: Any) -> np.ndarray:
    """The elements in a row, from the first to the last in memory; as bits where NumPy has no such type.

    Waits for the streams that use the tensor; what the wait reports is raised.
    """
    if isinstance(value, Tensor):
        from .. import memory

        buffer = value._live_buffer()
        memory.wait_for_users(buffer)
        flat = value._download_extent(buffer)
    else:
        flat = np.ascontiguousarray(value).reshape(-1)
    if flat.dtype.isbuiltin == 1:
        return flat
    return flat.view(f"u{flat.dtype.itemsize}")
