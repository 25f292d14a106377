"""Python values -> C values, exactly or not at all.

The errors read as the end of a sentence ("must be an int, got str 'x'"): the caller puts in front what it is
about.
"""

from __future__ import annotations

import ctypes
import math
import numbers
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import dtypes
from .abi import BY_VALUE
from .enums import aclDataType, aclFormat

_LARGEST_FLOAT = float(np.finfo(np.float32).max) * (
    1 + 2.0**-25
)  # the last double that does not round to infinity

_MOST_ITEMS = 16


def shown(value: Any) -> str:
    """A value for an error message: its type, and what it is if that is short."""
    if isinstance(value, np.ndarray):
        return f"a numpy.ndarray of {value.dtype} {list(value.shape)}"
    if value is None:
        return "None"
    text = repr(value)
    kind = type(value).__name__
    return f"{kind} {text}" if len(text) <= 60 and not text.startswith(kind) else text[:200]


def brief(values: Sequence[Any]) -> str:
    """A list for an error message, of a long one the first items and how many there are."""
    if len(values) <= _MOST_ITEMS:
        return str(list(values))
    return f"{str(list(values[:_MOST_ITEMS]))[:-1]}, ...] ({len(values)} entries)"


def _is_bool(value: Any) -> bool:
    return isinstance(value, (bool, np.bool_)) or (
        isinstance(value, np.ndarray) and value.shape == () and value.dtype == np.dtype(bool)
    )


def integer_limits(ctype: str) -> tuple[int, int]:
    """Smallest and largest value of a C integer type."""
    bits = ctypes.sizeof(BY_VALUE[ctype]) * 8
    unsigned = ctype.startswith(("u", "size"))
    return (0, (1 << bits) - 1) if unsigned else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def to_int(value: Any, ctype: str) -> int:
    """An int in the range of a C integer type. bool and float are refused: they hint at a mix-up."""
    try:
        if _is_bool(value):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"must be an int, got {shown(value)}") from None
    low, high = integer_limits(ctype)
    if not low <= number <= high:
        raise OverflowError(f"must be from {low} to {high}, got {number}")
    return number


def to_float(value: Any, ctype: str) -> float:
    """A float from a real number: int, float, NumPy scalar, 0-d array. bool, str and Decimal are refused."""
    if isinstance(value, (np.generic, np.ndarray)):
        fits = value.shape == () and value.dtype in dtypes.TO_ACL and value.dtype.kind not in "bc"
    else:
        fits = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not fits:
        raise TypeError(f"must be a real number, got {shown(value)}")
    number = float(value)
    if ctype == "float" and math.isfinite(number) and abs(number) >= _LARGEST_FLOAT:
        raise OverflowError(f"must be in the range of float32, got {number}")
    return number


def to_bool(value: Any) -> bool:
    """True or False from a bool, numpy.bool or 0-d bool array; nothing else."""
    if not _is_bool(value):
        raise TypeError(f"must be True or False, got {shown(value)}")
    return bool(value)


def to_string(value: Any) -> bytes:
    """Bytes for a char*: str as UTF-8, or bytes; no zero byte inside."""
    if not isinstance(value, (str, bytes)):
        raise TypeError(f"must be a str or None, got {shown(value)}")
    try:
        raw = value.encode("utf-8") if isinstance(value, str) else value
    except UnicodeEncodeError:
        raise ValueError(f"must be text that UTF-8 can encode, got {shown(value)}") from None
    if b"\0" in raw:
        raise TypeError("must not hold a zero character")
    return raw


def to_data_type(value: Any) -> int:
    """The number of an aclDataType, from one, or from anything that names a dtype."""
    if isinstance(value, aclDataType):
        return int(value)
    try:
        if value is None:
            raise TypeError
        return int(dtypes.element(value).acl)
    except TypeError:
        raise TypeError(f"must be an aclDataType or a dtype, got {shown(value)}") from None


def to_format(value: Any) -> int:
    """The number of an aclFormat, from one."""
    if not isinstance(value, aclFormat):
        raise TypeError(f"must be an aclFormat, got {shown(value)}")
    return int(value)
