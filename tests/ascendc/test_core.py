"""Cores, queues, memory and events; and the mistakes that must be refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

AIV_ONLY, AIC_ONLY, MIX_1_1, MIX_1_2 = range(4)


@pytest.mark.parametrize("task,aivs", [(AIV_ONLY, 1), (AIC_ONLY, 0), (MIX_1_1, 1), (MIX_1_2, 2)])
def test_identity(twin: Any, task: int, aivs: int) -> None:
    blocks = 3
    aics = 0 if task == AIV_ONLY else blocks
    out = np.full((aics + blocks * aivs, 6), -1, np.int64)
    twin("identity", out=[out], numbers=[aics], task=task, blocks=blocks, threads=2, key=7)
    ratio = max(aivs, 1)
    rows = [[i, blocks, 0, ratio, 1, 1] for i in range(aics)]
    rows += [[i, blocks, i % aivs, ratio, 2, 1] for i in range(blocks * aivs)]
    np.testing.assert_array_equal(out, rows)


def test_tiling_data(twin: Any) -> None:
    tiling = np.zeros(1, [("rows", np.int32), ("scale", np.float32)])
    tiling["rows"], tiling["scale"] = 6, 0.5
    out = np.zeros(1, np.float32)
    twin("tiling_data", inputs=[tiling.view(np.uint8)], out=[out])
    assert out[0] == 3


def test_queues(twin: Any, rng: Any) -> None:
    src = rng.standard_normal(64 * 9).astype(np.float32)
    dst = np.zeros_like(src)
    twin("queues", inputs=[src], out=[dst])
    np.testing.assert_array_equal(dst, src + 1)


def test_event_ids(twin: Any) -> None:
    out = np.zeros(5, np.int64)
    twin("event_ids", out=[out])
    assert out.tolist() == [0, 0, 1, 2, 0]
    twin.refuses("FetchEventID", "taken", name="event_ids", out=[out], numbers=[1])


@pytest.mark.parametrize(
    "mistake,fragments",
    [
        (0, ("DeQue", "empty")),
        (1, ("EnQue", "depth is 1")),
        (2, ("AllocTensor", "2 buffers", "in use")),
        (3, ("FreeTensor", "free")),
        (4, ("EnQue", "not one of the 2 buffers")),
        (5, ("EnQue", "not one of")),
        (6, ("FreeTensor", "still in the queue")),
        (7, ("AllocTensor", "InitBuffer")),
        (8, ("TBuf", "InitBuffer")),
        (9, ("TBuf", "68 bytes")),
        (10, ("TBuf", "offset 64")),
        (11, ("AllocTensor", "8 live tensors")),
    ],
)
def test_queue_mistakes(twin: Any, mistake: int, fragments: tuple[str, ...]) -> None:
    twin.refuses("probe: AIV 0 (block 0)", *fragments, name="queue_mistake", numbers=[mistake])


def test_unified_buffer_is_as_large_as_on_the_chip(twin: Any) -> None:
    usable = 196608 - 8192
    twin("memory3", numbers=[32768, 65536, usable - 2 * 32768 - 65536])
    message = twin.refuses("InitBuffer", "VECOUT", "188416", name="memory3", numbers=[32768, 65536, usable])
    assert "VECIN" in message and "2 x 32768" in message  # who holds what
    assert "[  65536,  131072) VECCALC TBuf" in message


MISTAKES: list[tuple[int, tuple[str, ...]]] = [
    (0, ("Add: dst needs 260 bytes", "only 256")),
    (1, ("Add: src0 starts at UB address 496", "32 bytes")),
    (2, ("Add: dst starts at UB address 4", "32 bytes")),
    (3, ("Add: repeat 256", "[0, 255]")),
    (4, ("Add: mask 65", "64 lanes")),
    (5, ("Add: mask word 1", "64 lanes")),
    (6, ("Add: dst needs 512 bytes",)),
    (7, ("Add: src1", "without memory")),
    (8, ("Add: src0 is in L1", "UB")),
    (9, ("Add: dst starts 32 bytes into src0",)),
    (10, ("Add: the block stride of dst is 0",)),
    (11, ("DataCopy: 63 elements are 252 bytes", "DataCopyPad")),
    (12, ("DataCopy: dst needs 288 bytes",)),
    (13, ("DataCopy: src covers bytes", "global buffer, which has 4096")),
    (14, ("DataCopy: src", "SetGlobalBuffer")),
    (15, ("GetValue(64)", "64 elements")),
    (16, ("SetValue(64)",)),
    (17, ("offset 65", "64 elements")),
    (18, ("SetSize: 65",)),
    (19, ("Cast: src needs 260",)),
    (20, ("Cast: round mode 1",)),
    (21, ("WholeReduceSum: dst needs 12",)),
    (22, ("Brcb: dst needs 512",)),
    (24, ("SetFlag: event id 8",)),
    (25, ("PipeBarrier: PIPE_S",)),
    (26, ("GlobalTensor", "SetValue")),
    (27, ("Cast: dst starts 0 bytes into src",)),
    (28, ("Add: count -1",)),
    (29, ("TransDataTo5HD: src[0]",)),
    (30, ("LoadData: a cube instruction on a vector core",)),
    (31, ("DataCopyPad: blockCount 1", "blockLen 6")),
    (32, ("DataCopyPad: leftPadding 9",)),
    (33, ("ReleaseEventID: event id 0",)),
    (34, ("C++ exception: something else",)),
]


@pytest.mark.parametrize("mistake,fragments", MISTAKES)
def test_mistakes(twin: Any, mistake: int, fragments: tuple[str, ...]) -> None:
    gm = np.zeros(1024, np.float32)
    twin.refuses("probe: AIV 0 (block 0): ", *fragments, name="mistake", inputs=[gm], numbers=[mistake])


def test_waiting_for_an_event_nobody_set(twin: Any) -> None:
    gm = np.zeros(1024, np.float32)
    twin.refuses("WaitFlag: event id 3", kind="AIV_TIMEOUT", name="mistake", inputs=[gm], numbers=[23])


@pytest.mark.parametrize(
    "mistake,fragments",
    [
        (0, ("Add: a vector instruction on a cube core",)),
        (1, ("LoadData: dst starts at L0A address 32", "512 bytes")),
        (2, ("LoadData: src needs 4608",)),
        (3, ("LoadData: ifTranspose", "32 bits")),
        (4, ("Mmad: fm needs 1536",)),
        (5, ("Mmad: filter needs 1536",)),
        (6, ("Mmad: dst starts at L0C address 64",)),
        (7, ("Mmad: fm is in L0B",)),
        (8, ("DataCopy from L0C", "SetFixpipeNz2ndFlag")),
        (9, ("Fixpipe: srcStride 8",)),
        (10, ("Mmad: cmatrixSource",)),
        (11, ("Mmad: m 4096",)),
    ],
)
def test_cube_mistakes(twin: Any, mistake: int, fragments: tuple[str, ...]) -> None:
    gm = np.zeros(1024, np.float32)
    call: dict[str, Any] = {"inputs": [gm], "numbers": [mistake], "task": AIC_ONLY}
    twin.refuses("probe: AIC 0 (block 0): ", *fragments, kind="AIC_EXCEPTION", name="cube_mistake", **call)
