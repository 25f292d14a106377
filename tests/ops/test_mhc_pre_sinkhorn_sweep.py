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
