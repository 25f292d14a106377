"""What the diagnosis tests share: an environment in which the libraries are the emulator's."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

import aclnn_py

# Tests that call operators in this process state what the emulator does, also on a machine that has CANN.
os.environ.setdefault("ACLNN_PY_BACKEND", "emulator")


@pytest.fixture(scope="session")
def emulator() -> Callable[..., dict[str, str]]:
    """emulator(NAME="value", ...): environment variables for a process that is to use the emulator."""
    root = os.environ.get("ACLNN_PY_TEST_ROOT")
    if not root and not (Path(aclnn_py.__file__).parent / "_emulator" / "lib64" / "libopapi.so").exists():
        pytest.skip("this installation was built without the emulator")

    def environment(**variables: str) -> dict[str, str]:
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("ACLEMU_", "ACLNN_PY_"))}
        chosen = {"ACLNN_PY_BACKEND": "emulator"}
        if root:  # a build folder that is laid out like a CANN toolkit
            chosen = {"ACLNN_PY_BACKEND": "cann", "ASCEND_HOME_PATH": root}
        return clean | chosen | variables

    return environment


@pytest.fixture
def run_python(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs Python code in a fresh interpreter: run_python(code, *arguments, code=0, NAME="value", ...).

    `env` is its whole environment (such as `emulator()` gives), else this one's without the package's own
    variables; `code` is the exit status that is asserted, None for any.
    """

    def run(
        source: str,
        *arguments: str,
        code: int | None = 0,
        env: dict[str, str] | None = None,
        **variables: object,
    ) -> subprocess.CompletedProcess[str]:
        own = ("ACLEMU_", "ACLNN_PY_", "ASCEND_")
        base = {k: v for k, v in os.environ.items() if not k.startswith(own)} if env is None else env
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(source), *arguments],
            capture_output=True,
            text=True,
            env=base | {name: str(value) for name, value in variables.items()},
            cwd=tmp_path,
            timeout=120,
        )
        if code is not None:
            assert done.returncode == code, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    return run
