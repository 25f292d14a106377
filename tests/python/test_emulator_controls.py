"""aclnn_py.emulator: each control changes what the emulator does, and on CANN does nothing."""

import os
import subprocess
import sys

import numpy as np
import pytest

import aclnn_py as aclnn
from aclnn_py import emulator


@pytest.fixture
def controls():
    if not emulator.available():
        pytest.skip("the libraries in use are not the emulator's")
    yield
    emulator.set_checks()
    emulator.set_stream_mode("async")
    emulator.fail_allocation(0)
    emulator.fail_synchronize(0)


def add(a, b):
    out = aclnn.empty(a.shape, a.dtype)
    aclnn.op("aclnnAdd")(a, b, 1, out)
    return out


def test_live_objects_count(controls):
    before = emulator.live_objects()
    assert tuple(before) == emulator.KINDS
    made = aclnn.tensor(np.ones(5, np.float32))
    after = emulator.live_objects()
    assert after["tensor"] == before["tensor"] + 1
    assert after["device_memory"] == before["device_memory"] + 1
    assert "tensor" in emulator.leak_report()
    made.close()
    assert emulator.live_objects() == before


def test_allocation_fails_once(controls):
    emulator.fail_allocation(1)
    # The binding empties its workspaces and tries once more, and that succeeds.
    assert aclnn.tensor(np.ones(3, np.float32)).numpy().tolist() == [1, 1, 1]


def test_operator_fails_in_either_phase(controls):
    a = aclnn.tensor(np.ones(4, np.float32))
    for phase in (1, 2):
        with emulator.failing_operator("aclnnAdd", phase, 561103) as works:
            assert works
            with pytest.raises(aclnn.AclnnInnerError, match="561103"):
                add(a, a)
        assert add(a, a).numpy().tolist() == [2, 2, 2, 2]


def test_synchronize_fails_and_other_streams_work(controls):
    emulator.fail_synchronize(507035)
    with pytest.raises(aclnn.DeviceFault, match="507035"), aclnn.Stream() as stream:
        stream.synchronize()
    with aclnn.Stream() as other:
        other.synchronize()


def test_delayed_streams_give_the_same(controls):
    emulator.set_stream_mode("delayed")
    a = np.arange(100, dtype=np.float32)
    with aclnn.Stream() as stream:
        left, right, out = aclnn.tensor(a), aclnn.tensor(2 * a), aclnn.empty((100,), "float32")
        aclnn.op("aclnnAdd")(left, right, 1, out, stream=stream)
        stream.synchronize()
        np.testing.assert_array_equal(out.numpy(), 3 * a)


def test_call_log(controls, tmp_path):
    log = tmp_path / "calls"
    emulator.log_calls(log)
    add(aclnn.tensor(np.ones(4, np.float32)), aclnn.tensor(np.ones(4, np.float32))).numpy()
    emulator.log_calls(None)
    names = [line.split()[2] for line in log.read_text().splitlines()]
    assert "aclnnAdd" in " ".join(names) or "aclnnAddGetWorkspaceSize" in names


def test_wrong_names_are_refused(controls):
    with pytest.raises(aclnn.AclRuntimeError, match="100000"):
        emulator.set_checks("everything")
    with pytest.raises(aclnn.AclRuntimeError, match="100000"):
        emulator.set_stream_mode("sometimes")


def test_inert_without_the_controls(controls, tmp_path):
    """A root whose libraries lack the controls, as CANN's do."""
    lib64 = tmp_path / "lib64"
    lib64.mkdir()
    source = tmp_path / "plain.c"
    source.write_text("int aclInit(const char *path) { (void)path; return 0; }\n")
    built = subprocess.run(["cc", "-shared", "-fPIC", source, "-o", lib64 / "libascendcl.so"], check=False)
    if built.returncode != 0:
        pytest.skip("needs a C compiler")
    (lib64 / "libnnopbase.so").symlink_to(lib64 / "libascendcl.so")
    code = "from aclnn_py import emulator as e;"
    code += "print(e.available(), e.live_objects(), repr(e.leak_report()), e.set_checks(), e.log_calls(None))"
    environment = os.environ | {"ASCEND_HOME_PATH": str(tmp_path), "ACLNN_PY_BACKEND": "cann"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "False {} '' False False"
