"""MhcPreSinkhornBackward: results on every SoC, refusals, threads, the result's backward(), the samples."""

import copy
import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import aclnn_py as aclnn
from aclnn_py.reference import mhc_pre_sinkhorn_backward as reference
from aclnn_py.testing import backward_case, cases, check_mhc_pre_sinkhorn_backward

HERE = Path(__file__).parent
SAMPLES = HERE.parents[1] / "samples"
SCRIPT = HERE / "mhc_backward_checks.py"
CHECKS = re.findall(r"^def (check_\w+)", SCRIPT.read_text(), re.M)
# B1 and A3 run the kernels of B3.
SOCS = [
    pytest.param("Ascend910B1", marks=pytest.mark.slow),
    "Ascend910B3",
    pytest.param("Ascend910_9391", marks=pytest.mark.slow),
    "Ascend950PR_9579",
]


def output_of(*command, **environment):
    done = subprocess.run(
        [str(part) for part in command],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tempfile.gettempdir(),  # not in the sources, which `-c` would take for the installed package
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("soc", SOCS)
def test_on(on_soc, soc, check):
    on_soc(soc, SCRIPT, check)


@pytest.mark.parametrize(
    ("soc", "rows"), [("Ascend910B3", 87), ("Ascend910_9391", 87), ("Ascend950PR_9579", 86)]
)
def test_every_status_row_in_order(emulator_root, soc, rows):
    (line,) = output_of(sys.executable, HERE / "mhc_backward_status_rows.py", emulator_root, ACLEMU_SOC=soc)
    counted = re.fullmatch(r"aclnnMhcPreSinkhornBackward: (\d+) rows, (\d+) pairs", line)
    assert counted and int(counted[1]) == rows and int(counted[2]) > 3500


def test_threads_and_repeats_do_not_change_a_bit(emulator_root):
    script = HERE / "mhc_backward_case.py"
    one = output_of(sys.executable, script, ACLEMU_THREADS="1")
    assert len(one) == 4 * 2 * 2 * 4 and len(set(one)) == len(one) // 2
    assert output_of(sys.executable, script, ACLEMU_THREADS="2") == one
    assert output_of(sys.executable, script, ACLEMU_THREADS="5", ACLEMU_CHECK="memory,sync") == one


@pytest.mark.slow
@pytest.mark.parametrize("key", ["0", "1"])
def test_70_000_tokens(emulator_root, monkeypatch, key):
    """More than the cube's copies can step over in one piece."""
    monkeypatch.setenv("ACLEMU_TILING_KEY", key)
    case = backward_case(cases.random_case((1, 70_000), 128, np.float16, seed=3))
    assert_right(aclnn.ops.mhc_pre_sinkhorn_backward(*case), reference(*case, dtype=np.float64))


@pytest.mark.parametrize("cores", ["1:1", "4:7"])
def test_other_core_counts(emulator_root, cores):
    """Any split over cores is right."""
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import mhc_backward_checks as c\n"
        "for f in (c.check_chain, c.check_a_thousand_tokens, c.check_layouts): f()\n"
        "for key in (0, 1):\n"
        "    with c.tiling_key(key): c.try_case(c.backward_case(c.cases.random_case((1, 150), 128)))\n"
        "print('ok')"
    )
    assert output_of(sys.executable, "-c", script, HERE, ACLEMU_AICORES=cores) == ["ok"]


@pytest.fixture
def case():
    return backward_case(cases.random_case((2, 3), 128, np.float16, seed=1))


def assert_right(gradients, expected):
    expected = [e if e.itemsize == 2 else e.astype(np.float32) for e in expected]
    report = check_mhc_pre_sinkhorn_backward([tensor.numpy() for tensor in gradients], expected)
    assert all(found.passed for found in report), "\n".join(map(str, report))


def test_the_result_is_still_the_named_tuple_it_was(emulator_root, case):
    result = aclnn.ops.mhc_pre_sinkhorn(*case[3:7], need_backward=True)
    hin, h_post, _, *saved = result
    assert len(result) == 8 and len(saved) == 5 and isinstance(result, tuple)
    assert result[0] is hin is result.hin and result._fields[-1] == "norm_out"
    assert list(result._asdict()) == list(result._fields)
    assert result._replace(hin=h_post).hin is h_post
    assert repr(result).startswith("MhcPreSinkhorn(hin=")
    assert aclnn.ops.MhcPreSinkhorn(1, 2, 3) == (1, 2, 3, None, None, None, None, None)
    assert pickle.loads(pickle.dumps(aclnn.ops.MhcPreSinkhorn(1, 2, 3))) == aclnn.ops.MhcPreSinkhorn(1, 2, 3)
    match result:
        case (first, *_):
            assert first is hin


def test_backward_of_the_result(emulator_root, case):
    result = aclnn.ops.mhc_pre_sinkhorn(*case[3:7], need_backward=True)
    expected = reference(*case)
    assert_right(result.backward(*case[:3]), expected)
    assert_right(result.backward(*map(aclnn.tensor, case[:3])), expected)  # a second time, from tensors
    square = case.grad_h_res.reshape(2, 3, 4, 4)
    assert_right(copy.copy(result).backward(case.grad_hin, case.grad_h_post, square), expected)
    with aclnn.Stream() as stream:
        made = aclnn.ops.mhc_pre_sinkhorn(*case[3:7], need_backward=True, stream=stream)
        assert_right(made.backward(*case[:3]), expected)


def test_backward_remembers_eps_and_keeps_the_inputs_alive(emulator_root):
    made = cases.random_case((1, 3), 128, ml_dtypes.bfloat16, seed=2)
    case = backward_case(made, hc_eps=0.25)
    inputs = [aclnn.tensor(array) for array in made]
    result = aclnn.ops.mhc_pre_sinkhorn(*inputs, hc_eps=0.25, need_backward=True)
    del inputs
    assert_right(result.backward(*case[:3]), reference(*case, hc_eps=0.25))
    array = made.x.copy()
    result = aclnn.ops.mhc_pre_sinkhorn(array, *made[1:], hc_eps=0.25, need_backward=True)
    array[...] = 0  # an array was copied to the device
    assert_right(result.backward(*case[:3]), reference(*case, hc_eps=0.25))


def test_backward_without_what_it_needs(emulator_root, case):
    result = aclnn.ops.mhc_pre_sinkhorn(*case[3:7])
    with pytest.raises(RuntimeError, match=r"call mhc_pre_sinkhorn\(\.\.\., need_backward=True\)"):
        result.backward(*case[:3])
    saved = aclnn.ops.mhc_pre_sinkhorn(*case[3:7], need_backward=True)
    with pytest.raises(RuntimeError, match="of the very result"):
        saved._replace(h_pre=saved.h_post).backward(*case[:3])


@pytest.mark.parametrize(
    "field, value, error, text",
    [
        ("grad_hin", np.zeros((2, 3, 128)), TypeError, "grad_hin is float64, it must be float16 or bfloat16"),
        ("grad_hin", None, TypeError, "grad_hin must be an aclnn.Tensor or a NumPy array"),
        ("grad_h_post", np.zeros((2, 3, 4)), TypeError, "grad_h_post is float64, it must be float32"),
        ("grad_h_res", [1.0], TypeError, "grad_h_res must be"),
        ("x", np.zeros((4, 128), np.float16), ValueError, r"x has shape \(4, 128\), it must be"),
        ("norm_out", None, TypeError, "norm_out must be"),
        (
            "grad_hin",
            np.zeros((2, 0, 128), np.float16),
            ValueError,
            r"grad_hin has shape \(2, 0, 128\), no elem",
        ),
        (
            "h_pre",
            np.zeros(0, np.float32),
            ValueError,
            r"h_pre has shape \(0,\), no elements, but x has some",
        ),
        ("phi", np.zeros((24, 0), np.float32), aclnn.AclnnParameterError, "phi"),
        (
            "grad_hin",
            np.zeros((2, 3, 128), ml_dtypes.bfloat16),
            aclnn.AclnnParameterError,
            r"x has dtype DT_FLOAT16, expected the dtype of gradHin",
        ),
        ("grad_h_res", np.zeros((2, 3, 4, 3), np.float32), aclnn.AclnnParameterError, "gradHRes"),
        ("sum_out", np.zeros((39, 2, 3, 4), np.float32), aclnn.AclnnParameterError, "sumOut"),
        ("phi", np.zeros((24, 500), np.float32), aclnn.AclnnParameterError, "phi"),
        ("phi", np.zeros(3, np.float32), aclnn.AclnnParameterError, "phi"),
    ],
)
def test_wrong_input_is_explained(emulator_root, case, field, value, error, text):
    with pytest.raises(error, match=f"(?s)(mhc_pre_sinkhorn_backward|aclnnMhcPreSinkhornBackward).*{text}"):
        aclnn.ops.mhc_pre_sinkhorn_backward(*case._replace(**{field: value}))


def test_attributes_are_keyword_only(emulator_root, case):
    with pytest.raises(TypeError, match="positional"):
        aclnn.ops.mhc_pre_sinkhorn_backward(*case, 1e-6)
    assert aclnn.ops.MhcPreSinkhornGradients._fields == ("grad_x", "grad_phi", "grad_alpha", "grad_bias")


def test_a_plan_is_run_again_with_other_tensors(emulator_root, case):
    tensors = [aclnn.tensor(array) for array in case]
    expected = reference(*case)
    outputs = [aclnn.empty(e.shape, e.dtype) for e in expected]
    plan = aclnn.op("aclnnMhcPreSinkhornBackward").plan(*tensors, 1e-6, *outputs)
    plan()
    assert_right(outputs, expected)
    other = backward_case(cases.random_case((2, 3), 128, np.float16, seed=5), seed=6)
    plan.rebind(gradHin=aclnn.tensor(other.grad_hin))
    plan()
    assert_right(outputs, reference(*case._replace(grad_hin=other.grad_hin)))


def test_sample_in_both_languages(emulator_root, tmp_path):
    compiler = os.environ.get("CXX") or shutil.which("g++")
    if not compiler:
        pytest.skip("no g++ on PATH to compile the C++ sample with")
    name, program = "mhc_pre_sinkhorn_backward", tmp_path / "program"
    lib = emulator_root / "lib64"
    flags = [
        "-std=c++17",
        "-Wall",
        "-Werror",
        f"-I{emulator_root / 'include'}",
        f"-L{lib}",
        f"-Wl,-rpath,{lib}",
    ]
    source = SAMPLES / "c" / f"{name}.cpp"
    output_of(compiler, source, *flags, "-lascendcl", "-lnnopbase", "-lopapi", "-o", program)
    lines = output_of(program)
    assert [line.split()[0] for line in lines] == ["gradX", "gradPhi", "gradAlpha", "gradBias"]
    assert output_of(sys.executable, SAMPLES / f"{name}.py", "--digest") == lines
    summary = output_of(sys.executable, SAMPLES / f"{name}.py")
    assert sum(line.startswith("grad_") and "bad" not in line for line in summary) == 4
