"""Messages that people needed: what the emulator's refusals say through the binding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]
Emulator = Callable[..., dict[str, str]]


def test_a_bare_100000_names_the_argument(run_python: Run, emulator: Emulator) -> None:
    source = """
        import ctypes
        import aclnn_py as aclnn
        from aclnn_py.abi import acl
        from aclnn_py.status import check
        aclnn.Device(0).use()
        address = ctypes.c_void_p()
        for call in (
            lambda: acl.aclrtMalloc(ctypes.byref(address), 0, 0),
            lambda: acl.aclrtMalloc(None, 8, 0),
            lambda: acl.aclrtFree(None),
        ):
            try:
                check(call(), "the call")
            except aclnn.AclRuntimeError as error:
                print(error.code, error.headline)
                assert "wrapper" in str(error)
    """
    lines = run_python(source, env=emulator()).stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["100000"] * 3
    assert [word in line for word, line in zip(("size", "devPtr", "devPtr"), lines)] == [True] * 3


def test_a_fault_at_an_event_tells_what_was_before_it(run_python: Run, emulator: Emulator) -> None:
    source = """
        import numpy as np
        import aclnn_py as aclnn
        def step(x, out):
            aclnn.op("aclnnAdd")(x, x, 1.0, out)
        x, out, event = aclnn.zeros(4), aclnn.empty(4), aclnn.Event()
        step(x, out)
        event.record()
        aclnn.op("aclnnCast")(x, aclnn.aclDataType.ACL_FLOAT, out)
        print(event._launched_before())
    """
    line = run_python(source, env=emulator()).stdout
    assert (
        line.startswith("('aclnnAdd  self FLOAT [4], other FLOAT [4], out FLOAT [4]  at <string>:")
        and "step" in line
    )
    assert "Cast" not in line


@pytest.mark.parametrize("code", [507014, 507015, 507034, 507035, 507048])
def test_an_injected_fault_names_the_function_of_the_user(
    run_python: Run, emulator: Emulator, code: int
) -> None:
    source = f"""
        import numpy as np
        import aclnn_py as aclnn
        def layer():
            x, phi = np.ones((1, 1, 4, 128), np.float16), np.ones((24, 512), np.float32)
            return aclnn.ops.mhc_pre_sinkhorn(x, phi, np.ones(3, np.float32), np.ones(24, np.float32))
        result = layer()
        aclnn.emulator.fail_synchronize({code})
        try:
            result.hin.numpy()
        except aclnn.DeviceFault as error:
            print(error)
        try:
            aclnn.synchronize()
        except aclnn.DeviceFault as error:
            print("again", error.code, "in fault since" in str(error))
    """
    text = run_python(source, env=emulator()).stdout
    assert f"returned {code} ACL_ERROR_RT_" in text and "ACLNN_PY_BLOCKING=1" in text
    assert "aclnnMhcPreSinkhorn  x FLOAT16 [1, 1, 4, 128]" in text and "in layer" in text
    assert f"again {code} True" in text
