"""The doctor with the emulator: its health with one small operator."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("click")
MAIN = "from aclnn_py.__main__ import main; main()"


def test_the_emulator_is_well(
    run_python: Callable[..., Any], emulator: Callable[..., dict[str, str]]
) -> None:
    report = json.loads(run_python(MAIN, "doctor", "--json", env=emulator()).stdout)
    assert report["healthy"] and report["probe"]["backend"] == "emulator"
    assert report["probe"]["operator"] == "aclnnAdd on 4 elements is right"
    assert report["probe"]["soc"].startswith("Ascend") and None not in report["symbols"].values()
    assert [c for c in report["checks"] if c["section"] == "driver"] == []


@pytest.mark.parametrize(
    ("fault", "step", "code"),
    [
        ({"ACLEMU_FAULTS": "aclnnAdd.1=561103"}, "running aclnnAdd on 4 elements", 561103),
        ({"ACLEMU_FAULTS": "synchronize=507015"}, "running aclnnAdd on 4 elements", 507015),
        ({"ASCEND_RT_VISIBLE_DEVICES": "9"}, "starting ACL and counting the devices", 207004),
    ],
)
def test_an_emulator_that_fails(
    run_python: Callable[..., Any],
    emulator: Callable[..., dict[str, str]],
    fault: dict[str, str],
    step: str,
    code: int,
) -> None:
    report = json.loads(run_python(MAIN, "doctor", "--json", code=1, env=emulator(**fault)).stdout)
    [problem] = [c for c in report["checks"] if c["state"] == "problem"]
    assert f"failed at {step}" in problem["text"] and str(code) in problem["text"]
    assert report["probe"]["code"] == code


@pytest.mark.parametrize(
    "left",
    ['raise ImportError("libopenblas.so.0: no such file")', 'raise RuntimeError("another ABI")', ""],
)
def test_without_numpy_the_doctor_says_so(
    run_python: Callable[..., Any], emulator: Callable[..., dict[str, str]], tmp_path: Path, left: str
) -> None:
    """NumPy that does not load, or of which only a part is there."""
    (tmp_path / "numpy").mkdir()  # in the working folder, so found first
    (tmp_path / "numpy" / "__init__.py").write_text(left)
    doctor = run_python(MAIN, "doctor", code=1, env=emulator())
    assert re.search(r"numpy +PROBLEM cannot be imported", doctor.stdout) and not doctor.stderr
    assert "this machine cannot run aclnn as it is" in doctor.stdout
    told = run_python(MAIN, "explain", "161002", env=emulator())
    assert "ACLNN_ERR_PARAM_INVALID" in told.stdout and not told.stderr
    ops = run_python(MAIN, "ops", "Mhc*", code=1, env=emulator())
    assert ops.stderr.startswith("Error: ops needs NumPy, which cannot be imported: ")
    assert ops.stderr.count("\n") == 1
    assert "(needs NumPy)" in run_python(MAIN, "--help", env=emulator()).stdout
    use = run_python("import aclnn_py as aclnn; aclnn.tensor", code=1, env=emulator())
    assert "ImportError: aclnn_py.tensor needs NumPy" in use.stderr
    listed = "import aclnn_py, pydoc; print(pydoc.render_doc(aclnn_py))"
    assert "Importing opens no library" in run_python(listed, env=emulator()).stdout
