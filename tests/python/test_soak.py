"""A million calls: memory stays flat and nothing is left, failing calls included."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable

import numpy as np
import pytest

import aclnn_py as aclnn

KINDS = ("tensor", "scalar", "array", "list", "executor", "device_memory")


def resident() -> int:
    """Bytes of this process in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def live_objects() -> Callable[[], dict[str, int]]:
    library = ctypes.CDLL(str(aclnn.which("aclrtMalloc").library))
    if not hasattr(library, "aclemuLiveObjects"):
        pytest.skip("CANN does not count objects")
    count = library.aclemuLiveObjects
    count.restype, count.argtypes = ctypes.c_int64, [ctypes.c_char_p]
    return lambda: {kind: count(kind.encode()) for kind in KINDS}


def settled(count: Callable[[], dict[str, int]]) -> dict[str, int]:
    aclnn.synchronize()
    gc.collect()
    aclnn.current_stream().release_workspace()
    return count()


def calls(times: int) -> None:
    """All kinds of calls: kept tensors, temporaries of every kind, plans, and calls that fail in each way."""
    add = aclnn.op("aclnnAdd")
    x, y, out, wrong = aclnn.zeros(64), aclnn.zeros(64), aclnn.empty(64), aclnn.empty(63)
    alpha, array = aclnn.Scalar(1.0), np.ones(64, np.float32)
    with add.plan(x, y, alpha, out) as plan:
        for i in range(times):
            kind = i % 20
            if kind < 10:
                add(x, y, alpha, out)
            elif kind < 15:
                plan()
            elif kind == 15:
                add(x, array, 2, out)
            elif kind == 16:
                add(x[:32], y[32:], 0.5, out[16:48])
            elif kind == 17:
                with pytest.raises(aclnn.AclnnParameterError):
                    add(x, y, alpha, wrong)
            elif kind == 18:
                with pytest.raises(TypeError):
                    add(x, y, "1", out)
            else:
                with pytest.raises(aclnn.AclnnParameterError):
                    add(x, None, alpha, out)


def soak(times: int) -> None:
    try:
        aclnn.op("aclnnAdd")
    except aclnn.LibraryNotFound:
        pytest.skip("the libraries in use have no aclnnAdd")
    count = live_objects()
    before = settled(count)
    calls(max(2000, times // 10))  # pools and caches reach their size
    assert settled(count) == before
    start = resident()
    calls(times)
    assert settled(count) == before
    assert resident() - start < 8 << 20


def test_ten_thousand_calls(any_root: None) -> None:
    soak(10_000)


@pytest.mark.slow
def test_a_million_calls(any_root: None) -> None:
    soak(1_000_000)
