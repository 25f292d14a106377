"""The debug modes: checks, injected faults, call log, leak report."""

import pathlib
import re
import subprocess
from collections.abc import Callable

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_memory_checks(run: Run) -> None:
    run("debug.cpp", "memory", ACLEMU_CHECK="memory")


def test_sync_checks(run: Run) -> None:
    run("debug.cpp", "sync", ACLEMU_CHECK="sync")


@pytest.mark.parametrize("scenario", ["faults", "mode", "exceptions"])
def test_controls(run: Run, scenario: str) -> None:
    run("debug.cpp", scenario)


def test_a_fault_for_an_operator_that_no_library_has(run: Run) -> None:
    log = {"ASCEND_SLOG_PRINT_TO_STDOUT": "1", "ASCEND_GLOBAL_LOG_LEVEL": "2"}
    text = run("operator.cpp", "fault", **log).stdout
    assert "no loaded library exports aclnnAdx" in text and "exports aclnnAdd" not in text


def test_faults_of_the_environment(run: Run) -> None:
    asked = "allocation=2,aclnnScribble.1=561103,synchronize=507015"
    assert run("debug.cpp", "environment", ACLEMU_FAULTS=asked).stdout == "as asked\n"


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("ACLEMU_FAULTS", "allocation"),
        ("ACLEMU_FAULTS", "allocation=0"),
        ("ACLEMU_FAULTS", "aclnnX.3=1"),
        ("ACLEMU_FAULTS", "weather=2"),
        ("ACLEMU_CHECK", "memory,all"),
        ("ACLEMU_CALLS", "/nowhere/at/all"),
        ("ACLEMU_ERROR_FORM", "bogus"),
    ],
)
def test_settings_that_make_no_sense(run: Run, variable: str, value: str) -> None:
    text = run("debug.cpp", "environment", **{variable: value}).stdout
    assert text.startswith("507033 ") and variable in text


def test_call_log(run: Run, tmp_path: pathlib.Path) -> None:
    log = tmp_path / "calls"
    run("debug.cpp", "calls", str(log))
    lines = [line.split(" ") for line in log.read_text().splitlines()]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d-\d\d:\d\d:\d\d\.\d{3}\.\d{3}", line[0]) for line in lines)
    assert len({line[1] for line in lines}) == 1
    assert [line[2:] for line in lines] == [
        ["aclemuLogCalls", "0"],
        ["aclrtMalloc", "0"],
        ["aclCreateTensor", "0"],
        ["aclCreateTensor", "0"],
        ["aclnnScribbleGetWorkspaceSize", "0"],
        ["aclnnScribble", "0"],
        ["aclrtMalloc", "100000"],
        ["aclrtSynchronizeStream", "0"],
    ]


def test_call_log_of_the_environment(run: Run, tmp_path: pathlib.Path) -> None:
    run("debug.cpp", "leaks", ACLEMU_CALLS=str(tmp_path / "calls"))
    assert " aclInit 0\n" in (tmp_path / "calls").read_text()


def test_leak_report(run: Run) -> None:
    assert run("debug.cpp", "leaks").stderr == ""
    lines = run("debug.cpp", "leaks", ACLEMU_CHECK="leaks").stderr.splitlines()
    expected = [
        "at the end of the runtime some objects are alive:",
        "tensor: 2 alive",
        r"  DT_FLOAT \[1024\] at 0x[0-9a-f]+",
        r"  DT_FLOAT \[1024\] at 0x[0-9a-f]+",
        "executor: 1 alive",
        "  1 of aclnnScribble",
        "device_memory: 1 alive",
        r"  5000 bytes of device 0 at 0x[0-9a-f]+",
    ]
    assert len(lines) == len(expected)
    assert all(re.fullmatch(*pair) for pair in zip(expected, lines, strict=True))
