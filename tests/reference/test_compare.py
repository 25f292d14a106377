"""The comparison rules: what passes, and above all what is reported."""

import ml_dtypes
import numpy as np
import pytest

from aclnn_py.reference import mhc_pre_sinkhorn
from aclnn_py.testing import cases, check_mhc_pre_sinkhorn, compare

BF16 = ml_dtypes.bfloat16


def test_equal_arrays_pass():
    a = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
    found = compare(a, a, 0, 0, name="a")
    assert found.passed and found.bad == 0 and found.max_abs == 0 and found.size == 12
    assert str(found) == "a: max abs 0, max rel 0"


def test_wrong_value_is_reported_with_its_place():
    e = np.ones((3, 4), np.float32)
    a = e.copy()
    a[1, 2] = 1.5
    a[2, 0] = 1.001
    found = compare(a, e, 1e-4, 1e-4, name="h_res")
    assert not found.passed
    assert found.bad == 2
    assert found.worst == (1, 2)
    assert found.max_abs == 0.5 and found.max_rel == 0.5
    assert str(found) == "h_res: max abs 0.5, max rel 0.5, 2 of 12 bad, worst at [1, 2]: 1.5, expected 1"


def test_tolerance_is_absolute_plus_relative():
    e = np.array([0.0, 100.0], np.float64)
    assert compare(e + [0.9e-3, 0.1009], e, 1e-3, 1e-3).passed
    assert compare(e + [1.1e-3, 0], e, 1e-3, 1e-3).worst == (0,)
    assert compare(e + [0, 0.1011], e, 1e-3, 1e-3).worst == (1,)


@pytest.mark.parametrize(
    "value, other", [(np.nan, 1.0), (1.0, np.nan), (np.inf, 1.0), (np.inf, -np.inf), (np.nan, np.inf)]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float16, BF16])
def test_nan_and_infinity_mismatch_fails(value, other, dtype):
    found = compare(np.array([0, value], dtype), np.array([0, other], dtype), 1e3, 1e3, ulps=10**6)
    assert found.bad == 1 and found.worst == (1,)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, BF16])
def test_nan_and_infinity_match(dtype):
    a = np.array([np.nan, np.inf, -np.inf, 2], dtype)
    assert compare(a, a, 0, 0).passed


@pytest.mark.parametrize("dtype", [np.float16, BF16])
@pytest.mark.parametrize("value", [1.0, -1.0, 0.0, -0.0, 3e-5, 128.0])
def test_ulps(dtype, value):
    e = np.array([value], dtype)
    bits = e.view(np.int16)
    up, two = ((bits + step).astype(np.int16).view(dtype) for step in (1, 2))
    assert compare(up, e, 0, 0, ulps=1).passed
    assert not compare(up, e, 0, 0).passed
    assert not compare(two, e, 0, 0, ulps=1).passed
    assert compare(two, e, 0, 0, ulps=2).passed


def test_ulps_across_zero():
    tiny = np.array([1], np.int16).view(BF16)
    assert compare(-tiny, tiny, 0, 0, ulps=2).passed
    assert not compare(-tiny, tiny, 0, 0, ulps=1).passed


def test_bad_element_outranks_a_larger_one_that_ulps_excuse():
    e = np.array([256.0, 1.0], BF16)
    a = np.array([258.0, 1.0625], BF16)  # one ulp of 256 is 2; 1.0625 is eight ulps off
    assert compare(a, e, 0, 1e-2, ulps=1).worst == (1,)


def test_empty_and_mismatched_shapes():
    found = compare(np.empty((0, 3)), np.empty((0, 3)), 0, 0)
    assert found.passed and found.worst is None
    with pytest.raises(ValueError, match=r"h_res: shape \[3\] where \[1, 3\] is expected"):
        compare(np.zeros(3), np.zeros((1, 3)), 0, 0, name="h_res")


NAMES = ["hin", "h_post", "h_res", "h_pre", "hc_before_norm", "inv_rms", "sum_out", "norm_out"]


@pytest.fixture(scope="module", params=[np.float16, BF16])
def results(request):
    return mhc_pre_sinkhorn(*cases.random_case((2, 3), 128, request.param), need_backward=True)


@pytest.mark.parametrize("which", range(8), ids=NAMES)
def test_operator_check_sees_one_wrong_element(results, which):
    assert all(c.passed for c in check_mhc_pre_sinkhorn(results, results))
    wrong = [r.copy() for r in results]
    flat = wrong[which].reshape(-1)
    flat[-1] = flat[-1] * 1.02 + 0.02
    report = {c.name: c for c in check_mhc_pre_sinkhorn(wrong, results)}
    assert list(report) == NAMES
    assert [name for name, c in report.items() if not c.passed] == [NAMES[which]]
    assert report[NAMES[which]].worst == tuple(n - 1 for n in wrong[which].shape)


def test_operator_check_on_the_small_group(results):
    assert [c.name for c in check_mhc_pre_sinkhorn(results[:3], results[:3])] == NAMES[:3]
    assert len(check_mhc_pre_sinkhorn((*results[:3], *[None] * 5), results[:3])) == 3


def test_operator_check_refuses_what_cannot_be_compared(results):
    with pytest.raises(ValueError, match="h_pre: given on one side only"):
        check_mhc_pre_sinkhorn(results[:3], results)
    with pytest.raises(TypeError, match="h_post: dtype float64 where float32 is expected"):
        check_mhc_pre_sinkhorn([results[0], results[1].astype(np.float64), results[2]], results[:3])


@pytest.mark.parametrize("make", [cases.random_case, cases.steep_case, cases.constant_case])
@pytest.mark.parametrize("dtype", [np.float16, BF16])
def test_cases_have_the_operators_shapes(make, dtype):
    case = make((2, 3), 32, dtype)
    assert case.x.shape == (2, 3, 4, 32) and case.x.dtype == dtype
    assert [a.shape for a in case[1:]] == [(24, 128), (3,), (24,)]
    assert all(a.dtype == np.float32 for a in case[1:])
    assert np.abs(case.phi).max() <= np.float32(1 / np.sqrt(128))


def test_cases_repeat_and_differ_by_seed():
    one, same, other = (cases.random_case((4,), 16, seed=s) for s in (1, 1, 2))
    assert all(np.array_equal(a, b) for a, b in zip(one, same, strict=True))
    assert not any(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_steep_rows_are_far_apart():
    bias = cases.steep_case((1,), 8, steepness=1e4).bias
    rows = np.sort(bias[8:].reshape(4, 4), axis=1)
    assert (np.diff(rows, axis=1) > 2000).all()
    assert np.abs(bias).max() == 1e4
