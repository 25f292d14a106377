"""Element types."""

from __future__ import annotations

import json
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from aclnn_py import aclDataType, as_dtype
from aclnn_py.dtypes import PACKED, TO_ACL, TO_NUMPY, element, spelled, unusable

BITS = json.loads((Path(__file__).parents[1] / "data" / "binding" / "dtype_bits.json").read_text())


def test_sizes_agree_with_cann() -> None:
    for acl, dtype in TO_NUMPY.items():
        assert dtype.itemsize * 8 == BITS[acl.name]
    assert len(TO_NUMPY) == len(TO_ACL) == 18


def test_what_is_not_mapped_is_packed_or_has_no_numpy_type() -> None:
    missing = {m.name for m in aclDataType} - {m.name for m in TO_NUMPY}
    assert missing == {
        "ACL_DT_UNDEFINED",
        "ACL_STRING",
        "ACL_INT4",
        "ACL_UINT1",
        "ACL_COMPLEX32",
        "ACL_HIFLOAT8",
        "ACL_FLOAT6_E3M2",
        "ACL_FLOAT6_E2M3",
        "ACL_FLOAT4_E2M1",
        "ACL_FLOAT4_E1M2",
    }


def test_element_types_have_cann_s_sizes() -> None:
    for acl in set(aclDataType) - {aclDataType.ACL_DT_UNDEFINED, aclDataType.ACL_STRING}:
        found = element(acl)
        assert (found.acl, found.bits) == (acl, BITS[acl.name])
        assert element(found) is found
        assert found.dtype.itemsize * 8 >= found.bits
    for acl in (aclDataType.ACL_DT_UNDEFINED, aclDataType.ACL_STRING):
        with pytest.raises(TypeError, match=f"{acl.name} is no element type"):
            element(acl)
    assert {e.acl.name: d.name for d, e in PACKED.items()} == {
        "ACL_INT4": "int4",
        "ACL_FLOAT4_E2M1": "float4_e2m1fn",
        "ACL_FLOAT6_E2M3": "float6_e2m3fn",
        "ACL_FLOAT6_E3M2": "float6_e3m2fn",
    }


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("bfloat16", aclDataType.ACL_BF16),
        (ml_dtypes.bfloat16, aclDataType.ACL_BF16),
        ("float8_e4m3fn", aclDataType.ACL_FLOAT8_E4M3FN),
        (np.float16, aclDataType.ACL_FLOAT16),
        ("f4", aclDataType.ACL_FLOAT),
        (float, aclDataType.ACL_DOUBLE),
        (bool, aclDataType.ACL_BOOL),
        (aclDataType.ACL_INT8, aclDataType.ACL_INT8),
    ],
)
def test_as_dtype(given: object, expected: aclDataType) -> None:
    assert TO_ACL[as_dtype(given)] is expected


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (object, "Python objects"),
        ([("a", np.int32)], "structured"),
        (">f4", r"byte order; use \.astype\('float32'\)"),
        (ml_dtypes.int2, "no aclDataType"),
        ("datetime64[s]", "no aclDataType"),
        ("U3", "no aclDataType"),
        (ml_dtypes.float8_e4m3b11fnuz, "no aclDataType"),
        (aclDataType.ACL_HIFLOAT8, "ACL_HIFLOAT8 has no NumPy type"),
    ],
)
def test_as_dtype_refuses(given: object, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        as_dtype(given)


def test_reasons_are_empty_for_what_is_usable() -> None:
    assert [unusable(dtype) for dtype in TO_ACL] == [""] * len(TO_ACL)


def test_spelling() -> None:
    names = [spelled(element(d).acl) for d in ("float32", "bfloat16", "int64", "bool")]
    assert names == ["FLOAT", "BFLOAT16", "INT64", "BOOL"]
