"""MhcSinkhorn: results on both 950s; elsewhere it is refused."""

import re
from pathlib import Path

import numpy as np
import pytest

import aclnn_py as aclnn

SCRIPT = Path(__file__).parent / "mhc_sinkhorn_checks.py"
CHECKS = re.findall(r"^def (check_\w+)", SCRIPT.read_text(), re.M)


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize(
    "soc", ["Ascend950PR_9579", pytest.param("Ascend950PR_958b", marks=pytest.mark.slow)]
)
def test_on(on_soc, soc, check):
    on_soc(soc, SCRIPT, check)


def test_refused_off_950(emulator_root):
    if aclnn.info().soc.startswith("Ascend950"):
        pytest.skip("this process emulates a 950")
    with pytest.raises(aclnn.AclnnParameterError, match="expected Ascend 950") as caught:
        aclnn.ops.mhc_sinkhorn(np.zeros((3, 4, 4), np.float32))
    assert caught.value.code == 161002


@pytest.mark.parametrize("iters", [0, -1, 101, 2**40])
def test_a_wrong_number_of_iterations_is_what_the_message_is_about(emulator_root, iters):
    """And not the sizes of normOut and sumOut, which phase 1 looks at first."""
    with pytest.raises(aclnn.AclnnParameterError, match=f"numIters is {iters}, expected") as caught:
        aclnn.ops.mhc_sinkhorn(np.zeros((3, 4, 4), np.float32), num_iters=iters, need_backward=True)
    assert caught.value.violations[0].argument == "numIters"


@pytest.mark.parametrize("iters", ["x", 2.5, None])
def test_iterations_that_are_no_whole_number(emulator_root, iters):
    with pytest.raises(TypeError, match="numIters"):
        aclnn.ops.mhc_sinkhorn(np.zeros((3, 4, 4), np.float32), num_iters=iters, need_backward=True)
