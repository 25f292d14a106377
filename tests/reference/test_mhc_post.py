"""MhcPost and its gradients: the references against outputs from elsewhere and finite differences."""

import json
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from aclnn_py.reference import mhc_post, mhc_post_backward

DATA = Path(__file__).parents[1] / "data"
FORWARD = sorted(DATA.glob("aclnnMhcPost_*.npz"))
BACKWARD = sorted(DATA.glob("aclnnMhcPostBackward_*.npz"))
INPUTS = ("x", "hRes", "hOut", "hPost")


def load(path):
    with np.load(path) as file:
        header = json.loads(str(file["attrs"]))
        arrays = dict.fromkeys(header["null"]) | {
            name: file[name].view(ml_dtypes.bfloat16) if dtype == "bfloat16" else file[name]
            for name, dtype in header["dtypes"].items()
        }
    return arrays


def random_case(lead, n, tail, dtype, seed=0):
    rng = np.random.default_rng(seed)

    def normal(*shape):
        return rng.standard_normal(shape, np.float32)

    return (
        normal(*lead, n, tail).astype(dtype),
        normal(*lead, n, n),
        normal(*lead, tail).astype(dtype),
        normal(*lead, n),
    )


def test_there_are_vectors():
    assert (len(FORWARD), len(BACKWARD)) == (3, 3)


@pytest.mark.parametrize("path", FORWARD, ids=lambda path: path.stem)
def test_forward_vectors(path):
    arrays = load(path)
    out = mhc_post(*(arrays[name] for name in INPUTS))
    assert out.dtype == arrays["out"].dtype
    np.testing.assert_array_equal(out, arrays["out"])


@pytest.mark.parametrize("path", BACKWARD, ids=lambda path: path.stem)
def test_backward_vectors(path):
    arrays = load(path)
    results = mhc_post_backward(arrays["gradOutput"], *(arrays[name] for name in INPUTS))
    for name, result in zip(("gradX", "gradHres", "gradHout", "gradHpost"), results, strict=True):
        assert result.dtype == arrays[name].dtype
        wide = [a.astype(np.float32) for a in (result, arrays[name])]
        tolerance = 2**-8 if result.itemsize == 2 else 1e-5
        np.testing.assert_allclose(*wide, rtol=tolerance, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("mixed", [True, False])
def test_forward_is_one_statement_of_the_formula(mixed):
    """Element by element in plain Python; an asymmetric h_res would show a transposition."""
    x, h_res, h_out, h_post = random_case((2, 3), 3, 5, np.float16, seed=1)
    out = mhc_post(x, h_res if mixed else None, h_out, h_post, dtype=np.float64)
    for token in np.ndindex(2, 3):
        for j in range(3):
            for d in range(5):
                expected = float(h_post[token][j]) * float(h_out[token][d])
                if mixed:
                    expected += sum(float(h_res[token][i][j]) * float(x[token][i][d]) for i in range(3))
                else:
                    expected += float(x[token][j][d])
                assert out[token][j][d] == np.float16(expected)


def test_a_shift_matrix_shifts_the_streams():
    x = np.arange(4, dtype=np.float16).reshape(1, 4, 1) + np.ones((1, 4, 8), np.float16)
    shift = np.eye(4, k=1, dtype=np.float32)[None]  # source i goes to stream i + 1
    out = mhc_post(x, shift, np.zeros((1, 8), np.float16), np.zeros((1, 4), np.float32))
    np.testing.assert_array_equal(out[0, :, 0], [0, 1, 2, 3])


@pytest.mark.parametrize("mixed", [True, False])
@pytest.mark.parametrize("n", [1, 4, 6])
def test_gradients_are_those_of_the_forward_function(n, mixed):
    """Central differences in float64. The 16-bit inputs move in steps that they hold exactly."""
    x, h_res, h_out, h_post = random_case((2,), n, 6, np.float16, seed=n)
    x, h_out = np.round(x * 64) / 64, np.round(h_out * 64) / 64
    res = h_res if mixed else np.broadcast_to(np.eye(n, dtype=np.float32), h_res.shape)
    weight = np.random.default_rng(9).standard_normal(x.shape).astype(np.float16)

    def loss(x, h_res, h_out, h_post):
        wide = [a.astype(np.float64) for a in (x, h_res, h_out, h_post)]
        out = wide[3][..., None] * wide[2][..., None, :] + np.einsum("tij,tid->tjd", wide[1], wide[0])
        return (out * weight).sum()

    given = (x, res, h_out, h_post)
    got = mhc_post_backward(weight, x, h_res if mixed else None, h_out, h_post, dtype=np.float64)
    for at, gradient in enumerate(got):
        for index in np.ndindex(given[at].shape):
            step = 2.0**-4
            moved = []
            for sign in (1, -1):
                arrays = [a.astype(np.float64) for a in given]
                arrays[at][index] += sign * step
                moved.append(loss(*arrays))
            slope = (moved[0] - moved[1]) / (2 * step)
            # The loss is linear in each input, so only the rounding of a 16-bit gradient is left.
            np.testing.assert_allclose(float(gradient[index]), slope, rtol=2**-10, atol=1e-6)


def test_long_rows_keep_their_precision():
    x, h_res, h_out, h_post = random_case((1,), 2, 99968, np.float16)
    single, double = (
        mhc_post_backward(x, x, h_res, h_out, h_post, dtype=t) for t in (np.float32, np.float64)
    )
    np.testing.assert_allclose(single.grad_h_res, double.grad_h_res, rtol=1e-6, atol=1e-3)
    np.testing.assert_allclose(single.grad_h_post, double.grad_h_post, rtol=1e-6, atol=1e-3)


@pytest.mark.parametrize(
    "change, error, text",
    [
        ({0: np.zeros((2, 4, 8), np.float32)}, TypeError, "x must be float16 or bfloat16, got float32"),
        ({0: np.zeros((4, 8), np.float16)}, ValueError, "x must be"),
        ({1: np.zeros((2, 4, 4), np.float64)}, TypeError, "h_res must be float32, got float64"),
        ({1: np.zeros((2, 16), np.float32)}, ValueError, r"h_res must be \[2, 4, 4\], got \[2, 16\]"),
        ({2: np.zeros((2, 8), ml_dtypes.bfloat16)}, TypeError, "h_out must be float16"),
        ({2: np.zeros((2, 7), np.float16)}, ValueError, r"h_out must be \[2, 8\]"),
        ({3: np.zeros((2, 3), np.float32)}, ValueError, r"h_post must be \[2, 4\]"),
    ],
)
def test_wrong_input_is_named(change, error, text):
    case = list(random_case((2,), 4, 8, np.float16))
    for at, array in change.items():
        case[at] = array
    with pytest.raises(error, match=text):
        mhc_post(*case)
    with pytest.raises(error, match=text):
        mhc_post_backward(np.zeros((2, 4, 8), np.float16), *case)


def test_the_gradient_must_be_like_x():
    case = random_case((2,), 4, 8, np.float16)
    with pytest.raises(ValueError, match=r"grad_output must be \[2, 4, 8\], got \[2, 4, 9\]"):
        mhc_post_backward(np.zeros((2, 4, 9), np.float16), *case)
