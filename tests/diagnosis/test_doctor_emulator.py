"""The doctor with the emulator: its health with one small operator."""

from __future__ import annotations

import json
from collections.abc import Callable
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
