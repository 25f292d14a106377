"""Tensors, scalars, arrays, lists, executors, and the dense copies of strided views."""

import ctypes
import json
import math
import pathlib
import subprocess
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
DATA = pathlib.Path(__file__).parents[1] / "data" / "abi"


def _facts(name: str) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text())
    return facts


def test_objects_and_executors(run: Run) -> None:
    run("objects.cpp")


def test_small_floats(run: Run) -> None:
    run("small_floats.cpp")


def test_contiguous(run: Run) -> None:
    run("contiguous.cpp")


@pytest.fixture(scope="module")
def library(root: pathlib.Path) -> ctypes.CDLL:
    lib = ctypes.CDLL(str(root / "lib64" / "libascendcl.so"))
    lib.aclFloat16ToFloat.restype = ctypes.c_float
    lib.aclFloat16ToFloat.argtypes = [ctypes.c_uint16]
    lib.aclFloatToFloat16.restype = ctypes.c_uint16
    lib.aclFloatToFloat16.argtypes = [ctypes.c_float]
    lib.aclDataTypeSize.restype = ctypes.c_size_t
    lib.aclDataTypeSize.argtypes = [ctypes.c_int]
    return lib


def test_half_to_float(library: ctypes.CDLL) -> None:
    bits = np.arange(65536, dtype=np.uint16)
    got = np.array([library.aclFloat16ToFloat(int(b)) for b in bits], np.float32)
    expected = bits.view(np.float16).astype(np.float32)
    special = ~np.isfinite(expected)
    np.testing.assert_array_equal(got[~special].view(np.uint32), expected[~special].view(np.uint32))
    assert [library.aclFloat16ToFloat(b) for b in (0x7C00, 0xFC00, 0x7E00)] == [65536.0, -65536.0, 98304.0]


def test_float_to_half(library: ctypes.CDLL) -> None:
    rng = np.random.default_rng(1)
    halves = np.arange(0x7BFF, dtype=np.uint16).view(np.float16).astype(np.float32)
    steps = np.diff(halves)
    ties = halves[:-1] + steps / 2
    near = [np.nextafter(ties, np.float32(0)), ties, np.nextafter(ties, np.float32(1e9))]
    small = [rng.normal(size=2000) * 1e-6, [0.0, -0.0, 2**-24, 2**-25, 1.5 * 2**-25, 1e-30]]
    values = np.concatenate([halves, *near, *small]).astype(np.float32)
    values = np.concatenate([values[::7], -values[::11], values[-6:]])
    got = np.array([library.aclFloatToFloat16(float(v)) for v in values], np.uint16)
    np.testing.assert_array_equal(got, values.astype(np.float16).view(np.uint16))
    beyond = [math.inf, math.nan, 1e6, 65504.0, 65519.0, 65520.0, -math.inf]
    assert [library.aclFloatToFloat16(v) for v in beyond] == [0x7BFF] * 6 + [0xFBFF]


def test_data_type_sizes(library: ctypes.CDLL) -> None:
    facts, values = _facts("data_types"), _facts("enums")["aclDataType"]
    assert set(facts) == set(values)
    for name, fact in facts.items():
        assert library.aclDataTypeSize(values[name]) == fact["size"], name


def test_scalar_types(root: pathlib.Path) -> None:
    facts, values = _facts("data_types"), _facts("enums")["aclDataType"]
    lib = ctypes.CDLL(str(root / "lib64" / "libnnopbase.so"))
    lib.aclCreateScalar.restype = ctypes.c_void_p
    lib.aclCreateScalar.argtypes = [ctypes.c_char_p, ctypes.c_int]
    lib.aclDestroyScalar.argtypes = [ctypes.c_void_p]
    for name, fact in facts.items():
        scalar = lib.aclCreateScalar(bytes(16), values[name])
        assert (scalar is not None) == fact["scalar"], name
        assert lib.aclDestroyScalar(scalar) == 0
