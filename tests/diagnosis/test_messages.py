"""The libraries' error text as records, in both layouts."""

# ruff: noqa: E501

from __future__ import annotations

import pytest

from aclnn_py.diagnosis.messages import Message, parse

NEWER = """[PID: 4711] 2026-07-01-10:11:12.345.678 AclNN_Parameter_Error(EZ1001): aclnnFoo: x has shape [2, 3].
        Possible Cause: The caller mixed up two tensors.
        Solution: Exchange them.
TraceBack (most recent call last):
        aclnnBar failed [FUNC:Run][FILE:bar.cpp][LINE:12]
        EZ9903: rtKernelLaunch failed, runtime result = 107003.
"""
OLDER = """EZ1001: [PID: 4711] 2024-07-01-10:11:12.345.678 Tensor self not implemented for DT_DOUBLE, should be in \
dtype support list [DT_FLOAT,DT_FLOAT16,].
        TraceBack (most recent call last):
        Check self failed.[FUNC:CheckDtype][FILE:foo.cpp][LINE:7]
"""
INTERNAL = """EZ9999: Internal error!
EZ9999[PID: 9] 2026-07-01-10:11:12.345.678 Inner_Error(EZ9999):  Parse dynamic kernel config fail.[FUNC:F][FILE:a.cpp][LINE:1]
TraceBack (most recent call last):
        AclOpKernelInit failed opType
"""


def test_the_newer_layout() -> None:
    first, second, third = parse(NEWER)
    assert first == Message(
        text="aclnnFoo: x has shape [2, 3].",
        code="EZ1001",
        title="AclNN_Parameter_Error",
        pid=4711,
        time="2026-07-01-10:11:12.345.678",
        cause="The caller mixed up two tensors.",
        solution="Exchange them.",
    )
    assert second == Message("aclnnBar failed [FUNC:Run][FILE:bar.cpp][LINE:12]", trace=True)
    assert third.code == "EZ9903" and third.trace and "107003" in third.text


def test_the_older_layout() -> None:
    first, second = parse(OLDER)
    assert (first.code, first.pid, first.time) == ("EZ1001", 4711, "2024-07-01-10:11:12.345.678")
    assert first.text.startswith("Tensor self not implemented") and first.text.endswith("DT_FLOAT16,].")
    assert second.trace and second.text.startswith("Check self failed.")


def test_the_internal_layout() -> None:
    first, second = parse(INTERNAL)
    assert (first.code, first.title, first.pid) == ("EZ9999", "Inner_Error", 9)
    assert first.text.startswith("Parse dynamic kernel config fail.")
    assert second == Message("AclOpKernelInit failed opType", trace=True)


def test_text_of_the_device() -> None:
    host, device = parse(OLDER.splitlines()[0] + "\nDEVICE[3] PID[4711]: \nThe error from device(3)\n")
    assert (device.device, device.pid, device.text.strip()) == (3, 4711, "The error from device(3)")
    assert host.device is None
    *below, device = parse(
        OLDER + "\nDEVICE[3] PID[4711]: \nEXCEPTION STREAM: \n  Message info[0]: timeout\n"
    )
    assert (device.device, device.text) == (3, "EXCEPTION STREAM:\nMessage info[0]: timeout")
    assert all(message.device is None for message in below)


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_nothing(text: str) -> None:
    assert parse(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "one line",
        "two\nlines",
        "  indented",
        "EZ1001",
        "[PID: x] odd",
        "TraceBack (most recent call last):\na\nb",
    ],
)
def test_no_word_is_lost(text: str) -> None:
    said = " ".join(str(m) for m in parse(text))
    for word in text.replace("TraceBack (most recent call last):", "").split():
        assert word in said


def test_lines_that_belong_to_a_message() -> None:
    (only,) = parse("EZ1001: [PID: 1] first\nsecond\nthird")
    assert only.text == "first\nsecond\nthird"
