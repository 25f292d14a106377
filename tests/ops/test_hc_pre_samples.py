"""The samples of HcPre: both run, and print the same numbers."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

SAMPLES = Path(__file__).parents[2] / "samples"


def run(command):
    # Elsewhere than in the sources: `-m aclnn_py` would take those for the installed package.
    return subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=tempfile.gettempdir(),
    )


def test_three_rounds():
    ran = run([sys.executable, SAMPLES / "hc_pre_v2.py"])
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "round 0, pre_mix left out: y: 0 of" in ran.stdout
    assert ran.stdout.count("pre_mix given") == 8


@pytest.mark.parametrize("by_hand", [False, True], ids=["aclnn-py cc", "flags by hand"])
def test_same_numbers_from_c(emulator_root, tmp_path, by_hand):
    if shutil.which("g++") is None:
        pytest.skip("no g++ on PATH")
    program = tmp_path / "hc_pre"
    source = SAMPLES / "c" / "hc_pre.cpp"
    if by_hand:
        vendor, lib = emulator_root / "opp" / "vendors" / "aclnn_py" / "op_api", emulator_root / "lib64"
        flags = [
            f"-I{emulator_root / 'include'}",
            f"-I{vendor / 'include'}",
            f"-L{lib}",
            f"-L{vendor / 'lib'}",
        ]
        libraries = ["-lcust_opapi", "-lnnopbase", "-lascendcl", f"-Wl,-rpath,{lib}:{vendor / 'lib'}"]
        built = run(["g++", "-std=c++17", "-Wall", "-Werror", *flags, source, *libraries, "-o", program])
    else:
        built = run([sys.executable, "-m", "aclnn_py", "cc", source, "-lcust_opapi", "-o", program])
    assert built.returncode == 0, built.stderr
    ours, theirs = run([sys.executable, SAMPLES / "hc_pre_v2.py", "--digest"]), run([program])
    assert ours.returncode == theirs.returncode == 0, ours.stderr + theirs.stderr
    assert ours.stdout == theirs.stdout
    assert [line.split(" ")[0] for line in theirs.stdout.splitlines()] == ["y", "post", "comb_frag"]
