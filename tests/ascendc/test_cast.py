"""Cast: every pair of dtypes and every round mode."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

COUNT, LANES, BITS = range(3)
NONE, RINT, FLOOR, CEIL, ROUND, TRUNC, ODD = range(7)
ALL = (RINT, FLOOR, CEIL, ROUND, TRUNC)
PAIRS: list[tuple[str, str, tuple[int, ...]]] = [
    ("float16", "float32", (*ALL, NONE, ODD)),
    ("bfloat16", "float32", ALL),
    ("int16", "float32", ALL),
    ("int32", "float32", ALL),
    ("int64", "float32", ALL),
    ("float32", "float32", ALL),
    ("float32", "float16", (NONE,)),
    ("int16", "float16", ALL),
    ("int32", "float16", ALL),
    ("int8", "float16", (*ALL, NONE)),
    ("uint8", "float16", (*ALL, NONE)),
    ("float32", "bfloat16", (NONE,)),
    ("int32", "bfloat16", ALL),
    ("float32", "int32", (*ALL, NONE)),
    ("int16", "int32", (NONE,)),
    ("int64", "int32", (NONE,)),
    ("float16", "int16", (*ALL, NONE)),
    ("float32", "int16", (NONE,)),
    ("float16", "int8", (NONE,)),
    ("float16", "uint8", (NONE,)),
    ("float32", "int64", ALL),
    ("int32", "int64", (NONE,)),
]
CASES = [
    pytest.param(d, s, m, id=f"{s}-{d}-{m}")
    for s, d, modes in [(s, d, m) for d, s, m in PAIRS]
    for m in modes
]


def dtype_of(name: str) -> np.dtype:
    return np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)


def source(rng: np.random.Generator, name: str, target: str) -> np.ndarray:
    """Values of all magnitudes, ties, both zeros, infinities and NaN."""
    dtype = dtype_of(name)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        ends = np.array(
            [info.min, info.min + 1, -1 if info.min else 0, 0, 1, info.max - 1, info.max, 2049 % info.max],
            dtype,
        )
        small = rng.integers(max(info.min, -(1 << 20)), min(info.max, 1 << 20), 200).astype(dtype)
        big = rng.integers(info.min, info.max, 300, dtype=dtype)
        return np.concatenate([ends, small, big])
    pieces = [
        np.array(
            [
                0.0,
                -0.0,
                0.5,
                -0.5,
                1.5,
                2.5,
                -2.5,
                np.inf,
                -np.inf,
                np.nan,
                127.5,
                255.5,
                32767.5,
                65504,
                65520,
                -65519,
            ]
        ),
        np.array(
            [
                2.0**31,
                -(2.0**31),
                2.0**31 - 128,
                2.0**63,
                -(2.0**63),
                1e30,
                6e-8,
                2.9e-8,
                -3e-8,
                6.1e-5,
                3e38,
                3.4e38,
            ]
        ),
        rng.standard_normal(200) * 100,
        np.ldexp(rng.standard_normal(300), rng.integers(-30, 70, 300)),
        rng.integers(-4096, 4096, 100) + 0.5,
    ]
    with np.errstate(all="ignore"):
        floats = np.concatenate(pieces).astype(np.float32)
        if target in ("float16", "bfloat16") and name == "float32":
            halves = floats[np.isfinite(floats)].astype(dtype_of(target)).astype(np.float32)
            floats = np.concatenate([floats, halves, (halves + np.roll(halves, 1)) / 2])
        return floats.astype(dtype)


def round_integral(x: np.ndarray, mode: int) -> Any:
    if mode == FLOOR:
        return np.floor(x)
    if mode == CEIL:
        return np.ceil(x)
    if mode == TRUNC:
        return np.trunc(x)
    if mode == ROUND:
        return np.copysign(np.floor(np.abs(x) + 0.5), x)
    return np.rint(x)


def to_float(x: np.ndarray, target: np.dtype, mode: int) -> Any:
    """Rounds exact numbers (long double) to a binary format by looking at the two neighbours."""
    with np.errstate(all="ignore"):
        nearest = (
            x.astype(np.float64).astype(np.float32).astype(target)
            if x.dtype == np.float32
            else x.astype(target)
        )
    if mode in (NONE, RINT):
        return nearest
    exact = x.astype(np.longdouble)
    bits_type = np.uint16 if target.itemsize == 2 else np.uint32
    sign_bit = bits_type(1 << (target.itemsize * 8 - 1))
    pattern = nearest.view(bits_type)
    sign, magnitude = pattern & sign_bit, pattern & ~sign_bit

    def value(bits: np.ndarray) -> Any:
        return bits.view(target).astype(np.longdouble)

    size = np.abs(exact)
    toward = np.where(value(magnitude) > size, magnitude - bits_type(1), magnitude).astype(bits_type)
    away = (toward + bits_type(1)).astype(bits_type)
    low, high = value(toward), value(away)
    # Half a step above the largest finite number is where the next one would be.
    high = np.where(np.isinf(high), low + (low - value((toward - bits_type(1)).astype(bits_type))), high)
    if mode == FLOOR:
        up = sign != 0
    elif mode == CEIL:
        up = sign == 0
    elif mode == ROUND:
        up = size - low >= high - size
    elif mode == ODD:
        up = (toward & 1) == 0
    else:
        up = np.zeros_like(sign, dtype=bool)
    chosen = np.where((low != size) & up, away, toward).astype(bits_type) | sign
    result = chosen.view(target)
    special = ~np.isfinite(exact)
    result[special] = nearest[special]
    return result


def meaning(x: np.ndarray, target: np.dtype, mode: int) -> Any:
    if x.dtype.kind in "iu" and target.kind in "iu":
        info = np.iinfo(target)
        return np.clip(x.astype(object), info.min, info.max).astype(target)
    if x.dtype.kind in "iu":
        return to_float(x, target, mode)
    if target.kind in "iu":
        info = np.iinfo(target)
        rounded = round_integral(x.astype(np.float64), mode)
        rounded = np.where(np.isnan(rounded), 0, np.clip(rounded, -1e30, 1e30))
        limits = [max(info.min, min(info.max, int(value))) for value in rounded]
        return np.array(limits, dtype=target)
    if x.dtype == target:
        return round_integral(x.astype(np.float64), mode).astype(target)
    if target.itemsize > x.dtype.itemsize:
        return x.astype(target)
    return to_float(x, target, mode)


@pytest.mark.parametrize("to,name,mode", CASES)
def test_cast_count(twin: Any, rng: Any, to: str, name: str, mode: int) -> None:
    src, target = source(rng, name, to), dtype_of(to)
    dst = np.zeros(len(src) + 16, target)
    with np.errstate(all="ignore"):
        expected = np.concatenate([meaning(src, target, mode), np.zeros(16, target)])
    twin(f"cast_{to}_{name}", inputs=[src], out=[dst], numbers=[mode, COUNT, len(src)])
    if target.kind in "iu":
        np.testing.assert_array_equal(dst, expected)
        return
    # ml_dtypes' NaN does not pass assert_array_equal.
    got, wanted = dst.astype(np.float32), expected.astype(np.float32)
    np.testing.assert_array_equal(got, wanted)
    assert ((np.signbit(got) == np.signbit(wanted)) | np.isnan(wanted)).all()


@pytest.mark.parametrize("form,less", [(LANES, 0), (LANES, 5), (BITS, 0)])
@pytest.mark.parametrize(
    "to,name",
    [
        ("bfloat16", "float32"),
        ("float32", "bfloat16"),
        ("float16", "float32"),
        ("int8", "float16"),
        ("float32", "float32"),
    ],
)
def test_cast_repeat(twin: Any, layout: Any, rng: Any, to: str, name: str, form: int, less: int) -> None:
    """Lanes follow the wider dtype; each operand has blocks of its own."""
    src_type, target = dtype_of(name), dtype_of(to)
    src = (rng.standard_normal(4096 // src_type.itemsize) * 50).astype(src_type)
    dst = np.zeros(4096 // target.itemsize, target)
    most = 256 // max(src_type.itemsize, target.itemsize)
    low = 0x8F00_00FF_0F0F_0301
    lanes = np.arange(most - less) if form == LANES else layout.bits_to_lanes(low, 0, most)
    mode = NONE if target.itemsize > src_type.itemsize else RINT
    to_at = layout.walk(target.itemsize, lanes, 2, 2, 20)
    from_at = layout.walk(src_type.itemsize, lanes, 2, 3, 24)
    expected = dst.copy()
    expected[to_at] = meaning(src[from_at].ravel(), target, mode).reshape(from_at.shape)
    twin(
        f"cast_{to}_{name}",
        inputs=[src],
        out=[dst],
        numbers=[mode, form, most - less, low, 0, 2, 2, 3, 20, 24],
    )
    np.testing.assert_array_equal(dst, expected)


def test_int32_to_half_takes_the_scale(twin: Any, rng: Any) -> None:
    src = rng.integers(-3000, 3000, 100).astype(np.int32)
    dst = np.zeros(100, np.float16)
    twin("cast_float16_int32", inputs=[src], out=[dst], numbers=[NONE, COUNT, 100], reals=[0.125])
    np.testing.assert_array_equal(dst, (src.astype(np.float32) * np.float32(0.125)).astype(np.float16))


def test_narrowing_in_place(twin: Any, rng: Any) -> None:
    both = rng.standard_normal(1000).astype(np.float32)
    expected = both.astype(ml_dtypes.bfloat16)
    twin("cast_in_place", out=[both], numbers=[1000])
    np.testing.assert_array_equal(both.view(ml_dtypes.bfloat16)[:1000], expected)


def test_round_mode_that_the_pair_lacks(twin: Any) -> None:
    src, dst = np.zeros(8, np.float32), np.zeros(8, ml_dtypes.bfloat16)
    call: dict[str, Any] = {"inputs": [src], "out": [dst], "numbers": [ODD, COUNT, 8]}
    twin.refuses("Cast", "round mode 6", name="cast_bfloat16_float32", **call)
