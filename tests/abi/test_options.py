"""Options of streams, callbacks, notifies, limits, batches, host memory and queries."""

import subprocess
from collections.abc import Callable

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize("scenario", ["attributes", "abort", "callbacks", "notifies", "limits", "states"])
def test_options(run: Run, scenario: str) -> None:
    run("options.cpp", scenario)


@pytest.mark.parametrize("scenario", ["batches", "host"])
def test_memory(run: Run, scenario: str) -> None:
    run("queries.cpp", scenario)


def test_delayed_streams_serve_each_other(run: Run) -> None:
    run("options.cpp", "delayed", ACLEMU_STREAM="delayed")


def test_queries(run: Run) -> None:
    run("queries.cpp", "queries", ACLEMU_DEVICES="3", ASCEND_RT_VISIBLE_DEVICES="2,1")
