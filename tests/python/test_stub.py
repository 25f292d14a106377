"""Runs the checks of stub_checks/, each file in an interpreter whose CANN is the stub."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

CHECKS = sorted(Path(__file__).with_name("stub_checks").glob("check_*.py"))
RUN = """
    import sys, pytest
    options = ["-q", "-p", "no:cacheprovider", "--import-mode=importlib", "-o", "python_files=check_*.py"]
    sys.exit(pytest.main([*options, sys.argv[1]]))
"""


@pytest.mark.parametrize("file", CHECKS, ids=lambda path: path.stem)
def test_with_the_stub(run_python: Callable[..., Any], stub_root: Path, file: Path) -> None:
    done = run_python(RUN, str(file), ASCEND_HOME_PATH=stub_root, STUB_MEMORY=100_000_000)
    assert " passed" in done.stdout
