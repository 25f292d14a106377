"""What aclnnMhcPre and aclnnMhcPreV2 refuse, in order, through the raw C ABI on each kind of SoC."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("soc", ["Ascend910B3", "Ascend910_9391", "Ascend950PR_9579"])
def test_status_rows(emulator_root, soc):
    done = subprocess.run(
        [sys.executable, Path(__file__).parent / "mhc_pre_status_rows.py", emulator_root],
        env=os.environ | {"ACLEMU_SOC": soc},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(" rows, ") == 2
