"""aclnn.trace and `aclnn-py trace show`."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import aclnn_py as aclnn
from aclnn_py import operator
from aclnn_py.diagnosis import trace_reading

pytestmark = pytest.mark.usefixtures("emulator")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def add(value: Any = 1.0, **options: Any) -> None:
    aclnn.op("aclnnAdd")(
        np.ones((2, 3), np.float32), aclnn.zeros((2, 3)), value, aclnn.empty((2, 3)), **options
    )


def test_a_line_per_call(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    with aclnn.trace(file), aclnn.Stream() as stream:
        add()
        add(2, stream=stream)
    add()
    head, first, second = lines(file)
    assert (head["type"], head["schema"], head["pid"]) == ("trace", 1, os.getpid())
    assert head["versions"]["aclnn_py"] == aclnn.__version__
    assert (first["type"], first["n"], first["kind"], first["op"]) == ("call", 1, "call", "aclnnAdd")
    assert first["status"] == 0 and first["seconds"] > 0 and first["time"] >= head["time"]
    assert first["thread_name"] == "MainThread" and first["device"] == 0
    assert first["stream"].startswith("0x") and second["stream"] != first["stream"]
    assert first["arguments"] == [
        {"name": "self", "dtype": "FLOAT", "shape": [2, 3], "format": "ND"},
        {"name": "other", "dtype": "FLOAT", "shape": [2, 3], "format": "ND"},
        {"name": "alpha", "scalar": "DOUBLE", "value": 1.0},
        {"name": "out", "dtype": "FLOAT", "shape": [2, 3], "format": "ND"},
    ]


def test_failures_and_numbers_json_has_not(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    with aclnn.trace(file):
        with pytest.raises(aclnn.AclnnParameterError):
            aclnn.op("aclnnAdd")(aclnn.zeros((2, 4)).T, aclnn.zeros((2, 3)), float("nan"), None)
        with pytest.raises(TypeError):
            aclnn.op("aclnnAdd")(5, None, 1, None)
        with pytest.raises(TypeError):
            aclnn.op("aclnnAdd")()
    _, refused, mistaken, misfit = lines(file)
    assert (refused["status"], refused["name"], refused["phase"]) == (161001, "ACLNN_ERR_PARAM_NULLPTR", 1)
    assert (
        refused["error"] == "aclnnAdd: out is nullptr, expected a valid pointer."
        and refused["error"] in refused["message"]
    )
    self, _, alpha, out = refused["arguments"]
    assert self["strides"] == [1, 4] and alpha["value"] == "nan" and out == {"name": "out", "value": None}
    assert (mistaken["status"], mistaken["name"]) == (None, "TypeError") and "self" in mistaken["error"]
    assert mistaken["arguments"][0] == {"name": "self", "unsupported": "int"}
    assert misfit["arguments"] is None and "missing" in misfit["error"]


def test_plans_and_copies_back(tmp_path: Path) -> None:
    file, out = tmp_path / "run.jsonl", np.zeros(4, np.float32)
    one = aclnn.tensor(np.ones(4, np.float32))
    with aclnn.trace(file):
        plan = aclnn.op("aclnnAdd").plan(one, one, 1.0, aclnn.empty(4))
        plan()
        plan()
        aclnn.op("aclnnAdd")(one, one, 1.0, out, copy_back=True)
    assert [line["kind"] for line in lines(file)[1:]] == ["plan", "replay", "replay", "call"]
    assert out.tolist() == [2] * 4


def test_data_when_asked_up_to_a_limit(tmp_path: Path) -> None:
    file, small = tmp_path / "run.jsonl", np.arange(4, dtype=np.float32)
    with aclnn.trace(file, data=True, most_bytes=16):
        aclnn.op("aclnnAdd")(small, aclnn.tensor(small), 1.0, aclnn.empty(4))
        aclnn.op("aclnnAdd")(np.ones(5, np.float32), aclnn.zeros(5), 1.0, aclnn.empty(5))
    _, within, beyond = lines(file)
    for argument in within["arguments"][:2]:
        assert np.frombuffer(base64.b64decode(argument["data"]), np.float32).tolist() == [0, 1, 2, 3]
    assert "data" not in within["arguments"][3], "an output has no data yet"
    assert (
        beyond["arguments"][0]["data_left_out"] == "20 bytes, more than 16"
        and "data" not in beyond["arguments"][0]
    )


def test_off_means_that_nothing_is_in_the_way(tmp_path: Path) -> None:
    op = aclnn.op("aclnnAdd")
    plain, plan, replay = type(op).__call__, aclnn.Operator.plan, aclnn.Plan.__call__
    assert plain is op._plain and plain.__globals__["_getframe"] is not operator.user_frame
    with aclnn.trace(tmp_path / "a"), aclnn.trace(tmp_path / "b"):
        assert type(op).__call__ is not plain
        assert aclnn.Plan.__call__ is not replay
        add()
    assert type(op).__call__ is plain and aclnn.Operator.plan is plan and aclnn.Plan.__call__ is replay
    assert plain.__globals__["_getframe"] is not operator.user_frame
    assert len(lines(tmp_path / "a")) == len(lines(tmp_path / "b")) == 2


def test_the_place_of_a_call_is_still_the_users(
    run_python: Callable[..., Any], emulator: Callable[..., dict[str, str]]
) -> None:
    """What a fault tells of the calls before it names the program, not the function that looks at calls."""
    run_python(
        """
        import os
        import numpy as np
        import aclnn_py as aclnn
        one = aclnn.tensor(np.ones(3, np.float32))
        def step():
            aclnn.op("aclnnAdd")(one, one, 1.0, aclnn.empty(3))
        with aclnn.trace(os.devnull):
            step()
            aclnn.emulator.fail_synchronize(507015)
            try:
                aclnn.synchronize()
            except aclnn.DeviceFault as fault:
                assert fault.launched[0].endswith("at <string>:7 in step"), fault.launched
            else:
                raise AssertionError
        """,
        env=emulator(),
    )


def test_many_threads_and_no_line_is_torn(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"

    def work() -> None:
        for _ in range(25):
            add()

    with aclnn.trace(file):
        threads = [threading.Thread(target=work, name=f"worker {i}") for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    calls = lines(file)[1:]
    assert sorted(call["n"] for call in calls) == list(range(1, 101))
    assert {call["thread_name"] for call in calls} == {f"worker {i}" for i in range(4)}
    assert len({call["thread"] for call in calls}) == 4 and len({call["stream"] for call in calls}) == 4


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "no" / "file", Path("/proc/nothing")):
        with pytest.raises(OSError, match=f"aclnn.trace: cannot write {path}"):
            aclnn.trace(path)
    add()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_disk_that_is_full(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(OSError, match=r"aclnn.trace: cannot write /dev/full"):
        aclnn.trace("/dev/full", append=True)
    with aclnn.trace(tmp_path / "run.jsonl") as trace:
        full = os.open("/dev/full", os.O_WRONLY)
        os.dup2(full, trace._file)
        os.close(full)
        add()
        add()
        assert trace.closed
    assert [r.levelname for r in caplog.records] == ["WARNING"] and "ends here" in caplog.text


def test_a_trace_may_be_continued(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    for append in (False, True, False, True):
        with aclnn.trace(file, append=append) as trace:
            add()
        trace.close()
    assert [line["type"] for line in lines(file)] == ["trace", "call"] * 2


def test_the_variable_traces_a_whole_process_and_its_children(
    run_python: Callable[..., Any], emulator: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    program = """
        import os
        import numpy as np
        import aclnn_py as aclnn
        def add():
            one = np.ones(3, np.float32)
            aclnn.op("aclnnAdd")(one, one, 1.0, aclnn.empty(3))
        if not os.fork():
            add()
            os._exit(0)
        os.wait()
        add()
        """
    run_python(program, env=emulator(ACLNN_PY_TRACE=str(tmp_path / "all.jsonl")))
    found = trace_reading.read(tmp_path / "all.jsonl")
    assert len(found.heads) == len(found.calls) == 2 and len({c["pid"] for c in found.calls}) == 2
    run_python(program, env=emulator(ACLNN_PY_TRACE=str(tmp_path / "{pid}.jsonl")))
    assert len(list(tmp_path.glob("[0-9]*.jsonl"))) == 2
    done = run_python(program, env=emulator(ACLNN_PY_TRACE=str(tmp_path / "no" / "x")))
    assert "cannot write" in done.stderr


def test_threads_that_begin_together_are_traced_once(
    run_python: Callable[..., Any], emulator: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    program = """
        import threading
        import aclnn_py as aclnn
        together = threading.Barrier(8)
        def add():
            one, out = aclnn.zeros(3), aclnn.empty(3)
            together.wait()
            aclnn.op("aclnnAdd")(one, one, 1.0, out)
        threads = [threading.Thread(target=add) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        """
    run_python(program, env=emulator(ACLNN_PY_TRACE=str(tmp_path / "x.jsonl")))
    found = trace_reading.read(tmp_path / "x.jsonl")
    assert (len(found.heads), len(found.calls)) == (1, 8)


def test_a_child_that_may_not_call_is_told_of(tmp_path: Path) -> None:
    op, one, out = aclnn.op("aclnnAdd"), aclnn.zeros((2, 3)), aclnn.empty((2, 3))
    with aclnn.trace(tmp_path / "x.jsonl"):
        op(one, one, 1.0, out)
        child = os.fork()
        if not child:
            with contextlib.suppress(RuntimeError):  # ACL was started before the fork
                op(one, one, 1.0, out)
            os._exit(0)
        os.waitpid(child, 0)
    found = trace_reading.read(tmp_path / "x.jsonl")
    assert [c["name"] for c in found.calls] == ["", "RuntimeError"] and found.calls[1]["pid"] == child


def test_lines_that_were_changed(run_python: Callable[..., Any], tmp_path: Path) -> None:
    strange = {
        "type": "call",
        "n": {},
        "op": [],
        "status": [],
        "arguments": [{"tensors": 5}, 3, {"shape": 1}],
    }
    records: list[dict[str, Any]] = [
        {"type": "trace", "schema": 1, "pid": []},
        strange,
        strange | {"time": "x"},
        strange | {"seconds": [1]},
        strange | {"time": 1e300},
    ]
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    text = show(run_python, str(tmp_path / "x.jsonl"))
    assert "1 of 1 calls" in text and "3 line(s) could not be read" in text


def show(run_python: Callable[..., Any], *options: str, code: int = 0) -> str:
    source = "import sys; from aclnn_py.__main__ import main; sys.argv[0] = 'aclnn-py'; main()"
    done = run_python(source, "trace", "show", *options, code=code)
    return str(done.stdout + done.stderr)


def test_show(run_python: Callable[..., Any], tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    with aclnn.trace(file):
        add()
        add()
        with pytest.raises(aclnn.AclnnParameterError):
            aclnn.op("aclnnCast")(np.ones(3, np.float32), "float16", aclnn.empty(4))
    with file.open("a") as more:
        more.write('{"type": "call", "op": "acl')
    text = show(run_python, str(file))
    rows = text.splitlines()
    assert rows[0].split() == ["n", "at", "s", "op", "kind", "status", "us", "thread", "stream", "arguments"]
    assert (
        rows[1].split()[2:5] == ["aclnnAdd", "call", "0"]
        and "self FLOAT [2, 3]; other FLOAT [2, 3]" in rows[1]
    )
    assert (
        "161002" in rows[3]
        and "call 3, aclnnCast: 161002 ACLNN_ERR_PARAM_INVALID: aclnnCast: out has" in text
    )
    assert "3 of 3 calls" in text and "1 line(s) could not be read" in text
    assert "\x1b" not in text, "plain when it goes to a pipe"
    only = show(run_python, "--errors", "--no-arguments", str(file))
    assert "1 of 3 calls" in only and "aclnnAdd" not in only and "self FLOAT" not in only
    summary = show(run_python, "--summary", "--op", "add", str(file))
    assert summary.splitlines()[1].split()[:3] == ["aclnnAdd", "2", "0"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("no json\n", "was not written by aclnn.trace"),
        ("", "was not written by aclnn.trace"),
        ('{"type": "trace", "schema": 99, "time": 0}\n', "has schema 99, this version of aclnn_py reads 1"),
        ("[" * 100000, "was not written by aclnn.trace"),
        ('{"type": "trace", "schema": 1, "time": null}\n', "was not written by aclnn.trace"),
    ],
)
def test_show_of_something_else(
    run_python: Callable[..., Any], tmp_path: Path, content: str, words: str
) -> None:
    file = tmp_path / "other"
    file.write_text(content)
    assert words in show(run_python, str(file), code=1)
