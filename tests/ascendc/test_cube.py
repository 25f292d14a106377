"""Nd2Nz, LoadData, Mmad and Fixpipe."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

AIC_ONLY = 1
CALL: dict[str, Any] = {"task": AIC_ONLY}
FAULT = "AIC_EXCEPTION"


def dtype_of(name: str) -> np.dtype:
    return np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)


def up(value: int, to: int) -> int:
    return -(-value // to) * to


def random(rng: np.random.Generator, dtype: np.dtype, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32).astype(dtype)


def to_l0a(a: np.ndarray, arch: int = 2201, k_align: int = 0) -> np.ndarray:
    """Row-major m x k to fractals of 16 x c0: Zz on 2201, Nz on 3510. Padding is NaN, to be seen if used."""
    c0 = 32 // a.dtype.itemsize
    m, k = up(a.shape[0], 16), up(a.shape[1], k_align or c0)
    padded = np.full((m, k), np.nan, a.dtype)
    padded[: a.shape[0], : a.shape[1]] = a
    fractals = padded.reshape(m // 16, 16, k // c0, c0)
    order = (0, 2, 1, 3) if arch == 2201 else (2, 0, 1, 3)
    return np.ascontiguousarray(fractals.transpose(order)).ravel()


def to_l0b(b: np.ndarray, k_align: int = 0) -> np.ndarray:
    """Row-major k x n to Zn: [k / c0][n / 16][16 n][c0]."""
    c0 = 32 // b.dtype.itemsize
    k, n = up(b.shape[0], k_align or c0), up(b.shape[1], 16)
    padded = np.full((k, n), np.nan, b.dtype)
    padded[: b.shape[0], : b.shape[1]] = b
    return np.ascontiguousarray(padded.reshape(k // c0, c0, n // 16, 16).transpose(0, 2, 3, 1)).ravel()


def to_l0c(c: np.ndarray) -> np.ndarray:
    """Row-major m x n to Nz: [n / 16][m][16]."""
    m, n = up(c.shape[0], 16), up(c.shape[1], 16)
    padded = np.zeros((m, n), np.float32)
    padded[: c.shape[0], : c.shape[1]] = c
    return np.ascontiguousarray(padded.reshape(m, n // 16, 16).transpose(1, 0, 2)).ravel()


def from_l0c(c: np.ndarray, m: int, n: int) -> Any:
    return c.reshape(-1, up(m, 16), 16).transpose(1, 0, 2).reshape(up(m, 16), -1)[:m, :n]


# ndNum, n, d, srcNdMatrixStride, srcDValue, dstNzC0Stride, dstNzNStride, dstNzMatrixStride
ND = [
    (1, 16, 32, 0, 32, 16, 1, 0),
    (1, 5, 19, 0, 40, 16, 1, 0),
    (2, 3, 9, 200, 20, 8, 2, 512),
    (0, 3, 9, 0, 20, 8, 1, 0),
]


@pytest.mark.parametrize("shape", ND)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_nd2nz(twin: Any, rng: Any, dtype: str, shape: tuple[int, ...]) -> None:
    count, n, d, src_matrix, src_row, column, row, dst_matrix = shape
    c0 = 32 // np.dtype(dtype).itemsize
    src, dst = random(rng, np.dtype(dtype), 1024), random(rng, np.dtype(dtype), 4096)
    expected = dst.copy()
    for matrix in range(count):
        for r in range(n):
            for block in range(-(-d // c0)):
                line = np.zeros(c0, dtype)
                first = matrix * src_matrix + r * src_row + block * c0
                part = src[first : first + min(c0, d - block * c0)]
                line[: len(part)] = part
                to = matrix * dst_matrix + (block * column + r * row) * c0
                expected[to : to + c0] = line
    twin(f"nd2nz_{dtype}", inputs=[src], out=[dst], numbers=shape, **CALL)
    np.testing.assert_array_equal(dst, expected)


LOADS = [(0, 4, 1, 0, 0), (3, 3, 4, 1, 0), (5, 2, 0, 0, 0), (1, 3, 2, 2, 1)]
LOAD_CASES = [
    (dtype, load) for dtype in ("float32", "float16") for load in LOADS if dtype == "float16" or not load[4]
]


@pytest.mark.parametrize("where", [0, 1])
@pytest.mark.parametrize("dtype,load", LOAD_CASES)
def test_load2d(twin: Any, rng: Any, dtype: str, load: tuple[int, ...], where: int) -> None:
    start, repeats, step, gap, transpose = load
    src, dst = (
        random(rng, np.dtype(dtype), 16, 512 // np.dtype(dtype).itemsize),
        random(rng, np.dtype(dtype), 8192),
    )
    expected = dst.copy().reshape(-1, src.shape[1])
    for i in range(repeats):
        fractal = src[start + i * step]
        expected[i * (gap + 1)] = fractal.reshape(16, 16).T.ravel() if transpose else fractal
    twin(f"load_{dtype}", inputs=[src], out=[dst], numbers=[0, where, *load], **CALL)
    np.testing.assert_array_equal(dst, expected.ravel())


def test_load2d_v2(twin: Any, rng: Any) -> None:
    """A window of an Nz matrix; only on 3510."""
    src = random(rng, np.dtype("float32"), 6, 5, 128)  # [k1][m1][fractal]
    dst = np.zeros((3, 4, 128), np.float32)
    numbers = [1, 0, 1, 2, 2, 3, 5, 4]
    twin("load_float32", inputs=[src], out=[dst], numbers=numbers, arch=3510, **CALL)
    np.testing.assert_array_equal(dst[:, :2], src[2:5, 1:3])
    assert not dst[:, 2:].any()
    call: dict[str, Any] = {"inputs": [src], "out": [dst], "numbers": numbers, **CALL}
    twin.refuses("LoadData", "LoadData2DParamsV2", kind=FAULT, name="load_float32", **call)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_load3d_v2(twin: Any, rng: Any, dtype: str) -> None:
    """A 1 x 1 filter: Nz in L1 to Zz in L0A."""
    c0 = 32 // np.dtype(dtype).itemsize
    m, k = 64, 6 * c0
    matrix = random(rng, np.dtype(dtype), m, k)
    nz = np.ascontiguousarray(matrix.reshape(m, k // c0, c0).transpose(1, 0, 2))
    dst = np.zeros(32 * 4 * c0, dtype)
    twin(f"load_{dtype}", inputs=[nz], out=[dst], numbers=[2, 0, m, k, 16, c0, 32, 4 * c0], **CALL)
    np.testing.assert_array_equal(dst, to_l0a(matrix[16:48, c0 : 5 * c0]))


@pytest.mark.parametrize("arch", [2201, 3510])
@pytest.mark.parametrize("init", [True, False])
@pytest.mark.parametrize(
    "m,n,k", [(16, 16, 16), (64, 24, 128), (33, 40, 19), (5, 7, 3), (1, 24, 40), (130, 65, 8), (7, 96, 33)]
)
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_mmad(twin: Any, rng: Any, dtype: str, m: int, n: int, k: int, init: bool, arch: int) -> None:
    a, b = random(rng, dtype_of(dtype), m, k), random(rng, dtype_of(dtype), k, n)
    c0 = 32 // a.dtype.itemsize
    before = random(rng, np.dtype("float32"), m, n)
    l0a = np.resize(a, (1, up(k, c0))).ravel() if m == 1 else to_l0a(a, arch)  # one row: a plain row
    l0c = to_l0c(before)
    twin(f"mmad_{dtype}", inputs=[l0a, to_l0b(b)], out=[l0c], numbers=[m, n, k, init], arch=arch, **CALL)
    exact = a.astype(np.float64) @ b.astype(np.float64) + (0 if init else before)
    np.testing.assert_allclose(from_l0c(l0c, m, n), exact, rtol=1e-5, atol=2e-6 * k)


def test_mmad_float_can_align_k_to_16(twin: Any, rng: Any) -> None:
    a, b = random(rng, np.dtype("float32"), 32, 24), random(rng, np.dtype("float32"), 24, 16)
    l0c = np.zeros(32 * 16, np.float32)
    twin(
        "mmad_float32",
        inputs=[to_l0a(a, k_align=16), to_l0b(b, 16)],
        out=[l0c],
        numbers=[32, 16, 24, 1, 0, 1],
        **CALL,
    )
    np.testing.assert_allclose(from_l0c(l0c, 32, 16), a @ b, rtol=1e-5, atol=1e-5)


def test_mmad_adds_a_bias(twin: Any, rng: Any) -> None:
    a, b = random(rng, np.dtype("float32"), 20, 16), random(rng, np.dtype("float32"), 16, 24)
    bias = random(rng, np.dtype("float32"), 32)
    l0c = np.zeros(32 * 32, np.float32)
    twin(
        "mmad_float32",
        inputs=[to_l0a(a), to_l0b(b), bias],
        out=[l0c],
        numbers=[20, 24, 16, 1, 0, 0, 1],
        **CALL,
    )
    np.testing.assert_allclose(from_l0c(l0c, 20, 24), a @ b + bias[:24], rtol=1e-5, atol=1e-5)


def test_hf32_cuts_off_13_bits(twin: Any, rng: Any) -> None:
    """One product: exactly that of the two operands cut to 10 bits of mantissa."""
    a, b = random(rng, np.dtype("float32"), 16, 1), random(rng, np.dtype("float32"), 1, 16)

    def cut(x: np.ndarray) -> Any:
        return (x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)

    for hf32, expected in ((0, a * b), (1, cut(a) * cut(b))):
        l0c = np.zeros(256, np.float32)
        twin("mmad_float32", inputs=[to_l0a(a), to_l0b(b)], out=[l0c], numbers=[16, 16, 1, 1, hf32], **CALL)
        np.testing.assert_array_equal(from_l0c(l0c, 16, 16), expected)


@pytest.mark.parametrize("relu", [0, 1])
@pytest.mark.parametrize("instruction", [0, 1])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("m,n", [(16, 16), (20, 24), (1, 5), (33, 50)])
def test_fixpipe_row_major(
    twin: Any, rng: Any, dtype: str, m: int, n: int, instruction: int, relu: int
) -> None:
    c = random(rng, np.dtype("float32"), m, n)
    dst = random(rng, dtype_of(dtype), m, n + 3)
    expected = dst.copy()
    expected[:, :n] = (np.maximum(c, 0) if relu else c).astype(dst.dtype)
    numbers = [instruction, n, m, up(m, 16), n + 3, relu, 1, 1, 0, 0, 0, 0]
    twin(f"fixpipe_{dtype}", inputs=[to_l0c(c)], out=[dst], numbers=numbers, **CALL)
    np.testing.assert_array_equal(dst.astype(np.float32), expected.astype(np.float32))


@pytest.mark.parametrize("instruction", [0, 1])
def test_fixpipe_several_matrices(twin: Any, rng: Any, instruction: int) -> None:
    c = random(rng, np.dtype("float32"), 3, 16, 32)
    dst, n = np.zeros((3, 500), np.float32), 20
    l0c = np.concatenate([to_l0c(matrix) for matrix in c])
    numbers = [instruction, n, 16, 16, 25, 0, 1, 3, 2, 500, 0, 0]
    twin("fixpipe_float32", inputs=[l0c], out=[dst], numbers=numbers, **CALL)
    np.testing.assert_array_equal(dst[:, :400].reshape(3, 16, 25)[:, :, :n], c[:, :, :n])


@pytest.mark.parametrize("split", [0, 1])
@pytest.mark.parametrize("instruction", [0, 1])
def test_fixpipe_nz(twin: Any, rng: Any, instruction: int, split: int) -> None:
    m, n, width = 20, 32, 8 if split else 16
    c = random(rng, np.dtype("float32"), m, n)
    block = m * width + 24
    dst = np.zeros(n // width * block, np.float32)
    numbers = [instruction, n, m, 32, block * 4 // 32, 0, 0, 1, 0, 0, split, 0]
    twin("fixpipe_float32", inputs=[to_l0c(c)], out=[dst], numbers=numbers, **CALL)
    got = dst.reshape(n // width, block)[:, : m * width].reshape(n // width, m, width)
    np.testing.assert_array_equal(got, c.reshape(m, n // width, width).transpose(1, 0, 2))


def test_fixpipe_atomic_add(twin: Any, rng: Any) -> None:
    c = rng.integers(-50, 50, (16, 16)).astype(np.float32)
    dst = np.full((16, 16), 100, np.float32)
    numbers = [0, 16, 16, 16, 16, 0, 1, 1, 0, 0, 0, 1]
    twin("fixpipe_float32", inputs=[to_l0c(c)], out=[dst], numbers=numbers, blocks=3, threads=2, **CALL)
    np.testing.assert_array_equal(dst, 100 + 3 * c)


def test_whole_product_from_row_major(twin: Any, rng: Any) -> None:
    """Nd2Nz and LoadData build what Mmad wants."""
    a = random(rng, np.dtype("float32"), 32, 24)
    nz = np.zeros(32 * 24, np.float32)
    twin("nd2nz_float32", inputs=[a], out=[nz], numbers=[1, 32, 24, 0, 24, 32, 1, 0], **CALL)
    l0a = np.zeros(32 * 24, np.float32)
    for m1 in range(2):
        part = np.zeros(16 * 24, np.float32)
        twin("load_float32", inputs=[nz], out=[part], numbers=[0, 0, m1, 3, 2, 0, 0], **CALL)
        l0a[m1 * 384 : (m1 + 1) * 384] = part
    np.testing.assert_array_equal(l0a, to_l0a(a))
