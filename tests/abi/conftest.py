"""Where the emulator is, and how the C and C++ programs of these tests are built and run."""

import os
import pathlib
import shlex
import shutil
import subprocess
from collections.abc import Callable

import pytest

HERE = pathlib.Path(__file__).parent
NATIVE = HERE.parents[1] / "native"

Run = Callable[..., subprocess.CompletedProcess[str]]


def _root() -> pathlib.Path:
    given = os.environ.get("ACLNN_PY_TEST_ROOT")
    if given:
        return pathlib.Path(given)
    import aclnn_py

    assert aclnn_py.__file__ is not None
    return pathlib.Path(aclnn_py.__file__).parent / "_emulator"


@pytest.fixture(scope="session")
def root() -> pathlib.Path:
    """The CANN-like root: lib64 and include."""
    path = _root()
    if not (path / "lib64" / "libascendcl.so").exists():
        pytest.skip(f"the emulator is not built: {path} has no lib64/libascendcl.so")
    return path


@pytest.fixture(scope="session")
def compiled(root: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., pathlib.Path]:
    """Compiles a source file of `programs/` (or a given path) once and returns the program."""
    folder = tmp_path_factory.mktemp("programs")
    built: dict[pathlib.Path, pathlib.Path] = {}

    def compile_program(source: str | pathlib.Path) -> pathlib.Path:
        path = HERE / "programs" / source
        if path not in built:
            is_c = path.suffix == ".c"
            compiler = os.environ.get("CC" if is_c else "CXX") or ("gcc" if is_c else "g++")
            if shutil.which(compiler) is None:
                pytest.skip(f"no compiler: {compiler}")
            program = folder / path.stem
            command = [compiler, "-std=c99" if is_c else "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror"]
            command += ["-I", str(root / "include"), "-I", str(HERE / "programs")]
            if not is_c:
                command += ["-I", str(NATIVE)]
            command += [str(path), "-o", str(program), "-L", str(root / "lib64")]
            command += ["-lascendcl", "-lnnopbase", "-lopapi"]
            command += shlex.split(os.environ.get("CFLAGS" if is_c else "CXXFLAGS", ""))
            command += ["-pthread", f"-Wl,-rpath,{root / 'lib64'}"]
            done = subprocess.run(command, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            built[path] = program
        return built[path]

    return compile_program


@pytest.fixture
def run(compiled: Callable[..., pathlib.Path]) -> Run:
    """Runs a program, with environment variables as keywords, and checks how it ends."""

    def run_program(
        source: str | pathlib.Path, *arguments: str, timeout: float = 60, expect: int = 0, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        own = ("ACLEMU_", "ASCEND_")
        clean = {key: value for key, value in os.environ.items() if not key.startswith(own)}
        done = subprocess.run(
            [str(compiled(source)), *arguments],
            capture_output=True,
            text=True,
            timeout=timeout,
            env={**clean, **environment},
        )
        assert done.returncode == expect, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    return run_program
