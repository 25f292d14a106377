"""aclnnAdd and aclnnCast: results against NumPy, refusals with their codes."""

import itertools

import ml_dtypes
import numpy as np
import pytest

import aclnn_py as aclnn

BF16 = np.dtype(ml_dtypes.bfloat16)
DTYPES = [np.dtype(np.float32), np.dtype(np.float16), BF16, np.dtype(np.int32)]
SHAPES = [(), (1,), (7,), (3, 5), (128,), (2, 3, 4, 5), (4096,), (40, 2049), (0, 3)]


def values(shape, dtype, seed):
    rng = np.random.default_rng(seed)
    if dtype == np.int32:
        return rng.integers(-1000, 1000, shape, np.int32)
    return np.asarray(rng.standard_normal(shape) * 10).astype(dtype)


def add(a, b, alpha):
    out = aclnn.empty(a.shape, a.dtype)
    aclnn.op("aclnnAdd")(a, b, alpha, out)
    return out.numpy()


def cast(a, dtype):
    out = aclnn.empty(a.shape, dtype)
    aclnn.op("aclnnCast")(a, dtype, out)
    return out.numpy()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("alpha", [1, 3, -2])
def test_add(dtype, shape, alpha):
    a, b = values(shape, dtype, 1), values(shape, dtype, 2)
    if dtype == np.int32:
        expected = a + alpha * b
    else:
        expected = (a.astype(np.float32) + np.float32(alpha) * b.astype(np.float32)).astype(dtype)
    result = add(a, b, alpha)
    assert result.dtype == dtype and result.shape == shape
    np.testing.assert_array_equal(result, expected)


def test_add_scales_by_a_float():
    a, b = values((1000,), np.float32, 3), values((1000,), np.float32, 4)
    np.testing.assert_array_equal(add(a, b, 0.1), a + np.float32(0.1) * b)


def test_add_wraps_around():
    most = np.full(9, np.iinfo(np.int32).max, np.int32)
    np.testing.assert_array_equal(add(most, np.ones(9, np.int32), 1), np.full(9, np.iinfo(np.int32).min))


def test_add_of_strided_inputs_and_in_place():
    a, b = values((6, 8), np.float32, 5), values((8, 6), np.float32, 6)
    left, right = aclnn.tensor(a), aclnn.tensor(b)
    out = aclnn.empty((6, 8), "float32")
    aclnn.op("aclnnAdd")(left, right.T, 1, out)
    np.testing.assert_array_equal(out.numpy(), a + b.T)
    aclnn.op("aclnnAdd")(left, left, 1, left)
    np.testing.assert_array_equal(left.numpy(), a + a)


def test_add_refuses():
    a, b = np.ones((2, 3), np.float32), np.ones((2, 3), np.float32)
    with pytest.raises(aclnn.AclnnParameterError, match=r"other has shape \[1, 3\], expected \[2, 3\]"):
        add(a, b[:1], 1)
    with pytest.raises(aclnn.AclnnParameterError, match="other has dtype DT_INT32"):
        add(a, b.astype(np.int32), 1)
    with pytest.raises(aclnn.AclnnParameterError, match="self has dtype DT_DOUBLE"):
        add(a.astype(np.float64), b.astype(np.float64), 1)
    with pytest.raises(aclnn.AclnnParameterError, match="alpha has dtype DT_DOUBLE"):
        add(a.astype(np.int32), b.astype(np.int32), 1.5)
    with pytest.raises(aclnn.AclnnParameterError, match="self has 9 dimensions"):
        add(a.reshape((1,) * 7 + (2, 3)), b.reshape((1,) * 7 + (2, 3)), 1)
    with pytest.raises(aclnn.AclnnParameterError, match="161001"):
        aclnn.op("aclnnAdd")(a, None, 1, aclnn.empty((2, 3), "float32"))


@pytest.mark.parametrize(("source", "target"), list(itertools.product(DTYPES, DTYPES)), ids=str)
@pytest.mark.parametrize("shape", [(), (5,), (3, 1000)], ids=str)
def test_cast(source, target, shape):
    a = values(shape, source, 7)
    expected = a.astype(np.float32).astype(target) if source != target else a
    result = cast(a, target)
    assert result.dtype == target
    np.testing.assert_array_equal(result, expected)


def test_cast_rounds_as_documented():
    a = np.array([0.5, 1.5, 2.5, -1.5, 1.9, -1.9, 2049, 2051], np.float32)
    np.testing.assert_array_equal(cast(a, np.int32), np.trunc(a).astype(np.int32))
    np.testing.assert_array_equal(cast(a, np.float16), a.astype(np.float16))  # 2049 and 2051 are ties
    big = np.array([2**24 + 1, -(2**31)], np.int32)
    np.testing.assert_array_equal(cast(big, np.float32), big.astype(np.float32))


def test_cast_refuses():
    with pytest.raises(aclnn.AclnnParameterError, match="out has dtype DT_FLOAT, expected dtype, DT_FLOAT16"):
        aclnn.op("aclnnCast")(np.ones(3, np.float32), "float16", aclnn.empty((3,), "float32"))
    with pytest.raises(aclnn.AclnnParameterError, match=r"out has shape \[4\], expected \[3\]"):
        aclnn.op("aclnnCast")(np.ones(3, np.float32), "float16", aclnn.empty((4,), "float16"))


def test_plan_is_replayed_and_rebound():
    """One of aclnnAdd's parameters is called self."""
    a, b, c = (aclnn.tensor(values((1000,), np.float32, seed)) for seed in (8, 9, 10))
    out, other_out = aclnn.empty((1000,), "float32"), aclnn.empty((1000,), "float32")
    plan = aclnn.op("aclnnAdd").plan(a, b, 2.0, out)
    assert plan.repeatable
    plan()
    np.testing.assert_array_equal(out.numpy(), a.numpy() + 2 * b.numpy())
    plan.rebind(self=c, out=other_out)
    plan()
    np.testing.assert_array_equal(other_out.numpy(), c.numpy() + 2 * b.numpy())
    named = aclnn.op("aclnnAdd").plan(self=b, other=c, alpha=1, out=out)
    named()
    np.testing.assert_array_equal(out.numpy(), b.numpy() + c.numpy())
    aclnn.op("aclnnAdd")(self=c, other=c, alpha=1, out=out)
    np.testing.assert_array_equal(out.numpy(), 2 * c.numpy())
