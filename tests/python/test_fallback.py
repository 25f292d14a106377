"""What `auto` and `cann` do about an ASCEND_HOME_PATH that does not work, in fresh interpreters."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

# The stub plays the emulator, which this copy of the package may not have; no CANN is installed
START = """
        import pathlib, sys
        import aclnn_py as aclnn
        from aclnn_py import libraries, roots
        roots.SYSTEM_ROOTS, roots.EMULATOR_ROOT = (), pathlib.Path(sys.argv[1])
        assert aclnn.is_available()
        try:
            aclnn.zeros(1), aclnn.zeros(2), aclnn.op("aclnnStubCopy"), libraries.root()
        except aclnn.LibraryNotFound as error:
            print("refused:", error)
        else:
            print("used:", aclnn.info().root)
"""


@pytest.fixture
def start(run_python: Run, stub_root: Path, tmp_path: Path) -> Run:
    """Starts with the stub as emulator: start(ASCEND_HOME_PATH, HOME="...", ...)."""

    def run(home: Path, **env: object) -> Any:
        return run_python(START, str(stub_root), **({"ASCEND_HOME_PATH": home, "HOME": tmp_path} | env))

    return run


def wrong_home(folder: Path, kind: str) -> Path:
    if kind == "file":
        folder.touch()
    elif kind == "empty":
        folder.mkdir()
    elif kind == "half":
        (folder / "lib64").mkdir(parents=True)
        (folder / "lib64" / "libascendcl.so").touch()
    return folder


WRONG = [
    ("missing", "which does not exist"),
    ("file", "which is a file, not a folder"),
    ("empty", "which has no lib64/libacl_rt.so or lib64/libascendcl.so"),
    ("half", "which has no lib64/libnnopbase.so"),
]


@pytest.mark.parametrize(("kind", "words"), WRONG)
def test_auto_takes_the_next_root_and_warns_once(
    start: Run, stub_root: Path, tmp_path: Path, kind: str, words: str
) -> None:
    home = wrong_home(tmp_path / kind, kind)
    done = start(home)
    assert done.stdout.strip() == f"used: {stub_root}"
    [warning] = done.stderr.splitlines()
    assert f"ASCEND_HOME_PATH is '{home}', {words}; using the " in warning
    assert warning.endswith(f" of {stub_root} instead")


def test_a_usual_root_comes_before_the_emulator(start: Run, stub_root: Path, tmp_path: Path) -> None:
    cann = tmp_path / "Ascend" / "cann"
    cann.parent.mkdir()
    cann.symlink_to(stub_root)
    done = start(tmp_path / "gone")
    assert done.stdout.strip() == f"used: {cann}"
    assert done.stderr.count("\n") == 1 and f"of {cann} instead" in done.stderr


def test_what_else_was_passed_over_is_in_the_same_warning(
    start: Run, stub_root: Path, tmp_path: Path
) -> None:
    broken = Path(shutil.copytree(stub_root, tmp_path / "Ascend" / "cann"))
    (broken / "lib64" / "libnnopbase.so").write_text("no library")
    done = start(tmp_path / "gone")
    assert done.stdout.strip() == f"used: {stub_root}"
    [warning] = done.stderr.splitlines()
    assert "ASCEND_HOME_PATH" in warning and f"{broken}/lib64/libnnopbase.so cannot be opened" in warning


@pytest.mark.parametrize(("kind", "words"), WRONG)
def test_cann_takes_no_other_root(
    run_python: Run, stub_root: Path, tmp_path: Path, kind: str, words: str
) -> None:
    home = wrong_home(tmp_path / kind, kind)
    source = START.replace("assert aclnn.is_available()", "assert not aclnn.is_available()")
    done = run_python(source, str(stub_root), ASCEND_HOME_PATH=home, ACLNN_PY_BACKEND="cann")
    assert f"refused: ASCEND_HOME_PATH is '{home}', {words}; " in done.stdout
    assert "ACLNN_PY_BACKEND=emulator" in done.stdout and done.stderr == ""


def test_the_emulator_asks_for_no_home(start: Run, stub_root: Path, tmp_path: Path) -> None:
    done = start(tmp_path / "gone", ACLNN_PY_BACKEND="emulator")
    assert done.stdout.strip() == f"used: {stub_root}" and done.stderr == ""


def other_machine(library: bytes) -> bytes:
    """The same ELF file for a processor that nobody has: e_machine is the 16-bit word at 18."""
    return library[:18] + b"\xf0\x0f" + library[20:]


@pytest.mark.parametrize("backend", ["auto", "cann"])
@pytest.mark.parametrize("name", ["libascendcl.so", "libnnopbase.so"])
@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda _: b"not an ELF file" * 100, "reinstall it"),
        (lambda _: b"", "reinstall it"),
        (lambda library: library[:200], "reinstall it"),
        (other_machine, f"not for this machine ({platform.machine()})"),
    ],
    ids=["text", "empty", "cut", "machine"],
)
def test_libraries_that_are_there_but_damaged_are_an_error(
    start: Run, stub_root: Path, tmp_path: Path, backend: str, name: str, damage: Any, words: str
) -> None:
    home = Path(shutil.copytree(stub_root, tmp_path / "with space"))
    file = home / "lib64" / name
    file.write_bytes(damage(file.read_bytes()))
    done = start(home, ACLNN_PY_BACKEND=backend)
    assert f"refused: {file} cannot be opened" in done.stdout and words in done.stdout
    assert "ACLNN_PY_BACKEND=emulator" in done.stdout
    assert done.stdout.count("\n") == 1 and done.stderr == ""


def test_a_broken_emulator_does_not_advise_the_emulator(
    run_python: Run, stub_root: Path, tmp_path: Path
) -> None:
    broken = Path(shutil.copytree(stub_root, tmp_path / "emulator"))
    (broken / "lib64" / "libascendcl.so").write_text("no library")
    done = run_python(START, str(broken), HOME=tmp_path, ACLNN_PY_BACKEND="emulator")
    assert f"refused: {broken}/lib64/libascendcl.so" in done.stdout
    assert "install aclnn-py again" in done.stdout and "ACLNN_PY_BACKEND" not in done.stdout


def test_compiling_warns_too(run_python: Run, stub_root: Path, tmp_path: Path) -> None:
    source = """
        import pathlib, sys
        from aclnn_py import compiling, roots
        roots.SYSTEM_ROOTS, roots.EMULATOR_ROOT = (), pathlib.Path(sys.argv[1])
        print(compiling.command(["a.cpp"]))
    """
    env = {"HOME": tmp_path, "ASCEND_HOME_PATH": "/nonexistent", "CXX": "true"}
    done = run_python(source, str(stub_root), **env)
    assert f"-L{stub_root}/lib64" in done.stdout
    assert f"ASCEND_HOME_PATH is '/nonexistent', which does not exist; using {stub_root}" in done.stderr
