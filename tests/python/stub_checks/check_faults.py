"""Faults that show later than they happen: which calls are told, where they were made, what stays alive."""

from __future__ import annotations

import _thread
import gc
import pickle
import re
import threading
import weakref
from functools import partial
from operator import methodcaller
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import aclnn_py as aclnn
from aclnn_py import runtime
from aclnn_py.callcode import NOTED
from aclnn_py.diagnosis import faults

work, copy, copy_list = (aclnn.op(f"aclnnStub{name}") for name in ("Work", "Copy", "CopyList"))


@pytest.fixture(autouse=True)
def no_fault_before() -> None:
    faults.forget_all()


def launched(stream: aclnn.Stream, code: int = 507035) -> tuple[str, ...]:
    work(0, code, stream=stream)
    with pytest.raises(aclnn.AclError) as caught:
        stream.synchronize()
    assert all(line in str(caught.value) for line in caught.value.launched)
    assert pickle.loads(pickle.dumps(caught.value)).launched == caught.value.launched
    return caught.value.launched


def first_helper(x: aclnn.Tensor, out: aclnn.Tensor, stream: aclnn.Stream) -> None:
    copy(x, 0, out, stream=stream)


def second_helper(x: aclnn.Tensor, out: aclnn.Tensor, stream: aclnn.Stream) -> None:
    copy(
        x,
        8,
        out,
        stream=stream,
    )


def line(function: Any, offset: int) -> str:
    return f"check_faults.py:{function.__code__.co_firstlineno + offset} in {function.__name__}"


@pytest.mark.parametrize("code", [507035, 507015, 507014, 507034, 507048, 507018])
def test_names_shapes_and_places_of_the_calls_before(code: int) -> None:
    x, out = aclnn.zeros((2, 3), np.float16), aclnn.empty((2, 3), np.float16)
    with aclnn.Stream() as stream:
        first_helper(x, out, stream)
        second_helper(x[1:], out[:1], stream)
        copy_list([x, x, x, x], [out, out, out, out], stream=stream)
        _, many, second, first = launched(stream, code)
    assert first.startswith("aclnnStubCopy  x FLOAT16 [2, 3], out FLOAT16 [2, 3]  at ")
    assert first.endswith(line(first_helper, 1)) and second.endswith(line(second_helper, 1))
    assert "x FLOAT16 [1, 3]" in second
    three = ", ".join(["FLOAT16 [2, 3]"] * 3)
    assert f"x [{three}, ... 4 in all], out [" in many


def test_calls_that_are_alike_are_told_once() -> None:
    x, out = aclnn.zeros(4), aclnn.empty(4)
    with aclnn.Stream() as stream:
        for _ in range(10):
            first_helper(x, out, stream)
        assert len(lines := launched(stream)) == 2
    assert lines[1].endswith(line(first_helper, 1) + "  (10 times)")


def test_calls_without_a_place_are_not_told_as_at_that_of_others() -> None:
    x, out = aclnn.zeros(4), aclnn.empty(4)
    with aclnn.Stream() as stream:
        for _ in range(NOTED):
            first_helper(x, out, stream)
        for _ in range(5):
            copy(x, 0, out, stream=stream)
        _, later, noted = launched(stream)
    assert noted.endswith(f"in first_helper  ({NOTED} times)")
    assert " after the one at " in later and later.endswith("in first_helper  (5 times)")


def test_only_the_last_are_told() -> None:
    x, out = aclnn.zeros(4), aclnn.empty(4)
    with aclnn.Stream() as stream:
        for i in range(1, 31):
            copy(x[: i % 4 + 1], 0, out, stream=stream)
        assert len(lines := launched(stream)) == 8
    assert "x FLOAT [3]" in lines[1] and "x FLOAT [2]" in lines[2]


def test_a_plan_tells_where_it_was_made() -> None:
    x, out = aclnn.zeros(4), aclnn.empty(4)
    with aclnn.Stream() as stream, copy.plan(x, 0, out, stream=stream) as plan:
        plan()
        plan.rebind(x=aclnn.zeros(4))
        plan()
        assert re.search(r"x FLOAT \[4\], out FLOAT \[4\]  plan made at .* \(2 times\)$", launched(stream)[1])


def test_a_list_with_gaps_and_null() -> None:
    with aclnn.Stream() as stream, pytest.raises(aclnn.AclnnParameterError):
        copy_list([aclnn.zeros(2)], None, stream=stream)
    record = aclnn.TensorList([None, aclnn.zeros(2)])
    assert record._kept[0] is None and record._kept[1][1].shape == (2,)


def test_other_work_on_the_stream_is_told_too() -> None:
    with aclnn.Stream() as stream:
        aclnn.zeros(4).copy_from(np.ones(4, np.float32), stream)
        assert launched(stream)[1:] == ("copy",)


def test_a_wait_tells_only_what_was_there_when_it_began() -> None:
    x, out = aclnn.zeros(4), aclnn.empty(4)
    with aclnn.Stream() as stream:
        first_helper(x, out, stream)
        stream.synchronize()
        assert len(launched(stream)) == 1


def test_with_much_on_the_stream_later_calls_tell_no_place_of_their_own() -> None:
    x, out = aclnn.zeros(4), aclnn.empty(4)
    with aclnn.Stream() as stream:
        for _ in range(70):
            first_helper(x, out, stream)
        second_helper(x, out, stream)
        work(0, 0, stream=stream)
        lines = launched(stream)
        assert lines[0].startswith("aclnnStubWork  after the one at ")
        assert all(line(first_helper, 1) in told for told in lines), lines
        first_helper(x, out, stream)
        assert launched(stream)[1].endswith(line(first_helper, 1))


def test_a_function_of_the_package_is_not_the_place() -> None:
    source = "def friendly(op, x, out, stream):\n    op('aclnnStubCopy')(x, 0, out, stream=stream)\n"
    scope: dict[str, Any] = {"__package__": "aclnn_py.ops"}
    file = runtime.__file__.replace("runtime.py", "ops/friendly.py")
    exec(compile(source, file, "exec"), scope)
    with aclnn.Stream() as stream:
        scope["friendly"](aclnn.op, aclnn.zeros(1), aclnn.zeros(1), stream)
        assert "in test_a_function_of_the_package_is_not_the_place" in launched(stream)[1]
    assert aclnn.op("aclnnStubCopy") is copy


def test_with_copy_back_the_traceback_tells_the_place() -> None:
    x, out = np.zeros(4, np.float32), np.zeros(4, np.float32)
    work(0, 507035)
    with pytest.raises(aclnn.DeviceFault) as caught:
        copy(x, 0, out, copy_back=True)
    assert not any("operator.py" in line for line in caught.value.launched)
    assert caught.traceback[0].name == "test_with_copy_back_the_traceback_tells_the_place"


def test_with_copy_back_and_a_trace_it_is_the_users_place(tmp_path: Path) -> None:
    x, out = np.zeros(4, np.float32), np.zeros(4, np.float32)
    with aclnn.trace(tmp_path / "run.jsonl"):
        work(0, 507035)
        with pytest.raises(aclnn.DeviceFault) as caught:
            copy(x, 0, out, copy_back=True)
    assert all(told.endswith("in " + caught.traceback[0].name) for told in caught.value.launched)


def test_calls_that_no_python_function_makes() -> None:
    """As atexit does, with nothing of Python below the operator."""
    x, out, done = aclnn.zeros(4), aclnn.empty(4), threading.Event()
    with aclnn.Stream() as stream:
        calls = [partial(copy, x, 0, out, stream=stream), partial(aclnn.op, "aclnnStubCopy"), done.set]
        _thread.start_new_thread(list, (map(methodcaller("__call__"), calls),))
        assert done.wait(10)
        assert launched(stream)[1] == "aclnnStubCopy  x FLOAT [4], out FLOAT [4]"


def test_notes_keep_no_tensor_alive(stub: Any) -> None:
    """The memory, as before, until the stream was waited for; tensors and other variables not at all."""

    class Marker:
        pass

    def call(stream: aclnn.Stream) -> list[weakref.ref[Any]]:
        x, out, unrelated = aclnn.zeros(4), aclnn.zeros(4), Marker()
        copy(x, 0, out, stream=stream)
        return [weakref.ref(o) for o in (x, out, unrelated)]

    gc.collect()
    with aclnn.Stream() as stream:
        before = stub.live("tensor"), stub.live("memory")
        references = call(stream)
        gc.collect()
        assert [r() for r in references] == [None] * 3
        assert (stub.live("tensor"), stub.live("memory")) == (before[0], before[1] + 2)
        work(0, 507035, stream=stream)
        with pytest.raises(aclnn.DeviceFault) as caught:
            stream.synchronize()
        assert stub.live("memory") == before[1] and caught.value.launched


def test_the_first_fault_is_repeated() -> None:
    x, out = aclnn.zeros(4), aclnn.empty(4)
    with aclnn.Stream() as stream:
        first_helper(x, out, stream)
        launched(stream, 507015)
        work(0, 507018, stream=stream)
        with pytest.raises(aclnn.DeviceFault) as later:
            stream.synchronize()
        with pytest.raises(aclnn.AclnnRuntimeError) as launch:
            aclnn.op("aclnnStubFail")(None, 361001, 2, stream=stream)
        with pytest.raises(aclnn.AclnnParameterError) as argument:
            aclnn.op("aclnnStubFail")(None, 161002, 1, stream=stream)
        for error in (later.value, launch.value):
            text = str(error)
            assert "device 0 is in fault since" in text
            assert "first error was: Stream.synchronize returned 507015 ACL_ERROR_RT_AICORE_EXCEPTION" in text
            assert "aclnnStubWork" in text.split("first error was")[1]
        assert "in fault since" not in str(argument.value)


def test_each_device_has_a_fault_of_its_own() -> None:
    with aclnn.Device(1):
        stream = aclnn.Stream()
        work(0, 507015, stream=stream)
    with pytest.raises(aclnn.DeviceFault):
        stream.synchronize()
    assert faults.first(0) is None and faults.first(1) is not None
    aclnn.zeros(2).numpy()
    aclnn.synchronize()
    assert faults.first(1) is not None


def test_a_wait_without_a_fault_ends_it() -> None:
    with aclnn.Stream() as stream:
        launched(stream, 507015)
        assert faults.first(0) is not None and faults.first(0).code == 507015  # type: ignore[union-attr]
        stream.synchronize()
        assert faults.first(0) is None


def test_timeouts_are_no_fault() -> None:
    with aclnn.Stream() as stream:
        work(300, 0, stream=stream)
        with pytest.raises(aclnn.StreamTimeout, match=r"0\.05 s passed") as caught:
            stream.synchronize(timeout=0.05)
        assert len(caught.value.launched) == 1 and faults.first(0) is None


def test_work_of_other_code_is_said_to_be_that(stub: Any) -> None:
    with aclnn.Stream() as stream:
        work(0, 507035, stream=stream)
        stream._keep.clear()
        with pytest.raises(aclnn.DeviceFault, match="other code put it there"):
            stream.synchronize()
