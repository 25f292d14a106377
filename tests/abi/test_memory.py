"""Device memory, host memory and copies."""

import subprocess
from collections.abc import Callable

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize("scenario", ["allocation", "churn", "large", "copies"])
def test_memory(run: Run, scenario: str) -> None:
    run("memory.cpp", scenario)


def test_capacity(run: Run) -> None:
    run("memory.cpp", "capacity", ACLEMU_MEMORY="1G")
