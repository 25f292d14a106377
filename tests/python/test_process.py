"""What is true of a whole process: start, end, fork, signals. In fresh interpreters with the stub."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
WORK = """
        import numpy as np
        import aclnn_py as aclnn

        def work(value=1.0):
            out = aclnn.empty(4)
            aclnn.op("aclnnStubCopy")(np.full(4, value, np.float32), 32, out)
            assert out.numpy().tolist() == [value] * 4
            return out
"""


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return tmp_path / "trace"


def calls(trace: Path) -> Counter[str]:
    """How often each thing happened; things made count +1, things destroyed -1."""
    counted: Counter[str] = Counter()
    for line in trace.read_text().splitlines():
        what, delta = line.split()
        counted[what] += int(delta)
    return counted


def test_exit_ends_what_was_started(run_python: Run, stub_root: Path, trace: Path) -> None:
    done = run_python(
        WORK + "        kept = work(); stream = aclnn.Stream()\n",
        ASCEND_HOME_PATH=stub_root,
        STUB_TRACE=trace,
    )
    counted = calls(trace)
    assert (counted["aclInit"], counted["aclFinalizeReference"], counted["aclFinalize"]) == (1, 1, 0)
    assert counted["stream"] == counted["device"] == counted["executor"] == counted["memory"] == 0
    assert done.stderr == ""


def test_an_unfinished_call_at_exit_is_no_trouble(run_python: Run, stub_root: Path) -> None:
    source = """
        import numpy as np, aclnn_py as aclnn
        class Node: pass
        a = Node(); a.a = a; a.t = aclnn.zeros(4); a.s = aclnn.Stream()  # a cycle, destroyed late or never
        out = aclnn.empty(4)
        aclnn.op("aclnnStubCopy")(np.ones(4, np.float32), 8, out, stream=a.s)
        import builtins; builtins.keep = (a, out, aclnn.Scalar(1))
    """
    assert run_python(source, ASCEND_HOME_PATH=stub_root).stderr == ""


def test_use_after_the_end_is_a_clear_error(run_python: Run, stub_root: Path) -> None:
    source = """
        import atexit
        @atexit.register
        def late():
            try:
                aclnn.zeros(1)
            except RuntimeError as error:
                print(error)
        import aclnn_py as aclnn
        aclnn.zeros(1)
    """
    assert "has been finalized" in run_python(source, ASCEND_HOME_PATH=stub_root).stdout


def test_a_process_that_only_imports_ends_nothing(run_python: Run, stub_root: Path, trace: Path) -> None:
    run_python("import aclnn_py", ASCEND_HOME_PATH=stub_root, STUB_TRACE=trace)
    assert not trace.exists()


RAW = """
        import ctypes, os
        raw = ctypes.CDLL(os.environ["ASCEND_HOME_PATH"] + "/lib64/libascendcl.so")
"""


@pytest.mark.parametrize("ours_first", [True, False])
def test_another_library_that_initialises_too(run_python: Run, stub_root: Path, ours_first: bool) -> None:
    theirs = "        code = raw.aclInit(None)\n"
    ours = "        work()\n"
    end = """
        assert code == (100002 if ours_first else 0), code
        work()
        left = ctypes.c_uint64(9)
        from aclnn_py import runtime
        runtime._at_exit()
        assert raw.aclrtSetDevice(0) == 0  # ACL is still up for the other library
        assert raw.aclFinalizeReference(ctypes.byref(left)) == 0 and left.value == 0
        assert raw.aclFinalizeReference(ctypes.byref(left)) == 100037
    """
    source = (
        RAW
        + WORK
        + f"        ours_first = {ours_first}\n"
        + (ours + theirs if ours_first else theirs + ours)
        + end
    )
    run_python(source, ASCEND_HOME_PATH=stub_root)


def test_an_old_cann_without_the_counting_form(
    run_python: Run, build_stub: Callable[..., Path], tmp_path: Path, trace: Path
) -> None:
    old = build_stub(tmp_path / "old", "-DSTUB_OLD")
    run_python(WORK + "        work()\n", ASCEND_HOME_PATH=old, STUB_TRACE=trace)
    assert calls(trace)["aclFinalize"] == 1
    trace.unlink()
    run_python(RAW + WORK + "        raw.aclInit(None); work()\n", ASCEND_HOME_PATH=old, STUB_TRACE=trace)
    assert calls(trace)["aclFinalize"] == 0  # not ours to end
    source = """
        import time, aclnn_py as aclnn
        with aclnn.Stream() as stream:
            aclnn.op("aclnnStubWork")(0, 0, stream=stream)
            start = time.monotonic()
            try:
                stream.synchronize(timeout=0.2)
            except aclnn.StreamTimeout:
                assert time.monotonic() - start > 0.15
            else:
                raise AssertionError
    """
    run_python(source, ASCEND_HOME_PATH=old)


def test_runtime_blocks_in_sequence_and_nested(run_python: Run, stub_root: Path, trace: Path) -> None:
    source = """
        with aclnn.Runtime():
            kept = work(1.0)
            stream = aclnn.Stream()
            with aclnn.Runtime():
                work(2.0)
            work(3.0)
        for use in (kept.numpy, stream.synchronize):
            try:
                use()
            except ValueError as error:
                print(error)
            else:
                raise AssertionError
        with aclnn.Runtime():
            work(4.0)
            del kept, stream
        work(5.0)
    """
    done = run_python(WORK + source, ASCEND_HOME_PATH=stub_root, STUB_TRACE=trace)
    assert "went when ACL was finalized" in done.stdout and "stream was closed" in done.stdout
    counted = calls(trace)
    assert counted["aclInit"] == counted["aclFinalizeReference"] == 3
    assert counted["stream"] == counted["tensor"] == counted["device"] == counted["memory"] == 0


def test_threads_survive_the_end_and_a_new_start(run_python: Run, stub_root: Path) -> None:
    source = """
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor(2) as pool:
            for i in range(3):
                with aclnn.Runtime():
                    list(pool.map(work, [float(i), i + 0.5]))
                    s = aclnn.Stream()
                    out = aclnn.empty(4)
                    def on_stream():
                        aclnn.op("aclnnStubCopy")(np.ones(4, np.float32), 8, out, stream=s)
                    pool.submit(on_stream).result()
                    assert out.numpy().tolist() == [1] * 4
    """
    run_python(WORK + source, ASCEND_HOME_PATH=stub_root)


FORK = """
        import gc, os, sys, time
        kept, stream = work(), aclnn.Stream()
        scalar = aclnn.Scalar(1)
        def child():
            {child}
        pid = os.fork()
        if pid == 0:
            child()
            sys.exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        assert status == 0, status
        work(2.0)
        assert kept.numpy().tolist() == [1] * 4
"""


@pytest.mark.parametrize(
    "use",
    [
        "aclnn.zeros(1)",
        "kept.numpy()",
        "kept[1:]",
        "work()",
        "stream.synchronize()",
        "aclnn.op('aclnnStubCopy')(kept, 0, kept, stream=stream)",
        "aclnn.op('aclnnStubCopy')(kept, 0, kept)",
        "aclnn.Device(0).use()",
        "aclnn.Device.count()",
        "aclnn.Runtime().__enter__()",
        "aclnn.Scalar(1)",
        "aclnn.info()",
        "aclnn.synchronize()",
    ],
)
def test_use_in_a_forked_child_names_spawn_at_once(
    run_python: Run, stub_root: Path, trace: Path, use: str
) -> None:
    child = f"""
            start = time.monotonic()
            try:
                {use}
            except RuntimeError as error:
                assert "'spawn'" in str(error), error
            else:
                os._exit(5)
            assert time.monotonic() - start < 20
    """
    run_python(WORK + FORK.format(child=child), ASCEND_HOME_PATH=stub_root, STUB_TRACE=trace)


def test_a_forked_child_destroys_nothing(run_python: Run, stub_root: Path, trace: Path) -> None:
    child = """
            before = os.path.getsize(os.environ["STUB_TRACE"])
            global kept, stream, scalar
            kept.close()
            del kept, stream, scalar
            gc.collect()
            import atexit
            atexit.register(lambda: None)
            from aclnn_py import runtime
            runtime._at_exit()
            assert os.path.getsize(os.environ["STUB_TRACE"]) == before
    """
    run_python(WORK + FORK.format(child=child), ASCEND_HOME_PATH=stub_root, STUB_TRACE=trace)


def test_multiprocessing_with_fork_and_spawn(run_python: Run, stub_root: Path, tmp_path: Path) -> None:
    script = tmp_path / "job.py"
    script.write_text(
        "import multiprocessing, numpy as np\n"
        "import aclnn_py as aclnn\n"
        "def job(i):\n"
        "    try:\n"
        "        return aclnn.tensor(np.full(2, i, np.float32)).numpy().tolist()\n"
        "    except RuntimeError as error:\n"
        "        return str(error)\n"
        "if __name__ == '__main__':\n"
        "    aclnn.zeros(1)\n"
        "    with multiprocessing.get_context('fork').Pool(1) as pool:\n"
        "        assert 'spawn' in pool.map(job, [1])[0]\n"
        "    with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "        assert pool.map(job, [1, 2]) == [[1, 1], [2, 2]]\n"
    )
    run_python(
        "import runpy, sys; runpy.run_path(sys.argv[1], run_name='__main__')",
        str(script),
        ASCEND_HOME_PATH=stub_root,
    )


def test_ctrl_c_works_while_waiting(run_python: Run, stub_root: Path) -> None:
    source = """
        import os, signal, threading, time
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a runner in the background ignores it
        aclnn.op("aclnnStubWork")(60_000, 0)
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        start = time.monotonic()
        try:
            aclnn.synchronize()
        except KeyboardInterrupt:
            assert time.monotonic() - start < 30
        else:
            raise AssertionError
        os._exit(0)
    """
    start = time.monotonic()
    run_python(WORK + source, ASCEND_HOME_PATH=stub_root)
    assert time.monotonic() - start < 50


@pytest.mark.parametrize(
    ("made", "cut"),
    [
        ("aclnn.Scalar(1.0)", "close"),
        ("aclnn.zeros(3)", "close"),
        ("aclnn.Stream()", "close"),
        ("aclnn.Event.__new__(aclnn.Event)", "close"),
        ("aclnn.op('aclnnStubCopy').plan(aclnn.zeros(3), 0, aclnn.zeros(3))", "close"),
        ("aclnn.zeros(3)._buffer", "free"),
    ],
)
def test_ctrl_c_in_a_finalizer_is_not_lost(run_python: Run, stub_root: Path, made: str, cut: str) -> None:
    source = f"""
        import signal, time
        signal.signal(signal.SIGINT, signal.default_int_handler)
        item = {made}
        kind, whole = type(item), type(item).{cut}
        def interrupted(self):
            kind.{cut} = whole
            raise KeyboardInterrupt
        try:
            kind.{cut} = interrupted
            del item
            assert kind.{cut} is whole
            time.sleep(60)
        except KeyboardInterrupt:
            pass
        else:
            raise AssertionError
    """
    start = time.monotonic()
    done = run_python(WORK + source, ASCEND_HOME_PATH=stub_root)
    assert done.stderr == "" and time.monotonic() - start < 50


def test_no_current_device_is_needed_for_questions(run_python: Run, stub_root: Path, trace: Path) -> None:
    run_python(
        "import aclnn_py as a; assert a.info().device_count == 2; assert 'StubSoC' in repr(a.info())",
        ASCEND_HOME_PATH=stub_root,
        STUB_TRACE=trace,
    )
    assert "device" not in calls(trace)


def test_what_outlives_its_runtime_block_reaches_no_call(
    run_python: Run, stub_root: Path, trace: Path
) -> None:
    source = """
        copy = aclnn.op("aclnnStubCopy")
        with aclnn.Runtime():
            old, scalar = work(), aclnn.Scalar(1.0)
            plan = copy.plan(old, 0, old)
            plan()
        for use in (
            lambda: copy(old, 0, aclnn.zeros(4)),
            lambda: copy(aclnn.zeros(4), 0, old),
            lambda: copy(old, 0, old, copy_back=True),
            lambda: copy.plan(old, 0, old),
            plan,
            lambda: old[1:],
        ):
            try:
                use()
            except ValueError as error:
                assert "finalized" in str(error) or "stream was closed" in str(error), error
            else:
                raise AssertionError
        assert scalar.closed and not old.closed and not plan.closed
        for owner in (old, plan, scalar, old, plan, scalar):
            owner.close()
        assert old.closed and plan.closed
        work(2.0)
    """
    run_python(WORK + source, ASCEND_HOME_PATH=stub_root, STUB_TRACE=trace)
    counted = calls(trace)
    assert not [what for what in ("tensor", "scalar", "executor", "memory") if counted[what]]


def test_what_is_alive_at_exit_is_destroyed_before_acl_ends(
    run_python: Run, stub_root: Path, trace: Path
) -> None:
    source = """
        import builtins
        x = work()
        builtins.keep = [x, x[1:], aclnn.Scalar(1), aclnn.IntArray([1]), aclnn.TensorList([x])]
        builtins.keep.append(aclnn.op("aclnnStubCopy").plan(x, 8, x))
        builtins.keep[-1]()
    """
    done = run_python(WORK + source, ASCEND_HOME_PATH=stub_root, STUB_TRACE=trace)
    assert done.stderr == ""
    kinds = ("tensor", "scalar", "array", "list", "executor", "memory", "stream")
    assert {kind: calls(trace)[kind] for kind in kinds} == dict.fromkeys(kinds, 0)
    last = trace.read_text().split("\n")[-3:]
    assert any(line.startswith("aclFinalizeReference") for line in last), last


def test_operators_are_copied_and_pickled(run_python: Run, stub_root: Path) -> None:
    source = """
        import copy, pickle
        op = aclnn.op("aclnnStubCopy")
        arguments = "int64_t a, int64_t b, uint64_t *size, aclOpExecutor **executor"
        text = f"aclnnStatus aclnnStubWorkGetWorkspaceSize({arguments});"
        given = aclnn.op("aclnnStubWork", prototype=text)
        for made in (op, given):
            assert copy.deepcopy([made])[0] is made and pickle.loads(pickle.dumps(made)) is made
        assert given.prototype.parameters[0].name == "a"
    """
    run_python(WORK + source, ASCEND_HOME_PATH=stub_root)
