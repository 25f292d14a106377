"""The benchmark of the call overhead runs, and its budget holds."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "host_overhead"
pytestmark = pytest.mark.skipif(
    not BENCHMARK.is_dir() or not shutil.which(os.environ.get("CC", "cc")),
    reason="needs the sources and a C compiler",
)


def ratios(*options: str) -> dict[str, float]:
    """Ratios of the first table: contestant -> times its reference."""
    done = subprocess.run(
        [sys.executable, str(BENCHMARK), *options], capture_output=True, text=True, check=True
    )
    table = done.stdout.split("\n\n")[1]
    rows = re.findall(r"^(\w+)\s+\d+\s+-?\d+\s+(-?[\d.]+) x", table, re.M)
    return {name: float(ratio) for name, ratio in rows}


def test_the_benchmark_runs(any_root: None) -> None:
    assert set(ratios("--calls", "20", "--rounds", "3")) == {"untyped", "Operator", "Plan"}


@pytest.mark.slow
def test_the_budget(any_root: None) -> None:
    found = ratios()
    assert found["Operator"] <= 1.35 and found["Plan"] <= 1.5
