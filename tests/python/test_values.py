"""Python numbers and strings -> C values."""

from __future__ import annotations

import struct
from decimal import Decimal
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from aclnn_py import aclDataType
from aclnn_py.values import to_bool, to_data_type, to_float, to_int, to_string


@pytest.mark.parametrize(
    ("ctype", "low", "high"),
    [
        ("int8_t", -128, 127),
        ("int", -(2**31), 2**31 - 1),
        ("int32_t", -(2**31), 2**31 - 1),
        ("uint32_t", 0, 2**32 - 1),
        ("int64_t", -(2**63), 2**63 - 1),
        ("uint64_t", 0, 2**64 - 1),
    ],
)
def test_int_range(ctype: str, low: int, high: int) -> None:
    assert (to_int(low, ctype), to_int(high, ctype)) == (low, high)
    for wrong in (low - 1, high + 1):
        with pytest.raises(OverflowError, match=f"must be from {low} to {high}, got {wrong}"):
            to_int(wrong, ctype)


@pytest.mark.parametrize("value", [4, np.int8(4), np.uint64(4), np.array(4), np.array(4, np.int16)])
def test_int_from(value: object) -> None:
    result = to_int(value, "int64_t")
    assert result == 4 and type(result) is int


@pytest.mark.parametrize(
    "value", [4.0, True, np.True_, np.array(True), np.float32(4), "4", None, [4], np.array([4]), Decimal(4)]
)
def test_int_refuses(value: object) -> None:
    with pytest.raises(TypeError, match="must be an int, got"):
        to_int(value, "int64_t")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1e-6, 1e-6),
        (np.float32(1e-6), float(np.float32(1e-6))),
        (0, 0.0),
        (np.array(0.1), 0.1),
        (np.float64(0.1), 0.1),
        (np.int32(3), 3.0),
        (ml_dtypes.bfloat16(1.5), 1.5),
        (Fraction(1, 4), 0.25),
        (float("inf"), float("inf")),
    ],
)
def test_float_is_exact(value: object, expected: float) -> None:
    assert struct.pack("d", to_float(value, "double")) == struct.pack("d", expected)


@pytest.mark.parametrize(
    "value", [Decimal("1e-6"), "1e-6", None, True, np.True_, 1j, np.complex64(1), [1.0], np.ones(1)]
)
def test_float_refuses(value: object) -> None:
    with pytest.raises(TypeError, match="must be a real number, got"):
        to_float(value, "double")


def test_float32_range() -> None:
    largest = float(np.finfo(np.float32).max)
    assert to_float(largest, "float") == largest
    assert to_float(float("-inf"), "float") == float("-inf")
    with pytest.raises(OverflowError, match="float32"):
        to_float(1e39, "float")
    assert to_float(1e39, "double") == 1e39


@pytest.mark.parametrize("value", [True, False, np.True_, np.array(False)])
def test_bool_from(value: object) -> None:
    assert to_bool(value) is bool(value)


@pytest.mark.parametrize("value", [1, 0, None, "True", np.array([True]), np.int8(1)])
def test_bool_refuses(value: object) -> None:
    with pytest.raises(TypeError, match="must be True or False"):
        to_bool(value)


def test_string() -> None:
    assert to_string("BSND") == b"BSND" and to_string("ü") == "ü".encode() and to_string(b"x") == b"x"
    with pytest.raises(TypeError, match="zero character"):
        to_string("a\0b")
    with pytest.raises(TypeError, match="must be a str or None, got int 1"):
        to_string(1)


def test_data_type() -> None:
    assert to_data_type(aclDataType.ACL_INT4) == 29
    assert to_data_type("bfloat16") == 27 and to_data_type(np.float16) == 1
    for wrong in (None, "no dtype", object):
        with pytest.raises(TypeError, match="must be an aclDataType or a dtype"):
            to_data_type(wrong)
