"""What the binding's tests share: the stub of CANN's libraries, and fresh interpreters."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

STUB = Path(__file__).with_name("stub")
VARIABLES = (
    "ASCEND_HOME_PATH",
    "ASCEND_OPP_PATH",
    "ASCEND_CUSTOM_OPP_PATH",
    "ACLNN_PY_BACKEND",
    "ACLNN_PY_BLOCKING",
)


def _compile(target: Path, sources: list[Path], *flags: str) -> Path:
    compiler = shutil.which(os.environ.get("CXX", "g++")) or shutil.which("c++")
    if compiler is None:
        pytest.skip("needs a C++ compiler")
    target.parent.mkdir(parents=True, exist_ok=True)
    command = [
        compiler,
        "-std=c++17",
        "-O0",
        "-fPIC",
        "-shared",
        "-o",
        str(target),
        *map(str, sources),
        *flags,
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture(scope="session")
def compile_library() -> Callable[..., Path]:
    """Compiles C++ files into a shared library: compile_library(target, sources, *flags)."""
    return _compile


@pytest.fixture(scope="session")
def build_stub() -> Callable[..., Path]:
    """Builds the stub as a CANN-like root (lib64, include/aclnnop): build_stub(root, *flags)."""

    def build(root: Path, *flags: str) -> Path:
        lib64 = root / "lib64"
        link = [f"-L{lib64}", "-Wl,-rpath,$ORIGIN"]
        _compile(lib64 / "libascendcl.so", [STUB / "runtime.cpp"], *flags)
        _compile(lib64 / "libnnopbase.so", [STUB / "nnopbase.cpp"], *link, "-lascendcl")
        _compile(lib64 / "libopapi.so", [STUB / "operators.cpp"], *link, "-lnnopbase", "-lascendcl")
        headers = root / "include" / "aclnnop"
        headers.mkdir(parents=True)
        for header in STUB.glob("aclnn_*.h"):
            shutil.copy(header, headers)
        return root

    return build


@pytest.fixture(scope="session")
def stub_root(build_stub: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The stub, built once per test run."""
    return build_stub(tmp_path_factory.mktemp("stub") / "root")


@pytest.fixture
def run_python(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs Python code in a fresh interpreter with a clean environment: run_python(code, NAME="value", ...).

    Returns the finished process; `code=0` (default) asserts that exit status.
    """

    def run(source: str, *arguments: str, code: int = 0, **env: object) -> subprocess.CompletedProcess[str]:
        clean = {k: v for k, v in os.environ.items() if k not in VARIABLES}
        clean |= {name: str(value) for name, value in env.items()}
        command = [sys.executable, "-c", textwrap.dedent(source), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, env=clean, cwd=tmp_path, timeout=120)
        assert done.returncode == code, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    return run


@pytest.fixture(scope="session")
def any_root(request: pytest.FixtureRequest) -> None:
    """Libraries for tests in this process: CANN or the emulator if there is one, else the stub."""
    import aclnn_py

    if not aclnn_py.is_available():
        os.environ["ASCEND_HOME_PATH"] = str(request.getfixturevalue("stub_root"))
