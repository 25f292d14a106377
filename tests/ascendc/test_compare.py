"""Compare, Compares, CompareScalar, GatherMask and CreateVecIndex against their NumPy meaning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

LT, GT, EQ, LE, GE, NE = range(6)
RELATIONS = {
    LT: np.less,
    GT: np.greater,
    EQ: np.equal,
    LE: np.less_equal,
    GE: np.greater_equal,
    NE: np.not_equal,
}
COMPARE, COMPARES, COMPARE_SCALAR = range(3)


def values(rng: np.random.Generator, dtype: str, count: int) -> np.ndarray:
    """Few different ones, so that equal ones are frequent; with NaN, infinities and both zeros."""
    if dtype == "int32":
        return rng.integers(-3, 4, count, dtype=np.int32)
    few = np.array([-np.inf, -1.5, -0.0, 0.0, 6e-8, 1.5, 2.25, np.inf, np.nan], dtype)
    return few[rng.integers(0, len(few), count)]


def bits(flags: np.ndarray) -> np.ndarray:
    return np.packbits(flags, bitorder="little")


@pytest.mark.parametrize("form", [COMPARE, COMPARES, COMPARE_SCALAR])
@pytest.mark.parametrize("mode", RELATIONS)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_comparisons(twin: Any, rng: np.random.Generator, dtype: str, mode: int, form: int) -> None:
    count = 256 // np.dtype(dtype).itemsize * 3
    a, b = values(rng, dtype, count), values(rng, dtype, count)
    scalar = np.array([1.5], dtype)
    out = np.full(count // 8 + 4, 0xA5, np.uint8)
    number = int(scalar.view(np.uint16 if dtype == "float16" else np.uint32)[0])
    twin(f"compare_{dtype}", inputs=[a, b], out=[out], numbers=[mode, count, form, number])
    expected = RELATIONS[mode](a, b if form == COMPARE else scalar)
    np.testing.assert_array_equal(out[: count // 8], bits(expected))
    assert (out[count // 8 :] == 0xA5).all()


def test_int32_compares_with_eq_only(twin: Any, rng: np.random.Generator) -> None:
    a = values(rng, "int32", 128)
    out = np.zeros(32, np.uint8)
    twin("compare_int32", inputs=[a, a], out=[out], numbers=[EQ, 128, COMPARES, 2])
    np.testing.assert_array_equal(out[:16], bits(a == 2))
    twin.refuses(
        "Compares: int32_t can only be compared with EQ",
        name="compare_int32",
        inputs=[a, a],
        out=[out],
        numbers=[GT, 128, COMPARES, 2],
    )


def test_comparisons_take_whole_repeats(twin: Any) -> None:
    a, out = np.zeros(128, np.float32), np.zeros(32, np.uint8)
    call: dict[str, Any] = {"inputs": [a, a], "out": [out]}
    twin.refuses(
        "Compare: 65 elements of 4 bytes are not whole repeats of 256 bytes",
        name="compare_float32",
        numbers=[EQ, 65, COMPARE, 0],
        **call,
    )
    twin.refuses(
        "CompareScalar", "src0", name="compare_float32", numbers=[EQ, 192, COMPARE_SCALAR, 0], **call
    )


@pytest.mark.parametrize("dtype, unsigned", [("int16", np.uint16), ("float32", np.uint32)])
@pytest.mark.parametrize("count", [1, 16, 70, 300])
def test_gather_mask_counts_elements(
    twin: Any, rng: np.random.Generator, dtype: str, unsigned: Any, count: int
) -> None:
    src = rng.integers(-1000, 1000, 512).astype(dtype)
    pattern = rng.integers(0, np.iinfo(unsigned).max, 64, dtype=unsigned, endpoint=True)
    out, kept = np.full(512, 7, dtype), np.zeros(8, np.uint32)
    twin(f"gather_mask_{dtype}", inputs=[src, pattern], out=[out, kept], numbers=[1, count, 1, 1, 8, 8])
    flags = np.unpackbits(pattern.view(np.uint8), bitorder="little")[:count].astype(bool)
    expected = src[:count][flags]
    assert kept[0] == len(expected)
    np.testing.assert_array_equal(out[: len(expected)], expected)
    assert (out[len(expected) :] == 7).all()


def test_gather_mask_repeats(twin: Any, rng: np.random.Generator) -> None:
    """The documented example: 70 elements twice, 4 blocks apart, with the same bits."""
    src = np.arange(1, 257, dtype=np.float32)
    pattern = np.full(32, 0xAAAAAAAA, np.uint32)
    out, kept = np.zeros(256, np.float32), np.zeros(8, np.uint32)
    twin("gather_mask_float32", inputs=[src, pattern], out=[out, kept], numbers=[1, 70, 1, 2, 4, 0])
    expected = [*range(2, 71, 2), *range(34, 103, 2)]
    assert out[: kept[0]].tolist() == expected

    twin("gather_mask_float32", inputs=[src, pattern], out=[out, kept], numbers=[0, 0, 1, 2, 8, 1])
    assert out[: kept[0]].tolist() == list(range(2, 129, 2))


def test_gather_mask_checks_its_operands(twin: Any) -> None:
    src, pattern = np.ones(64, np.int16), np.full(16, 0xFFFF, np.uint16)
    small, kept = np.zeros(16, np.int16), np.zeros(8, np.uint32)
    call: dict[str, Any] = {"name": "gather_mask_int16", "inputs": [src, pattern]}
    twin.refuses("dst has room for", out=[small, kept], numbers=[1, 64, 1, 1, 8, 8], **call)
    room = np.zeros(256, np.int16)
    twin.refuses("GatherMask", "src0", out=[room, kept], numbers=[1, 65, 1, 1, 8, 8], **call)
    twin.refuses("GatherMask", "src1Pattern", out=[room, kept], numbers=[1, 64, 1, 2, 0, 8], **call)


@pytest.mark.parametrize("dtype", ["int16", "float16", "int32", "float32"])
@pytest.mark.parametrize("first, count", [(0, 128), (-5, 77), (100, 1)])
def test_create_vec_index(twin: Any, dtype: str, first: int, count: int) -> None:
    out = np.full(160, 3, dtype)
    twin(f"index_{dtype}", out=[out], numbers=[first, count])
    np.testing.assert_array_equal(out[:count], np.arange(first, first + count).astype(dtype))
    assert (out[count:] == 3).all()
