"""MhcPost and MhcPostBackward: results on every SoC, thread independence, and what Python refuses."""

import os
import re
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import aclnn_py as aclnn
from aclnn_py.reference import mhc_post as reference
from aclnn_py.testing import cases, compare

HERE = Path(__file__).parent
SCRIPT = HERE / "mhc_post_checks.py"
CHECKS = re.findall(r"^def (check_\w+)", SCRIPT.read_text(), re.M)
# The others differ from one of these in the number of cores at most.
OTHERS = ["Ascend910B1", "Ascend910B4", "Ascend950PR_958b"]
# A3 runs the kernels of A2.
SOCS = ["Ascend910B3", pytest.param("Ascend910_9391", marks=pytest.mark.slow), "Ascend950PR_9579"]
SOCS += [pytest.param(soc, marks=pytest.mark.slow) for soc in OTHERS]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("soc", SOCS)
def test_on(on_soc, soc, check):
    on_soc(soc, SCRIPT, check)


def digests(**environment):
    done = subprocess.run(
        [sys.executable, HERE / "mhc_case.py"],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize(("soc", "results"), [("Ascend910B3", 20), ("Ascend950PR_9579", 32)])
def test_threads_do_not_change_a_bit(emulator_root, soc, results):
    one = digests(ACLEMU_SOC=soc, ACLEMU_THREADS="1")
    assert len(one) == results
    assert digests(ACLEMU_SOC=soc, ACLEMU_THREADS="3", ACLEMU_CHECK="memory,sync") == one
    assert digests(ACLEMU_SOC=soc, ACLEMU_THREADS="8") == one


def case(**changes):
    arrays = {
        "x": np.ones((2, 3, 4, 128), np.float16),
        "h_res": np.ones((2, 3, 4, 4), np.float32),
        "h_out": np.ones((2, 3, 128), np.float16),
        "h_post": np.ones((2, 3, 4), np.float32),
    }
    return list((arrays | changes).values())


@pytest.mark.parametrize(
    "changes, error, text",
    [
        (
            {"x": np.ones((2, 3, 4, 128), np.float32)},
            TypeError,
            "x is float32, it must be float16 or bfloat16",
        ),
        ({"x": [1, 2]}, TypeError, "x must be an aclnn.Tensor or a NumPy array"),
        ({"x": np.ones((4, 128), np.float16), "h_out": np.ones(128, np.float16)}, ValueError, "x has shape"),
        ({"h_res": np.ones((2, 3, 4, 4), np.float16)}, TypeError, "h_res is float16, it must be float32"),
        (
            {"h_out": np.ones((2, 3, 128), ml_dtypes.bfloat16)},
            TypeError,
            "h_out is bfloat16, it must be float16",
        ),
        ({"h_post": None}, TypeError, "h_post must be"),
        ({"h_post": np.ones((2, 3, 5), np.float32)}, aclnn.AclnnParameterError, "hPost"),
        ({"h_res": np.ones((2, 3, 15), np.float32)}, aclnn.AclnnParameterError, "hRes"),
    ],
)
def test_wrong_input_is_explained(emulator_root, changes, error, text):
    with pytest.raises(error, match=text):
        aclnn.ops.mhc_post(*case(**changes))
    gradient = np.ones((2, 3, 4, 128), np.float16)
    with pytest.raises(error, match=text):
        aclnn.ops.mhc_post_backward(gradient, *case(**changes))


def test_a_gradient_of_another_dtype(emulator_root):
    with pytest.raises(TypeError, match="grad_output is bfloat16, it must be float16"):
        aclnn.ops.mhc_post_backward(np.ones((2, 3, 4, 128), ml_dtypes.bfloat16), *case())


def test_what_the_pre_operator_gives_goes_into_the_post_operator(emulator_root):
    pre = cases.random_case((2, 3), 128, np.float16)
    made = aclnn.ops.mhc_pre_sinkhorn(*pre)
    out = aclnn.ops.mhc_post(pre.x, made.h_res, made.hin, made.h_post)
    res, hin, post = (made.h_res.numpy().reshape(2, 3, 4, 4), made.hin.numpy(), made.h_post.numpy())
    found = compare(out.numpy(), reference(pre.x, res, hin, post), 1e-3, 1e-3, 1)
    assert found.passed, str(found)
    gradients = [aclnn.ops.mhc_post_backward(pre.x, pre.x, h, hin, post) for h in (made.h_res, res)]
    for a, b in zip(*gradients, strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())
