"""Functions that make no sense without an NPU say so by name; no symbol succeeds without doing its work."""

import ctypes
import pathlib
import re

import pytest

NATIVE = pathlib.Path(__file__).parents[2] / "native"


def _refused() -> dict[str, str]:
    text = (NATIVE / "runtime" / "refused.def").read_text()
    return {name: kind for kind, name in re.findall(r"^REFUSED(_OBJECT)?\((\w+), \w+\)$", text, re.M)}


@pytest.fixture(scope="module")
def library(root: pathlib.Path) -> ctypes.CDLL:
    lib = ctypes.CDLL(str(root / "lib64" / "libascendcl.so"))
    lib.aclGetRecentErrMsg.restype = ctypes.c_char_p
    return lib


def test_each_refuses_by_name(library: ctypes.CDLL) -> None:
    refused = _refused()
    assert len(refused) > 180
    for name, kind in refused.items():
        function = getattr(library, name)
        function.restype = ctypes.c_void_p if kind else ctypes.c_int
        library.aclGetRecentErrMsg()
        assert function() == (None if kind else 207000 if name.startswith("aclrt") else 200006), name
        text = library.aclGetRecentErrMsg().decode()
        assert re.search(rf"\b{name} is not available: \w.{{20}}", text), text


def test_none_that_public_programs_use_is_refused() -> None:
    used = (pathlib.Path(__file__).parents[1] / "data" / "abi" / "used_by_programs.txt").read_text().split()
    assert set(used) & set(_refused()) == set()


def test_dumps_are_refused(root: pathlib.Path, library: ctypes.CDLL) -> None:
    nnopbase = ctypes.CDLL(str(root / "lib64" / "libnnopbase.so"))
    assert nnopbase.aclDumpOpTensors(None, None, None, 0, 0, None) == 200006
    assert b"aclDumpOpTensors is not available" in library.aclGetRecentErrMsg()
