"""Reductions: binary trees over neighbours, and extremes with their index."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

SUM, MAX, MIN, BLOCK_SUM, BLOCK_MAX, BLOCK_MIN, PAIR_SUM, REPEAT_SUM, ALL_SUM, ALL_MAX, ALL_MIN = range(11)
COUNT, LANES, BITS = range(3)
VALUE_INDEX, INDEX_VALUE, ONLY_VALUE, ONLY_INDEX = range(4)
DTYPES = ("float32", "float16")
MASKS = [
    (LANES, 0, 0),
    (LANES, 5, 0),
    (BITS, 0x00F0_0000_8001_0F06, 0x3),
    (BITS, (1 << 64) - 1, (1 << 64) - 1),
]


def tree(values: np.ndarray, groups: int = 1) -> np.ndarray:
    """Sums neighbours along the last axis, in its dtype, until `groups` are left."""
    while values.shape[-1] > groups:
        with np.errstate(over="ignore"):
            values = (values[..., 0::2].astype(np.float32) + values[..., 1::2].astype(np.float32)).astype(
                values.dtype
            )
    return values


def data(rng: np.random.Generator, dtype: str) -> np.ndarray:
    return rng.standard_normal(8192 // np.dtype(dtype).itemsize).astype(dtype)


def masked(
    layout: Any, src: np.ndarray, mask: Any, repeats: int, block: int, repeat: int, fill: float
) -> Any:
    """(lanes that are on, [repeat][lane] with `fill` where off)."""
    form, low, high = mask
    size = src.dtype.itemsize
    most = 256 // size
    if size == 4:
        high = 0
    on = np.arange(low or most) if form == LANES else layout.bits_to_lanes(low, high, most)
    full = np.full((repeats, most), fill, src.dtype)
    full[:, on] = src[layout.walk(size, on, repeats, block, repeat)]
    numbers = [form, len(on) if form == LANES else 0, low if form == BITS else 0, high if form == BITS else 0]
    return on, full, numbers


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "repeats,step,block,repeat", [(1, 1, 1, 8), (9, 1, 1, 8), (4, 3, 2, 17), (5, 2, 1, 0)]
)
def test_whole_sum(
    twin: Any, layout: Any, rng: Any, dtype: str, mask: Any, repeats: int, step: int, block: int, repeat: int
) -> None:
    src, dst = data(rng, dtype), data(rng, dtype)[:64]
    _, full, numbers = masked(layout, src, mask, repeats, block, repeat, 0)
    expected = dst.copy()
    expected[np.arange(repeats) * step] = tree(full)[:, 0]
    twin(f"reduce_{dtype}", inputs=[src], out=[dst], numbers=[SUM, *numbers, repeats, step, block, repeat])
    np.testing.assert_array_equal(dst, expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_repeat_sum(twin: Any, layout: Any, rng: Any, dtype: str) -> None:
    src, dst = data(rng, dtype), data(rng, dtype)[:64]
    _, full, numbers = masked(layout, src, (LANES, 50, 0), 6, 1, 8, 0)
    expected = dst.copy()
    expected[:6] = tree(full)[:, 0]
    twin(f"reduce_{dtype}", inputs=[src], out=[dst], numbers=[REPEAT_SUM, *numbers, 6, 1, 1, 8])
    np.testing.assert_array_equal(dst, expected)


@pytest.mark.parametrize("order", range(4))
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", [MAX, MIN])
def test_whole_extreme(twin: Any, layout: Any, rng: Any, dtype: str, mask: Any, op: int, order: int) -> None:
    src = rng.integers(-20, 20, 8192 // np.dtype(dtype).itemsize).astype(dtype)  # ties: the first one counts
    bits = np.uint32 if dtype == "float32" else np.uint16
    dst = np.zeros(64, dtype)
    repeats = 5
    on, _, numbers = masked(layout, src, mask, repeats, 2, 17, 0)
    rows = src[layout.walk(src.dtype.itemsize, on, repeats, 2, 17)]
    best = rows.argmax(1) if op == MAX else rows.argmin(1)
    value, index = rows[np.arange(repeats), best], on[best]
    expected = dst.copy()
    at = np.arange(repeats)
    if order == ONLY_VALUE:
        expected[at] = value
    elif order == ONLY_INDEX:
        expected.view(np.uint32)[at] = index
    else:
        expected[at * 2 + (order == INDEX_VALUE)] = value
        expected.view(bits)[at * 2 + (order == VALUE_INDEX)] = index
    twin(f"reduce_{dtype}", inputs=[src], out=[dst], numbers=[op, *numbers, repeats, 1, 2, 17, order])
    np.testing.assert_array_equal(dst.view(bits), expected.view(bits))


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", [BLOCK_SUM, BLOCK_MAX, BLOCK_MIN, PAIR_SUM])
def test_groups(twin: Any, layout: Any, rng: Any, dtype: str, mask: Any, op: int) -> None:
    """Groups without a lane that is on keep what dst had."""
    src, dst = data(rng, dtype), data(rng, dtype)
    most = 256 // src.dtype.itemsize
    groups = most // 2 if op == PAIR_SUM else 8
    fill = {BLOCK_MAX: -np.inf, BLOCK_MIN: np.inf}.get(op, 0)
    on, full, numbers = masked(layout, src, mask, 3, 1, 9, fill)
    if op in (BLOCK_MAX, BLOCK_MIN):
        grouped = full.reshape(3, groups, -1)
        result = grouped.max(2) if op == BLOCK_MAX else grouped.min(2)
    else:
        result = tree(full, groups)
    expected = dst.copy()
    written = np.unique(on // (most // groups))
    at = np.arange(3)[:, None] * 2 * groups + written
    expected[at] = result[:, written]
    twin(f"reduce_{dtype}", inputs=[src], out=[dst], numbers=[op, *numbers, 3, 2, 1, 9])
    np.testing.assert_array_equal(dst, expected)


@pytest.mark.parametrize("count", [1, 64, 100, 1000])
@pytest.mark.parametrize("dtype", DTYPES)
def test_sum_of_count(twin: Any, rng: Any, dtype: str, count: int) -> None:
    """A tree in each repeat; the repeats' sums one after the other."""
    src, dst = data(rng, dtype), np.zeros(16, dtype)
    lanes = 256 // src.dtype.itemsize
    padded = np.zeros(-(-count // lanes) * lanes, dtype)
    padded[:count] = src[:count]
    parts = tree(padded.reshape(-1, lanes))[:, 0]
    total = parts[0]
    for part in parts[1:]:
        total = (np.float32(total) + np.float32(part)).astype(dtype)
    twin(f"reduce_{dtype}", inputs=[src], out=[dst], numbers=[ALL_SUM, COUNT, count])
    assert dst[0] == total
    assert dst[1] == total  # GetAccVal


@pytest.mark.parametrize("form", [LANES, BITS])
@pytest.mark.parametrize("repeats", [1, 7, 70])
@pytest.mark.parametrize("dtype", DTYPES)
def test_sum_of_repeats(twin: Any, layout: Any, rng: Any, dtype: str, repeats: int, form: int) -> None:
    """The repeats' sums form trees again."""
    src, dst = data(rng, dtype), np.zeros(16, dtype)
    mask = (LANES, 31, 0) if form == LANES else (BITS, 0xFFFF_0000_1111, 0)
    _, full, numbers = masked(layout, src, mask, repeats, 1, 3, 0)
    lanes = 256 // src.dtype.itemsize
    values = tree(full)[:, 0]
    while len(values) > 1:
        padded = np.zeros(-(-len(values) // lanes) * lanes, dtype)
        padded[: len(values)] = values
        values = tree(padded.reshape(-1, lanes))[:, 0]
    twin(f"reduce_{dtype}", inputs=[src], out=[dst], numbers=[ALL_SUM, *numbers, repeats, 0, 1, 3])
    assert dst[0] == values[0]


@pytest.mark.parametrize("form,count", [(COUNT, 1), (COUNT, 777), (LANES, 40), (BITS, 0)])
@pytest.mark.parametrize("with_index", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", [ALL_MAX, ALL_MIN])
def test_extreme_of_all(
    twin: Any, layout: Any, rng: Any, dtype: str, op: int, form: int, count: int, with_index: bool
) -> None:
    src = rng.integers(-300, 300, 8192 // np.dtype(dtype).itemsize).astype(dtype)
    dst = np.zeros(16, dtype)
    size, low = src.dtype.itemsize, 0xF0_0000_0F00
    most = 256 // size
    if form == COUNT:
        flat, index = src[:count], np.arange(count)
    else:
        lanes = np.arange(count) if form == LANES else layout.bits_to_lanes(low, 0, most)
        at = layout.walk(size, lanes, 6, 1, 9)
        flat, index = src[at].ravel(), (np.arange(6)[:, None] * most + lanes).ravel()
    best = flat.argmax() if op == ALL_MAX else flat.argmin()
    twin(
        f"reduce_{dtype}", inputs=[src], out=[dst], numbers=[op, form, count, low, 0, 6, 0, 1, 9, with_index]
    )
    assert dst[0] == flat[best]
    assert dst.view(np.uint32 if size == 4 else np.uint16)[1] == (index[best] if with_index else 0)
