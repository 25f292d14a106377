"""Events, on the real libraries."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import aclnn_py as aclnn


@pytest.fixture(autouse=True, scope="module")
def events(any_root: None) -> None:
    from aclnn_py.abi import acl

    if not acl.has("aclrtCreateEvent"):
        pytest.skip("the libraries in use have no events")


def test_marks_and_order() -> None:
    array = np.arange(1 << 20, dtype=np.float32)
    with aclnn.Stream() as first, aclnn.Stream() as second, aclnn.Event() as event:
        t = aclnn.empty(array.shape)
        out = np.zeros_like(array)
        assert event.done and "not recorded" in repr(event)
        t.copy_from(array, stream=first)
        event.record(first)
        second.wait(event)
        t.copy_to(out, second)
        second.synchronize()
        assert event.done and np.array_equal(out, array) and "recorded" in repr(event)
        event.synchronize()
        event.record()
        event.synchronize(timeout=5)


def test_time_between_events() -> None:
    with aclnn.Stream() as stream:
        start, end = aclnn.Event().record(stream), aclnn.Event()
        time.sleep(0.02)
        end.record(stream)
        stream.synchronize()
        assert 0 <= end.elapsed_since(start) < 5


def test_wrong_kinds() -> None:
    with pytest.raises(TypeError, match=r"stream must be an aclnn\.Stream or None, got int 3"):
        aclnn.Event().record(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"start must be an aclnn\.Event, got int 3"):
        aclnn.Event().elapsed_since(3)  # type: ignore[arg-type]


def test_closed_events_say_so() -> None:
    event = aclnn.Event()
    event.close()
    event.close()
    with aclnn.Stream() as stream:
        for use in (event.record, event.synchronize, lambda: event.done, lambda: stream.wait(event)):
            with pytest.raises(ValueError, match="event was closed"):
                use()
    assert repr(event).endswith("closed>")


def test_events_end_with_acl(run_python: Callable[..., Any]) -> None:
    source = """
        import aclnn_py as aclnn
        with aclnn.Runtime():
            event = aclnn.Event().record()
        try:
            event.synchronize()
        except ValueError as error:
            print(error)
        event.close()
        kept = aclnn.Event().record()
    """
    home = os.environ.get("ASCEND_HOME_PATH")
    done = run_python(source, **({"ASCEND_HOME_PATH": home} if home else {}))
    assert (done.stdout, done.stderr) == ("this event was closed\n", "")


def test_a_dropped_event_lives_until_the_stream_passed_it() -> None:
    with aclnn.Stream() as first, aclnn.Stream() as second:
        for _ in range(100):
            second.wait(aclnn.Event().record(first))
        gc.collect()
        second.synchronize()
