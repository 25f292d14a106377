"""Element types: NumPy and ml_dtypes on one side, aclDataType on the other.

Most types lie in memory the same way on both sides. INT4, FLOAT4 and FLOAT6 take a byte per element in
ml_dtypes and are packed on the device, first element in the lowest bits: copies pack and unpack. What NumPy
has no type for (HIFLOAT8, COMPLEX32, UINT1, FLOAT4_E1M2) is passed as codes: unsigned integers with the bits
of an element.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .enums import aclDataType

ml_dtypes: Any
try:
    import ml_dtypes
except Exception:  # everything but its own types works without it; a damaged one raises anything
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
_PACKED_NAMES = {
    "int4": (aclDataType.ACL_INT4, 4),
    "float4_e2m1fn": (aclDataType.ACL_FLOAT4_E2M1, 4),
    "float6_e2m3fn": (aclDataType.ACL_FLOAT6_E2M3, 6),
    "float6_e3m2fn": (aclDataType.ACL_FLOAT6_E3M2, 6),
}


class Element(NamedTuple):
    """An element type: CANN's number, the NumPy dtype of one element, its bits on the device."""

    acl: aclDataType
    dtype: np.dtype[Any]
    bits: int

    def nbytes(self, count: int) -> int:
        """Whole bytes that hold `count` elements on the device."""
        return -(-count * self.bits // 8)

    @property
    def limits(self) -> tuple[int, int] | None:
        """Smallest and largest value of an integer type, or of the codes of one; None for other types."""
        if self.dtype.kind == "i" or self.dtype.name == "int4":
            return -(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1
        return (0, (1 << self.bits) - 1) if self.dtype.kind == "u" else None

    def pack(self, array: np.ndarray) -> np.ndarray:
        """Elements in a row -> bytes of the device."""
        flat = np.asarray(array, order="C").reshape(-1)
        if self.bits % 8 == 0:
            return flat.view(np.uint8)
        codes = flat.astype(np.int8).view(np.uint8) if flat.dtype.name == "int4" else flat.view(np.uint8)
        bits = np.unpackbits(codes[:, None], axis=1, count=self.bits, bitorder="little")
        return np.packbits(bits.reshape(-1), bitorder="little")

    def unpack(self, raw: np.ndarray, skip: int, count: int) -> np.ndarray:
        """`count` elements from bytes of the device, after `skip` bits of the first byte."""
        bits = np.unpackbits(raw, bitorder="little")[skip:][: count * self.bits]
        codes = np.packbits(bits.reshape(count, self.bits), axis=1, bitorder="little").reshape(-1)
        if self.dtype.name == "int4":
            return ((codes.astype(np.int8) ^ 8) - 8).astype(self.dtype)
        return codes.view(self.dtype)


TO_NUMPY: dict[aclDataType, np.dtype[Any]] = {acl: np.dtype(name) for name, acl in _NUMPY_NAMES.items()}
for _name, _acl in _ML_NAMES.items():
    if hasattr(ml_dtypes, _name):
        TO_NUMPY[_acl] = np.dtype(getattr(ml_dtypes, _name))
TO_ACL: dict[np.dtype[Any], aclDataType] = {dtype: acl for acl, dtype in TO_NUMPY.items()}

_ELEMENTS = {acl: Element(acl, dtype, dtype.itemsize * 8) for acl, dtype in TO_NUMPY.items()}
_ELEMENTS |= {
    acl: Element(acl, np.dtype(code), bits)
    for acl, code, bits in (
        (aclDataType.ACL_HIFLOAT8, np.uint8, 8),
        (aclDataType.ACL_COMPLEX32, np.uint32, 32),
        (aclDataType.ACL_UINT1, np.uint8, 1),
        (aclDataType.ACL_FLOAT4_E1M2, np.uint8, 4),
    )
}
PACKED: dict[np.dtype[Any], Element] = {}  # ml_dtypes' types of less than a byte
for _name, (_acl, _bits) in _PACKED_NAMES.items():
    if hasattr(ml_dtypes, _name):
        _own = np.dtype(getattr(ml_dtypes, _name))
        PACKED[_own] = _ELEMENTS[_acl] = Element(_acl, _own, _bits)

# How operators' messages spell the types: ACL_BF16 is DT_BFLOAT16, ACL_BOOL is DT_BOOL and so on.
_SPELLING = {aclDataType.ACL_BF16: "BFLOAT16"}


def element(dtype: Any) -> Element:
    """The element type for what `as_dtype` takes, and for an aclDataType that goes as codes. TypeError."""
    if isinstance(dtype, Element):
        return dtype
    if isinstance(dtype, aclDataType):
        if dtype not in _ELEMENTS:
            raise TypeError(f"{dtype.name} is no element type of a tensor")
        return _ELEMENTS[dtype]
    found = as_dtype(dtype)
    return PACKED.get(found) or _ELEMENTS[TO_ACL[found]]


def spelled(acl: aclDataType) -> str:
    """CANN's short name of an element type, as its documents write it: FLOAT, FLOAT16, BFLOAT16, INT64."""
    return _SPELLING.get(acl, acl.name.removeprefix("ACL_"))


def as_dtype(dtype: Any) -> np.dtype[Any]:
    """The NumPy dtype for a dtype, a type, a name ("bfloat16" needs no import) or an aclDataType.

    TypeError if there is none, or if CANN has no such element type.
    """
    if isinstance(dtype, aclDataType):
        known = TO_NUMPY.get(dtype) or next((d for d, e in PACKED.items() if e.acl == dtype), None)
        if known is None:
            raise TypeError(f"{dtype.name} has no NumPy type")
        return known
    if isinstance(dtype, str) and (dtype in _ML_NAMES or dtype in _PACKED_NAMES):
        if not hasattr(ml_dtypes, dtype):
            raise TypeError(f"dtype {dtype} needs the package ml_dtypes: pip install 'ml_dtypes>=0.5'")
        named: np.dtype[Any] = np.dtype(getattr(ml_dtypes, dtype))
        return named
    found: np.dtype[Any] = np.dtype(dtype)
    problem = unusable(found)
    if problem:
        raise TypeError(f"dtype {found} {problem}")
    return found


def unusable(dtype: np.dtype[Any]) -> str:
    """Why a NumPy dtype cannot be an element type, as what follows its name in a sentence; "" if it can."""
    if (dtype in TO_ACL or dtype in PACKED) and dtype.isnative:
        return ""
    if dtype.hasobject:
        return "holds Python objects; convert the data to a numeric dtype first"
    if dtype.names:
        return "is structured; pass its fields as separate arrays"
    if not dtype.isnative:
        return f"is not in this machine's byte order; use .astype({dtype.newbyteorder('=').name!r})"
    return "has no aclDataType"


def strided(elements: np.ndarray, start: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> np.ndarray:
    """A view of a dense array with `strides` in elements. as_strided does not take all of ml_dtypes."""
    size = elements.itemsize
    steps = tuple(s * size for s in strides)
    view: np.ndarray = np.ndarray(
        shape, elements.dtype, elements.reshape(-1).view(np.uint8), start * size, steps
    )
    return view


def host_array(array: Any, what: str) -> np.ndarray:
    """A NumPy array that can be uploaded. TypeError naming `what` for another thing or an unusable dtype."""
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"{what} is a masked array; fill it first: .filled(value)")
    if not isinstance(array, (np.ndarray, np.generic)):
        raise TypeError(f"{what} must be a NumPy array, got {type(array).__name__}")
    problem = unusable(array.dtype)
    if problem:
        raise TypeError(f"{what} has dtype {array.dtype}, which {problem}")
    return np.asarray(array)
