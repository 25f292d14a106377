"""Each kind of argument, checked where C received it."""

from __future__ import annotations

import gc
import struct
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import aclnn_py as aclnn

NAMES = [
    "self",
    "weightOptional",
    "alpha",
    "big",
    "cubeMathType",
    "small",
    "count",
    "huge",
    "eps",
    "scale",
    "flag",
    "layout",
    "mode",
    "dtype",
    "dims",
    "factors",
    "mask",
    "parts",
    "weights",
    "out",
]
PLAIN: dict[str, Any] = dict.fromkeys(NAMES) | {
    "big": 0,
    "cubeMathType": 0,
    "small": 0,
    "count": 0,
    "huge": 0,
    "eps": 0.0,
    "scale": 0.0,
    "flag": False,
    "dtype": 0,
}
PLAIN["dtype"] = aclnn.aclDataType.ACL_FLOAT


@pytest.fixture
def send(stub: Any) -> Any:
    """Calls aclnnStubRecord with some arguments set; returns what C saw."""

    def call(**arguments: Any) -> Any:
        aclnn.op("aclnnStubRecord")(**(PLAIN | arguments))
        return stub.record()

    return call


def test_positions_and_null(send: Any) -> None:
    seen = send()
    assert list(seen) == NAMES
    for name in NAMES:
        if PLAIN[name] is None:
            assert seen[name] is None
    assert aclnn.op("aclnnStubRecord").prototype.parameters[3].name == "big"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("big", 2**40 + 3),
        ("big", -(2**63)),
        ("big", 2**63 - 1),
        ("big", np.int64(-(2**35))),
        ("cubeMathType", -128),
        ("small", -(2**31)),
        ("count", 2**32 - 1),
        ("huge", 2**64 - 1),
        ("huge", np.uint64(2**63 + 1)),
    ],
)
def test_integers(send: Any, name: str, value: int) -> None:
    assert send(**{name: value})[name] == int(value)


@pytest.mark.parametrize(
    "value", [1e-6, 0.1, -0.0, 3, np.float32(1e-6), np.array(2.5), float("inf"), 5e-324, 2**53 + 1]
)
def test_doubles_arrive_bit_for_bit(send: Any, value: Any) -> None:
    assert struct.pack("d", float.fromhex(send(eps=value)["eps"])) == struct.pack("d", float(value))


def test_float_is_rounded_once(send: Any) -> None:
    assert float.fromhex(send(scale=0.1)["scale"]) == float(np.float32(0.1))


@pytest.mark.parametrize("value", [True, False, np.True_, np.array(False)])
def test_bool_is_one_byte(send: Any, value: Any) -> None:
    assert send(flag=value)["flag"] == int(bool(value))


def test_strings(send: Any) -> None:
    seen = send(layout="BSND", mode="größe")
    assert (seen["layout"], seen["mode"]) == ("BSND", "größe")
    assert send(layout="")["layout"] == ""


@pytest.mark.parametrize("value", ["bfloat16", ml_dtypes.bfloat16, aclnn.aclDataType.ACL_BF16])
def test_data_type(send: Any, value: Any) -> None:
    assert send(dtype=value)["dtype"] == 27


def test_arrays(send: Any) -> None:
    seen = send(dims=[1, -(2**40)], factors=(0.5, 2), mask=[True, False, np.True_])
    assert (seen["dims"], seen["factors"], seen["mask"]) == ([1, -(2**40)], [0.5, 2], [1, 0, 1])
    assert send(dims=range(3), factors=np.array([0.25]), mask=np.array([False]))["dims"] == [0, 1, 2]
    assert send(dims=np.array([7, 8], np.int32))["dims"] == [7, 8]
    assert send(dims=[])["dims"] == []
    with aclnn.IntArray([5]) as kept:
        assert send(dims=kept)["dims"] == [5]


@pytest.mark.parametrize(
    ("value", "dtype", "raw"),
    [
        (True, 12, b"\1"),
        (7, 9, struct.pack("q", 7)),
        (1.5, 11, struct.pack("d", 1.5)),
        (1 + 2j, 17, struct.pack("dd", 1, 2)),
        (np.float32(0.1), 0, struct.pack("f", 0.1)),
        (np.int8(-3), 2, b"\xfd"),
        (ml_dtypes.bfloat16(1), 27, b"\x80\x3f"),
        (aclnn.Scalar(2, "float32"), 0, struct.pack("f", 2)),
        (aclnn.Scalar(-1, np.int32), 3, struct.pack("i", -1)),
        (np.array(3, np.int16), 6, struct.pack("h", 3)),
    ],
)
def test_scalars(send: Any, value: Any, dtype: int, raw: bytes) -> None:
    assert send(alpha=value)["alpha"] == {"dtype": dtype, "bytes": list(raw)}


def test_scalar_list(send: Any) -> None:
    assert [s["dtype"] for s in send(weights=[1, 2.0, aclnn.Scalar(1, "int8")])["weights"]] == [9, 11, 2]


def test_tensor_descriptor(send: Any) -> None:
    whole = aclnn.tensor(np.arange(24, dtype=np.float32).reshape(2, 3, 4))
    seen = send(self=whole)["self"]
    address = seen.pop("address")
    expected = {
        "shape": [2, 3, 4],
        "strides": [12, 4, 1],
        "storage": [2, 3, 4],
        "offset": 0,
        "dtype": 0,
        "format": 2,
    }
    assert seen == expected and address >= 2**32
    seen = send(self=whole[1, ::2].T)["self"]
    assert (seen["shape"], seen["strides"], seen["offset"]) == ([4, 2], [1, 8], 12)
    assert (seen["storage"], seen["address"]) == ([2, 3, 4], address)


def test_rank_0_and_empty_tensors(send: Any) -> None:
    assert send(self=np.float16(2))["self"]["shape"] == []
    seen = send(self=np.zeros((0, 3), np.int8), out=aclnn.empty((2, 0)))
    assert seen["self"]["shape"] == [0, 3] and seen["self"]["address"] == 0
    assert seen["out"]["shape"] == [2, 0]


def test_tensor_list_with_nothing_in_it(send: Any, stub: Any) -> None:
    before = stub.live("tensor")
    assert send(parts=[None])["parts"] == [None]
    seen = send(parts=aclnn.TensorList([aclnn.zeros((2, 0)), None, aclnn.zeros(3)]))["parts"]
    assert [t and t["shape"] for t in seen] == [[2, 0], None, [3]]
    assert stub.live("tensor") == before


def test_plan_of_a_list_with_nothing_in_it(stub: Any) -> None:
    gc.collect()
    before = stub.live("tensor")
    a, b = aclnn.zeros(3), aclnn.zeros(3)
    with aclnn.op("aclnnStubRecord").plan(**(PLAIN | {"parts": [a, None]})) as plan:
        assert [t and t["shape"] for t in stub.record()["parts"]] == [[3], None]
        plan()
        plan.rebind(parts=[b, None])
        plan()
        with pytest.raises(ValueError, match="parts has None here in the plan"):
            plan.rebind(parts=[a, b])
        with pytest.raises(TypeError, match=r"parts must be an aclnn\.Tensor, got NoneType"):
            plan.rebind(parts=[None, None])
    aclnn.synchronize()
    del a, b, plan
    gc.collect()  # the errors above
    assert stub.live("tensor") == before


def test_text_that_is_no_utf8(send: Any) -> None:
    with pytest.raises(ValueError, match=r"layout \(char\*\) must be text that UTF-8 can encode") as caught:
        send(layout="\ud800")
    assert caught.type is ValueError


def test_tensor_list_leaves_the_tensors_usable(send: Any, stub: Any) -> None:
    before = stub.live("tensor")
    a, b = aclnn.zeros(3), aclnn.tensor(np.ones((2, 2), np.int8))
    for _ in range(2):
        seen = send(parts=[a, b.T])["parts"]
        assert [t["shape"] for t in seen] == [[3], [2, 2]] and seen[1]["strides"] == [1, 2]
    assert a.numpy().tolist() == [0, 0, 0]
    del a, b
    assert stub.live("tensor") == before


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("big", 1.0, r"big \(int64_t\) must be an int, got float 1\.0"),
        ("big", True, "must be an int, got bool True"),
        ("big", None, "must be an int, got None"),
        ("flag", 1, r"flag \(bool\) must be True or False, got int 1"),
        ("eps", "1e-6", r"eps \(double\) must be a real number, got str '1e-6'"),
        ("layout", 5, r"layout \(char\*\) must be a str or None, got int 5"),
        ("dtype", None, r"dtype \(aclDataType\) must be an aclDataType or a dtype, got None"),
        ("dims", 3, r"dims \(const aclIntArray\*\) must be a list of ints or None, got int 3"),
        ("dims", [1, 2.5], r"dims \(const aclIntArray\*\) element 1 must be an int, got float 2\.5"),
        ("dims", "abc", "must be a list of ints"),
        ("dims", aclnn.FloatArray([1.0]), "must be a list of ints or None, got FloatArray"),
        ("mask", [0], "element 0 must be True or False"),
        ("alpha", [1], r"alpha \(const aclScalar\*\) must be a number, an aclnn\.Scalar or None, got list"),
        ("alpha", "1", "must be a number"),
        (
            "self",
            [1.0],
            r"self \(const aclTensor\*\) must be an aclnn\.Tensor, a NumPy array or None, got list",
        ),
        ("self", 1.0, "must be an aclnn.Tensor"),
        ("self", np.array([None]), "self .* has dtype object, which holds Python objects"),
        ("self", np.zeros(2, ">i4"), "which is not in this machine's byte order"),
        ("self", np.zeros(2, [("a", "i4")]), "which is structured"),
        ("self", np.ma.masked_array([1.0]), r"self \(const aclTensor\*\) is a masked array"),
        ("parts", aclnn.zeros(1), "must be a list of aclnn.Tensor or None, got Tensor"),
        ("parts", [None, 1], "parts .* element 1 must be an aclnn.Tensor"),
        (
            "out",
            np.zeros(2),
            r"out \(aclTensor\*\) must be an aclnn\.Tensor .* got a numpy\.ndarray of float64 \[2\]",
        ),
        ("out", 1, "must be an aclnn.Tensor or None, got int 1"),
    ],
)
def test_wrong_kinds_are_refused_before_any_c_call(
    send: Any, stub: Any, name: str, value: Any, words: str
) -> None:
    send(big=77)
    with pytest.raises(TypeError, match="aclnnStubRecord: .*" + words):
        send(**{name: value})
    assert stub.record()["big"] == 77
    assert stub.live("executor") == 0


@pytest.mark.parametrize(
    ("name", "value"), [("big", 2**63), ("cubeMathType", 128), ("count", -1), ("scale", 1e39)]
)
def test_numbers_that_do_not_fit(send: Any, name: str, value: Any) -> None:
    with pytest.raises(OverflowError, match=f"aclnnStubRecord: {name} "):
        send(**{name: value})


def test_a_closed_tensor_is_refused() -> None:
    t = aclnn.zeros(2)
    t.close()
    with pytest.raises(
        ValueError, match=r"aclnnStubCopy: x \(const aclTensor\*\) was closed: Tensor\(.*closed\)"
    ):
        aclnn.op("aclnnStubCopy")(t, 0, aclnn.zeros(2))
    with pytest.raises(TypeError, match=r"stream must be an aclnn\.Stream or None, got int 0"):
        aclnn.op("aclnnStubCopy")(None, 0, None, stream=0)


def test_a_prototype_given_as_text() -> None:
    text = "aclnnStatus aclnnStubNoHeaderGetWorkspaceSize(uint64_t *workspaceSize, aclOpExecutor **executor);"
    with pytest.raises(aclnn.AclnnParameterError):
        aclnn.op("aclnnStubNoHeader", prototype=text)()


def test_headers_that_the_user_names(tmp_path: Path) -> None:
    with pytest.raises(aclnn.LibraryNotFound, match="no header declares it; give its declaration"):
        aclnn.op("aclnnStubNoHeader")
    header = tmp_path / "mine.h"
    header.write_text(
        "/* aclnnStubCopy in other words */\n"
        "aclnnStatus aclnnStubNoHeaderGetWorkspaceSize(uint64_t *workspaceSize, aclOpExecutor **executor);\n"
    )
    aclnn.add_headers(header)
    assert aclnn.op("aclnnStubNoHeader").prototype.header == f"{header}:2"
    assert aclnn.operators("stubno*") == ["aclnnStubNoHeader"]
    with pytest.raises(FileNotFoundError):
        aclnn.add_headers(tmp_path / "absent.h")


@pytest.mark.parametrize("name", [5, None, b"aclnnStubCopy", ["aclnnStubCopy"]])
def test_a_name_that_is_no_str(name: Any) -> None:
    with pytest.raises(TypeError, match=r"^name must be a str, got "):
        aclnn.op(name)
    with pytest.raises(TypeError, match=r"^prototype must be a str or None, got int 5"):
        aclnn.op("aclnnStubCopy", prototype=5)  # type: ignore[arg-type]


def test_only_made_operators_can_be_called() -> None:
    assert not callable(aclnn.Operator()) and callable(aclnn.op("aclnnStubCopy"))


def test_help_comes_from_the_prototype() -> None:
    op = aclnn.op("aclnnStubRecord")
    assert "cubeMathType    int8_t" in (op.__doc__ or "") and "in, optional" in (op.__doc__ or "")
    assert repr(op).startswith("<Operator aclnnStubRecord(const aclTensor* self, ")
    assert aclnn.op("aclnnStubRecord") is op
