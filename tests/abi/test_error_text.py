"""The text of aclGetRecentErrMsg and of the log."""

import re
import subprocess
from collections.abc import Callable

Run = Callable[..., subprocess.CompletedProcess[str]]

STAMP = r"\[PID: \d+\] \d{4}-\d\d-\d\d-\d\d:\d\d:\d\d\.\d{3}\.\d{3} "


def test_one_message(run: Run) -> None:
    text = run("errors.cpp", "one").stdout
    expected = STAMP + r"AclNN_Parameter_Error\(EZ1001\): x is \[2\], expected \[3\]\.\n"
    assert re.fullmatch(expected, text), text


def test_what_the_caller_can_fix_leads(run: Run) -> None:
    text = run("errors.cpp", "several").stdout
    expected = (
        STAMP
        + r"AclNN_Parameter_Error\(EZ1001\): x is nullptr\.\n"
        + r"TraceBack \(most recent call last\):\n"
        + r"        an inner step failed\.\n        the runtime said no\.\n"
    )
    assert re.fullmatch(expected, text), text


def test_internal_message(run: Run) -> None:
    text = run("errors.cpp", "inner").stdout
    expected = r"EZ9999: Internal error!\nEZ9999" + STAMP + r"AclNN_Inner_Error\(EZ9999\):  tiling failed\.\n"
    assert re.fullmatch(expected, text), text


def test_older_form(run: Run) -> None:
    text = run("errors.cpp", "several", ACLEMU_ERROR_FORM="older").stdout
    expected = (
        r"EZ1001: "
        + STAMP
        + r"x is nullptr\.\n        TraceBack \(most recent call last\):\n"
        + r"        an inner step failed\.\n        the runtime said no\.\n"
    )
    assert re.fullmatch(expected, text), text


def test_long_messages_end_at_a_character(run: Run) -> None:
    text = run("errors.cpp", "long").stdout
    message = text.split("): ", 1)[1].rstrip("\n")
    assert message == "\u20ac" * (1024 // 3)


def test_solution(run: Run) -> None:
    lines = run("errors.cpp", "hint").stdout.splitlines()
    assert "(EE1001): aclrtSynchronizeStream: " in lines[0] and lines[0].endswith("(107002).")
    assert [line.split(":")[0] for line in lines[1:]] == ["        Solution"]


def test_cause(run: Run) -> None:
    lines = run("errors.cpp", "full", ACLEMU_MEMORY="1M").stdout.splitlines()
    assert "Memory_Allocation_Failure(EL0004): aclrtMalloc: device 0 has no room" in lines[0]
    assert [line.split(":")[0] for line in lines[1:]] == ["        Possible Cause", "        Solution"]


def test_threads_have_their_own(run: Run) -> None:
    text = run("errors.cpp", "threads").stdout
    assert "mine." in text and "its own" not in text


def test_unread_messages_do_not_grow(run: Run) -> None:
    assert len(run("errors.cpp", "many").stdout.splitlines()) == 65


def test_log_lines(run: Run) -> None:
    assert "errno" not in run("errors.cpp", "one", ASCEND_GLOBAL_LOG_LEVEL="0").stdout
    out = run("errors.cpp", "several", ASCEND_SLOG_PRINT_TO_STDOUT="1").stdout
    lines = [line for line in out.splitlines() if line.startswith("[ERROR] OP(")]
    assert len(lines) == 4
    expected = r"\[ERROR\] OP\(\d+,errors\):\S+ \[NNOP\]\[\d+\] errno\[161001\] OpName:\[aclnnX_1\] "
    assert re.fullmatch(expected + r"x is nullptr\.", lines[1])
    assert (
        "errno"
        not in run("errors.cpp", "one", ASCEND_SLOG_PRINT_TO_STDOUT="1", ASCEND_GLOBAL_LOG_LEVEL="4").stdout
    )
    # The newer variable wins.
    assert (
        "errno"
        not in run(
            "errors.cpp", "one", ASCEND_SLOG_PRINT_TO_STDOUT="1", ASCEND_LOG_PRINT_TO_STDOUT="0"
        ).stdout
    )
