"""The two sample programs of BSASelectBlockMask print the same, and the published program runs unchanged."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SAMPLES = Path(__file__).parents[2] / "samples"


def run(command):
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=300, check=False
    )


def run_python(*options):
    return run([sys.executable, SAMPLES / "bsa_select_block_mask.py", *options])


def compiled(source, emulator_root, folder):
    compiler = os.environ.get("CXX") or shutil.which("g++")
    if not compiler:
        pytest.skip("no g++ on PATH to compile C++ with")
    lib, program = emulator_root / "lib64", folder / "program"
    flags = [
        "-std=c++17",
        "-Wall",
        "-Werror",
        f"-I{emulator_root / 'include'}",
        f"-L{lib}",
        f"-Wl,-rpath,{lib}",
    ]
    built = run([compiler, source, *flags, "-lascendcl", "-lnnopbase", "-lopapi", "-o", program])
    assert built.returncode == 0, built.stderr
    return program


@pytest.fixture(scope="module")
def program(emulator_root, tmp_path_factory):
    return compiled(
        SAMPLES / "c" / "bsa_select_block_mask.cpp", emulator_root, tmp_path_factory.mktemp("sample")
    )


@pytest.mark.parametrize(
    "options", [(), ("--tokens", 5000, "--sparsity", 0.6, "--print", 20), ("--tokens", 129)]
)
def test_same_lines(program, options):
    ours, theirs = run_python("--digest", *options), run([program, *options])
    assert ours.returncode == theirs.returncode == 0, ours.stderr + theirs.stderr
    assert ours.stdout == theirs.stdout
    assert theirs.stdout.count("\nhead ") == 4


@pytest.mark.slow
def test_same_lines_for_256k_tokens(program):
    options = ("--tokens", 256 * 1024, "--sparsity", 0.5)
    ours, theirs = run_python("--digest", *options), run([program, *options])
    assert ours.returncode == theirs.returncode == 0, ours.stderr + theirs.stderr
    assert ours.stdout == theirs.stdout
    assert ours.stdout.count(" ones 2097152 sum ") == 4


def test_summary():
    ran = run_python("--tokens", 3000)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "\nhead 3 ones 144 sum of indices " in ran.stdout  # a quarter of 24 x 24
    assert "4 heads, 0 with a wrong number of ones" in ran.stdout


def test_picture(tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "mask.png"
    ran = run_python("--tokens", 3000, "--picture", path)
    assert ran.returncode == 0, ran.stderr
    assert path.read_bytes().startswith(b"\x89PNG")


def test_refusals_are_explained(program):
    for ran in (run_python("--tokens", 100), run([program, "--tokens", 100])):
        assert ran.returncode == 1
        assert "561002" in ran.stderr and "Xblocks * Yblocks" in ran.stderr
    for options in (["--tokens", "0"], ["--print", "-1"], ["extra"]):
        assert run([program, *options]).returncode == 2
        assert run_python(*options).returncode == 2


def test_the_published_program_compiles_unchanged(emulator_root, tmp_path):
    compiled(
        Path(__file__).parent / "programs" / "published_bsa_select_block_mask.cpp", emulator_root, tmp_path
    )


@pytest.mark.slow
def test_the_published_program_runs_unchanged(emulator_root, tmp_path):
    source = Path(__file__).parent / "programs" / "published_bsa_select_block_mask.cpp"
    ran = run([compiled(source, emulator_root, tmp_path)])
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "  mask index 19: 1\n" in ran.stdout
    assert ran.stdout.endswith("BSASelectBlockMask Test completed successfully!\n")
