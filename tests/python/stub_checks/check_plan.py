"""Plans: one phase 1, many phase 2."""

from __future__ import annotations

import gc
import threading
from typing import Any

import numpy as np
import pytest

import aclnn_py as aclnn

copy = aclnn.op("aclnnStubCopy")
ONCE = 13  # a workspace of 13 bytes: the stub refuses to make it repeatable


def ones(n: int, value: float = 1.0) -> aclnn.Tensor:
    return aclnn.tensor(np.full(n, value, np.float32))


@pytest.mark.parametrize("workspace", [0, 64, ONCE])
def test_replay_and_rebind(stub: Any, workspace: int) -> None:
    executors = stub.live("executor")
    x, out = ones(4), aclnn.zeros(4)
    with copy.plan(x, workspace, out) as plan:
        assert plan.repeatable == (workspace != ONCE) and plan.refusal == (561000 if workspace == ONCE else 0)
        for value in (2.0, 3.0):
            x.copy_from(np.full(4, value, np.float32))
            plan()
            assert out.numpy().tolist() == [value] * 4
        other, target = ones(4, 7), aclnn.zeros(4)
        plan.rebind(x=other, out=target)
        plan()
        assert target.numpy().tolist() == [7] * 4 and out.numpy().tolist() == [3] * 4
        assert stub.live("executor") == executors + plan.repeatable
    assert plan.closed and stub.live("executor") == executors
    assert x.numpy().tolist() == [3] * 4  # the user's tensors are as they were


def test_calls_already_made_keep_their_memory() -> None:
    outs = [aclnn.zeros(64) for _ in range(20)]
    plan = copy.plan(ones(64), 0, outs[0])
    for i, out in enumerate(outs):
        plan.rebind(x=ones(64, i), out=out)
        plan()
    plan.close()
    gc.collect()
    assert [o.numpy()[0] for o in outs] == list(range(20))


@pytest.mark.parametrize("workspace", [0, ONCE])
def test_dense_slices_take_each_others_place(stub: Any, workspace: int) -> None:
    rows = aclnn.tensor(np.arange(32, dtype=np.float32).reshape(4, 8))
    out = aclnn.zeros(8)
    plan = copy.plan(rows[0], workspace, out)
    for i in range(4):
        plan.rebind(x=rows[i])
        plan()
        assert out.numpy().tolist() == rows[i].numpy().tolist()


def test_lists(stub: Any) -> None:
    x, out = [ones(3), ones(2, 5)], [aclnn.zeros(3), aclnn.zeros(2)]
    plan = aclnn.op("aclnnStubCopyList").plan(x, out)
    plan()
    assert out[1].numpy().tolist() == [5, 5]
    plan.rebind(x=[ones(3, 8), ones(2, 9)])
    plan()
    assert [o.numpy()[0] for o in out] == [8, 9]
    with pytest.raises(ValueError, match="x has 1 tensors, the plan 2"):
        plan.rebind(x=[ones(3)])
    plan.close()


def test_positions_count_the_tensors_only(stub: Any) -> None:
    plan = copy.plan(ones(4), 0, aclnn.zeros(4))
    plan.rebind(out=aclnn.zeros(4))
    assert stub.last_index() == 1


@pytest.mark.parametrize(
    ("new", "error", "words"),
    [
        ({"x": 5}, TypeError, "aclnnStubCopy: x must be an aclnn.Tensor, got int"),
        ({"y": 5}, TypeError, "y is no tensor of this plan; it has x, out"),
        ({"workspace": 5}, TypeError, "workspace is no tensor of this plan"),
        ({"x": np.ones(4, np.float32)}, TypeError, "must be an aclnn.Tensor, got ndarray"),
        ({"x": "shape"}, ValueError, r"the plan was made for shape=\(4,\)"),
        ({"x": "dtype"}, ValueError, "ACL_FLOAT"),
        ({"x": "stride"}, ValueError, r"strides=\(1,\)"),
        ({"out": "good", "x": "shape"}, ValueError, "the plan was made for"),
    ],
)
def test_what_does_not_fit_changes_nothing(new: dict[str, Any], error: type[Exception], words: str) -> None:
    tensors = {
        "shape": aclnn.zeros(5),
        "dtype": aclnn.zeros(4, "int32"),
        "stride": aclnn.zeros(8)[::2],
        "good": aclnn.zeros(4),
    }
    out = aclnn.zeros(4)
    plan = copy.plan(ones(4), 0, out)
    with pytest.raises(error, match=words):
        plan.rebind(**{k: tensors[v] if isinstance(v, str) else v for k, v in new.items()})
    plan()
    assert out.numpy().tolist() == [1] * 4


def test_phase_errors_name_operator_and_phase() -> None:
    with pytest.raises(aclnn.AclnnParameterError, match="phase 1"):
        copy.plan(None, 0, None)
    with pytest.raises(TypeError, match="aclnnStubCopy: out missing"):
        copy.plan(None, 0)
    plan = aclnn.op("aclnnStubFail").plan(None, 561003, 2)
    with pytest.raises(aclnn.AclnnInnerError, match="phase 2"):
        plan()


def test_closed_plans_and_streams_say_so() -> None:
    stream = aclnn.Stream()
    plan = copy.plan(ones(4), 0, aclnn.zeros(4), stream=stream)
    assert plan.stream is stream and repr(plan) == "<Plan of aclnnStubCopy>"
    stream.close()
    with pytest.raises(ValueError, match="stream was closed"):
        plan()
    plan.close()
    plan.close()
    with pytest.raises(ValueError, match="<Plan of aclnnStubCopy, closed> was closed"):
        plan()
    with pytest.raises(ValueError, match="closed"):
        plan.rebind(x=ones(4))


def test_a_plan_goes_to_another_thread_but_not_to_another_device() -> None:
    out = aclnn.zeros(4)
    plan = copy.plan(ones(4), 32, out)
    thread = threading.Thread(target=plan)
    thread.start()
    thread.join()
    assert out.numpy().tolist() == [1] * 4
    with aclnn.Device(1), pytest.raises(ValueError, match="is on device 0, this thread on 1"):
        plan()
    plan()


def test_nothing_is_left(stub: Any) -> None:
    aclnn.synchronize()
    gc.collect()
    kinds = ("tensor", "scalar", "array", "list", "executor", "memory")
    before = [stub.live(k) for k in kinds]
    for workspace in (0, ONCE):
        plan = copy.plan(ones(4), workspace, aclnn.zeros(4))
        for _ in range(200):
            plan()
        with pytest.raises(ValueError):
            plan.rebind(x=aclnn.zeros(5))
    plan = aclnn.op("aclnnStubCopyList").plan([ones(3)], [aclnn.zeros(3)])
    plan()
    del plan
    aclnn.synchronize()
    gc.collect()
    for stream in [aclnn.current_stream()]:
        stream.release_workspace()
    assert [stub.live(k) for k in kinds][:5] == before[:5]
    assert stub.live("memory") <= before[5] + 1


def test_third_entry_point() -> None:
    assert copy.prototype.largest
    assert copy.max_workspace_size(None, 21, None) == 42
    with pytest.raises(aclnn.LibraryNotFound, match="aclnnStubFailGetMaxWorkspaceSize is not in"):
        aclnn.op("aclnnStubFail").max_workspace_size(None, 1, 1)


@pytest.mark.parametrize(
    ("out", "words"),
    [
        (np.zeros(4, ">f4"), "which is not in this machine's byte order"),
        (np.ma.masked_array(np.zeros(4)), "is a masked array"),
        (np.zeros(4, object), "which holds Python objects"),
    ],
)
def test_copy_back_refuses(out: np.ndarray, words: str) -> None:
    with pytest.raises(TypeError, match=f"aclnnStubCopy: .*out.* {words}"):
        copy(np.ones(4, np.float32), 0, out, copy_back=True)


def test_copy_back() -> None:
    out = np.zeros(4, np.float32)
    copy(np.full(4, 3, np.float32), 16, out, copy_back=True)
    assert out.tolist() == [3] * 4
    parts = [np.zeros(3, np.float32), np.zeros((2, 2), np.float32).T[1:]]
    aclnn.op("aclnnStubCopyList")(
        [np.ones(3, np.float32), np.full((1, 2), 4, np.float32)], parts, copy_back=True
    )
    assert parts[0].tolist() == [1] * 3 and parts[1].tolist() == [[4, 4]]
    frozen = np.zeros(4, np.float32)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match=r"aclnnStubCopy: aclTensor\* out is a read-only array"):
        copy(frozen, 0, frozen, copy_back=True)
    with pytest.raises(TypeError, match="its result is lost unless the call has copy_back=True"):
        copy(out, 0, out)
