"""MhcPre and MhcPreV2: results on every SoC, independence of threads, and what Python refuses."""

import os
import re
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import aclnn_py as aclnn
from aclnn_py.testing.mhc_pre import mhc_pre_case

HERE = Path(__file__).parent
SCRIPT = HERE / "mhc_pre_checks.py"
CHECKS = re.findall(r"^def (check_\w+)", SCRIPT.read_text(), re.M)
# A3 runs the kernels of A2.
SOCS = ["Ascend910B3", pytest.param("Ascend910_9391", marks=pytest.mark.slow), "Ascend950PR_9579"]
OTHERS = ["Ascend910B1", "Ascend910B4", "Ascend950PR_958b"]  # that differ in the number of cores


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("soc", SOCS)
def test_on(on_soc, soc, check):
    on_soc(soc, SCRIPT, check)


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("soc", OTHERS)
def test_on_others(on_soc, soc, check):
    on_soc(soc, SCRIPT, check)


def digests(**environment):
    done = subprocess.run(
        [sys.executable, HERE / "mhc_pre_case.py"],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("cores", ["1:1", "1", "4:7", "20"])
@pytest.mark.parametrize("soc", ["Ascend910B3", "Ascend950PR_9579"])
def test_core_counts_and_thread_counts(emulator_root, soc, cores):
    """Any split over cores is right; how many threads play the cores does not change a bit."""
    one = digests(ACLEMU_SOC=soc, ACLEMU_AICORES=cores, ACLEMU_THREADS="1")
    assert len(one) == (6 if soc == "Ascend910B3" else 18)
    assert (
        digests(ACLEMU_SOC=soc, ACLEMU_AICORES=cores, ACLEMU_THREADS="3", ACLEMU_CHECK="memory,sync") == one
    )


def case(**changes):
    arrays = mhc_pre_case((2, 3), 128, np.float16)._asdict()
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
        ({"x": np.ones((4, 128), np.float16)}, ValueError, r"x has shape \(4, 128\)"),
        ({"phi": np.ones((24, 512), ml_dtypes.bfloat16)}, TypeError, "phi is bfloat16, it must be float32"),
        ({"alpha": None}, TypeError, "alpha must be"),
        ({"bias": np.ones(24)}, TypeError, "bias is float64, it must be float32"),
        ({"gamma": np.ones((4, 128), np.float16)}, TypeError, "gamma is float16, it must be float32"),
        ({"gamma": np.ones(512, np.float32)}, aclnn.AclnnParameterError, "gammaOptional"),
        ({"alpha": np.ones(4, np.float32)}, aclnn.AclnnParameterError, "alpha"),
        ({"alpha": np.float32(1)}, (TypeError, aclnn.AclnnParameterError), "alpha"),
        ({"phi": np.ones((8, 512), np.float32)}, aclnn.AclnnParameterError, "phi"),
    ],
)
def test_wrong_input_is_explained(emulator_root, changes, error, text):
    for function in (aclnn.ops.mhc_pre, aclnn.ops.mhc_pre_v2):
        with pytest.raises(error, match=text):
            function(*case(**changes))


def test_attributes_are_keyword_only(emulator_root):
    with pytest.raises(TypeError, match="positional"):
        aclnn.ops.mhc_pre(*case(), 1e-6)
    with pytest.raises(TypeError, match="op_impl_mode"):
        aclnn.ops.mhc_pre(*case(), op_impl_mode=0)


def test_results_are_named(emulator_root):
    result = aclnn.ops.mhc_pre(*case())
    assert result._fields == ("h_in", "h_post", "h_res", "inv_rms", "h_mix", "h_pre")
    assert (result.h_in.shape, result.h_post.shape, result.h_res.shape) == (
        (2, 3, 128),
        (2, 3, 4),
        (2, 3, 4, 4),
    )
    assert result[3:] == (None, None, None)
    two = mhc_pre_case((2, 3), 128, np.float16, scales=2)
    result = aclnn.ops.mhc_pre_v2(*two, need_optional=True)
    assert result.h_res is None
    assert (result.inv_rms.shape, result.h_mix.shape, result.h_pre.shape) == ((2, 3), (2, 3, 8), (2, 3, 4))
