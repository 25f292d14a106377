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


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """A build of the native sources, for the fewest variants; a second call rebuilds what changed."""
    folder = tmp_path_factory.mktemp("mutant")
    shutil.copytree(NATIVE, folder / "native")
    cmake, ninja = _tool("cmake"), _tool("ninja")
    _tool("g++")

    def run() -> Path:
        configure = [cmake, "-S", folder / "native", "-B", folder / "build", "-G", "Ninja"]
        configure += [f"-DCMAKE_MAKE_PROGRAM={ninja}", "-DACLNN_PY_SIMD=baseline"]
        configure += ["-DACLNN_PY_OPS=mhc_pre_sinkhorn"]
        for command in (configure, [ninja, "-C", folder / "build"]):
            done = subprocess.run(command, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
        return folder / "build" / "root"

    return folder / "native", run


def _run_tests(root: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"ACLNN_PY_BACKEND": "cann", "ASCEND_HOME_PATH": str(root)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS]
    return subprocess.run(
        command, env=environment, cwd=NATIVE.parent, capture_output=True, text=True, timeout=500
    )


def test_doubling_one_instruction_fails_the_operators_tests(build):
    native, run = build
    good = _run_tests(run())
    assert good.returncode == 0, good.stdout

    header = native / "ascendc" / "vector_unary.h"
    text = header.read_text()
    definition = "float operator()(float a) const { return __builtin_sqrtf(a); }"
    assert text.count(definition) == 1
    mutated = text.replace(definition, definition.replace("return ", "return 2 * "))
    header.write_text(mutated)
    bad = _run_tests(run())
    assert bad.returncode == 1 and " failed" in bad.stdout, bad.stdout
