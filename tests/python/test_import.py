"""Importing and asking costs little: no library, no device, no module that a call can do without."""

from __future__ import annotations

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


# What reading headers, keeping their cache, explaining codes and diagnosing need: not a plain call
NOT_AT_ONCE = (
    "difflib", "hashlib", "http", "importlib.metadata", "importlib.resources", "json", "multiprocessing",
    "subprocess", "tempfile", "torch", "matplotlib", "click", "rich", "aclnn_py.cli", "aclnn_py.declarations",
    "aclnn_py.header_cache", "aclnn_py.opp_export", "aclnn_py.reference", "aclnn_py.stubs",
    "aclnn_py.testing", "aclnn_py.diagnosis.check", "aclnn_py.diagnosis.rules", "aclnn_py.diagnosis.trace",
    "aclnn_py.ops.constraints",
)  # fmt: skip


def test_import_loads_only_what_a_call_needs(run_python: Callable[..., object], stub_root: Path) -> None:
    """How long it takes, `benchmarks/import_time.py` tells."""
    run_python(
        f"""
        import sys
        import numpy
        try:
            import ml_dtypes
        except ImportError:
            pass
        before = set(sys.modules)
        import aclnn_py
        loaded = set(sys.modules) - before
        assert "aclnn_py.stream" in loaded
        assert not loaded & set({NOT_AT_ONCE}), loaded & set({NOT_AT_ONCE})
        """,
        ASCEND_HOME_PATH=stub_root,
    )


def test_everything_public_exists() -> None:
    for name in aclnn_py.__all__:
        assert getattr(aclnn_py, name) is not None


@pytest.mark.parametrize("left", ["raise ImportError", "raise RuntimeError('built for another ABI')"])
def test_import_without_ml_dtypes(
    run_python: Callable[..., object], stub_root: Path, tmp_path: Path, left: str
) -> None:
    (tmp_path / "ml_dtypes.py").write_text(left)  # in the working folder, so found first
    run_python(
        """
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
