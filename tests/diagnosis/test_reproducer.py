"""aclnn.reproduce, the program it writes, and `aclnn-py replay`."""

from __future__ import annotations

import io
import json
import pickle
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import aclnn_py as aclnn
from aclnn_py.diagnosis.replay import NotAReproducer, Replay, tensor

pytestmark = pytest.mark.usefixtures("emulator")
SINKHORN = "aclnnMhcPreSinkhorn"


def add(*arguments: Any) -> None:
    aclnn.op("aclnnAdd")(*arguments)


@pytest.fixture
def failure(tmp_path: Path) -> Path:
    """A saved failure: a strided bfloat16 operand, one of another dtype, a scalar."""
    x = aclnn.tensor(np.arange(24, dtype=np.float32).astype(ml_dtypes.bfloat16).reshape(4, 6))
    with (
        aclnn.reproduce(tmp_path / "failures") as reproducer,
        pytest.raises(aclnn.AclnnParameterError) as info,
    ):
        add(x[1:, ::2], np.ones((3, 3), np.float16), 2.5, aclnn.empty((3, 3), "bfloat16"))
    (folder,) = reproducer.written
    assert f"saved: aclnn-py replay {folder}" in str(info.value)
    return folder


def test_what_is_in_the_folder(failure: Path) -> None:
    assert failure.name == "failure-0001"
    names = sorted(file.name for file in failure.iterdir())
    assert names == ["arguments.npz", "call.json", "environment.json", "reproduce.py"]
    call = json.loads((failure / "call.json").read_text())
    assert (call["schema"], call["op"], call["status"], call["phase"]) == (1, "aclnnAdd", 161002, 1)
    assert "other: dtype FLOAT16, must be BFLOAT16" in call["text"] and "EZ1001" in call["message"]
    x, _, alpha, out = call["arguments"]
    assert x == {
        "name": "self",
        "dtype": "BFLOAT16",
        "shape": [3, 3],
        "format": "ND",
        "strides": [6, 2],
        "offset": 6,
        "storage_shape": [4, 6],
        "elements": "self",
    }
    assert alpha == {"name": "alpha", "scalar": "DOUBLE", "value": 2.5} and "elements" not in out
    with np.load(failure / "arguments.npz", allow_pickle=False) as arrays:
        assert sorted(arrays.files) == ["other", "self"]
        assert arrays["self"].view(ml_dtypes.bfloat16).tolist() == list(range(6, 23))
    environment = json.loads((failure / "environment.json").read_text())
    assert environment["soc"].startswith("Ascend") and environment["versions"]["numpy"] == np.__version__
    assert "libopapi" in environment["served_by"] and environment["libraries"]


def test_the_arguments_come_back_as_they_were(failure: Path) -> None:
    x, other, alpha, out = Replay(failure).arguments()
    assert (x.shape, x.strides, x.offset, x.storage_shape) == ((3, 3), (6, 2), 6, (4, 6))
    assert x.dtype == ml_dtypes.bfloat16 and x.numpy().tolist() == [[6, 8, 10], [12, 14, 16], [18, 20, 22]]
    assert other.dtype == np.float16 and other.numpy().tolist() == [[1] * 3] * 3
    assert alpha.dtype == np.float64 and out.shape == (3, 3)
    with pytest.raises(aclnn.AclnnParameterError) as info:
        Replay(failure).run()
    assert info.value.code == 161002 and info.value.violations[0].argument == "other"


def test_the_program_raises_the_same_from_anywhere(
    failure: Path, emulator: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    moved = tmp_path / "moved to\there"
    shutil.copytree(failure, moved)
    done = subprocess.run(
        [sys.executable, str(moved / "reproduce.py")], capture_output=True, text=True, env=emulator(), cwd="/"
    )
    assert done.returncode == 1
    assert "AclnnParameterError: aclnnAdd (phase 1, GetWorkspaceSize) returned 161002" in done.stderr


def replay(
    run_python: Callable[..., Any], env: dict[str, str], folder: Path, *options: str, code: int = 0
) -> str:
    source = "import sys; from aclnn_py.__main__ import main; sys.argv[0] = 'aclnn-py'; main()"
    done = run_python(source, "replay", str(folder), *options, code=code, env=env)
    return str(done.stdout + done.stderr)


def test_the_command(
    failure: Path, run_python: Callable[..., Any], emulator: Callable[..., dict[str, str]]
) -> None:
    text = replay(run_python, emulator(), failure)
    assert "other: dtype FLOAT16, must be BFLOAT16" in text
    assert text.endswith("reproduced: aclnnAdd returned 161002 ACLNN_ERR_PARAM_INVALID\n")
    call = json.loads((failure / "call.json").read_text())
    call["arguments"][1] |= {"dtype": "BFLOAT16"}
    (failure / "call.json").write_text(json.dumps(call))
    assert replay(run_python, emulator(), failure, "-q", code=1).startswith(
        "not reproduced: no error, it was 161002"
    )
    call["arguments"][3] = {"name": "out", "value": None}
    (failure / "call.json").write_text(json.dumps(call))
    assert replay(run_python, emulator(), failure, "-q", code=1) == (
        "not reproduced: 161001 ACLNN_ERR_PARAM_NULLPTR, it was 161002\n"
    )


def test_every_kind_of_argument_comes_back(tmp_path: Path) -> None:
    """Attributes, NULL and a fault that the emulator makes up in phase 2."""
    x = np.ones((1, 2, 4, 128), ml_dtypes.bfloat16)
    inputs = (x, np.ones((24, 512), np.float32), np.ones(3, np.float32), np.ones(24, np.float32))
    with aclnn.reproduce(tmp_path) as reproducer:
        with pytest.raises(aclnn.AclnnParameterError):
            aclnn.ops.mhc_pre_sinkhorn(*inputs, hc_eps=float("inf"), num_iters=3)
        with aclnn.emulator.failing_operator(SINKHORN, 2, 361001), pytest.raises(aclnn.AclnnRuntimeError):
            aclnn.ops.mhc_pre_sinkhorn(*inputs)
        with pytest.raises(aclnn.AclnnParameterError):
            aclnn.op("aclnnCast").plan(inputs[1], "float16", aclnn.empty((24, 512)))
        with pytest.raises(TypeError):
            aclnn.op("aclnnAdd")(5, 5, 5, 5)
    assert [folder.name for folder in reproducer.written] == ["failure-0001", "failure-0002", "failure-0003"]
    first, second, third = (Replay(folder) for folder in reproducer.written)
    assert first.arguments()[5:9] == [3, float("inf"), 1e-6, False] and first.arguments()[12:] == [None] * 5
    with pytest.raises(aclnn.AclnnParameterError, match="numIters: is 3, must be 20"):
        first.run()
    assert (second.status, second.record["phase"]) == (361001, 2)
    second.run()  # made up, so it does not come back
    assert third.arguments()[1] == aclnn.aclDataType.ACL_FLOAT16
    with pytest.raises(aclnn.AclnnParameterError):
        third.run()


def test_large_tensors_are_left_out_and_the_number_of_folders_is_limited(tmp_path: Path) -> None:
    with aclnn.reproduce(tmp_path, most_bytes=10, most=2) as reproducer:
        for _ in range(3):
            with pytest.raises(aclnn.AclnnParameterError):
                add(np.ones(3, np.float32), np.ones(2, np.float32), 1, aclnn.empty(3))
    assert len(reproducer.written) == len(list(tmp_path.iterdir())) == 2
    call = json.loads((reproducer.written[0] / "call.json").read_text())
    assert call["arguments"][0]["left_out"] == "12 bytes, more than 10"
    assert call["arguments"][1]["elements"] == "other"
    assert "# zeros: 12 bytes, more than 10" in (reproducer.written[0] / "reproduce.py").read_text()
    with pytest.raises(aclnn.AclnnParameterError):
        Replay(reproducer.written[0]).run()


def test_numbers_continue_after_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "failure-0001").mkdir()
    with aclnn.reproduce(tmp_path) as reproducer, pytest.raises(aclnn.AclnnParameterError):
        add(None, None, None, None)
    assert reproducer.written == [tmp_path / "failure-0002"]


def test_no_secret_is_written(
    run_python: Callable[..., Any], emulator: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    secrets = {
        "AWS_SECRET_ACCESS_KEY": "hunter-two-aws",
        "HF_TOKEN": "hunter-two-hf",
        "ACLNN_PY_TOKEN": "hunter-two-own",
        "ASCEND_PASSWORD": "hunter-two-ascend",
        "http_proxy": "http://me:hunter-two@proxy",
    }
    run_python(
        """
        import aclnn_py as aclnn
        try:
            aclnn.op("aclnnAdd")(None, None, None, None)
        except aclnn.AclnnParameterError as error:
            assert "aclnn-py replay" in str(error)
        """,
        env=emulator(ACLNN_PY_REPRODUCE=str(tmp_path / "failures"), ASCEND_GLOBAL_LOG_LEVEL="3", **secrets),
    )
    folder = tmp_path / "failures" / "failure-0001"
    for file in folder.iterdir():
        raw = file.read_bytes()
        assert b"hunter" not in raw and b"TOKEN" not in raw and b"PASSWORD" not in raw
    assert (
        json.loads((folder / "environment.json").read_text())["variables"]["ASCEND_GLOBAL_LOG_LEVEL"] == "3"
    )


def test_a_fault_on_the_device_is_saved_when_calls_block(
    run_python: Callable[..., Any], emulator: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    run_python(
        """
        import sys
        import numpy as np
        import aclnn_py as aclnn
        one = aclnn.tensor(np.ones(3, np.float32))
        with aclnn.reproduce(sys.argv[1]) as reproducer:
            aclnn.emulator.fail_synchronize(507015)
            try:
                aclnn.op("aclnnAdd")(one, one, 1.0, aclnn.empty(3))
            except aclnn.DeviceFault as error:
                assert error.code == 507015
            else:
                raise AssertionError
        assert len(reproducer.written) == 1
        """,
        str(tmp_path),
        env=emulator(ACLNN_PY_BLOCKING="1"),
    )
    assert Replay(tmp_path / "failure-0001").status == 507015


@pytest.mark.parametrize("wait", ["stream.synchronize()", "out.numpy()", "mark.synchronize()"])
def test_a_fault_at_a_wait_leaves_the_calls_that_it_may_be_of(
    run_python: Callable[..., Any], emulator: Callable[..., dict[str, str]], tmp_path: Path, wait: str
) -> None:
    """At an event only those before its mark; calls that an earlier wait saw to their end never."""
    done = run_python(
        f"""
        import sys
        import numpy as np
        import aclnn_py as aclnn
        from aclnn_py.event import acl
        stream, mark = aclnn.Stream(), aclnn.Event()
        small, one, out = (aclnn.tensor(np.ones(n, np.float32)) for n in (2, 3, 3))
        add = aclnn.op("aclnnAdd")
        replayed = add.plan(one, one, 4.0, out, stream=stream)
        with aclnn.reproduce(sys.argv[1]) as reproducer:
            add(small, small, 1.0, small, stream=stream)
            stream.synchronize()
            add(one, one, 2.0, out, stream=stream)
            add(one, one, 2.0, out, stream=stream)
            replayed()
            mark.record(stream)
            if "mark" in {wait!r}:
                add(one, one, 5.0, out, stream=stream)
                acl.aclrtSynchronizeEventWithTimeout = lambda event, wait: 507015  # the emulator's fault is
            else:                                                                 # found by streams only
                aclnn.emulator.fail_synchronize(507015)
            try:
                {wait}
            except aclnn.DeviceFault as error:
                print(error.hint)
            else:
                raise AssertionError
            try:
                {wait}
            except aclnn.AclError:
                pass
        print(len(reproducer.written))
        """,
        str(tmp_path),
        env=emulator(),
    )
    assert (
        f"saved: aclnn-py replay {tmp_path / 'failure-0001'}, or one of {tmp_path / 'failure-0002'}"
        in done.stdout
    )
    assert done.stdout.endswith("\n2\n")
    for folder, alpha in (("failure-0001", 4.0), ("failure-0002", 2.0)):
        saved = Replay(tmp_path / folder)
        assert saved.status == 507015 and saved.record["suspect"] is True
        x, _, _, out = saved.arguments()
        assert saved.record["arguments"][2]["value"] == alpha
        assert x.shape == out.shape == (3,) and not x.numpy().any()
        left_out = [argument.get("left_out", "") for argument in saved.record["arguments"]]
        assert left_out[0] == left_out[1] != "" and left_out[3] == ""


def test_waits_are_looked_at_only_while_somebody_does(tmp_path: Path) -> None:
    plain = aclnn.Stream.synchronize, aclnn.Event.synchronize
    with aclnn.reproduce(tmp_path):
        assert aclnn.Stream.synchronize is not plain[0] and aclnn.Event.synchronize is not plain[1]
    assert (aclnn.Stream.synchronize, aclnn.Event.synchronize) == plain


def test_replaying_a_suspect_says_how_little_it_tells(
    run_python: Callable[..., Any], emulator: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    run_python(
        """
        import sys
        import numpy as np
        import aclnn_py as aclnn
        aclnn.reproduce(sys.argv[1])
        aclnn.emulator.fail_synchronize(507015)
        aclnn.op("aclnnAdd")(np.ones(3, np.float32), np.ones(3, np.float32), 1.0, aclnn.empty(3))
        try:
            aclnn.synchronize()
        except aclnn.DeviceFault:
            pass
        """,
        str(tmp_path),
        env=emulator(),
    )
    command = [sys.executable, "-m", "aclnn_py", "replay", str(tmp_path / "failure-0001")]
    done = subprocess.run(command, capture_output=True, text=True, env=emulator(), cwd=tmp_path)
    assert done.returncode == 1 and "it may have been another call" in done.stdout, done


def test_a_place_that_cannot_be_written(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"aclnn.reproduce: cannot make .*file"):
        aclnn.reproduce(tmp_path / "file" / "below")
    folder = tmp_path / "goes"
    with aclnn.reproduce(folder) as reproducer:
        folder.rmdir()
        with pytest.raises(aclnn.AclnnParameterError, match="161001"):
            add(None, None, None, None)
    assert reproducer.written == [] and "could not be saved" in caplog.text


class Trap:
    def __reduce__(self) -> Any:
        return (exec, ("raise SystemExit('unpickled')",))


def garbage() -> dict[str, Callable[[Path], object]]:
    def edited(**changes: Any) -> Callable[[Path], object]:
        def edit(folder: Path) -> None:
            call = json.loads((folder / "call.json").read_text())
            (folder / "call.json").write_text(json.dumps(call | changes))

        return edit

    def first(**changes: Any) -> Callable[[Path], object]:
        def edit(folder: Path) -> None:
            call = json.loads((folder / "call.json").read_text())
            call["arguments"][0] |= changes
            (folder / "call.json").write_text(json.dumps(call))

        return edit

    def trap(folder: Path) -> None:
        np.savez(folder / "arguments.npz", self=np.array([Trap()], object), other=np.ones(9, np.uint16))

    def single(folder: Path) -> None:
        with (folder / "arguments.npz").open("wb") as file:
            np.save(file, np.ones(3))

    def size_nothing_has(folder: Path) -> None:
        header = io.BytesIO()
        shape = {"descr": "<f4", "fortran_order": False, "shape": (2**60,)}
        np.lib.format.write_array_header_1_0(header, shape)
        with zipfile.ZipFile(folder / "arguments.npz", "w") as archive:
            archive.writestr("self.npy", header.getvalue() + bytes(100))

    return {
        "is no folder": lambda f: shutil.rmtree(f),
        "has no call.json": lambda f: (f / "call.json").unlink(),
        "has no arguments.npz": lambda f: (f / "arguments.npz").unlink(),
        "call.json cannot be read": lambda f: (f / "call.json").write_text("{"),
        "cannot be read: 'utf-8'": lambda f: (f / "call.json").write_bytes(b"\xff\xfe"),
        "it has no schema number": lambda f: (f / "call.json").write_text("[]"),
        "has schema 2, this version of aclnn_py reads 1": edited(schema=2),
        "op is missing or no str": edited(op=7),
        "status is missing or no int": edited(status="161002"),
        "arguments must be objects": edited(arguments=[1]),
        "the call has 0 arguments, aclnnAdd here takes": edited(arguments=[]),
        "arguments.npz cannot be read": lambda f: (f / "arguments.npz").write_bytes(b"PK\x03\x04 garbage"),
        "Object arrays cannot be loaded": trap,
        "it is a single array": single,
        "arguments.npz cannot be read: .*llocate": size_nothing_has,
        "the declaration cannot be read": edited(op="aclnnNoSuch", declaration="int main(void);"),
        "argument self cannot be read: .*FLOAT17": first(dtype="FLOAT17"),
        "are not lengths": first(shape=[3, -3]),
        "argument self cannot be read: .* strides for": first(strides=[1]),
        "elements saved": first(shape=[3, 4]),
        "has no elements 'nothing'": first(elements="nothing"),
        "argument self cannot be read": first(format="NO_SUCH"),
    }


@pytest.mark.parametrize("words", garbage())
def test_garbage_is_refused(failure: Path, words: str) -> None:
    garbage()[words](failure)
    with pytest.raises(NotAReproducer, match=words):
        Replay(failure).run()


def test_garbage_at_the_command(
    run_python: Callable[..., Any], emulator: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    assert pickle.loads  # that is what must not happen
    for folder in (tmp_path, tmp_path / "none"):
        text = replay(run_python, emulator(), folder, code=2)
        assert text.startswith("Error: ") and len(text.splitlines()) == 1


def test_tensors_of_other_formats_and_packed_types() -> None:
    x = tensor(
        (2, 2), "FLOAT", np.arange(4, dtype=np.float32), format="FRACTAL_NZ", storage_shape=(1, 1, 16, 16)
    )
    assert x.format == aclnn.aclFormat.ACL_FORMAT_FRACTAL_NZ and x.storage_shape == (1, 1, 16, 16)
    four = tensor((5,), "INT4", np.array([1, -2, 3, -4, 5], ml_dtypes.int4).view(np.uint8))
    assert four.numpy().astype(int).tolist() == [1, -2, 3, -4, 5]
    assert tensor((), "DOUBLE", np.array([2.5])).numpy() == 2.5
    assert tensor((0, 3), "BOOL").shape == (0, 3)
