"""explain(), the exception classes and their text."""

from __future__ import annotations

import pickle

import pytest

import aclnn_py as aclnn
from aclnn_py.status import Argument, exception_class


@pytest.mark.parametrize(
    "what",
    [
        161002,
        -161002,
        "161002",
        " 0x274ea ",
        "ACLNN_ERR_PARAM_INVALID",
        "aclnn_err_param_invalid",
        "ret = 161002",
    ],
)
def test_explain_takes_numbers_and_names(what: int | str) -> None:
    status = aclnn.explain(what)
    assert (status.code, status.name) == (161002, "ACLNN_ERR_PARAM_INVALID")
    assert "161002 ACLNN_ERR_PARAM_INVALID" in str(status)


def test_explain_of_a_code_with_two_names() -> None:
    assert aclnn.explain("ACLNN_ERR_INNER_KEY_CONFLICT") == aclnn.explain(561105)


def test_explain_of_an_unknown_code_reads_its_digits() -> None:
    status = aclnn.explain(207999)
    assert status.name == "" and status.layer == "runtime" and "resource" in status.meaning
    assert aclnn.explain(7).layer == "unknown"


@pytest.mark.parametrize("what", ["", "no such name", "12.5"])
def test_explain_refuses_other_text(what: str) -> None:
    with pytest.raises(ValueError, match="neither a status code nor"):
        aclnn.explain(what)


def test_explain_of_what_the_device_says() -> None:
    assert aclnn.explain("0x31").code == aclnn.explain("retCode=0x31").code == 507035
    with pytest.raises(ValueError, match=r"'EZ1001' is no status code\. Argument refused"):
        aclnn.explain("EZ1001")


def test_explain_refuses_other_kinds() -> None:
    with pytest.raises(TypeError):
        aclnn.explain(1.5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (561103, "kernel package"),
        (561002, "ASCEND_CUSTOM_OPP_PATH"),
        (507015, "illegal address"),
        (507035, "illegal address"),
        (107002, "aclrtSetDevice"),
        (107001, "ASCEND_RT_VISIBLE_DEVICES"),
        (561112, "package"),
        (561003, "kernel"),
        (561107, "ASCEND_OPP_PATH"),
        (107027, "capture"),
    ],
)
def test_explain_says_what_people_needed_to_hear(code: int, words: str) -> None:
    assert words in str(aclnn.explain(code))


def test_timeouts_are_told_apart() -> None:
    assert len({str(aclnn.explain(c)).split("\n", 1)[1] for c in (507014, 507034, 507048, 507046)}) == 4


@pytest.mark.parametrize(
    ("code", "operator", "expected"),
    [
        (161001, True, aclnn.AclnnParameterError),
        (161002, False, aclnn.AclnnParameterError),
        (361001, True, aclnn.AclnnRuntimeError),
        (561103, True, aclnn.AclnnInnerError),
        (207001, False, aclnn.OutOfDeviceMemory),
        (507046, False, aclnn.StreamTimeout),
        (507015, False, aclnn.DeviceFault),
        (507035, True, aclnn.DeviceFault),
        (107002, False, aclnn.AclRuntimeError),
        (107002, True, aclnn.AclnnError),
    ],
)
def test_class_of_a_code(code: int, operator: bool, expected: type) -> None:
    assert exception_class(code, operator) is expected
    assert issubclass(expected, aclnn.AclError)


def sample() -> aclnn.AclError:
    arguments = (Argument("x", "FLOAT16  [2, 3]  contiguous  ND"), Argument("hcMult", "int 5"))
    return aclnn.AclnnParameterError(
        161002, "aclnnFoo", 1, "EZ1001: hcMult must be 4, got 5", arguments, "served by a"
    )


def test_text_holds_everything() -> None:
    text = str(sample())
    for part in (
        "aclnnFoo (phase 1, GetWorkspaceSize) returned 161002 ACLNN_ERR_PARAM_INVALID",
        "EZ1001: hcMult must be 4, got 5",
        "served by a",
        "x       FLOAT16  [2, 3]  contiguous  ND",
        "usual cause:",
        "to do:",
    ):
        assert part in text


OTHER = "[PID: 1] 2026-01-01 Invalid_Argument(EE1001): aclrtFree: devPtr is NULL.\n        Solution: none\n"
BACK = "TraceBack (most recent call last):\n"


def said(message: str, op: str = "aclnnFoo", phase: int | None = 1) -> tuple[str, list[str]]:
    """The headline, and the lines of the text that come from the message."""
    error = aclnn.AclnnParameterError(161002, op, phase, message, hint="END")
    assert error.message == message
    lines = [line.strip() for line in str(error).split("CANN says")[1].splitlines()]
    return error.headline, lines[: lines.index("END")]


@pytest.mark.parametrize(
    "own", ["aclnnFoo: x is wrong.", "aclnnFooGetWorkspaceSize failed", "OpName:[aclnnFoo_12] tiling failed"]
)
def test_the_message_that_names_the_operator_leads(own: str) -> None:
    headline, lines = said(f"{OTHER}{BACK}        aclnnFooBar: another operator\n        {own}\n")
    assert headline == own
    assert lines == [
        f": {own}",
        "also pending in this thread:",
        "EE1001: aclrtFree: devPtr is NULL.",
        "solution: none",
        "aclnnFooBar: another operator",
    ]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            f"EZ1001: [PID: 1] aclnnFoo: x is wrong.\n        {BACK}        aclnnFoo: y.\n",
            [": EZ1001: aclnnFoo: x is wrong.", "also pending in this thread:", "aclnnFoo: y."],
        ),
        (
            "EZ9999: Internal error!\nEZ9999[PID: 1] Error(EZ9999):  aclnnFoo: x is wrong.\n"
            f"{BACK}        more\n",
            [": EZ9999: aclnnFoo: x is wrong.", "also pending in this thread:", "more"],
        ),
        ("aclnnFoo says\ntwo lines", [": aclnnFoo says", "two lines"]),
    ],
)
def test_other_messages_stay_in_order(message: str, expected: list[str]) -> None:
    headline, lines = said(message)
    assert lines == expected and headline.splitlines()[0] in lines[0]


@pytest.mark.parametrize(
    "message", [f"{OTHER}{BACK}        nobody is named here\n", OTHER, "one line", "aclnnFooBar: x is wrong"]
)
def test_a_message_that_may_be_an_old_one_says_so(message: str) -> None:
    """It does not name the operator: a call of somebody else may have left it and never read it."""
    headline, lines = said(message)
    assert lines[0].startswith("(this may be about an earlier call of this thread): ")
    assert headline in lines[0] and headline in message
    assert said(message, "aclrtFree", None)[1][0].startswith(":")


def test_without_a_message_there_is_no_headline() -> None:
    error = aclnn.AclnnInnerError(561000, "aclnnFoo", 1)
    assert error.headline == "" and "CANN says" not in str(error)


def test_the_headline_of_a_runtime_call() -> None:
    error = aclnn.AclRuntimeError(107001, "aclrtSetDevice(9)", None, f"{OTHER}{BACK}  aclrtSetDevice: 9\n")
    assert error.headline == "aclrtSetDevice: 9"


def test_exceptions_pickle() -> None:
    error = sample()
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error) and str(copy) == str(error)
    assert (copy.code, copy.op, copy.phase, copy.arguments) == (161002, "aclnnFoo", 1, error.arguments)
    missing = pickle.loads(pickle.dumps(aclnn.LibraryNotFound("looked in /a")))
    assert type(missing) is aclnn.LibraryNotFound and str(missing) == "looked in /a"


def test_text_of_an_unknown_code() -> None:
    assert "returned 999999 (not a known code)" in str(aclnn.AclRuntimeError(999999, "aclrtFoo"))
