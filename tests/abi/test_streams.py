"""Streams, events and many threads."""

import subprocess
from collections.abc import Callable

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize("scenario", ["asynchronous", "destroying", "faults", "events"])
def test_streams(run: Run, scenario: str) -> None:
    run("streams.cpp", scenario)


def test_delayed_streams(run: Run) -> None:
    run("streams.cpp", "delayed", ACLEMU_STREAM="delayed")


@pytest.mark.parametrize("stream", ["async", "delayed"])
def test_eight_threads_on_two_devices(run: Run, stream: str) -> None:
    run("threads.cpp", "1000", timeout=120, ACLEMU_DEVICES="2", ACLEMU_STREAM=stream)


@pytest.mark.slow
def test_eight_threads_for_longer(run: Run) -> None:
    run("threads.cpp", "10000", timeout=600, ACLEMU_DEVICES="2")
