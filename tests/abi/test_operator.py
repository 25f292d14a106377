"""A real operator called from C++: mistakes get the device's codes, and a call costs little."""

import pathlib
import subprocess
from collections.abc import Callable

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
BENCHMARK = pathlib.Path(__file__).parents[2] / "benchmarks" / "abi" / "calls.cpp"


@pytest.mark.parametrize("stream", ["async", "delayed"])
@pytest.mark.parametrize("scenario", ["executors", "destroyed", "buffers", "wrong place"])
def test_mistakes(run: Run, scenario: str, stream: str) -> None:
    run("operator.cpp", scenario, ACLEMU_STREAM=stream)


def test_memory_of_another_device(run: Run) -> None:
    run("operator.cpp", "other device", ACLEMU_DEVICES="2")


def test_a_buffer_freed_too_early(run: Run) -> None:
    run("operator.cpp", "freed", ACLEMU_STREAM="delayed")


def test_checks_name_the_tensor(run: Run) -> None:
    run("operator.cpp", "checked", ACLEMU_STREAM="delayed", ACLEMU_CHECK="memory,sync")


@pytest.mark.slow
def test_what_calls_cost(run: Run) -> None:
    lines = run(BENCHMARK, timeout=120).stdout.splitlines()
    times = {name: float(value) for name, value in (line.split() for line in lines)}
    assert times["empty_call_us"] < 3
    assert times["smallest_call_and_synchronize_us"] < 200
