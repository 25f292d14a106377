"""Element types: NumPy and ml_dtypes on one side, aclDataType on the other.

Only types whose elements lie in memory the same way on both sides are mapped. Packed types (INT4, UINT1,
FLOAT4, FLOAT6) and those without a NumPy type (HIFLOAT8, COMPLEX32, STRING) are not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .enums import aclDataType

ml_dtypes: Any
try:
    import ml_dtypes
except ImportError:  # everything but its own types works without it
    ml_dtypes = None

_NUMPY_NAMES = {
    "float32": aclDataType.ACL_FLOAT,
    "float16": aclDataType.ACL_FLOAT16,
    "int8": aclDataType.ACL_INT8,
    "int32": aclDataType.ACL_INT32,
    "uint8": aclDataType.ACL_UINT8,
    "int16": aclDataType.ACL_INT16,
    "uint16": aclDataType.ACL_UINT16,
    "uint32": aclDataType.ACL_UINT32,
    "int64": aclDataType.ACL_INT64,
    "uint64": aclDataType.ACL_UINT64,
    "float64": aclDataType.ACL_DOUBLE,
    "bool": aclDataType.ACL_BOOL,
    "complex64": aclDataType.ACL_COMPLEX64,
    "complex128": aclDataType.ACL_COMPLEX128,
}
_ML_NAMES = {
    "bfloat16": aclDataType.ACL_BF16,
    "float8_e5m2": aclDataType.ACL_FLOAT8_E5M2,
    "float8_e4m3fn": aclDataType.ACL_FLOAT8_E4M3FN,
    "float8_e8m0fnu": aclDataType.ACL_FLOAT8_E8M0,
}
_PACKED = {"int4", "uint4", "int2", "uint2", "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn"}

TO_NUMPY: dict[aclDataType, np.dtype[Any]] = {acl: np.dtype(name) for name, acl in _NUMPY_NAMES.items()}
for _name, _acl in _ML_NAMES.items():
    if hasattr(ml_dtypes, _name):
        TO_NUMPY[_acl] = np.dtype(getattr(ml_dtypes, _name))
TO_ACL: dict[np.dtype[Any], aclDataType] = {dtype: acl for acl, dtype in TO_NUMPY.items()}

# How operators' messages spell the types: ACL_BF16 is DT_BFLOAT16, ACL_BOOL is DT_BOOL and so on.
_SPELLING = {aclDataType.ACL_BF16: "BFLOAT16"}


def spelled(dtype: np.dtype[Any]) -> str:
    """CANN's short name of an element type, as its documents write it: FLOAT, FLOAT16, BFLOAT16, INT64."""
    acl = TO_ACL[dtype]
    return _SPELLING.get(acl, acl.name.removeprefix("ACL_"))


def as_dtype(dtype: Any) -> np.dtype[Any]:
    """The NumPy dtype for a dtype, a type, a name ("bfloat16" needs no import) or an aclDataType.

    TypeError if there is none, or if CANN has no such element type.
    """
    if isinstance(dtype, aclDataType):
        if dtype not in TO_NUMPY:
            raise TypeError(f"{dtype.name} has no NumPy type")
        return TO_NUMPY[dtype]
    if isinstance(dtype, str) and dtype in _ML_NAMES:
        if _ML_NAMES[dtype] not in TO_NUMPY:
            raise TypeError(f"dtype {dtype} needs the package ml_dtypes: pip install 'ml_dtypes>=0.5'")
        return TO_NUMPY[_ML_NAMES[dtype]]
    found: np.dtype[Any] = np.dtype(dtype)
    problem = unusable(found)
    if problem:
        raise TypeError(f"dtype {found} {problem}")
    return found


def unusable(dtype: np.dtype[Any]) -> str:
    """Why a NumPy dtype cannot be an element type, as what follows its name in a sentence; "" if it can."""
    if dtype in TO_ACL and dtype.isnative:
        return ""
    if dtype.hasobject:
        return "holds Python objects; convert the data to a numeric dtype first"
    if dtype.names:
        return "is structured; pass its fields as separate arrays"
    if dtype.name in _PACKED:
        return "has one element per byte in NumPy but is packed in CANN; it is not supported"
    if not dtype.isnative:
        return f"is not in this machine's byte order; use .astype({dtype.newbyteorder('=').name!r})"
    return "has no aclDataType"
