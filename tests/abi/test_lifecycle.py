"""Start, end, devices, contexts, forks and exits of a process that uses the runtime."""

import os
import pathlib
import signal
import subprocess
from collections.abc import Callable

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize("scenario", ["counted", "finalize_twice", "no_device", "parameters"])
def test_one_device(run: Run, scenario: str) -> None:
    run("lifecycle.cpp", scenario)


@pytest.mark.parametrize("scenario", ["devices", "contexts"])
def test_two_devices(run: Run, scenario: str) -> None:
    run("lifecycle.cpp", scenario, ACLEMU_DEVICES="2")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"dump": {"a": [1, -2.5e3, true, null, "x\\"y"]}}', 0),
        ("[]", 0),
        ("", 100006),
        ('{"a": }', 100006),
        ("{} x", 100006),
        ("[" * 1000, 100006),
        pytest.param(" " * (1 << 20) + "{}", 100003, id="large"),
        (None, 100003),
    ],
)
def test_config_file(run: Run, tmp_path: pathlib.Path, text: str | None, code: int) -> None:
    path = tmp_path / "acl.json"
    if text is not None:
        path.write_text(text)
    run("lifecycle.cpp", "config", str(path), str(code))


@pytest.mark.parametrize("path", ["/dev/zero", "/"])
def test_config_that_is_no_regular_file(run: Run, path: str) -> None:
    run("lifecycle.cpp", "config", path, "100003", timeout=20)


def test_exit_with_live_objects_and_pending_work(run: Run) -> None:
    run("lifecycle.cpp", "exit", timeout=20)


def test_interrupt_while_waiting(compiled: Callable[..., pathlib.Path]) -> None:
    def heed() -> None:  # a runner in the background ignores it, and so would what it starts
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    command = [str(compiled("lifecycle.cpp")), "wait"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, preexec_fn=heed) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"waiting\n"
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(timeout=20) == -signal.SIGINT
        finally:
            process.kill()


def test_killed_while_waiting(compiled: Callable[..., pathlib.Path]) -> None:
    with subprocess.Popen([str(compiled("lifecycle.cpp")), "wait"], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"waiting\n"
        process.kill()
        assert process.wait(timeout=10) == -signal.SIGKILL


def test_fork(run: Run) -> None:
    run("fork.cpp")


@pytest.mark.parametrize(
    ("variables", "code", "word"),
    [
        ({"ACLEMU_SOC": "Ascend910A"}, 507033, "ACLEMU_SOC"),
        ({"ACLEMU_AICORES": "0"}, 507033, "ACLEMU_AICORES"),
        ({"ACLEMU_AICORES": "4:"}, 507033, "ACLEMU_AICORES"),
        ({"ACLEMU_AICORES": "4:7:1"}, 507033, "ACLEMU_AICORES"),
        ({"ACLEMU_AICORES": "-3"}, 507033, "ACLEMU_AICORES"),
        ({"ACLEMU_AICORES": "99999999999"}, 507033, "ACLEMU_AICORES"),
        ({"ACLEMU_THREADS": "zero"}, 507033, "ACLEMU_THREADS"),
        ({"ACLEMU_THREADS": "0"}, 507033, "ACLEMU_THREADS"),
        ({"ACLEMU_MEMORY": "64X"}, 507033, "ACLEMU_MEMORY"),
        ({"ACLEMU_MEMORY": "G"}, 507033, "ACLEMU_MEMORY"),
        ({"ACLEMU_DEVICES": "0"}, 507033, "ACLEMU_DEVICES"),
        ({"ACLEMU_STREAM": "sync"}, 507033, "ACLEMU_STREAM"),
        ({"ASCEND_RT_VISIBLE_DEVICES": "9"}, 207004, "ASCEND_RT_VISIBLE_DEVICES"),
        ({"ASCEND_RT_VISIBLE_DEVICES": ""}, 207004, "ASCEND_RT_VISIBLE_DEVICES"),
    ],
)
def test_settings_that_make_no_sense(run: Run, variables: dict[str, str], code: int, word: str) -> None:
    assert word in run("lifecycle.cpp", "set", str(code), **variables).stdout


@pytest.mark.parametrize(
    ("visible", "count", "second"),
    [(None, 2, 0), ("1", 1, 107001), ("1,0", 2, 0), ("0,0", 1, 107001), ("0,7", 1, 107001)],
)
def test_visible_devices(run: Run, visible: str | None, count: int, second: int) -> None:
    variables = {"ACLEMU_DEVICES": "2"} | ({} if visible is None else {"ASCEND_RT_VISIBLE_DEVICES": visible})
    lines = run("lifecycle.cpp", "set", "0", **variables).stdout.splitlines()
    assert lines[1:3] == [f"count 0 {count}", f"second {second}"]


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, "Ascend910B3 2201 20:40 ub 196608-8192 l0c 131072"),
        ({"ACLEMU_SOC": "Ascend910B1"}, "Ascend910B1 2201 24:48 ub 196608-8192 l0c 131072"),
        ({"ACLEMU_SOC": "Ascend910_9382"}, "Ascend910_9382 2201 24:48 ub 196608-8192 l0c 131072"),
        ({"ACLEMU_SOC": "Ascend950PR_9579"}, "Ascend950PR_9579 3510 28:56 ub 262144-8192 l0c 262144"),
        ({"ACLEMU_AICORES": "4"}, "Ascend910B3 2201 4:8 ub 196608-8192 l0c 131072"),
        ({"ACLEMU_AICORES": "4:7"}, "Ascend910B3 2201 4:7 ub 196608-8192 l0c 131072"),
    ],
)
def test_platform(run: Run, variables: dict[str, str], expected: str) -> None:
    out = run("platform.cpp", ACLEMU_THREADS="3", **variables).stdout
    assert out == f"{expected} threads 3\n"


def test_threads_default_to_the_usable_cpus(run: Run) -> None:
    assert run("platform.cpp").stdout.endswith(f"threads {len(os.sched_getaffinity(0))}\n")
