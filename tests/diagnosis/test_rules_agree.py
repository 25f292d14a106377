"""Each operator's rules and its phase 1 agree on random calls: the verdict, the code, the argument."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

AGREEMENT = Path(__file__).with_name("agreement.py")
SOCS = ("Ascend910B3", "Ascend910_9391", "Ascend950PR_9579")


@pytest.fixture
def agreement(emulator: Callable[..., dict[str, str]]) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs agreement.py in a process of its own, since a process has one SoC."""

    def run(soc: str, *options: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(AGREEMENT), *options]
        return subprocess.run(
            command, capture_output=True, text=True, env=emulator(ACLEMU_SOC=soc), timeout=1200
        )

    return run


@pytest.mark.parametrize("soc", [SOCS[0], SOCS[-1]])
def test_rules_and_phase_1_agree(agreement: Callable[..., object], soc: str) -> None:
    done = agreement(soc, "--count", "150")
    assert done.returncode == 0, done.stdout + done.stderr  # type: ignore[attr-defined]
    assert "aclnnMhcPreSinkhorn on" in done.stdout  # type: ignore[attr-defined]


@pytest.mark.slow
@pytest.mark.parametrize("soc", SOCS)
def test_rules_and_phase_1_agree_on_many_calls(agreement: Callable[..., object], soc: str) -> None:
    done = agreement(soc, "--count", "4000", "--seed", "7")
    assert done.returncode == 0, done.stdout + done.stderr  # type: ignore[attr-defined]


def test_a_wrong_rule_is_noticed(emulator: Callable[..., dict[str, str]], tmp_path: Path) -> None:
    """Rules spoiled in one way after the other: random calls must find each out."""
    program = tmp_path / "damaged.py"
    program.write_text(
        f"""
import copy, sys
from dataclasses import replace
sys.path.insert(0, {str(AGREEMENT.parent)!r})
import agreement

right = agreement.engine.find("aclnnMhcPreSinkhorn")

def spoiled(**changes):
    last = copy.copy(right.checks[-1])
    vars(last).update(changes)
    return right.checks[:-1] + (last,)

damages = {{
    "a check less": right.checks[:2] + right.checks[3:],
    "another order": right.checks[1:2] + right.checks[:1] + right.checks[2:],
    "another code": spoiled(code=561002),
    "another limit": spoiled(multiple_of=64),
    "another argument": spoiled(names=("phi",)),
}}
assert not agreement.disagreements("aclnnMhcPreSinkhorn", 300, 0, most=1)[0]
for name, checks in damages.items():
    agreement.engine.find = lambda name: replace(right, checks=checks)
    assert agreement.disagreements("aclnnMhcPreSinkhorn", 3000, 0, most=1)[0], name
"""
    )
    done = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, env=emulator(), timeout=300
    )
    assert done.returncode == 0, done.stderr
