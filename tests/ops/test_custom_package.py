"""The custom package: laid out as CANN installs one, with a header and a library that fit together."""

import ctypes
import os
import re
import shutil
import subprocess
import sys

import pytest

import aclnn_py as aclnn
from aclnn_py.prototype import read_header

OPERATORS = ["aclnnHcPost", "aclnnHcPre", "aclnnHcPreInvRms", "aclnnHcPreSinkhorn", "aclnnHcPreV2"]


@pytest.fixture
def package(emulator_root):
    return emulator_root / "opp" / "vendors" / "aclnn_py"


def exported(library):
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", "--format=posix", library], capture_output=True, text=True, check=True
    )
    return {line.split()[0] for line in listed.stdout.splitlines()}


def test_layout(emulator_root, package):
    assert (emulator_root / "opp" / "vendors" / "config.ini").read_text() == "load_priority=aclnn_py\n"
    headers = sorted(path.name for path in (package / "op_api" / "include").iterdir())
    assert headers == [f"{re.sub(r'(?<=[a-z0-9])(?=[A-Z])', '_', op).lower()}.h" for op in OPERATORS]
    assert [path.name for path in (package / "op_api" / "lib").iterdir()] == ["libcust_opapi.so"]


def test_each_header_declares_what_the_library_has(package):
    library = package / "op_api" / "lib" / "libcust_opapi.so"
    declared = {}
    for header in (package / "op_api" / "include").iterdir():
        declared |= read_header(header.read_text(), str(header)).operators
    assert sorted(declared) == OPERATORS
    both = {name for op in OPERATORS for name in (op, op + "GetWorkspaceSize")}
    if shutil.which("nm"):
        # Nothing of ours but the operators; what is left is the C++ library's.
        assert {name for name in exported(library) if not name.startswith("_Z")} == both
    loaded = ctypes.CDLL(str(library))
    assert all(hasattr(loaded, name) for name in both)


def test_headers_are_c(package, emulator_root, tmp_path):
    if shutil.which("gcc") is None:
        pytest.skip("no gcc on PATH")
    for header in (package / "op_api" / "include").iterdir():
        unit = tmp_path / "unit.c"
        unit.write_text(f'#include "{header.name}"\nint main(void) {{ return 0; }}\n')
        flags = ["-std=c99", "-Wall", "-Werror", "-fsyntax-only"]
        folders = [f"-I{header.parent}", f"-I{emulator_root / 'include'}"]
        compiled = subprocess.run(
            ["gcc", *flags, *folders, str(unit)], capture_output=True, text=True, check=False
        )
        assert compiled.returncode == 0, compiled.stderr


def test_the_binding_finds_it(package):
    for op in OPERATORS:
        where = aclnn.which(op)
        assert os.path.samefile(where.library, package / "op_api" / "lib" / "libcust_opapi.so")
        assert os.path.samefile(where.header.parent, package / "op_api" / "include")
    assert set(OPERATORS) <= set(aclnn.operators("Hc*"))


def test_a_named_package_comes_first(package, tmp_path):
    """A copy on ASCEND_CUSTOM_OPP_PATH serves the operators instead of the root's own."""
    shutil.copytree(package, tmp_path / "copy")
    lib64 = (package / ".." / ".." / ".." / "lib64").resolve()
    script = "import aclnn_py as aclnn; print(aclnn.which('aclnnHcPost').library)"
    environment = os.environ | {
        "ASCEND_CUSTOM_OPP_PATH": str(tmp_path / "copy"),
        "LD_LIBRARY_PATH": str(lib64),  # the copy's run path leads nowhere
    }
    ran = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        env=environment,
        cwd=tmp_path,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == str(tmp_path / "copy" / "op_api" / "lib" / "libcust_opapi.so")
