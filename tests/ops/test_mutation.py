"""A wrong instruction is noticed: one of the twin returns twice its result, and the operator's tests fail."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

NATIVE = Path(__file__).parents[2] / "native"
TESTS = ["tests/ops/test_mhc_pre_sinkhorn.py", "-k", "random_tokens"]


def _tool(name: str) -> str:
    path = shutil.which(name, path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if path is None:
        pytest.skip(f"needs {name}")
    return path


@pytest.fixture
def mutant(tmp_path):
    """A build of the native sources in which Sqrt returns twice its result, made quickly."""
    native = tmp_path / "native"
    shutil.copytree(NATIVE, native)
    header = native / "ascendc" / "vector_unary.h"
    text = header.read_text()
    definition = "float operator()(float a) const { return __builtin_sqrtf(a); }"
    assert text.count(definition) == 1
    header.write_text(text.replace(definition, definition.replace("return ", "return 2 * ")))

    cmake, ninja = _tool("cmake"), _tool("ninja")
    _tool("g++")
    options = {
        "CMAKE_MAKE_PROGRAM": ninja,
        "CMAKE_BUILD_TYPE": "Debug",
        "ACLNN_PY_SIMD": "baseline",
        "ACLNN_PY_KERNEL_OPTIMIZATION": "-O0",
        "ACLNN_PY_OPS": "mhc_pre_sinkhorn",
    }
    configure = [cmake, "-S", native, "-B", tmp_path / "build", "-G", "Ninja"]
    configure += [f"-D{name}={value}" for name, value in options.items()]
    for command in (configure, [ninja, "-C", tmp_path / "build"]):
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    return tmp_path / "build" / "root"


@pytest.mark.slow
def test_doubling_one_instruction_fails_the_operators_tests(mutant):
    """That they pass without it, the rest of the run tells."""
    environment = os.environ | {"ACLNN_PY_BACKEND": "cann", "ASCEND_HOME_PATH": str(mutant)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS]
    done = subprocess.run(
        command, env=environment, cwd=NATIVE.parent, capture_output=True, text=True, timeout=500
    )
    assert done.returncode == 1 and " error" not in done.stdout, done.stdout
    assert "AssertionError" in done.stdout and "14 failed" in done.stdout, done.stdout
