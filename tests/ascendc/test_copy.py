"""DataCopy, DataCopyPad and atomic copies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

DTYPES = ("float32", "float16")
# rows, blocks of 32 bytes in a row, gaps of src and dst
SHAPES = [(1, 1, 0, 0), (3, 2, 1, 0), (4, 1, 0, 2), (2, 3, 2, 5), (0, 4, 0, 0), (5, 0, 1, 1)]
BLOCK_PROBES = [f"copy_{way}_{dtype}" for way in ("in", "out") for dtype in DTYPES] + ["copy_within_float32"]


def rows(start: int, count: int, length: int, pitch: int) -> np.ndarray:
    """Byte index of each row's bytes."""
    return start + np.arange(count)[:, None] * pitch + np.arange(length)


def random(rng: np.random.Generator, dtype: str, count: int) -> np.ndarray:
    return rng.integers(-100, 100, count).astype(dtype)


@pytest.mark.parametrize("probe", ["copy_in", "copy_out", "copy_within"])
def test_count(twin: Any, rng: Any, probe: str) -> None:
    src, dst = random(rng, "float32", 128), random(rng, "float32", 128)
    expected = dst.copy()
    expected[:72] = src[:72]
    twin(f"{probe}_float32", inputs=[src], out=[dst], numbers=[0, 72])
    np.testing.assert_array_equal(dst, expected)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("probe", BLOCK_PROBES)
def test_blocks(twin: Any, rng: Any, probe: str, shape: tuple[int, ...]) -> None:
    count, length, src_gap, dst_gap = shape
    dtype = probe.rpartition("_")[2]
    src, dst = random(rng, dtype, 1024), random(rng, dtype, 1024)
    expected = dst.copy()
    to = rows(0, count, length * 32, (length + dst_gap) * 32)
    expected.view(np.uint8)[to] = src.view(np.uint8)[rows(0, count, length * 32, (length + src_gap) * 32)]
    twin(probe, inputs=[src], out=[dst], numbers=[1, *shape])
    np.testing.assert_array_equal(dst, expected)


# rows, elements of a row, gaps of src (bytes in GM) and dst (blocks in UB)
PADS = [(1, 8, 0, 0), (3, 5, 8, 0), (4, 1, 0, 1), (2, 77, 12, 3), (1, 20, 0, 0)]


@pytest.mark.parametrize("pad", [(False, 0, 0), (True, 0, 3), (True, 2, 0), (True, 4, 4)])
@pytest.mark.parametrize("shape", PADS)
@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
@pytest.mark.parametrize("old", [0, 1])
def test_pad_in(
    twin: Any, rng: Any, dtype: str, shape: tuple[int, ...], pad: tuple[bool, int, int], old: int
) -> None:
    """Each row fills whole blocks of UB, with the padding given or that of the pad register."""
    count, elements, src_gap, dst_gap = shape
    is_pad, left, right = pad
    size = np.dtype(dtype).itemsize
    src, dst = random(rng, dtype, 1024), random(rng, dtype, 2048)
    expected = dst.copy()
    filled = -(-(elements + left + right) * size // 32) * 32 // size
    for row in range(count):
        start = row * (filled + dst_gap * 32 // size)
        line = np.full(filled, 7 if is_pad else 9, dtype)
        first = row * (elements * size + src_gap) // size
        line[left : left + elements] = src[first : first + elements]
        expected[start : start + filled] = line
    numbers = [old, count, elements * size, src_gap, dst_gap, is_pad, left, right]
    twin(f"pad_in_{dtype}", inputs=[src], out=[dst], numbers=numbers, reals=[7, 9])
    np.testing.assert_array_equal(dst, expected)


@pytest.mark.parametrize("shape", [(1, 3, 0, 0), (3, 5, 0, 4), (2, 20, 1, 0), (4, 1, 2, 16)])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", [2, 3])
def test_pad_out(twin: Any, rng: Any, dtype: str, shape: tuple[int, ...], form: int) -> None:
    """Each row is read from a block of UB; between rows of global memory nothing is written."""
    count, elements, src_gap, dst_gap = shape
    size = np.dtype(dtype).itemsize
    length = elements * size
    src, dst = random(rng, dtype, 1024), random(rng, dtype, 1024)
    expected = dst.copy()
    from_pitch = -(-length // 32) * 32 + src_gap * 32
    to = rows(0, count, length, length + dst_gap)
    expected.view(np.uint8)[to] = src.view(np.uint8)[rows(0, count, length, from_pitch)]
    twin(f"copy_out_{dtype}", inputs=[src], out=[dst], numbers=[form, count, length, src_gap, dst_gap])
    np.testing.assert_array_equal(dst, expected)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("op", range(3))
@pytest.mark.parametrize("dtype", ["float32", "float16", "int32"])
def test_atomic(twin: Any, rng: Any, dtype: str, op: int, threads: int) -> None:
    src, dst = random(rng, dtype, 33), random(rng, dtype, 33)
    expected = [dst + src * 8, np.maximum(dst, src), np.minimum(dst, src)][op].astype(dtype)
    twin(f"atomic_{dtype}", inputs=[src], out=[dst], numbers=[op], blocks=8, threads=threads)
    np.testing.assert_array_equal(dst, expected)


def test_atomic_of_another_dtype(twin: Any) -> None:
    src, dst = np.zeros(8, np.int32), np.zeros(8, np.int32)
    twin.refuses("DataCopy", "SetAtomicAdd", name="atomic_wrong_dtype", inputs=[src], out=[dst])
