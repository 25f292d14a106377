"""The comparison of the HcPre family's public tests."""

import ml_dtypes
import numpy as np
import pytest

from aclnn_py.testing import check_hc_pre, compare_share


def test_equal_arrays():
    a = np.array([0, 1, np.nan, np.inf, -np.inf], np.float32)
    found = compare_share(a, a, 1e-4, 0, "a")
    assert found.passed and found.bad == 0 and found.largest == 0 and found.size == 5
    assert str(found) == "a: 0 of 5 bad (0), largest 0"


@pytest.mark.parametrize("a, e", [(np.nan, 0), (0, np.nan), (np.inf, 1e30), (np.inf, -np.inf), (1, np.inf)])
def test_what_is_no_number_equals_itself_only(a, e):
    found = compare_share(np.float32([a]), np.float32([e]), 1e9, 0.5)
    assert found.bad == 1 and not found.passed and found.largest == np.inf


def test_small_differences_count_absolutely_and_large_ones_relatively():
    e = np.array([0.0, 1e-6, 1.0, 1000.0])
    assert compare_share(e + 0.9e-4, e, 1e-4, 0).bad == 0
    # above the threshold: relative to the larger magnitude
    found = compare_share(np.array([1000.05]), np.array([1000.0]), 1e-4, 0)
    assert found.bad == 0 and 4e-5 < found.largest < 6e-5
    assert compare_share(np.array([1000.2]), np.array([1000.0]), 1e-4, 0).bad == 1
    # ... but at least to 2^-14 / threshold, here 0.61
    found = compare_share(np.array([2e-4]), np.array([0.0]), 1e-4, 0)
    assert found.bad == 1 and abs(found.largest - 2e-4 / (2.0**-14 / 1e-4)) < 1e-8


def test_a_share_may_be_bad():
    e = np.ones(1000)
    a = e.copy()
    a[:5] = 2
    assert compare_share(a, e, 1e-4, 0.005).passed
    a[5] = 2
    found = compare_share(a, e, 1e-4, 0.005)
    assert not found.passed and found.bad == 6 and abs(found.largest - 0.5) < 1e-6


def test_many_elements_are_taken_in_pieces():
    e = np.zeros(3_000_000, np.float32)
    a = e.copy()
    a[[0, 1_500_000, 2_999_999]] = 1
    assert compare_share(a, e, 1e-4, 0).bad == 3


def test_check_hc_pre_wants_outputs_of_one_kind():
    outputs = [np.ones((2, 8), ml_dtypes.bfloat16), *(np.ones((2, 4), np.float32) for _ in range(3))]
    assert [found.name for found in check_hc_pre(outputs, outputs)] == ["y", "post", "comb_frag", "hc_pre"]
    assert len(check_hc_pre(outputs[:3], outputs[:3])) == 3
    with pytest.raises(ValueError, match="3 outputs where 4"):
        check_hc_pre(outputs[:3], outputs)
    with pytest.raises(TypeError, match="y: dtype float32 where bfloat16"):
        check_hc_pre([outputs[0].astype(np.float32), *outputs[1:]], outputs)
    with pytest.raises(ValueError, match="post: shape"):
        check_hc_pre([outputs[0], outputs[1][:1], *outputs[2:]], outputs)
    wrong = [outputs[0], outputs[1] * 2, *outputs[2:]]
    assert [found.passed for found in check_hc_pre(wrong, outputs)] == [True, False, True, True]


def test_empty_arrays_agree():
    assert compare_share(np.zeros(0), np.zeros(0), 1e-4, 0).passed
