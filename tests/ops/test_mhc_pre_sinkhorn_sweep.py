"""Every SoC, layout, tiling key and group of outputs over token counts on both sides of the tile sizes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

RUNNER = Path(__file__).parent / "sweep_case.py"

# A tail that is not a power of two on 910B3, the only two tails of 950.
SOCS = [
    ("Ascend910B3", "BSND", "128,384"),
    ("Ascend910B1", "BSND", "256"),
    ("Ascend910B4", "BSND", "128"),
    ("Ascend910_9391", "BSND", "256"),
    ("Ascend950PR_9579", "BSND,TND", "4096"),
]


def sweep(soc: str, layouts: str, tails: str) -> str:
    environment = os.environ | {"ACLEMU_SOC": soc}
    done = subprocess.run(
        [sys.executable, RUNNER, layouts, tails], env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(("soc", "layouts", "tails"), SOCS, ids=[row[0] for row in SOCS])
def test_sweep(emulator_root, soc, layouts, tails):
    cases = len(tails.split(",")) * 2 * 9 * len(layouts.split(",")) * 2 * 2
    assert sweep(soc, layouts, tails) == f"{soc}: {cases} cases, 0 bad\n"


@pytest.mark.slow
def test_sweep_of_the_other_tail_of_950(emulator_root):
    assert sweep("Ascend950PR_958b", "TND", "7168").endswith(" 0 bad\n")


REFUSALS_950 = """
import numpy as np, aclnn_py as aclnn

def answer(*shape):
    n, c = shape[-2:]
    x = np.ones(shape, np.float16)
    rest = np.ones((24, n * c), np.float32), np.ones(3, np.float32), np.ones(24, np.float32)
    try:
        return aclnn.ops.mhc_pre_sinkhorn(x, *rest).hin.shape
    except aclnn.AclnnParameterError as error:
        return error.code, error.headline

print(answer(2, 4, 7168))       # TND
print(answer(1, 2, 4, 4096))
print(answer(1, 0, 4, 128))     # empty: before the rule of the tail
print(answer(1, 2, 4, 128))
"""


def test_rules_of_950(emulator_root, tmp_path):
    environment = os.environ | {"ACLEMU_SOC": "Ascend950PR_9579"}
    done = subprocess.run(
        [sys.executable, "-c", REFUSALS_950], env=environment, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    tnd, bsnd, empty, tail = done.stdout.splitlines()
    assert (tnd, bsnd, empty) == ("(2, 7168)", "(1, 2, 4096)", "(1, 0, 128)")
    assert "161002" in tail and "c = 128, expected 4096 or 7168 on Ascend950PR_9579" in tail
