"""The call itself: what does not fit the parameters, awkward names, calls within calls, devices."""

from __future__ import annotations

import inspect
import signal
import time
from typing import Any

import numpy as np
import pytest

import aclnn_py as aclnn

copy = aclnn.op("aclnnStubCopy")
TAKES = (
    r"\n  it takes x \(const aclTensor\*\), workspace \(int64_t\), out \(aclTensor\*\); .*stream, copy_back\n"
)


@pytest.mark.parametrize(
    ("positional", "named", "words"),
    [
        ((None, 1), {}, f"out missing{TAKES}  it got x=None, workspace=int 1"),
        ((), {"out": None}, f"x, workspace missing{TAKES}  it got out=None"),
        ((), {}, f"x, workspace, out missing{TAKES}  it got nothing"),
        ((None, 1, None, 5), {}, f"4 positional arguments, at most 3 expected{TAKES}.*int 5"),
        ((None, 1, None), {"steam": 3}, rf"no parameter steam \(got int 3\){TAKES}"),
        ((None, 1), {"output": 3}, rf"out missing; no parameter output \(got int 3\){TAKES}"),
    ],
)
def test_what_does_not_fit_is_told(positional: Any, named: Any, words: str) -> None:
    for use in (copy, copy.plan, copy.max_workspace_size):
        with pytest.raises(TypeError, match="^aclnnStubCopy: " + words):
            use(*positional, **named)
    with pytest.raises(TypeError, match=r"aclnnStubCopy\(\) got multiple values for argument 'out'"):
        copy(None, 1, None, out=None)


def test_the_signature_is_that_of_the_operator() -> None:
    assert str(inspect.signature(copy)) == "(x, workspace, out, *, stream=None, copy_back=False)"


@pytest.mark.parametrize("names", [("len", "int", "float"), ("stream", "stream_", "copy_back")])
def test_names_that_python_or_a_call_uses(names: tuple[str, str, str]) -> None:
    a, b, c = (name if name not in ("int", "float") else "_" + name for name in names)
    text = (
        f"aclnnStatus aclnnStubCopyGetWorkspaceSize(const aclTensor *{a}, int64_t {b}, aclTensor *{c}, "
        "uint64_t *workspaceSize, aclOpExecutor **executor);"
    )
    awkward, out = aclnn.op("aclnnStubCopy", prototype=text), aclnn.empty(3)
    for value in (1.0, 2.0):
        awkward(np.full(3, value, np.float32), 16, out)
        assert out.numpy().tolist() == [value] * 3
    awkward.plan(np.full(3, 3.0, np.float32), 16, out)()
    assert out.numpy().tolist() == [3.0] * 3


def test_a_signal_handler_may_call_operators(stub: Any) -> None:
    x, y, out, other = aclnn.tensor([1.0]), aclnn.tensor([2.0]), aclnn.zeros(1, "f8"), aclnn.zeros(1, "f8")
    handled = 0

    def handler(*_: object) -> None:
        nonlocal handled
        handled += 1
        copy(y, 8, other)

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.0003, 0.0003)
    try:
        end = time.monotonic() + 1
        while time.monotonic() < end:
            copy(x, 8, out)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert handled > 20
    assert (out.numpy().tolist(), other.numpy().tolist()) == ([1.0], [2.0])
    aclnn.synchronize()
    assert stub.live("executor") == 0


def test_a_call_within_a_call_has_its_own_out_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the phases of one call, where a `__del__` or a signal handler may come in."""
    x, y, out, other = aclnn.tensor([1.0]), aclnn.tensor([2.0]), aclnn.zeros(1, "f8"), aclnn.zeros(1, "f8")
    scope, nested = type(copy).__call__.__globals__, []
    first = scope["_phase1"]

    def phase1(*arguments: Any) -> int:
        code: int = first(*arguments)
        if not nested:
            nested.append(True)
            copy(y, 16, other)
        return code

    monkeypatch.setitem(scope, "_phase1", phase1)
    copy(x, 8, out)
    assert (out.numpy().tolist(), other.numpy().tolist()) == ([1.0], [2.0])


def test_a_stream_of_another_device_is_refused(stub: Any) -> None:
    x, out, here = aclnn.zeros(2), aclnn.zeros(2), copy.plan(aclnn.zeros(2), 0, aclnn.zeros(2))
    with aclnn.Device(1):
        stream, there = aclnn.Stream(), aclnn.zeros(2)
    before = stub.live("executor")
    for use in (copy, copy.plan):
        with pytest.raises(ValueError, match="stream is on device 1, this thread on device 0"):
            use(x, 0, out, stream=stream)
    assert stub.live("executor") == before
    with pytest.raises(ValueError, match="aclnnStubCopy: x is on device 1, the plan on device 0"):
        here.rebind(x=there)
    with aclnn.Device(1):
        copy(there, 0, there, stream=stream)
        stream.close()
