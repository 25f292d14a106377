"""The reference of MhcSinkhorn against outputs from elsewhere and against what the formulas imply."""

import json
from pathlib import Path

import numpy as np
import pytest

from aclnn_py.reference import mhc_sinkhorn, sinkhorn

VECTORS = sorted((Path(__file__).parents[1] / "data").glob("aclnnMhcSinkhorn_*.npz"))


def test_there_are_vectors():
    assert len(VECTORS) == 3


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: path.stem)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_vectors(path, dtype):
    with np.load(path) as file:
        attrs = json.loads(str(file["attrs"]))["attrs"]
        arrays = {name: file[name] for name in file.files if name != "attrs"}
    results = mhc_sinkhorn(arrays["x"].astype(dtype), eps=attrs["eps"], num_iters=attrs["numIters"])
    for name, result in zip(("output", "normOut", "sumOut"), results, strict=True):
        if name in arrays:
            np.testing.assert_allclose(result, arrays[name], rtol=1e-5, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("n", [4, 6, 8])
def test_slots_are_padded_steps(n):
    x = np.random.default_rng(n).standard_normal((2, 3, n, n)).astype(np.float32)
    result, steps = mhc_sinkhorn(x, num_iters=5), sinkhorn(x, 5, 1e-6)
    norm, total = result.norm_out.reshape(10, 2, 3, n, 8), result.sum_out.reshape(10, 2, 3, 8)
    np.testing.assert_array_equal(norm[..., :n], steps.norm_out)
    np.testing.assert_array_equal(total[..., :n], steps.sum_out)
    assert not norm[..., n:].any() and not total[..., n:].any()
    np.testing.assert_array_equal(result.output, norm[-1][..., :n])


def test_sums_converge():
    x = np.random.default_rng(0).standard_normal((50, 4, 4)).astype(np.float32)
    few, many = (mhc_sinkhorn(x, num_iters=iters).output for iters in (2, 100))
    np.testing.assert_allclose(many.sum(-2), 1, atol=1e-5)
    np.testing.assert_allclose(many.sum(-1), 1, atol=1e-4)
    assert np.abs(few.sum(-1) - 1).max() > 1e-3


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_spoils_its_matrix_only(value):
    x = np.random.default_rng(1).standard_normal((6, 4, 4)).astype(np.float32)
    clean = mhc_sinkhorn(x)
    x[2, 1, 3] = value
    dirty = mhc_sinkhorn(x)
    others = [0, 1, 3, 4, 5]
    np.testing.assert_array_equal(clean.output[others], dirty.output[others])
    assert np.isnan(dirty.output[2]).all()
    assert np.isnan(dirty.norm_out.reshape(40, 6, 4, 8)[:, 2, :, :4]).all()


@pytest.mark.parametrize("shape", [(4, 4), (2, 3, 4), (1, 2, 3, 4, 4), (2, 9, 9)])
def test_other_shapes_are_refused(shape):
    with pytest.raises(ValueError, match=r"x must be|two equal axes"):
        mhc_sinkhorn(np.zeros(shape, np.float32))
