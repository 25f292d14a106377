"""Every row of every operator's status table, provoked through the binding: code, argument, rule."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
SOCS = ("Ascend910B3", "Ascend950PR_9579")
QUICK = ("aclnnMhcPreSinkhorn", "aclnnMhcPost", "aclnnCast")


@pytest.fixture(scope="module")
def rows_module() -> Any:
    sys.path.insert(0, str(HERE))  # its own import of agreement
    try:
        spec = importlib.util.spec_from_file_location("rows", HERE / "rows.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(HERE))


def provoked(env: Callable[..., dict[str, str]], *operators: str) -> tuple[set[str], dict[str, str]]:
    """(rows, problems) of both SoC generations together."""
    rows: set[str] = set()
    problems: dict[str, str] = {}
    for soc in SOCS:
        done = subprocess.run(
            [sys.executable, str(HERE / "rows.py"), *operators],
            capture_output=True,
            text=True,
            env=env(ACLEMU_SOC=soc),
            timeout=900,
        )
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        rows |= set(found["provoked"])
        problems |= {f"{row} on {soc}": text for row, text in found["problems"].items()}
    return rows, problems


def check(rows_module: Any, rows: set[str], operators: list[str]) -> None:
    for name in operators:
        rules = rows_module.engine.find(name)
        wanted = {rows_module.row(rules, i, argument) for i, argument in rows_module.rows(rules)}
        assert wanted <= rows, f"never provoked: {sorted(wanted - rows)}"


def test_rows(rows_module: Any, emulator: Callable[..., dict[str, str]]) -> None:
    served = [name for name in QUICK if name in rows_module.agreement.served()]
    rows, problems = provoked(emulator, *served)
    assert problems == {}
    check(rows_module, rows, served)
    assert len(rows) > 60


@pytest.mark.slow
def test_rows_of_all_operators(rows_module: Any, emulator: Callable[..., dict[str, str]]) -> None:
    served = rows_module.agreement.served()
    if not os.environ.get("ACLNN_PY_TEST_ROOT"):
        assert served == rows_module.engine.known(), "a whole install has all operators"
    rows, problems = provoked(emulator, *served)
    assert problems == {}
    check(rows_module, rows, served)
