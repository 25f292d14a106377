"""Numbers that do not fit, arguments of the wrong kind: refused with a clear error, never cut to fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import aclnn_py as aclnn
from aclnn_py import aclDataType

pytestmark = pytest.mark.usefixtures("any_root")


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (1e300, "float32"),
        (-1e300, "complex64"),
        (70000, "float16"),
        (1e9, "float8_e4m3fn"),
        (2**64, "uint64"),
        (2**64, "int64"),
        (2**64, None),
        (-1, "uint8"),
        (np.uint64(2**64 - 1), "int64"),
        (10**400, "float64"),
    ],
)
def test_scalars_outside_their_dtype(value: Any, dtype: str | None) -> None:
    with pytest.raises(
        OverflowError, match=rf"{str(value)[:20].replace('+', '.')}.* does not fit {dtype or 'int64'}"
    ):
        aclnn.Scalar(value, dtype)


@pytest.mark.parametrize(
    "value", [float("inf"), float("-inf"), float("nan"), np.float32("inf"), 2**64, 1e-300]
)
@pytest.mark.parametrize("dtype", ["float16", "float32", "bfloat16", "float8_e5m2"])
def test_scalars_that_fit(value: Any, dtype: str) -> None:
    if dtype in ("float16", "float8_e5m2") and value == 2**64:
        value = 2**15
    made = aclnn.Scalar(value, dtype)
    expected = np.asarray(float(value)).astype(aclnn.as_dtype(dtype))
    assert made.dtype == expected.dtype
    assert np.array_equal(np.float64(made._values), np.float64(expected), equal_nan=True)


@pytest.mark.parametrize(
    ("data", "dtype", "error", "words"),
    [
        ([300], "uint8", OverflowError, "data holds 300, UINT8 goes from 0 to 255"),
        (-1, "uint8", OverflowError, "data holds -1"),
        ([[1], [2**70]], "int64", OverflowError, "data holds 1180591620717411303424"),
        ([2**63, -1], "uint64", OverflowError, "data holds -1"),
        (np.array([300]), "int8", OverflowError, "data holds 300, INT8 goes from -128 to 127"),
        (np.array([300.0]), "uint8", OverflowError, "data holds 300"),
        ([9], "int4", OverflowError, "INT4 goes from -8 to 7"),
        ([2], aclDataType.ACL_UINT1, OverflowError, "UINT1 goes from 0 to 1"),
        ([1.0], "int32", TypeError, "data of INT32 must be integers, got float 1.0"),
        ([1, 2.5], "int32", TypeError, "got float 2.5"),
        (float("nan"), "int32", TypeError, "got float nan"),
        (np.array([1.5]), "int32", TypeError, r"1\.5.*use \.astype"),
        (np.array([1j]), "int32", TypeError, "must be integers"),
        (np.array([1.0]), aclDataType.ACL_HIFLOAT8, TypeError, "data of HIFLOAT8 must be integers"),
        (np.array([1j]), "float32", TypeError, "data is complex"),
        ([None], "float32", TypeError, "data must hold numbers, got None"),
        (np.array([None]), "float32", TypeError, "holds Python objects"),
        (np.zeros(2, [("a", "f4")]), "float32", TypeError, "structured"),
    ],
)
def test_data_that_does_not_fit(data: Any, dtype: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        aclnn.tensor(data, dtype)


@pytest.mark.parametrize(
    ("data", "dtype", "expected"),
    [
        ([0, 255], "uint8", [0, 255]),
        ([2**64 - 1], "uint64", [2**64 - 1]),
        ([-8, 7], "int4", [-8, 7]),
        ([], "int8", []),
        ([True, 2], "int8", [1, 2]),
        (np.array([3.0, -4.0]), "int8", [3, -4]),
        (np.array([3, -8], ml_dtypes.int4), "int8", [3, -8]),
        ([10**30], "float32", [float(np.float32(1e30))]),
    ],
)
def test_data_that_fits(data: Any, dtype: str, expected: list[Any]) -> None:
    assert aclnn.tensor(data, dtype).numpy().tolist() == expected


def test_lists_of_arguments() -> None:
    t = aclnn.zeros(2)
    with aclnn.TensorList([t, None]) as listed:
        assert len(listed) == 2 and listed.tensors == [t, None]
    with pytest.raises(TypeError, match="element 1 of a TensorList must be a Tensor or None, got int 3"):
        aclnn.TensorList([t, 3])  # type: ignore[list-item]
    with pytest.raises(TypeError, match=r"element 1 \(str 'a'\): a Scalar is made from one number"):
        aclnn.ScalarList([1, "a"])
    with pytest.raises(OverflowError, match=r"element 2 \(int 300\): 300 does not fit uint8"):
        aclnn.ScalarList([1, 2, 300], "uint8")
    scalar = aclnn.Scalar(1)
    scalar.close()
    with pytest.raises(ValueError, match=r"Scalar.* was closed"), scalar:
        pass
    with pytest.raises(ValueError, match="element 0 was closed"):
        aclnn.ScalarList([scalar])


def test_streams_and_events_of_the_wrong_kind() -> None:
    t, array = aclnn.zeros(2), np.zeros(2, np.float32)
    wrong: list[tuple[Callable[[], Any], str]] = [
        (lambda: t.copy_from(array, stream=3), "stream must be an aclnn.Stream, got int 3"),  # type: ignore
        (lambda: t.copy_to(array, 3), "stream must be an aclnn.Stream, got int 3"),  # type: ignore
        (lambda: aclnn.current_stream().wait(3), "event must be an aclnn.Event, got int 3"),  # type: ignore
    ]
    for use, words in wrong:
        with pytest.raises(TypeError, match=words):
            use()


def test_shapes_and_axes_as_numbers_or_a_tuple() -> None:
    t = aclnn.zeros((2, 3, 4))
    assert t.reshape(np.int64(24)).shape == (24,) and t.reshape([4, np.int64(6)]).shape == (4, 6)
    assert t.transpose((2, 1, 0)).shape == (4, 3, 2) and t.transpose(1, 0, 2).shape == (3, 2, 4)
    assert t[0, 0].broadcast_to(np.int64(2), 4).shape == (2, 4)
    for use in (lambda: t.reshape("a"), lambda: t.reshape(2.0, 12), lambda: t.transpose((0.0, 1, 2))):
        with pytest.raises(TypeError, match="must be integers, got"):
            use()
