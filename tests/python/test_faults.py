"""A device that faulted stays so: what the process says then, and that it ends quietly. With the stub."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

FAULT = """
        import gc, sys, time
        import numpy as np
        import aclnn_py as aclnn
        x, out = aclnn.zeros(4), aclnn.empty(4)
        copy, work = aclnn.op("aclnnStubCopy"), aclnn.op("aclnnStubWork")
        other = aclnn.Stream()
        plan = copy.plan(x, 16, out)
        plan()
        copy(x, 0, out, stream=other)
        work(0, 507035)
        try:
            aclnn.synchronize()
        except aclnn.DeviceFault as error:
            print("first", error.code)
            assert error.message == "EZ9999: [PID: 7] a kernel of the stub faulted\\n", error.message
"""


def test_everything_after_a_sticky_fault_repeats_it(run_python: Run, stub_root: Path) -> None:
    source = """
        for use in (aclnn.synchronize, x.numpy, lambda: aclnn.zeros(3), lambda: copy(x, 0, out), plan,
                    lambda: x.copy_from(np.zeros(4, np.float32)), other.synchronize):
            try:
                use()
            except aclnn.AclError as error:
                print(error.code, "first error was: Stream.synchronize returned 507035" in str(error))
            else:
                print("no error")
    """
    done = run_python(FAULT + source, ASCEND_HOME_PATH=stub_root, STUB_STICKY=1)
    expected = ["first 507035"] + [
        f"{code} True" for code in (507035, 507035, 507035, 361001, 361001, 507035, 507035)
    ]
    assert done.stdout.splitlines() == expected and done.stderr == ""


@pytest.mark.parametrize(
    "end",
    [
        "",
        "del x, out, plan, other; gc.collect()",
        "plan.close(); other.close(); x.close()",
        "sys.exit(3)",
        "raise SystemExit(3)",
        "import builtins; builtins.kept = [x, out, plan, other]",
    ],
)
def test_the_end_is_quiet_and_quick(run_python: Run, stub_root: Path, end: str) -> None:
    code = 3 if "3" in end else 0
    done = run_python(FAULT + f"        {end}\n", code=code, ASCEND_HOME_PATH=stub_root, STUB_STICKY=1)
    assert (done.stdout, done.stderr) == ("first 507035\n", "")


@pytest.mark.parametrize("kind", ["Stream", "Runtime"])
def test_blocks_end_quietly_too(run_python: Run, stub_root: Path, kind: str) -> None:
    source = f"""
        import numpy as np
        import aclnn_py as aclnn
        try:
            with aclnn.{kind}() as block:
                stream = block if isinstance(block, aclnn.Stream) else None
                aclnn.op("aclnnStubCopy")(np.ones(4, np.float32), 8, aclnn.empty(4), stream=stream)
                aclnn.op("aclnnStubWork")(0, 507015, stream=stream)
                aclnn.synchronize()
        except aclnn.DeviceFault as error:
            print(error.code, "in fault since" in str(error), len(error.launched))
        try:
            aclnn.zeros(1)
        except aclnn.AclError as error:
            print(error.code, error.message)
    """
    done = run_python(source, ASCEND_HOME_PATH=stub_root, STUB_STICKY=1)
    assert (
        done.stdout.splitlines() == ["507015 False 2", "507015 the device is in fault"] and done.stderr == ""
    )


def test_an_uncaught_fault_shows_once(run_python: Run, stub_root: Path) -> None:
    source = """
        import aclnn_py as aclnn
        def train_step():
            aclnn.op("aclnnStubWork")(0, 507035)
        train_step()
        aclnn.synchronize()
    """
    done = run_python(source, code=1, ASCEND_HOME_PATH=stub_root, STUB_STICKY=1)
    assert done.stderr.count("Traceback") == 1 and "in train_step" in done.stderr
    assert "Exception ignored" not in done.stderr


def test_blocking_names_the_culprit(run_python: Run, stub_root: Path) -> None:
    source = """
        import traceback
        import aclnn_py as aclnn
        def guilty():
            aclnn.op("aclnnStubWork")(0, 507035)
        aclnn.op("aclnnStubWork")(0, 0)
        try:
            guilty()
        except aclnn.DeviceFault as error:
            print(traceback.extract_tb(error.__traceback__)[1].name, error.launched)
    """
    done = run_python(source, ASCEND_HOME_PATH=stub_root, ACLNN_PY_BLOCKING=1)
    assert done.stdout.startswith("guilty ('aclnnStubWork  at <string>:") and done.stdout.count("Stub") == 1
