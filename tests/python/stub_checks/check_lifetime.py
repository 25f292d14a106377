"""What lives how long. The stub runs work only when its stream is waited for and overwrites freed memory."""

from __future__ import annotations

import gc
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import aclnn_py as aclnn

KINDS = ["tensor", "scalar", "array", "list", "executor", "memory", "stream"]
copy = aclnn.op("aclnnStubCopy")


def test_temporaries_live_until_the_stream_passed() -> None:
    out = aclnn.empty((3, 4))
    copy(np.full((3, 4), 7, np.float32), 48, out)
    gc.collect()
    other = [aclnn.zeros((3, 4)) for _ in range(10)]
    assert out.numpy().tolist() == [[7.0] * 4] * 3
    assert len(other) == 10


def test_closing_a_tensor_waits_for_the_work_on_it() -> None:
    out = aclnn.empty(4)
    with aclnn.tensor(np.arange(4, dtype=np.float32)) as x:
        copy(x, 0, out)
    assert out.numpy().tolist() == [0, 1, 2, 3]


def test_an_output_may_be_closed_before_the_work() -> None:
    out = aclnn.empty(4)
    view = out[:]
    copy(np.ones(4, np.float32), 0, out)
    out.close()
    assert view.numpy().tolist() == [1] * 4


def test_a_growing_workspace(stub: Any) -> None:
    x = aclnn.tensor(np.arange(100, dtype=np.float32))
    outs = [aclnn.empty(100) for _ in range(4)]
    with aclnn.Stream() as stream:
        for size, out in zip([400, 4000, 40, 40000], outs, strict=True):
            copy(x, size, out, stream=stream)
        stream.synchronize()
        for out in outs:
            assert np.array_equal(out.numpy(), np.arange(100))
        held = stub.live("memory")
        stream.release_workspace()
        assert stub.live("memory") == held - 1


def test_a_host_array_may_change_at_once() -> None:
    array = np.ones(4, np.float32)
    t = aclnn.tensor(array)
    array[:] = 9
    assert t.numpy().tolist() == [1] * 4
    t.copy_from(array)
    array[:] = 0
    assert t.numpy().tolist() == [9] * 4


def test_copy_from_waits_for_readers() -> None:
    x, out = aclnn.tensor(np.ones(4, np.float32)), aclnn.empty(4)
    copy(x, 0, out)
    x.copy_from(np.zeros(4, np.float32))
    assert out.numpy().tolist() == [1] * 4 and x.numpy().tolist() == [0] * 4


def test_numpy_waits_for_another_stream_and_list_members() -> None:
    out = aclnn.empty(2)
    with aclnn.Stream() as stream:
        copy(np.ones(2, np.float32), 0, out, stream=stream)
        assert out.numpy().tolist() == [1, 1]


def test_many_calls_without_waiting_stay_bounded(stub: Any) -> None:
    x, out = aclnn.zeros(4), aclnn.empty(4)
    aclnn.synchronize()
    before = stub.live("memory")
    most = 0
    for i in range(5000):
        copy(np.full(4, i, np.float32), 16, out)
        most = max(most, stub.live("memory") - before)
    assert most <= 1100
    assert out.numpy().tolist() == [4999] * 4
    aclnn.synchronize()
    gc.collect()
    assert stub.live("memory") <= before + 1
    assert stub.live("executor") == 0 and x.size == 4


def test_everything_is_released(stub: Any) -> None:
    aclnn.synchronize()
    gc.collect()
    before = [stub.live(k) for k in KINDS]
    with aclnn.Stream() as stream, aclnn.zeros(3) as t:
        view = t[1:]
        aclnn.op("aclnnStubRecord")(
            t, None, 1.5, 1, 1, 1, 1, 1, 1.0, 1.0, True, "x", None, "int8", [1], [1.0], [True], [t, view],
            [1], t, stream=stream,
        )  # fmt: skip
        scalar = aclnn.Scalar(1)
        scalar.close()
        scalar.close()
        del view, scalar
    assert [stub.live(k) for k in KINDS] == before


def test_closed_things_say_so() -> None:
    t = aclnn.zeros((2, 2))
    t.close()
    t.close()
    assert t.closed and "closed" in repr(t)
    for use in (
        t.numpy,
        lambda: t[0],
        lambda: t.T,
        lambda: t.copy_from(np.zeros((2, 2), np.float32)),
        t.__enter__,
    ):
        with pytest.raises(ValueError, match=r"Tensor\(shape=\(2, 2\), dtype=float32, closed\) was closed"):
            use()
    stream = aclnn.Stream()
    stream.close()
    stream.close()
    with pytest.raises(ValueError, match="stream was closed"):
        stream.synchronize()
    with pytest.raises(ValueError, match="stream was closed"):
        copy(None, 0, None, stream=stream)


def test_a_closed_default_stream_is_replaced() -> None:
    aclnn.current_stream().close()
    out = aclnn.empty(2)
    copy(np.ones(2, np.float32), 0, out)
    assert out.numpy().tolist() == [1, 1] and not aclnn.current_stream().closed


def test_timeout_raises_in_time_and_the_work_goes_on() -> None:
    with aclnn.Stream() as stream:
        aclnn.op("aclnnStubWork")(2000, 0, stream=stream)
        start = time.monotonic()
        with pytest.raises(
            aclnn.StreamTimeout, match=r"507046.*\n.*\n.*0\.3 s passed.*\n.*\n.*aclnnStubWork"
        ):
            stream.synchronize(timeout=0.3)
        assert time.monotonic() - start > 0.25
        with pytest.raises(aclnn.StreamTimeout):
            stream.synchronize(timeout=0)  # still at work
        stream.synchronize()
        assert time.monotonic() - start > 1.9
        with pytest.raises(aclnn.AclnnParameterError) as caught:
            aclnn.op("aclnnStubFail")(None, 161002, 1)
        assert caught.value.message == ""  # the expired slices left no text behind


def test_waiting_releases_the_interpreter() -> None:
    with aclnn.Stream() as stream:
        aclnn.op("aclnnStubWork")(300, 0, stream=stream)
        ticks = []
        thread = threading.Thread(target=lambda: [ticks.append(time.sleep(0.01)) for _ in range(10)])
        thread.start()
        stream.synchronize()
        assert len(ticks) == 10
        thread.join()


def test_threads_get_device_and_stream_of_their_own(stub: Any) -> None:
    gc.collect()
    streams = stub.live("stream")

    def job(i: int) -> tuple[list[float], int]:
        out = aclnn.empty(8)
        copy(np.full(8, i, np.float32), 64, out)
        return out.numpy().tolist(), id(aclnn.current_stream())

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(job, range(40)))
    assert [r[0] for r in results] == [[float(i)] * 8 for i in range(40)]
    assert id(aclnn.current_stream()) not in {r[1] for r in results}
    del pool
    gc.collect()
    assert stub.live("stream") == streams + (0 if streams else 1)


def test_a_result_outlives_its_thread() -> None:
    outs: list[aclnn.Tensor] = []

    def job() -> None:
        outs.append(aclnn.empty(4))
        copy(np.ones(4, np.float32), 0, outs[0])

    thread = threading.Thread(target=job)
    thread.start()
    thread.join()
    assert outs[0].numpy().tolist() == [1] * 4


def test_one_stream_used_by_many_threads() -> None:
    with aclnn.Stream() as stream, ThreadPoolExecutor(4) as pool:
        outs = [aclnn.empty(16) for _ in range(400)]

        def job(i: int) -> None:
            copy(np.full(16, i, np.float32), 64 * (1 + i % 7), outs[i], stream=stream)
            if i % 50 == 0:
                stream.synchronize()

        list(pool.map(job, range(400)))
        assert [o.numpy()[0] for o in outs] == list(range(400))


def test_devices_are_per_thread() -> None:
    with aclnn.Device(1):
        t = aclnn.zeros(2)
        out = aclnn.empty(2)
        copy(t, 8, out)
        assert t.device == aclnn.Device(1) == aclnn.current_stream().device
    assert aclnn.Device.current() == aclnn.Device(0)
    assert out.numpy().tolist() == [0, 0]
    assert aclnn.Device.count() == 2
    found: list[aclnn.Device] = []
    thread = threading.Thread(target=lambda: found.append(aclnn.Device.current()))
    thread.start()
    thread.join()
    assert found == [aclnn.Device(0)]
