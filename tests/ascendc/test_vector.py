"""Element-wise instructions against their NumPy meaning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

COUNT, LANES, BITS, REGISTER = range(4)
DTYPES = {"float32": np.float32, "float16": np.float16, "int32": np.int32, "int16": np.int16}
INTEGERS = ("int32", "int16")


def values(rng: np.random.Generator, dtype: str, count: int) -> np.ndarray:
    """Random data; integers use their whole range."""
    if dtype in INTEGERS:
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, count, dtype=dtype, endpoint=True)
    return (rng.standard_normal(count) * 8).astype(dtype)


def wide(array: np.ndarray) -> np.ndarray:
    """Halves are computed in float and rounded once."""
    return array.astype(np.float32) if array.dtype == np.float16 else array


def fused(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """a * b + c with one rounding, in the dtype of c (exact enough in long double)."""
    exact = a.astype(np.longdouble) * b.astype(np.longdouble) + c.astype(np.longdouble)
    return exact.astype(np.float32)


BINARY: list[tuple[str, int, tuple[str, ...], Any]] = [
    ("Add", 0, tuple(DTYPES), lambda a, b, d: a + b),
    ("Sub", 1, tuple(DTYPES), lambda a, b, d: a - b),
    ("Mul", 2, tuple(DTYPES), lambda a, b, d: a * b),
    ("Div", 3, ("float32", "float16"), lambda a, b, d: a / b),
    ("Max", 4, tuple(DTYPES), lambda a, b, d: np.where(a > b, a, b)),
    ("Min", 5, tuple(DTYPES), lambda a, b, d: np.where(a < b, a, b)),
    ("And", 6, ("int16",), lambda a, b, d: a & b),
    ("Or", 7, ("int16",), lambda a, b, d: a | b),
    ("MulAddDst", 8, ("float32", "float16"), fused),
]
BINARY_CASES = [pytest.param(n, op, dtype, f, id=f"{n}-{dtype}") for n, op, ts, f in BINARY for dtype in ts]

UNARY: list[tuple[str, int, tuple[str, ...], Any]] = [
    ("Exp", 0, ("float32", "float16"), lambda a, s, d: np.exp(a)),
    ("Ln", 1, ("float32", "float16"), lambda a, s, d: np.log(a)),
    ("Sqrt", 2, ("float32", "float16"), lambda a, s, d: np.sqrt(a)),
    ("Rsqrt", 3, ("float32", "float16"), lambda a, s, d: np.float32(1) / np.sqrt(a)),
    ("Reciprocal", 4, ("float32", "float16"), lambda a, s, d: np.float32(1) / a),
    ("Abs", 5, ("float32", "float16"), lambda a, s, d: np.abs(a)),
    ("Relu", 6, ("float32", "float16", "int32"), lambda a, s, d: np.where(a < 0, a.dtype.type(0), a)),
    ("Not", 7, ("int16",), lambda a, s, d: ~a),
    ("Adds", 8, tuple(DTYPES), lambda a, s, d: a + s),
    ("Muls", 9, tuple(DTYPES), lambda a, s, d: a * s),
    ("Maxs", 10, tuple(DTYPES), lambda a, s, d: np.maximum(a, s)),
    ("Mins", 11, tuple(DTYPES), lambda a, s, d: np.minimum(a, s)),
    ("ShiftLeft", 12, INTEGERS, lambda a, s, d: a << s),
    ("ShiftRight", 13, INTEGERS, lambda a, s, d: a >> s),
    ("Axpy", 14, ("float32", "float16"), lambda a, s, d: fused(a, np.full_like(a, s), d)),
]
UNARY_CASES = [pytest.param(n, op, dtype, f, id=f"{n}-{dtype}") for n, op, ts, f in UNARY for dtype in ts]


def check(name: str, got: np.ndarray, expected: np.ndarray) -> None:
    """Exact, but for what libm and NumPy may round differently."""
    if name in ("Exp", "Ln"):
        limit = 2e-3 if got.dtype == np.float16 else 5e-7
        np.testing.assert_allclose(
            got.astype(np.float64), expected.astype(np.float64), rtol=limit, atol=limit
        )
    else:
        np.testing.assert_array_equal(got, expected)


def unary_data(rng: np.random.Generator, name: str, dtype: str, count: int) -> tuple[np.ndarray, float]:
    data = values(rng, dtype, count)
    if name in ("Ln", "Sqrt", "Rsqrt", "Reciprocal"):
        data = (np.abs(data) + 0.25).astype(dtype)
    if name == "Exp" and dtype == "float16":
        data = (data / 8).astype(dtype)
    return data, 5.0 if name.startswith("Shift") else 3.0 if dtype in INTEGERS else 1.25


@pytest.mark.parametrize("count", [1, 7, 64, 1000])
@pytest.mark.parametrize("name,op,dtype,meaning", BINARY_CASES)
def test_binary_count(twin: Any, rng: Any, name: str, op: int, dtype: str, meaning: Any, count: int) -> None:
    a, b, dst = (values(rng, dtype, 1024) for _ in range(3))
    with np.errstate(all="ignore"):
        expected = dst.copy()
        expected[:count] = meaning(wide(a), wide(b), wide(dst))[:count].astype(dtype)
    twin(f"binary_{dtype}", inputs=[a, b], out=[dst], numbers=[op, COUNT, count])
    check(name, dst, expected)


# lanes (of 64), block and repeat strides of dst, src0, src1
STRIDES = [
    (64, 4, (1, 1, 1, 8, 8, 8)),
    (64, 3, (1, 1, 0, 8, 8, 1)),
    (64, 2, (1, 1, 0, 8, 8, 0)),
    (16, 5, (1, 1, 1, 2, 2, 2)),
    (13, 4, (1, 1, 1, 2, 3, 0)),
    (37, 3, (2, 1, 3, 16, 8, 24)),
    (64, 0, (1, 1, 1, 8, 8, 8)),
    (0, 3, (1, 1, 1, 8, 8, 8)),
]


@pytest.mark.parametrize("lanes,repeats,strides", STRIDES)
@pytest.mark.parametrize("name,op,dtype,meaning", BINARY_CASES)
def test_binary_repeat(
    twin: Any, layout: Any, rng: Any, name: str, op: int, dtype: str, meaning: Any,
    lanes: int, repeats: int, strides: tuple[int, ...],
) -> None:  # fmt: skip
    size = np.dtype(dtype).itemsize
    lanes = lanes * 4 // size
    a, b, dst = (values(rng, dtype, 8192 // size) for _ in range(3))
    on = np.arange(lanes)
    at = [layout.walk(size, on, repeats, strides[i], strides[i + 3]) for i in range(3)]
    expected = dst.copy()
    with np.errstate(all="ignore"):
        expected[at[0]] = meaning(wide(a)[at[1]], wide(b)[at[2]], wide(dst)[at[0]]).astype(dtype)
    twin(f"binary_{dtype}", inputs=[a, b], out=[dst], numbers=[op, LANES, lanes, 0, 0, repeats, *strides])
    check(name, dst, expected)


WORDS = [
    (0x1, 0),
    (0xF0F0_0000_00FF_FF01, 0),
    (0x8000_0000_0000_0001, 0x8001),
    (~0 & (1 << 64) - 1, ~0 & (1 << 64) - 1),
]


@pytest.mark.parametrize("form", [BITS, REGISTER])
@pytest.mark.parametrize("strides", [(1, 1, 1, 8, 8, 8), (1, 1, 0, 8, 8, 1), (2, 1, 3, 16, 8, 24)])
@pytest.mark.parametrize("low,high", WORDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_mask_bits(
    twin: Any, layout: Any, rng: Any, dtype: str, low: int, high: int, strides: Any, form: int
) -> None:
    size = np.dtype(dtype).itemsize
    if size == 4 and form == BITS:
        high = 0
    a, b, dst = (values(rng, dtype, 8192 // size) for _ in range(3))
    on = layout.bits_to_lanes(low, high, 256 // size)
    at = [layout.walk(size, on, 3, strides[i], strides[i + 3]) for i in range(3)]
    expected = dst.copy()
    with np.errstate(all="ignore"):
        expected[at[0]] = (wide(a)[at[1]] + wide(b)[at[2]]).astype(dtype)
    twin(f"binary_{dtype}", inputs=[a, b], out=[dst], numbers=[0, form, 0, low, high, 3, *strides])
    np.testing.assert_array_equal(dst, expected)


def test_sum_over_repeats(twin: Any, rng: Any) -> None:
    """dst and src0 the same block with repeat stride 0: each repeat adds to the last."""
    b, dst = rng.standard_normal(512).astype(np.float32), np.zeros(64, np.float32)
    expected = dst.copy()
    for row in b.reshape(8, 64):
        expected = expected + row
    twin(
        "binary_float32",
        inputs=[np.zeros(64, np.float32), b],
        out=[dst],
        numbers=[0, LANES, 64, 0, 0, 1, 1, 1, 1, 0, 0, 8],
    )
    np.testing.assert_array_equal(dst, b[:64])
    both = np.zeros(64, np.float32)
    twin("unary_float32", inputs=[b], out=[both], numbers=[14, LANES, 64, 0, 0, 8, 1, 1, 0, 8], reals=[1.0])
    np.testing.assert_array_equal(both, expected)


@pytest.mark.parametrize("count", [1, 63, 1000])
@pytest.mark.parametrize("name,op,dtype,meaning", UNARY_CASES)
def test_unary_count(twin: Any, rng: Any, name: str, op: int, dtype: str, meaning: Any, count: int) -> None:
    a, scalar = unary_data(rng, name, dtype, 1024)
    dst = values(rng, dtype, 1024)
    expected = dst.copy()
    with np.errstate(all="ignore"):
        expected[:count] = meaning(wide(a), wide(a).dtype.type(scalar), wide(dst))[:count].astype(dtype)
    twin(f"unary_{dtype}", inputs=[a], out=[dst], numbers=[op, COUNT, count], reals=[scalar])
    check(name, dst, expected)


@pytest.mark.parametrize(
    "lanes,repeats,strides", [(64, 4, (1, 1, 8, 8)), (9, 3, (1, 2, 2, 16)), (50, 2, (3, 0, 24, 1))]
)
@pytest.mark.parametrize("name,op,dtype,meaning", UNARY_CASES)
def test_unary_repeat(
    twin: Any, layout: Any, rng: Any, name: str, op: int, dtype: str, meaning: Any,
    lanes: int, repeats: int, strides: tuple[int, ...],
) -> None:  # fmt: skip
    size = np.dtype(dtype).itemsize
    lanes = lanes * 4 // size
    a, scalar = unary_data(rng, name, dtype, 8192 // size)
    dst = values(rng, dtype, 8192 // size)
    at = [layout.walk(size, np.arange(lanes), repeats, strides[i], strides[i + 2]) for i in range(2)]
    expected = dst.copy()
    with np.errstate(all="ignore"):
        expected[at[0]] = meaning(wide(a)[at[1]], wide(a).dtype.type(scalar), wide(dst)[at[0]]).astype(dtype)
    twin(
        f"unary_{dtype}",
        inputs=[a],
        out=[dst],
        numbers=[op, LANES, lanes, 0, 0, repeats, *strides],
        reals=[scalar],
    )
    check(name, dst, expected)


def test_scalar_mask_bits(twin: Any, layout: Any, rng: Any) -> None:
    a, dst = values(rng, "float32", 512), values(rng, "float32", 512)
    at = layout.walk(4, layout.bits_to_lanes(0xA5, 0, 64), 3, 1, 8)
    expected = dst.copy()
    expected[at] = a[at] + np.float32(0.5)
    twin("unary_float32", inputs=[a], out=[dst], numbers=[8, BITS, 0, 0xA5, 0, 3, 1, 1, 8, 8], reals=[0.5])
    np.testing.assert_array_equal(dst, expected)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int32"])
def test_duplicate(twin: Any, layout: Any, rng: Any, dtype: str) -> None:
    kind = twin.bfloat16 if dtype == "bfloat16" else np.dtype(dtype)
    start = rng.integers(-50, 50, 1024).astype(kind)
    dst, expected = start.copy(), start.copy()
    expected[:77] = 3
    twin(f"duplicate_{dtype}", out=[dst], numbers=[0, COUNT, 77], reals=[3])
    np.testing.assert_array_equal(dst, expected)
    for form, lanes in ((LANES, np.arange(20)), (BITS, layout.bits_to_lanes(0x30F, 0, 64))):
        dst, expected = start.copy(), start.copy()
        expected[layout.walk(kind.itemsize, lanes, 3, 2, 16)] = 3
        twin(f"duplicate_{dtype}", out=[dst], numbers=[0, form, 20, 0x30F, 0, 3, 2, 16], reals=[3])
        np.testing.assert_array_equal(dst, expected)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_copy(twin: Any, layout: Any, rng: Any, dtype: str) -> None:
    size = np.dtype(dtype).itemsize
    src, start = values(rng, dtype, 8192 // size), values(rng, dtype, 8192 // size)
    for form, lanes in ((LANES, np.arange(50)), (BITS, layout.bits_to_lanes(0xFF00FF, 0, 64))):
        dst, expected = start.copy(), start.copy()
        expected[layout.walk(size, lanes, 4, 2, 16)] = src[layout.walk(size, lanes, 4, 1, 9)]
        twin(f"copy_{dtype}", inputs=[src], out=[dst], numbers=[0, form, 50, 0xFF00FF, 0, 4, 2, 1, 16, 9])
        np.testing.assert_array_equal(dst, expected)


@pytest.mark.parametrize("count", [1, 64, 100, 128])
def test_counter_mode(twin: Any, rng: Any, count: int) -> None:
    """Counter mode ignores the repeat; back in normal mode the mask is whole again."""
    a, dst = values(rng, "float32", 256), values(rng, "float32", 256)
    expected = dst.copy()
    expected[:count] = a[:count] + a[:count]
    expected[:64] *= 2
    twin("counter_mode", inputs=[a], out=[dst], numbers=[count])
    np.testing.assert_array_equal(dst, expected)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("repeats,block,repeat", [(1, 1, 8), (4, 1, 8), (3, 2, 16), (2, 0, 8)])
def test_brcb(twin: Any, rng: Any, dtype: str, repeats: int, block: int, repeat: int) -> None:
    per_block = 32 // np.dtype(dtype).itemsize
    src, dst = values(rng, dtype, 32), values(rng, dtype, 64 * per_block)
    expected = dst.copy().reshape(-1, per_block)
    for r in range(repeats):
        for b in range(8):
            expected[r * repeat + b * max(block, 1)] = src[r * 8 + b]
    twin(f"brcb_{dtype}", inputs=[src], out=[dst], numbers=[repeats, block, repeat])
    np.testing.assert_array_equal(dst, expected.ravel())


@pytest.mark.parametrize("form", [0, 1])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_transdata(twin: Any, rng: Any, dtype: str, form: int) -> None:
    """Sixteen rows of `repeats` blocks become columns."""
    per_block, repeats = 32 // np.dtype(dtype).itemsize, 3
    src = values(rng, dtype, 16 * repeats * per_block)
    dst = np.zeros_like(src)
    numbers = [repeats, 16, 1, form, 1, repeats, 0]
    twin(f"transdata_{dtype}", inputs=[src], out=[dst], numbers=numbers)
    np.testing.assert_array_equal(dst.reshape(-1, 16), src.reshape(16, -1).T)


def test_transdata_single_repeat_starts_a_stride_further(twin: Any, rng: Any) -> None:
    src, dst = values(rng, "float16", 17 * 16), np.zeros(18 * 16, np.float16)
    twin("transdata_float16", inputs=[src], out=[dst], numbers=[1, 2, 1, 0, 1, 1, 0])
    np.testing.assert_array_equal(dst.reshape(18, 16)[2:], src.reshape(17, 16)[1:].T)
    assert not dst[:32].any()


@pytest.mark.parametrize("high", range(4))
def test_transdata_bytes(twin: Any, rng: Any, high: int) -> None:
    src = rng.integers(-128, 127, (16, 32)).astype(np.int8)
    dst = np.zeros((16, 32), np.int8)
    twin("transdata_int8", inputs=[src], out=[dst], numbers=[1, 0, 0, 0, 1, 1, high])
    to, frm = slice(16, 32) if high & 1 else slice(0, 16), slice(16, 32) if high & 2 else slice(0, 16)
    expected = np.zeros_like(dst)
    expected[:, to] = src[:, frm].T
    np.testing.assert_array_equal(dst, expected)


def test_transpose(twin: Any, rng: Any) -> None:
    src, dst = values(rng, "float16", 256), np.zeros(256, np.float16)
    twin("transpose", inputs=[src], out=[dst])
    np.testing.assert_array_equal(dst.reshape(16, 16), src.reshape(16, 16).T)
