"""Copies on a stream: what they keep alive. The stub copies when the stream is waited for."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import aclnn_py as aclnn


def test_a_dropped_source_and_a_dropped_target_live_until_the_copy_is_done(stub: Any) -> None:
    before = stub.live("memory")
    with aclnn.Stream() as stream:
        t = aclnn.empty(1000)
        t.copy_from(np.full(1000, 7, np.float32), stream=stream)
        gc.collect()
        scribble = [np.full(1000, 9, np.float32) for _ in range(20)]
        out = np.zeros(1000, np.float32)
        t.copy_to(out, stream)
        del t
        gc.collect()
        assert out.sum() == 0 and stub.live("memory") == before + 1
        stream.synchronize()
        assert out.tolist() == [7] * 1000 and len(scribble) == 20
    assert stub.live("memory") == before


def test_numpy_waits_for_copies_on_a_stream() -> None:
    with aclnn.Stream() as stream:
        t = aclnn.empty(4, "int4")
        t.copy_from(np.arange(4).astype(t.dtype), stream=stream)
        assert t.numpy().astype(int).tolist() == [0, 1, 2, 3]


def test_what_cannot_be_copied_on_a_stream() -> None:
    t = aclnn.zeros((2, 3))
    with aclnn.Stream() as stream:
        with pytest.raises(ValueError, match="not dense, so it cannot be filled on a stream"):
            t.T.copy_from(np.zeros((3, 2), np.float32), stream=stream)
        with pytest.raises(ValueError, match=r"not dense; use \.numpy\(\)"):
            t.T.copy_to(np.zeros((3, 2), np.float32), stream)
        with pytest.raises(ValueError, match="copy_to: array is float64"):
            t.copy_to(np.zeros((2, 3)), stream)
        with pytest.raises(ValueError, match="C-contiguous and writeable"):
            t.copy_to(np.zeros((3, 2), np.float32).T, stream)
        with pytest.raises(TypeError, match="must be a NumPy array"):
            t.copy_to([0], stream)  # type: ignore[arg-type]


def test_memory_that_finished_calls_hold_is_given_back_before_memory_runs_out() -> None:
    copy = aclnn.op("aclnnStubCopy")
    out = aclnn.empty(20_000_000, np.int8)
    for i in range(10):  # each call keeps 20 MB until the stream was waited for; the limit is 100 MB
        copy(aclnn.tensor(np.full(20_000_000, i, np.int8)), 0, out)
    assert out.numpy()[-1] == 9
