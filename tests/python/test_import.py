"""Importing and asking costs nothing: no library, no device, little time."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import aclnn_py

LOADED = """
        def loaded():
            names = ("ascendcl", "acl_rt", "nnopbase", "opapi")
            return [line for line in open("/proc/self/maps") if any(name in line for name in names)]
"""


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs /proc")
def test_import_and_questions_open_no_library(run_python: Callable[..., object], stub_root: Path) -> None:
    run_python(
        LOADED
        + """
        import sys, threading
        import aclnn_py as aclnn
        assert aclnn.__version__ == "0.1.0"
        assert aclnn.explain(161002).name == "ACLNN_ERR_PARAM_INVALID"
        assert aclnn.is_available() is True
        assert not loaded(), loaded()
        assert threading.active_count() == 1
        aclnn.Stream()
        assert loaded()
        """,
        ASCEND_HOME_PATH=stub_root,
    )


def test_a_query_does_not_spoil_a_later_fork(run_python: Callable[..., object], stub_root: Path) -> None:
    run_python(
        """
        import os
        import aclnn_py as aclnn
        aclnn.explain(161002), aclnn.is_available(), aclnn.__version__
        pid = os.fork()
        if pid == 0:
            aclnn.zeros(3).numpy()
            os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
        """,
        ASCEND_HOME_PATH=stub_root,
    )


def import_seconds(statement: str) -> float:
    code = f"import time; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)"
    return min(
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
        for _ in range(3)
    )


def test_import_costs_little_beyond_numpy() -> None:
    """At most 150 ms; on a machine that is slow at the moment, at most what NumPy itself takes."""
    numpy = import_seconds("import numpy")
    assert import_seconds("import aclnn_py") - numpy < max(0.150, numpy)


def test_everything_public_exists() -> None:
    for name in aclnn_py.__all__:
        assert getattr(aclnn_py, name) is not None


def test_import_without_ml_dtypes(run_python: Callable[..., object], stub_root: Path) -> None:
    run_python(
        """
        import sys
        sys.modules["ml_dtypes"] = None
        import aclnn_py as aclnn, numpy as np
        assert aclnn.tensor(np.ones(2, np.float16)).numpy().sum() == 2
        try:
            aclnn.empty(2, "bfloat16")
        except TypeError as error:
            assert "pip install" in str(error) and "ml_dtypes" in str(error)
        else:
            raise AssertionError("bfloat16 without ml_dtypes")
        """,
        ASCEND_HOME_PATH=stub_root,
    )
