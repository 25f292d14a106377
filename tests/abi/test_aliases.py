"""The second names of the libraries: the same functions, one state, nothing of another file of that name."""

import os
import subprocess
import sys

import pytest

ALIASES = {"libacl_rt.so": "libascendcl.so"}
ALIASES |= {f"libopapi_{part}.so": "libopapi.so" for part in ("math", "nn", "cv", "transformer")}

CALLER = """
import ctypes, sys
root, alias, library = sys.argv[1:]
{before}
first = ctypes.CDLL(f"{{root}}/lib64/{{alias}}")
{after}
"""


def run(root, alias, *, before="", after="", **settings):
    code = CALLER.format(before=before, after=after)
    command = [sys.executable, "-c", code, str(root), alias, ALIASES[alias]]
    done = subprocess.run(
        command, env=os.environ | settings, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def exported(path):
    done = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True)
    return {line.split()[-1] for line in done.stdout.splitlines() if line.split()[-2] in "TW"}


@pytest.mark.parametrize("alias", ALIASES)
def test_same_names(root, alias):
    of_library = {
        name for name in exported(root / "lib64" / ALIASES[alias]) if name.lower().startswith("acl")
    }
    assert len(of_library) > 3
    assert exported(root / "lib64" / alias) == of_library


def test_one_state(root):
    after = """
second = ctypes.CDLL(f"{root}/lib64/{library}")
print(first.aclInit(None), second.aclInit(None), first.aclInit(None))
"""
    assert run(root, "libacl_rt.so", after=after) == ["0", "100002", "100002"]


def test_exceptions_stay_inside(root):
    """A setting that is not valid is an exception within the library, and a code outside."""
    after = "first.aclInit(None); print(first.aclrtSetDevice(0))"
    assert run(root, "libacl_rt.so", after=after, ACLEMU_SOC="no such chip") == ["507033"]


def test_a_library_of_that_name_elsewhere_does_not_matter(root, tmp_path):
    (tmp_path / "libascendcl.so").write_bytes(b"not a library")
    after = "print(first.aclInit(None))"
    assert run(root, "libacl_rt.so", after=after, LD_LIBRARY_PATH=str(tmp_path)) == ["0"]
