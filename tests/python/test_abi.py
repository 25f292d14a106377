"""The table of C functions and the enums, against facts taken from CANN's public headers."""

from __future__ import annotations

import ctypes
import json
from pathlib import Path

import pytest

from aclnn_py import abi, enums
from aclnn_py.status import table

DATA = Path(__file__).parents[1] / "data" / "binding"
FACTS = json.loads((DATA / "functions.json").read_text())
ROWS = {name: rest for name, *rest in FACTS["functions"]}


def expected_type(text: str) -> object:
    """ctypes type of a C type, worked out from the facts only."""
    text = text.replace("const ", "")
    stars = text.count("*")
    base = text.replace("*const", "*").rstrip("*")
    base = {"enum": "int", None: base}.get(FACTS["typedefs"].get(base), FACTS["typedefs"].get(base) or base)
    if base == "void*":
        base, stars = "void", stars + 1
    if base == "char" and stars == 1:
        return ctypes.c_char_p
    numbers = {
        "int": ctypes.c_int,
        "int32_t": ctypes.c_int32,
        "uint32_t": ctypes.c_uint32,
        "int64_t": ctypes.c_int64,
        "uint64_t": ctypes.c_uint64,
        "size_t": ctypes.c_size_t,
        "float": ctypes.c_float,
        "bool": ctypes.c_bool,
    }
    if base in numbers:
        return ctypes.POINTER(numbers[base]) if stars else numbers[base]
    assert stars, f"{text} is passed by value but is no number"
    return ctypes.c_void_p if stars == 1 else ctypes.POINTER(ctypes.c_void_p)


def test_every_function_of_the_table_is_in_the_facts() -> None:
    assert set(abi.FUNCTIONS) == set(ROWS)


@pytest.mark.parametrize("name", abi.FUNCTIONS)
def test_function_has_the_types_of_its_header(name: str) -> None:
    row = abi.FUNCTIONS[name]
    result, parameters, library, header = ROWS[name]
    assert row.restype is expected_type(result)
    assert row.argtypes == [expected_type(p) for p in parameters]
    assert None not in [row.restype, *row.argtypes]
    assert {"runtime": "libacl_rt.so", "nnopbase": "libnnopbase.so"}[row.library] == library
    assert row.header == header


def test_a_name_outside_the_table_is_refused() -> None:
    with pytest.raises(AttributeError, match="aclrtNoSuchThing"):
        _ = abi.acl.aclrtNoSuchThing


def test_enum_values() -> None:
    facts = json.loads((DATA / "enums.json").read_text())
    for name, values in facts.items():
        for member in getattr(enums, name):
            assert values[member.name] == member.value
    for name in ("aclDataType", "aclFormat"):
        assert {m.name for m in getattr(enums, name)} == set(facts[name])


def test_status_table_has_every_code_and_name() -> None:
    facts = json.loads((DATA / "status_codes.json").read_text())
    assert [(code, tuple(names)) for code, names in facts] == [(s.code, s.names) for s in table().values()]
    assert len(facts) == 279
    assert all(status.meaning for status in table().values())
