"""The two sample programs: both run, and from the same input they print the same numbers."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

SAMPLES = Path(__file__).parents[2] / "samples"
OUTPUTS = ["hin", "hPost", "hRes", "hPre", "hcBeforeNorm", "invRms", "sumOut", "normOut"]
INPUT_SIZE = 2 * 128 * 4 * 4096 * 2 + (24 * 4 * 4096 + 3 + 24) * 4


def run(command):
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=120, check=False
    )


def run_python(*options):
    return run([sys.executable, SAMPLES / "mhc_pre_sinkhorn.py", *options])


@pytest.fixture(scope="module")
def program(emulator_root, tmp_path_factory):
    compiler = os.environ.get("CXX") or shutil.which("g++")
    if not compiler:
        pytest.skip("no g++ on PATH to compile the C++ sample with")
    output = tmp_path_factory.mktemp("sample") / "mhc_pre_sinkhorn"
    lib = emulator_root / "lib64"
    source, include = SAMPLES / "c" / "mhc_pre_sinkhorn.cpp", emulator_root / "include"
    libraries = ["-lascendcl", "-lnnopbase", "-lopapi"]
    built = run(
        [
            compiler,
            "-std=c++17",
            f"-I{include}",
            source,
            f"-L{lib}",
            *libraries,
            f"-Wl,-rpath,{lib}",
            "-o",
            output,
        ]
    )
    assert built.returncode == 0, built.stderr
    return output


@pytest.fixture(scope="module")
def input_file(tmp_path_factory):
    """Random inputs that neither program would make itself."""
    path = tmp_path_factory.mktemp("input") / "input.bin"
    rng = np.random.default_rng(20)
    x = (rng.standard_normal(2 * 128 * 4 * 4096, np.float32).view(np.uint32) >> 16).astype(np.uint16)
    rest = [rng.uniform(-1 / 128, 1 / 128, 24 * 4 * 4096), rng.standard_normal(3), rng.standard_normal(24)]
    path.write_bytes(x.tobytes() + b"".join(part.astype(np.float32).tobytes() for part in rest))
    assert path.stat().st_size == INPUT_SIZE
    return path


def test_summary():
    ran = run_python()
    assert ran.returncode == 0, ran.stdout + ran.stderr
    for name in OUTPUTS:
        assert f"\n{name} " in ran.stdout
    assert "hRes row sums 0.99" in ran.stdout or "hRes row sums 1.00" in ran.stdout
    assert "hRes column sums 0.99999" in ran.stdout
    assert "outside the tolerance" not in ran.stdout


def test_same_numbers_from_a_file(program, input_file):
    ours, theirs = run_python("--digest", "--input", input_file), run([program, "--input", input_file])
    assert ours.returncode == theirs.returncode == 0, ours.stderr + theirs.stderr
    assert ours.stdout == theirs.stdout
    assert [line.split(" ")[0] for line in theirs.stdout.splitlines()] == OUTPUTS


def test_same_numbers_from_own_input(program, tmp_path):
    kept = tmp_path / "input.bin"
    ours, theirs = run_python("--digest", "--print", 7, "--save-input", kept), run([program, "--print", 7])
    assert ours.returncode == theirs.returncode == 0, ours.stderr + theirs.stderr
    assert ours.stdout == theirs.stdout
    assert kept.stat().st_size == INPUT_SIZE
    assert run([program, "--input", kept, "--print", "7"]).stdout == ours.stdout


def test_wrong_file_and_options_are_explained(program, tmp_path):
    short, long = tmp_path / "short.bin", tmp_path / "long.bin"
    short.write_bytes(bytes(100))
    long.write_bytes(bytes(INPUT_SIZE + 1))
    for path in (short, long):
        for ran in (run_python("--digest", "--input", path), run([program, "--input", path])):
            assert ran.returncode == 1
            assert f"must hold exactly {INPUT_SIZE} bytes" in ran.stderr
            assert ran.stdout == ""
    missing = run([program, "--input", tmp_path / "none.bin"])
    assert missing.returncode == 1 and "cannot open" in missing.stderr
    for options in (["--print", "x"], ["--print", "-1"], ["--input"], ["extra"]):
        assert run([program, *options]).returncode == 2
        assert run_python(*options).returncode == 2


def test_the_readmes_lines_for_cpp(emulator_root, tmp_path):
    """As written there, from the root of the source tree, with the output somewhere else."""
    if shutil.which("g++") is None:
        pytest.skip("the README's line calls g++")
    root = SAMPLES.parent
    text = (root / "README.md").read_text()
    block = next(part for part in text.split("\n\n") if part.lstrip().startswith("root=$("))
    script = block.replace(".venv/bin/python", sys.executable)
    assert script.count("mhc_pre_sinkhorn ") >= 1 and script.rstrip().endswith("./mhc_pre_sinkhorn")
    script = script.replace("-o mhc_pre_sinkhorn && ./", f"-o {tmp_path}/mhc_pre_sinkhorn && {tmp_path}/")
    done = subprocess.run(
        ["bash", "-ec", script], cwd=root, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert all(f"\n{name} " in f"\n{done.stdout}" for name in OUTPUTS)


def test_the_readmes_python_runs_as_printed(emulator_root):
    """All blocks one after the other, as a reader would type them into one session."""
    blocks = re.findall(r"^```python\n(.*?)^```$", (SAMPLES.parent / "README.md").read_text(), re.M | re.S)
    assert len(blocks) >= 2 and "mhc_pre_sinkhorn(" in blocks[0]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(blocks)],
        cwd=emulator_root,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "Ascend910" in done.stdout


@pytest.mark.parametrize(
    "libraries",
    ["-lascendcl -lnnopbase -lopapi", "-lopapi_math -lopapi_transformer -lacl_rt -lnnopbase"],
    ids=["older toolkits", "newer toolkits"],
)
def test_the_published_program_runs_unchanged(emulator_root, tmp_path, libraries):
    compiler = os.environ.get("CXX") or shutil.which("g++")
    if not compiler:
        pytest.skip("no g++ on PATH")
    source = Path(__file__).parent / "programs" / "published_mhc_pre_sinkhorn.cpp"
    lib, program = emulator_root / "lib64", tmp_path / "program"
    flags = [
        "-std=c++17",
        "-Wall",
        "-Werror",
        f"-I{emulator_root / 'include'}",
        f"-L{lib}",
        f"-Wl,-rpath,{lib}",
    ]
    built = run([compiler, source, *flags, *libraries.split(), "-o", program])
    assert built.returncode == 0, built.stderr
    ran = run([program])
    assert (ran.returncode, ran.stdout) == (0, "hRes[0] 0.2500\nMhcPreSinkhorn compute success!\n")
