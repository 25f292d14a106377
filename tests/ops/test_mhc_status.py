"""Each status row of MhcPost, MhcPostBackward and MhcSinkhorn, alone and in pairs, through C."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "mhc_status_rows.py"
EXPECTED = {
    "Ascend910B3": (25, 57, 32),
    "Ascend910_9391": (25, 57, 32),
    "Ascend950PR_9579": (24, 56, 31),
}


@pytest.mark.parametrize("soc", EXPECTED)
def test_rows(emulator_root, soc):
    done = subprocess.run(
        [sys.executable, SCRIPT, emulator_root],
        env=os.environ | {"ACLEMU_SOC": soc},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    counts = tuple(int(line.split(": ")[1].split()[0]) for line in done.stdout.splitlines())
    assert counts == EXPECTED[soc]
