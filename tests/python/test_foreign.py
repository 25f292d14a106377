"""A library and headers that the package has never seen, generated (foreign/generate.py) and called."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
RUN = """
    import sys, pytest
    options = ["-q", "-p", "no:cacheprovider", "--import-mode=importlib", "-o", "python_files=check_*.py"]
    sys.exit(pytest.main([*options, sys.argv[1]]))
"""


@pytest.fixture(scope="module")
def foreign(
    tmp_path_factory: pytest.TempPathFactory,
    build_stub: Callable[..., Path],
    compile_library: Callable[..., Path],
) -> Path:
    """The folder with root/ (a toolkit root) and package/ (a custom package)."""
    folder = tmp_path_factory.mktemp("foreign")
    subprocess.run([sys.executable, str(HERE / "foreign" / "generate.py"), str(folder)], check=True)
    root = build_stub(folder / "root")
    package = folder / "package" / "op_api"
    link = [f"-I{HERE / 'stub'}", f"-L{root / 'lib64'}", f"-Wl,-rpath,{root / 'lib64'}"]
    link += ["-lnnopbase", "-lascendcl", "-w"]
    compile_library(root / "lib64" / "libopapi_math.so", [folder / "include" / "operators.cpp"], *link)
    compile_library(package / "lib" / "libcust_opapi.so", [folder / "custom" / "operators.cpp"], *link)
    for header in (folder / "include").glob("*.h"):
        shutil.copy(header, root / "include" / "aclnnop")
    shutil.copytree(folder / "custom", package / "include", ignore=shutil.ignore_patterns("*.cpp"))
    return folder


def test_two_hundred_operators(run_python: Callable[..., Any], foreign: Path, tmp_path: Path) -> None:
    environment = {
        "ASCEND_HOME_PATH": foreign / "root",
        "ASCEND_CUSTOM_OPP_PATH": foreign / "package",
        "FOREIGN": foreign,
        "XDG_CACHE_HOME": tmp_path / "cache",
    }
    check = str(HERE / "foreign" / "check_foreign.py")
    first = run_python(RUN, check, **environment)
    assert "204 passed" in first.stdout
    assert len(list((tmp_path / "cache" / "aclnn_py").glob("*.json"))) == 2


CACHE = """
    import sys, time
    import aclnn_py as aclnn
    from aclnn_py import catalogue, libraries, prototype
    read = []
    original = catalogue.read_header
    catalogue.read_header = lambda text, where: read.append(where) or original(text, where)
    names = aclnn.operators()
    assert len(names) >= 205, len(names)
    assert aclnn.op("aclnnJoin").prototype.parameters[0].kind == "tensor_list"
    assert "aclOpExecutor*" in aclnn.op("aclnnJoin").prototype.phase2
    print(len(read))
"""


def test_the_cache_is_used_and_may_be_spoilt(
    run_python: Callable[..., Any], foreign: Path, tmp_path: Path
) -> None:
    environment = {
        "ASCEND_HOME_PATH": foreign / "root",
        "ASCEND_CUSTOM_OPP_PATH": foreign / "package",
        "XDG_CACHE_HOME": tmp_path,
    }

    def headers_read() -> int:
        return int(run_python(CACHE, **environment).stdout)

    everything = headers_read()
    assert everything > 80 and headers_read() == 0
    header = foreign / "root" / "include" / "aclnnop" / "aclnn_foreign_3.h"
    header.write_text(header.read_text() + "\n")
    assert headers_read() == 1 and headers_read() == 0
    files = list((tmp_path / "aclnn_py").glob("*.json"))
    for spoil in (
        b"",
        b"\xff\xfe",
        b"[]",
        files[0].read_bytes()[:-20],
        files[0].read_bytes().replace(b"int64_t", b"int32_t"),
    ):
        for file in files:
            file.write_bytes(spoil)
        assert headers_read() == everything and headers_read() == 0
    shutil.rmtree(tmp_path / "aclnn_py")
    (tmp_path / "aclnn_py").write_text("in the way of the folder")
    assert headers_read() == everything == headers_read()
