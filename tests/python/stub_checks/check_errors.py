"""Status codes -> exceptions, with the library's own text."""

from __future__ import annotations

import gc
import os
import pickle
import re
from typing import Any

import numpy as np
import pytest

import aclnn_py as aclnn
from aclnn_py import runtime

fail = aclnn.op("aclnnStubFail")


@pytest.mark.parametrize("phase", [1, 2])
@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (161001, aclnn.AclnnParameterError),
        (161002, aclnn.AclnnParameterError),
        (361001, aclnn.AclnnRuntimeError),
        (561002, aclnn.AclnnInnerError),
        (561103, aclnn.AclnnInnerError),
        (507018, aclnn.DeviceFault),
        (100000, aclnn.AclnnError),
        (999999, aclnn.AclnnError),
    ],
)
def test_code_becomes_an_exception(code: int, kind: type[aclnn.AclError], phase: int) -> None:
    with pytest.raises(kind) as caught:
        fail(np.zeros((2, 3), np.float16), code, phase)
    error = caught.value
    assert (error.code, error.op, error.phase) == (code, "aclnnStubFail", phase)
    assert error.name == aclnn.explain(code).name
    text = str(error)
    assert f"aclnnStubFail (phase {phase}" in text and str(code) in text
    assert "the stub refuses x, expected nothing" in error.message
    assert all(report.text in text for report in error.parsed) and error.parsed
    assert "FLOAT16" in text and "[2, 3]" in text and "libopapi.so" in text
    assert [a.name for a in error.arguments] == ["x", "code", "phase"]
    assert str(pickle.loads(pickle.dumps(error))) == text


def test_the_text_is_never_an_old_one() -> None:
    with pytest.raises(aclnn.AclnnError):
        fail(np.zeros(1, np.float32), 161002, 1)
    with pytest.raises(aclnn.AclnnError) as caught:
        fail(None, 561000, 1)
    assert caught.value.message == ""


def test_strided_arguments_are_told() -> None:
    with pytest.raises(aclnn.AclnnError, match=r"INT8 +\[3, 2\]  strides \[1, 3\] offset 0  ND"):
        fail(aclnn.tensor(np.zeros((2, 3), np.int8)).T, 161002, 1)


def test_runtime_errors_name_the_call() -> None:
    with pytest.raises(
        aclnn.AclRuntimeError, match=r"aclrtSetDevice\(9\) returned 107001.*\n.*devices 0 and 1"
    ):
        aclnn.Device(9).use()
    assert aclnn.Device.current() == aclnn.Device(0)
    assert aclnn.zeros(1).numpy() == 0


def test_out_of_memory(stub: Any) -> None:
    aclnn.synchronize()
    for stream in runtime.live_streams:
        stream.release_workspace()
    before = stub.live("memory")
    with pytest.raises(aclnn.OutOfDeviceMemory, match="207001 ACL_ERROR_RT_MEMORY_ALLOCATION"):
        aclnn.empty(2**40, np.int8)
    assert stub.live("memory") == before


def test_workspaces_are_given_back_before_memory_runs_out(stub: Any) -> None:
    copy, x, out = aclnn.op("aclnnStubCopy"), aclnn.zeros(8), aclnn.zeros(8)
    with aclnn.Stream() as stream:
        copy(x, 60_000_000, out, stream=stream)
        stream.synchronize()
        held = aclnn.empty(70_000_000, np.int8)  # fits only without the workspace: the limit is 100 MB
        assert held.nbytes == 70_000_000


def test_out_of_memory_for_a_workspace_leaks_nothing(stub: Any) -> None:
    copy, x, out = aclnn.op("aclnnStubCopy"), aclnn.zeros(8), aclnn.zeros(8)
    with pytest.raises(aclnn.OutOfDeviceMemory):
        copy(x, 10**9, out)
    assert stub.live("executor") == 0
    copy(x, 100, out)
    assert out.numpy().tolist() == [0] * 8


def test_a_fault_shows_at_the_wait_and_names_the_last_operators() -> None:
    with aclnn.Stream() as stream:
        work = aclnn.op("aclnnStubWork")
        aclnn.op("aclnnStubCopy")(aclnn.zeros(1), 0, aclnn.zeros(1), stream=stream)
        work(0, 507035, stream=stream)
        with pytest.raises(aclnn.DeviceFault, match="507035") as caught:
            stream.synchronize()
    text = str(caught.value)
    latest, before = caught.value.launched
    here = r"check_errors\.py:\d+ in test_a_fault_shows_at_the_wait_and_names_the_last_operators$"
    assert re.match(rf"aclnnStubWork  at .*{here}", latest)
    assert re.match(rf"aclnnStubCopy  x FLOAT \[1\], out FLOAT \[1\]  at .*{here}", before)
    assert text.index(latest) < text.index(before) and "one of the 2 operators" in text
    assert "illegal address" in text and "ACLNN_PY_BLOCKING=1" in text


def test_blocking_mode_reports_at_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACLNN_PY_BLOCKING", "1")
    with aclnn.Stream() as stream:
        aclnn.op("aclnnStubWork")(0, 0, stream=stream)
        with pytest.raises(aclnn.DeviceFault, match="507015"):
            aclnn.op("aclnnStubWork")(0, 507015, stream=stream)


def test_failing_calls_leave_nothing_behind(stub: Any) -> None:
    kinds = ["tensor", "scalar", "array", "list", "executor", "memory"]
    x = aclnn.zeros(4)
    gc.collect()
    before = [stub.live(k) for k in kinds]
    for i in range(300):
        with pytest.raises(aclnn.AclnnError):
            fail(np.zeros(4, np.float32), 161002, 1 + i % 2)
        with pytest.raises(TypeError):
            aclnn.op("aclnnStubCopy")(np.zeros(4, np.float32), 0, 5)
    aclnn.synchronize()
    gc.collect()
    assert [stub.live(k) for k in kinds] == before
    assert x.numpy().sum() == 0


SAYINGS = [
    (
        561103,
        "EZ9999: Inner Error!\nEZ9999: [PID: 7] Parse dynamic kernel config fail.\n",
        ["kernel package", "SoC"],
    ),
    (561103, "EZ9999: [PID: 7] AclOpKernelInit failed opType\n", ["kernel package", "SoC"]),
    (561002, "EZ9999: [PID: 7] tiling of StubFail failed\n", ["Tiling failed", "ASCEND_OPP_PATH", "shapes"]),
    (561112, "", ["kernel package is not installed"]),
    (561003, "", ["No kernel binary", "dtype"]),
    (561107, "", ["ASCEND_OPP_PATH", "set_env.sh"]),
    (561000, "", ["operator package"]),
    (361001, "", ["device", "thread"]),
    (100000, "", ["wrapper", "earlier code"]),
    (107027, "", ["being captured"]),
]


@pytest.mark.parametrize(("code", "said", "words"), SAYINGS)
def test_what_people_needed_to_hear(
    monkeypatch: pytest.MonkeyPatch, code: int, said: str, words: list[str]
) -> None:
    """Also: all arguments with shape and strides, CANN's own words, and which file served the operator."""
    monkeypatch.setenv("STUB_MESSAGE", said)
    with pytest.raises(aclnn.AclnnError) as caught:
        fail(aclnn.tensor(np.zeros((2, 3), np.float16)).T, code, 1)
    text = str(caught.value)
    assert "aclnnStubFail (phase 1, GetWorkspaceSize)" in text and f"{code} A" in text
    assert [word for word in words if word.lower() not in text.lower()] == []
    for sentence in said.splitlines()[-1:]:
        assert sentence.partition("] ")[2] in text
    assert caught.value.message == said
    assert "FLOAT16" in text and "[3, 2]" in text and "strides [1, 3]" in text
    assert os.path.join(os.environ["ASCEND_HOME_PATH"], "lib64", "libopapi.so") in text
