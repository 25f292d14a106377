"""Both samples of MhcPreV2 print the same numbers; the published program runs, on Ascend 950 only."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

SAMPLES = Path(__file__).parents[2] / "samples"
PUBLISHED = Path(__file__).parent / "programs" / "published_mhc_pre_v2.cpp"
OUTPUTS = ["hIn", "hPost", "hRes", "invRms", "hMix", "hPre"]
INPUT_SIZE = 2048 * 4 * 2560 * 2 + (24 * 4 * 2560 + 3 + 24 + 4 * 2560) * 4
SOC = "Ascend950PR_9579"


def run(*command, soc=None):
    environment = {name: value for name, value in os.environ.items() if name != "ACLEMU_SOC"}
    environment |= {} if soc is None else {"ACLEMU_SOC": soc}
    return subprocess.run(
        [str(part) for part in command],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def run_python(*options):
    return run(sys.executable, SAMPLES / "mhc_pre_v2.py", *options)


def compile_program(root, source, output):
    compiler = os.environ.get("CXX") or shutil.which("g++")
    if not compiler:
        pytest.skip("no g++ on PATH")
    lib = root / "lib64"
    flags = ["-std=c++17", "-Wall", "-Werror", f"-I{root / 'include'}", f"-L{lib}", f"-Wl,-rpath,{lib}"]
    built = run(compiler, source, *flags, "-lascendcl", "-lnnopbase", "-lopapi", "-o", output)
    assert built.returncode == 0, built.stderr
    return output


@pytest.fixture(scope="module")
def program(emulator_root, tmp_path_factory):
    return compile_program(
        emulator_root, SAMPLES / "c" / "mhc_pre_v2.cpp", tmp_path_factory.mktemp("sample") / "mhc_pre_v2"
    )


def test_same_numbers_from_own_input_and_from_a_file(program, tmp_path):
    kept = tmp_path / "input.bin"
    ours, theirs = run_python("--digest", "--print", 7, "--save-input", kept), run(program, "--print", 7)
    assert ours.returncode == theirs.returncode == 0, ours.stderr + theirs.stderr
    assert ours.stdout == theirs.stdout
    assert [line.split(" ")[0] for line in theirs.stdout.splitlines()] == OUTPUTS
    assert kept.stat().st_size == INPUT_SIZE
    assert run(program, "--input", kept, "--print", 7).stdout == ours.stdout


def test_the_first_version(program):
    ours, theirs = run_python("--v1", "--digest"), run(program, "--v1")
    assert ours.returncode == theirs.returncode == 0, ours.stderr + theirs.stderr
    assert ours.stdout == theirs.stdout
    assert ours.stdout != run(program).stdout  # FP32 is not HF32


def test_all_ones(program):
    """What the published example means to compute."""
    ours, theirs = run_python("--digest", "--ones", "--print", 1), run(program, "--ones", "--print", 1)
    assert ours.returncode == theirs.returncode == 0, ours.stderr + theirs.stderr
    assert ours.stdout == theirs.stdout
    values = {line.split(" ")[0]: float(line.split("]")[1].split()[0]) for line in ours.stdout.splitlines()}
    assert values["hIn"] == 4 and values["hPost"] == 2 and values["hMix"] == 10240
    np.testing.assert_allclose(values["invRms"], 1 - 5e-7, rtol=1e-7)
    np.testing.assert_allclose(values["hRes"], 10240.995, rtol=1e-7)
    np.testing.assert_allclose(values["hPre"], 1 + 1e-6, rtol=1e-7)


def test_summary():
    ran = run_python()
    assert ran.returncode == 0, ran.stdout + ran.stderr
    for name in OUTPUTS:
        assert f"\n{name} " in ran.stdout
    assert SOC in ran.stdout and "outside the tolerance" not in ran.stdout


def test_wrong_file_and_options_are_explained(program, tmp_path):
    short = tmp_path / "short.bin"
    short.write_bytes(bytes(100))
    for ran in (run_python("--digest", "--input", short), run(program, "--input", short)):
        assert ran.returncode == 1
        assert f"must hold exactly {INPUT_SIZE} bytes" in ran.stderr
    for options in (["--print", "-1"], ["--input"], ["extra"]):
        assert run(program, *options).returncode == 2
        assert run_python(*options).returncode == 2


def test_the_published_program_runs_unchanged(emulator_root, tmp_path):
    """Its x is the integer 1 in each float16, 6e-8 and not 1, and so are its numbers not those of ones."""
    program = compile_program(emulator_root, PUBLISHED, tmp_path / "published")
    ran = run(program, soc=SOC)
    assert ran.returncode == 0, ran.stdout
    lines = ran.stdout.splitlines()
    assert lines[0] == "MhcPre compute success!" and lines[-1] == "All resources released successfully!"
    printed = [[float(value) for value in line.split(": ")[1].split()] for line in lines[2:-1]]
    assert [len(row) for row in printed] == [10] * 6

    one = float(np.array([1], np.uint16).view(np.float16)[0])  # 2**-24
    inverse = 1 / np.sqrt(one * one + 1e-6)
    mix = 4 * 2560 * one
    gate = 1 / (1 + np.exp(-(mix * inverse + 1)))
    wanted = [4 * gate * one, 2 * gate, mix * inverse + 1, inverse, mix, gate]
    for row, value in zip(printed, wanted, strict=True):
        np.testing.assert_allclose(row, value, rtol=1e-6, atol=2e-6)
    assert abs(one - 6e-8) < 1e-9

    refused = run(program, soc="Ascend910B3")
    assert refused.returncode != 0
    assert "aclnnMhcPreV2GetWorkspaceSize failed, error: 161002" in refused.stdout
