"""aclnnMatmul, as far as the emulator has it: two matrices of one dtype."""

import ml_dtypes
import numpy as np
import pytest

import aclnn_py as aclnn

BF16 = np.dtype(ml_dtypes.bfloat16)
KEEP, DOWN, FP16, HF32 = range(4)


def matmul(a, b, math=KEEP):
    out = aclnn.empty((a.shape[0], b.shape[1]), a.dtype)
    aclnn.op("aclnnMatmul")(a, b, out, math)
    return out.numpy()


def matrices(m, k, n, dtype=np.float32, seed=0):
    rng = np.random.default_rng((seed, m, k, n))
    return (rng.standard_normal(shape).astype(dtype) for shape in ((m, k), (k, n)))


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, BF16])
@pytest.mark.parametrize(
    "m, k, n", [(1, 1, 1), (5, 7, 3), (17, 300, 24), (129, 128, 130), (300, 1000, 257), (3, 70000, 5)]
)
def test_product(m, k, n, dtype, turned):
    a, b = matrices(m, k, n, dtype)
    given = aclnn.tensor(np.ascontiguousarray(b.T)).T if turned else aclnn.tensor(b)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    ulp = {2: 2.0**-10 if dtype == np.float16 else 2.0**-7, 4: 1e-5}[np.dtype(dtype).itemsize]
    error = np.abs(matmul(aclnn.tensor(a), given).astype(np.float64) - expected)
    assert (error <= ulp * np.abs(expected) + 3e-6 * np.sqrt(k)).all()


def test_hf32_cuts_the_operands():
    a, b = matrices(20, 500, 30)

    def cut(array):
        return (array.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)

    whole, truncated = a.astype(np.float64) @ b, cut(a).astype(np.float64) @ cut(b)
    results = [matmul(aclnn.tensor(a), aclnn.tensor(b), math) for math in (KEEP, DOWN, HF32)]
    np.testing.assert_array_equal(results[1], results[2])
    assert np.abs(results[0] - whole).max() < 1e-4 and np.abs(results[2] - truncated).max() < 1e-4
    assert np.abs(results[2] - whole).max() > 1e-3
    np.testing.assert_array_equal(matmul(aclnn.tensor(a), aclnn.tensor(b)), results[0])  # it does not stick


def test_strided_operands_and_a_plan_with_other_ones():
    a, b = matrices(12, 40, 9)
    wide, tall = aclnn.tensor(np.repeat(a, 2, axis=1)), aclnn.tensor(np.repeat(b, 3, axis=0))
    np.testing.assert_allclose(matmul(wide[:, ::2], tall[::3]), a @ b, rtol=1e-5, atol=1e-5)
    out = aclnn.empty((12, 9))
    plan = aclnn.op("aclnnMatmul").plan(aclnn.tensor(a), aclnn.tensor(b), out, KEEP)
    plan()
    np.testing.assert_allclose(out.numpy(), a @ b, rtol=1e-5, atol=1e-5)
    other = aclnn.tensor(2 * b)
    plan.rebind(mat2=other)
    plan()
    np.testing.assert_allclose(out.numpy(), 2 * (a @ b), rtol=1e-5, atol=1e-5)


def test_no_rows():
    a, b = matrices(0, 5, 3)
    assert matmul(aclnn.tensor(a), aclnn.tensor(b)).shape == (0, 3)


@pytest.mark.parametrize(
    "shapes, dtypes, math, text",
    [
        (((2, 3), (4, 5), (2, 5)), "fff", KEEP, "mat2"),
        (((2, 3), (3, 5), (5, 2)), "fff", KEEP, "out"),
        (((2, 3, 1), (3, 5), (2, 5)), "fff", KEEP, "self"),
        (((2, 0), (0, 5), (2, 5)), "fff", KEEP, "self"),
        (((2, 3), (3, 5), (2, 5)), "feF", KEEP, "mat2"),
        (((2, 3), (3, 5), (2, 5)), "ffe", KEEP, "out"),
        (((2, 3), (3, 5), (2, 5)), "iii", KEEP, "self"),
        (((2, 3), (3, 5), (2, 5)), "fff", 4, "cubeMathType"),
        (((2, 3), (3, 5), (2, 5)), "fff", FP16, "cubeMathType"),
    ],
)
def test_refused(shapes, dtypes, math, text):
    names = {"f": np.float32, "F": np.float32, "e": np.float16, "i": np.int32}
    tensors = [aclnn.empty(shape, names[d]) for shape, d in zip(shapes, dtypes, strict=True)]
    with pytest.raises(aclnn.AclnnParameterError, match=f"aclnnMatmul: {text} ") as caught:
        aclnn.op("aclnnMatmul")(*tensors, math)
    assert caught.value.code == 161002


@pytest.mark.parametrize("missing", range(3))
def test_null(missing):
    tensors = [aclnn.empty((2, 2)) for _ in range(3)]
    tensors[missing] = None
    with pytest.raises(aclnn.AclnnParameterError) as caught:
        aclnn.op("aclnnMatmul")(*tensors, KEEP)
    assert caught.value.code == 161001
