"""The binding on the real libraries (emulator or CANN), by way of aclnnMhcPreSinkhorn."""

from __future__ import annotations

import ctypes
import gc
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import aclnn_py as aclnn

Run = Callable[..., Any]


@pytest.fixture(scope="module", autouse=True)
def operator(any_root: None) -> None:
    try:
        aclnn.op("aclnnMhcPreSinkhorn")
    except aclnn.LibraryNotFound:
        pytest.skip("the libraries in use have no aclnnMhcPreSinkhorn")


def inputs(seed: int, tokens: int = 3) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    return (
        rng.standard_normal((1, tokens, 4, 128)).astype(np.float16),
        (rng.uniform(-1, 1, (24, 512)) / 512**0.5).astype(np.float32),
        rng.uniform(0.5, 1.5, 3).astype(np.float32),
        rng.standard_normal(24).astype(np.float32),
    )


def run(arrays: tuple[np.ndarray, ...], **options: Any) -> np.ndarray:
    return aclnn.ops.mhc_pre_sinkhorn(*arrays, **options).h_res.numpy()


def test_four_threads_get_the_same_numbers_as_one() -> None:
    jobs = [inputs(seed) for seed in range(12)]
    alone = [run(job) for job in jobs]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(run, jobs))
    assert all(np.array_equal(a, b) for a, b in zip(alone, together, strict=True))


def test_a_stream_of_ones_own_and_tensors_as_inputs() -> None:
    arrays = inputs(1)
    with aclnn.Stream() as stream:
        results = [aclnn.ops.mhc_pre_sinkhorn(*map(aclnn.tensor, arrays), stream=stream) for _ in range(5)]
        stream.synchronize()
    assert all(np.array_equal(r.h_res.numpy(), run(arrays)) for r in results)
    assert results[0].h_pre is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"num_iters": 10}, "numIters"),
        ({"hc_mult": 3}, "hcMult"),
        ({"phi": np.zeros((24, 513), np.float32)}, "phi"),
        ({"alpha": np.zeros(4, np.float32)}, "alpha"),
        ({"bias": np.zeros((24, 1), np.float32)}, "bias"),
    ],
)
def test_what_the_library_refuses_comes_through(change: dict[str, Any], words: str) -> None:
    call = dict(zip(("x", "phi", "alpha", "bias"), inputs(2), strict=True)) | change
    with pytest.raises(aclnn.AclnnParameterError) as caught:
        aclnn.ops.mhc_pre_sinkhorn(**call)
    assert caught.value.code == 161002 and words in caught.value.message
    assert "EZ1001" in str(caught.value) and "phase 1" in str(caught.value)
    assert run(inputs(2)).shape == (1, 3, 16)  # the process stays usable


def test_a_message_that_somebody_else_left_does_not_lead() -> None:
    arrays = inputs(2)
    library = ctypes.CDLL(str(aclnn.which("aclrtSetDevice").library))
    assert library.aclrtSetDevice(12345) != 0  # nobody reads its text
    with pytest.raises(aclnn.AclnnParameterError) as caught:
        run(arrays, num_iters=10)
    error = caught.value
    assert "aclnnMhcPreSinkhorn: numIters is 10" in error.headline and "12345" not in error.headline
    said = str(error).split("CANN says: ")[1].partition("arguments:")[0]
    assert said.startswith(error.headline) and "12345" in said and said.count("numIters is 10") == 1
    assert error.message.index("12345") < error.message.index("numIters is 10")
    with pytest.raises(aclnn.AclnnParameterError) as caught:
        run(arrays, num_iters=10)
    assert "12345" not in caught.value.message


@pytest.mark.parametrize(
    ("change", "error"),
    [({"num_iters": "20"}, TypeError), ({"need_backward": 1}, TypeError), ({"hc_eps": None}, TypeError)],
)
def test_attributes_of_a_wrong_kind(change: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error, match=r"aclnnMhcPreSinkhorn: \w+ \(\w+\) must be"):
        aclnn.ops.mhc_pre_sinkhorn(*inputs(2), **change)


def test_none_where_a_tensor_is_required() -> None:
    x, *rest = map(aclnn.tensor, inputs(3))
    outputs = [aclnn.empty((1, 3, 128), np.float16), aclnn.empty((1, 3, 4)), aclnn.empty((1, 3, 16))]
    op = aclnn.op("aclnnMhcPreSinkhorn")
    with pytest.raises(aclnn.AclnnParameterError, match=r"161001(?s:.*)alpha"):
        op(x, rest[0], None, rest[2], 4, 20, 1e-6, 1e-6, False, *outputs, *[None] * 5)


def test_nothing_is_left_alive() -> None:
    import ctypes

    library = ctypes.CDLL(str(aclnn.which("aclrtMalloc").library))
    if not hasattr(library, "aclemuLiveObjects"):
        pytest.skip("CANN does not count objects")
    count = library.aclemuLiveObjects
    count.restype, count.argtypes = ctypes.c_int64, [ctypes.c_char_p]
    kinds = [b"tensor", b"scalar", b"array", b"list", b"executor", b"device_memory"]

    def live() -> list[int]:
        aclnn.synchronize()
        gc.collect()
        return [count(kind) for kind in kinds]

    run(inputs(4), need_backward=True)
    before = live()
    for i in range(50):
        run(inputs(i % 3), need_backward=bool(i % 2))
        with pytest.raises(aclnn.AclnnParameterError):
            aclnn.ops.mhc_pre_sinkhorn(*inputs(5), num_iters=7)
    assert live() == before


SETUP = """
        import os, signal, sys, threading, time
        import numpy as np
        import aclnn_py as aclnn
        x = np.ones((4, 64, 4, 1024), np.float16)
        rest = np.zeros((24, 4096), np.float32), np.ones(3, np.float32), np.zeros(24, np.float32)
        def call():
            return aclnn.ops.mhc_pre_sinkhorn(x, *rest)
"""


def fresh(run_python: Run, source: str, **env: str) -> Any:
    home = os.environ.get("ASCEND_HOME_PATH")
    return run_python(SETUP + source, **(env | ({"ASCEND_HOME_PATH": home} if home else {})))


def test_exit_with_work_in_flight_is_quiet(run_python: Run) -> None:
    source = """
        kept = [call() for _ in range(20)]
        stream = aclnn.Stream()
        kept.append(aclnn.ops.mhc_pre_sinkhorn(x, *rest, stream=stream))
    """
    assert fresh(run_python, source).stderr == ""


def test_exit_while_a_thread_works_is_quiet(run_python: Run) -> None:
    source = """
        def loop():
            try:
                while True:
                    call().hin.numpy()
            except (RuntimeError, ValueError, aclnn.AclError):
                pass  # the end came
        threading.Thread(target=loop, daemon=True).start()
        call()
        time.sleep(0.3)
    """
    assert fresh(run_python, source).stderr == ""


def test_fork_after_use(run_python: Run) -> None:
    source = """
        r = call()
        for use in ("r.hin.numpy()", "call()", "None"):
            pid = os.fork()
            if pid == 0:
                start = time.monotonic()
                try:
                    eval(use)
                except RuntimeError as error:
                    assert "'spawn'" in str(error) and time.monotonic() - start < 20
                else:
                    assert use == "None"
                sys.exit(0)
            assert os.waitpid(pid, 0)[1] == 0
        r.hin.numpy(); call().hin.numpy()
    """
    assert "Error" not in fresh(run_python, source).stderr


def test_a_runtime_block_can_be_repeated(run_python: Run) -> None:
    source = """
        for i in range(3):
            with aclnn.Runtime():
                first = call().h_res.numpy()
            with aclnn.Runtime(), aclnn.Runtime():
                assert np.array_equal(call().h_res.numpy(), first)
        assert np.array_equal(call().h_res.numpy(), first)
    """
    fresh(run_python, source)


def test_numpy_waits_and_ctrl_c_interrupts(run_python: Run) -> None:
    source = """
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a runner in the background ignores it
        done = threading.Event()
        def interrupt():  # again and again: Python drops an interrupt that hits a finalizer
            while not done.wait(0.2):
                os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=interrupt).start()
        try:
            while True:
                results = [call() for _ in range(50)]
                aclnn.synchronize()
        except KeyboardInterrupt:
            done.set()
        assert call().hin.numpy().shape == (4, 64, 1024)
    """
    start = time.monotonic()
    fresh(run_python, source)
    assert time.monotonic() - start < 60
