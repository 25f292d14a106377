"""The samples of MhcPost, its backward and MhcSinkhorn agree in both languages; the sample layer learns."""

import importlib.util
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

SAMPLES = Path(__file__).parents[2] / "samples"
OUTPUTS = {
    "mhc_post": ["out"],
    "mhc_post_backward": ["gradX", "gradHres", "gradHout", "gradHpost"],
    "mhc_sinkhorn": ["output", "normOut", "sumOut"],
}


def run(*command):
    # Elsewhere than in the sources: `-c` would take those for the installed package.
    return subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=tempfile.gettempdir(),
    )


@pytest.mark.parametrize("name", OUTPUTS)
def test_both_languages_print_the_same(emulator_root, tmp_path, name):
    compiler = os.environ.get("CXX") or shutil.which("g++")
    if not compiler:
        pytest.skip("no g++ on PATH")
    lib, program = emulator_root / "lib64", tmp_path / name
    libraries = ["-lascendcl", "-lnnopbase", "-lopapi", f"-Wl,-rpath,{lib}"]
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{emulator_root / 'include'}"]
    built = run(compiler, *flags, SAMPLES / "c" / f"{name}.cpp", f"-L{lib}", *libraries, "-o", program)
    assert built.returncode == 0, built.stderr
    ours, theirs = run(sys.executable, SAMPLES / f"{name}.py", "--digest"), run(program)
    assert ours.returncode == theirs.returncode == 0, ours.stderr + theirs.stderr
    assert ours.stdout == theirs.stdout
    assert [line.split(" ")[0] for line in theirs.stdout.splitlines()] == OUTPUTS[name]


@pytest.mark.parametrize("name", OUTPUTS)
def test_python_sample_judges_itself(emulator_root, name):
    done = run(sys.executable, SAMPLES / f"{name}.py")
    assert done.returncode == 0, done.stdout + done.stderr
    for output in OUTPUTS[name]:
        assert f"\n{output}: max abs " in done.stdout
    assert " bad" not in done.stdout


def losses(stdout):
    return [float(line.split()[-1]) for line in stdout.splitlines() if line.startswith("step ")]


def test_the_layer_learns(emulator_root, tmp_path):
    picture = tmp_path / "convergence.png"
    plot = ["--plot", picture] if importlib.util.find_spec("matplotlib") else []
    done = run(sys.executable, SAMPLES / "mhc_layer.py", "--steps", 5, *plot)
    assert done.returncode == 0, done.stdout + done.stderr
    found = losses(done.stdout)
    assert len(found) == 5
    assert all(later < earlier for earlier, later in itertools.pairwise(found))
    assert found[-1] < found[0] / 2
    if plot:
        data = picture.read_bytes()
        assert data.startswith(b"\x89PNG") and len(data) > 10_000


@pytest.mark.slow
def test_the_layer_learns_for_20_steps(emulator_root):
    done = run(sys.executable, SAMPLES / "mhc_layer.py")
    assert done.returncode == 0, done.stdout + done.stderr
    found = losses(done.stdout)
    assert len(found) == 20 and found[-1] < found[0] / 5


def test_without_matplotlib_the_plot_says_what_is_missing(emulator_root, tmp_path):
    (tmp_path / "matplotlib.py").write_text("raise ImportError('not here')\n")
    first = [str(tmp_path), str(SAMPLES)]
    program = f"import sys; sys.path[:0] = {first}; import mhc_layer; mhc_layer.main()"
    done = run(sys.executable, "-c", program, "--steps", 2, "--plot", tmp_path / "x.png")
    assert done.returncode == 1
    assert "pip install 'aclnn-py[plot]'" in done.stderr
    assert len(losses(done.stdout)) == 2


def test_too_few_steps():
    done = run(sys.executable, SAMPLES / "mhc_layer.py", "--steps", 1)
    assert done.returncode == 2 and "at least 2" in done.stderr


def test_the_layers_gradients_are_slopes(emulator_root):
    """The gradients of the whole layer against differences of a loss, each along its signs."""
    program = """
import sys
sys.path.insert(0, sys.argv[1])
import ml_dtypes
import numpy as np
import mhc_layer
rng = np.random.default_rng(3)
layer = mhc_layer.MhcLayer(rng, 128, mhc_layer.TanhLayer(rng, 128))
x = rng.standard_normal((1, 40, 4, 128)).astype(np.float16)
weight = rng.standard_normal(x.shape).astype(np.float16)
def loss():
    return float((layer.forward(x).astype(np.float64) * weight).sum())
loss()
_, gradients = layer.backward(weight)
for name, step in (("phi", 2e-2), ("alpha", 0.5), ("bias", 0.1), ("layer.weight", 1e-2)):
    value = layer.parameters[name]
    direction = np.sign(gradients[name]) * np.abs(value).mean()
    kept, slopes = value.copy(), []
    for sign in (1, -1):
        value[...] = kept + sign * step * direction
        slopes.append(loss())
    value[...] = kept
    slope, expected = (slopes[0] - slopes[1]) / (2 * step), float((gradients[name] * direction).sum())
    print(name, slope, expected)
    # The forward results are float16, so small steps drown in rounding.
    assert abs(slope - expected) < 0.03 * abs(expected), name
"""
    done = run(sys.executable, "-c", program, SAMPLES)
    assert done.returncode == 0, done.stdout + done.stderr
