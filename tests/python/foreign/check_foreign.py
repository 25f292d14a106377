"""Each operator of the foreign library: its record, and its arguments as C received them."""

from __future__ import annotations

import ctypes
import json
import math
import os
import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import aclnn_py as aclnn
from aclnn_py import catalogue, dtypes, libraries

FOLDER = Path(os.environ["FOREIGN"])
OPERATORS = json.loads((FOLDER / "operators.json").read_text())
INTEGERS = {"int": 32, "size_t": 64} | {f"{u}int{b}_t": b for u in ("", "u") for b in (8, 16, 32, 64)}
DTYPES = ["float32", "float16", "bfloat16", "int8", "int32", "int64", "uint8", "bool", "complex64", "float64"]


def last_record(custom: bool) -> Any:
    if custom:
        library = ctypes.CDLL(str(FOLDER / "package" / "op_api" / "lib" / "libcust_opapi.so"))
    else:
        library = ctypes.CDLL(os.environ["ASCEND_HOME_PATH"] + "/lib64/libopapi_math.so")
    function = library["stubRecord_custom" if custom else "stubRecord_include"]
    function.restype = ctypes.c_char_p
    return json.loads(function())


def number(rng: random.Random, dtype: str) -> Any:
    return np.array(rng.choice([0, 1, 1.5, 100])).astype(dtypes.as_dtype(dtype))[()]


def a_tensor(rng: random.Random) -> tuple[aclnn.Tensor, Any]:
    """A random strided view, and what C should see of it."""
    shape = [rng.choice([0, 1, 2, 3, 5]) for _ in range(rng.randint(0, 4))]
    t = aclnn.empty(shape, rng.choice(DTYPES))
    storage = list(shape)
    if rng.random() < 0.5 and shape:
        t = t.transpose(*rng.sample(range(len(shape)), len(shape)))
        t = t[tuple(slice(rng.randint(0, 1), None, rng.randint(1, 2)) for _ in shape)]
    seen = {
        "shape": list(t.shape),
        "strides": list(t.strides),
        "storage": storage,
        "offset": t.offset,
        "dtype": int(dtypes.TO_ACL[t.dtype]),
        "format": 2,
        "address": t._buffer.address or 0,
    }
    return t, seen


def a_scalar(rng: random.Random) -> tuple[Any, Any]:
    dtype = rng.choice(DTYPES)
    value = number(rng, dtype)
    seen = {"dtype": int(dtypes.TO_ACL[value.dtype]), "bytes": list(value.tobytes())}
    return (value if rng.random() < 0.5 else aclnn.Scalar(value)), seen


def an_argument(rng: random.Random, parameter: dict[str, str]) -> tuple[Any, Any]:
    """(what Python passes, what C should have received)."""
    kind = parameter["type"].replace("const ", "").replace(" ", "")
    if "*" in kind and rng.random() < 0.2:
        return None, None
    if kind == "aclTensor*":
        if parameter["role"] == "in" and rng.random() < 0.3:
            array = np.ones([rng.randint(0, 3) for _ in range(rng.randint(0, 3))], np.float32)
            return array, {"shape": list(array.shape), "offset": 0, "dtype": 0}
        return a_tensor(rng)
    if kind == "aclTensorList*":
        pairs = [a_tensor(rng) for _ in range(rng.randint(0, 3))]
        return [t for t, _ in pairs], [seen for _, seen in pairs]
    if kind == "aclScalar*":
        return a_scalar(rng)
    if kind == "aclScalarList*":
        pairs = [a_scalar(rng) for _ in range(rng.randint(0, 3))]
        return [s for s, _ in pairs], [seen for _, seen in pairs]
    if kind == "aclIntArray*":
        values = [rng.randint(-(2**53), 2**53) for _ in range(rng.randint(0, 4))]
        return rng.choice([list, tuple, np.array])(values) if values else [], values
    if kind == "aclFloatArray*":
        values = [float(np.float32(rng.gauss(0, 1e3))) for _ in range(rng.randint(0, 4))]
        return values, values
    if kind == "aclBoolArray*":
        values = [rng.random() < 0.5 for _ in range(rng.randint(0, 4))]
        return values, [int(v) for v in values]
    if kind == "char*":
        text = rng.choice(["", "BSND", "ü and more", "x" * 300])
        return text, text
    if kind == "bool":
        value = rng.random() < 0.5
        return rng.choice([bool, np.bool_])(value), int(value)
    if kind == "double":
        value = rng.choice([0.1, -0.0, 1e-6, 5e-324, 1e308, math.inf, rng.gauss(0, 1), 3])
        return value, float(value)
    if kind == "float":
        value = rng.choice([0.1, -0.0, 1e-6, 3e38, -math.inf, rng.gauss(0, 1), 3])
        return value, float(np.float32(value))
    if kind == "aclDataType":
        name = rng.choice(DTYPES)
        return name, int(dtypes.TO_ACL[dtypes.as_dtype(name)])
    if kind == "aclFormat":
        chosen = rng.choice(list(aclnn.aclFormat))
        return chosen, int(chosen)
    bits = INTEGERS[kind]
    low, high = (
        (0, 2**bits - 1) if kind.startswith(("u", "size")) else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    )
    value = rng.choice([low, high, 0, 1, rng.randint(low, high)])
    return (np.int64(value) if -(2**63) <= value < 2**63 and rng.random() < 0.2 else value), value


def same(expected: Any, seen: Any) -> bool:
    if isinstance(expected, float) and isinstance(seen, str):
        return struct.pack("d", float.fromhex(seen)) == struct.pack("d", expected)
    if isinstance(expected, dict):
        return all(same(value, seen[name]) for name, value in expected.items())
    if isinstance(expected, list):
        return len(expected) == len(seen) and all(map(same, expected, seen))
    return bool(expected == seen)


def in_c(text: str) -> str:
    prefix = "const " if text.startswith("const ") and "*" in text else ""
    return prefix + text.replace("const ", "").replace(" ", "")


@pytest.mark.parametrize("truth", OPERATORS, ids=lambda truth: str(truth["name"]))
def test_operator(truth: dict[str, Any]) -> None:
    name, parameters = truth["name"], truth["parameters"]
    operator = aclnn.op(name)
    assert [(p.ctype, p.name, p.role) for p in operator.prototype.parameters] == [
        (in_c(p["type"]), p["name"], p["role"]) for p in parameters
    ]
    assert ("package" in operator.prototype.header) == truth["custom"]
    rng = random.Random(name)
    for _ in range(4):
        pairs = [an_argument(rng, p) for p in parameters]
        operator(*(value for value, _ in pairs))
        record = last_record(truth["custom"])
        seen = [record[p["name"]] for p in parameters]
        for parameter, (value, expected), got in zip(parameters, pairs, seen, strict=True):
            assert same(expected, got), f"{name}: {parameter}: passed {value!r}, C received {got!r}"
    assert (operator.__doc__ or "").count("\n") >= len(parameters)
    if truth["largest"]:
        values = [an_argument(rng, p)[0] for p in parameters]
        assert operator.max_workspace_size(*values) == len(parameters)


def test_listing() -> None:
    names = {o["name"] for o in OPERATORS}
    assert set(aclnn.operators()) >= names and len(names) == 200
    assert aclnn.operators("manyb*") == ["aclnnManyBools", "aclnnManyBytes"]
    assert aclnn.operators("aclSpectrum") == ["aclSpectrum"]
    assert aclnn.which("aclnnJoin").library.name == "libopapi_math.so"


def test_nothing_is_skipped_in_silence() -> None:
    others, problems = catalogue.report(libraries.root())
    assert any("aclnnForeignTableSize(const aclIntArray*, aclDataType, uint64_t*)" in o for o in others)
    assert any("aclnnForeignTables(const float*, uint64_t, uint64_t**, uint64_t*)" in o for o in others)
    assert any("ForeignRound" in o for o in others)
    text = (FOLDER / "root" / "include" / "aclnnop" / "aclnn_foreign_7.h").read_text().split("\n")
    for what, words in (
        ("aclnnForeignOddGet", "parameter y of aclnnForeignOdd has the type const aclMystery*"),
        ("DECLARE(aclnnForeignMacro", "cannot tell what this declares: FOREIGN_DECLARE(aclnnForeignM"),
        ("DECLARE(aclnnForeignBare", "cannot tell what this declares: FOREIGN_DECLARE(aclnnForeignBare)"),
        ("aclnnForeignShortGet", "must end with uint64_t *, aclOpExecutor **"),
    ):
        line = next(i for i, row in enumerate(text, 1) if what in row)
        assert any(f"aclnn_foreign_7.h:{line}: " in p and words in p for p in problems), (what, problems)
    assert sum("/root/" in p for p in problems) == 4


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("aclnnForeignOdd", r"aclnn_foreign_7\.h:\d+: parameter y"),
        ("aclnnForeignTableSize", "is a function, not a two-phase operator"),
    ],
)
def test_what_cannot_be_called_says_why(name: str, words: str) -> None:
    with pytest.raises(aclnn.PrototypeError, match=words):
        aclnn.op(name)
