"""The reference of the gradients: outputs from elsewhere, finite differences, the formulas token by token."""

import json
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from aclnn_py.reference import mhc_pre_sinkhorn, mhc_pre_sinkhorn_backward, sinkhorn
from aclnn_py.testing import backward_case, cases, check_mhc_pre_sinkhorn_backward

DATA = Path(__file__).parents[1] / "data"
VECTORS = sorted(DATA.glob("aclnnMhcPreSinkhornBackward_*.npz"))
INPUTS = ["gradHin", "gradHPost", "gradHRes", "x", "phi", "alpha", "bias"]
SAVED = ["hPre", "hcBeforeNorm", "invRms", "sumOut", "normOut"]
OUTPUTS = ["gradX", "gradPhi", "gradAlpha", "gradBias"]
EPS = float(np.float32(1e-6))


def load(path):
    with np.load(path) as file:
        header = json.loads(str(file["attrs"]))
        return {
            name: file[name].view(ml_dtypes.bfloat16) if dtype == "bfloat16" else file[name]
            for name, dtype in header["dtypes"].items()
        }


def test_there_are_vectors():
    assert len(VECTORS) == 3


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: path.stem)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_vectors(path, dtype):
    arrays = load(path)
    grad_x, *others = mhc_pre_sinkhorn_backward(*(arrays[name] for name in INPUTS + SAVED), dtype=dtype)
    results = [grad_x, *(other.astype(np.float32) for other in others)]
    report = check_mhc_pre_sinkhorn_backward(results, [arrays[name] for name in OUTPUTS])
    assert all(found.passed for found in report), "\n".join(map(str, report))
    for name, result in zip(OUTPUTS[1:], results[1:], strict=True):
        np.testing.assert_allclose(result, arrays[name], rtol=2e-6, atol=3e-6, err_msg=name)


def forward(x, phi, alpha, bias, n, eps, iters):
    """The forward operator in float64 on [t, n, c], all inputs to be varied."""
    flat = x.reshape(len(x), -1)
    w = flat @ phi.T / np.sqrt(np.square(flat).mean(-1, keepdims=True) + EPS)
    z = w * np.repeat(alpha, (n, n, n * n)) + bias
    pre = 1 / (1 + np.exp(-z[:, :n])) + eps
    post = 2 / (1 + np.exp(-z[:, n : 2 * n]))
    res = sinkhorn(z[:, 2 * n :].reshape(-1, n, n), iters, eps).result
    return (pre[:, :, None] * x).sum(1), post, res.reshape(len(x), n * n)


def gradients(n, c, tokens, seed, iters=20, eps=1e-6, exact=True):
    """The reference in float64, and the forward's inputs and the loss that its gradients belong to."""
    case = cases.random_case((tokens,), c, np.float16, n=n, seed=seed)
    rng = np.random.default_rng(seed)
    saved = mhc_pre_sinkhorn(
        *case, hc_mult=n, num_iters=iters, hc_eps=eps, need_backward=True, dtype=np.float64
    )
    grads = (
        rng.standard_normal((tokens, c)).astype(np.float16),
        rng.standard_normal((tokens, n), np.float32),
        rng.standard_normal((tokens, n * n), np.float32),
    )
    got = mhc_pre_sinkhorn_backward(
        *grads,
        *case,
        *saved[3:],
        hc_eps=eps,
        dtype=np.float64,
        exact_sigmoid=exact,
        grad_x_dtype=np.float64,
    )
    inputs = [a.astype(np.float64) for a in case]

    def loss(varied):
        outputs = forward(*varied, n, float(np.float32(eps)), iters)
        return sum((g.astype(np.float64) * o).sum() for g, o in zip(grads, outputs, strict=True))

    return got, inputs, loss


@pytest.mark.parametrize("n", [1, 2, 4, 8])
@pytest.mark.parametrize("seed", range(2))
def test_finite_differences(n, seed):
    got, inputs, loss = gradients(n, 6, 3, seed)
    rng = np.random.default_rng(seed)
    for index, gradient in enumerate(got):
        for _ in range(6):
            direction = rng.standard_normal(gradient.shape)
            step = 1e-6
            ends = []
            for sign in (1, -1):
                varied = list(inputs)
                varied[index] = inputs[index] + sign * step * direction
                ends.append(loss(varied))
            slope = (ends[0] - ends[1]) / (2 * step)
            np.testing.assert_allclose((gradient * direction).sum(), slope, rtol=2e-5, atol=2e-5)


def test_each_input_by_finite_differences():
    """Entry by entry, so that errors of two entries cannot cancel."""
    got, inputs, loss = gradients(4, 3, 2, 7)
    for index, gradient in enumerate(got):
        for position in np.ndindex(gradient.shape):
            ends = []
            for sign in (1, -1):
                varied = [a.copy() for a in inputs]
                varied[index][position] += sign * 1e-6
                ends.append(loss(varied))
            np.testing.assert_allclose(gradient[position], (ends[0] - ends[1]) / 2e-6, rtol=1e-4, atol=2e-5)


def test_the_operators_sigmoid_is_off_by_about_eps():
    """Its derivative is taken at sigma - eps. Exactly at an eps of 0, and visible at a large one."""
    for eps, least, most in ((0.0, 0.0, 0.0), (1e-6, 1e-8, 1e-4), (0.05, 1e-2, 5.0)):
        defined, exact = (gradients(4, 8, 5, 3, eps=eps, exact=exact)[0] for exact in (False, True))
        for a, b in zip(defined, exact, strict=True):
            assert least <= np.abs(a - b).max() <= most
        np.testing.assert_array_equal(defined.grad_bias[4:], exact.grad_bias[4:])


def test_result_is_one_statement_of_the_formulas():
    """Token by token in plain Python, so that no broadcasting mistake can hide on both sides."""
    n, c = 4, 8
    case = backward_case(cases.random_case((2, 3), c, np.float16, seed=5), seed=1)
    got = mhc_pre_sinkhorn_backward(*case, dtype=np.float64, grad_x_dtype=np.float64)
    grad_hin, grad_post, grad_res, x, phi, alpha, bias, pre, before, inverse, sums, norms = (
        a.astype(np.float64) for a in case
    )
    bias_sum, alpha_sum, phi_sum = np.zeros(24), np.zeros(3), np.zeros((24, n * c))
    for token in np.ndindex(2, 3):
        r = inverse[token][0]
        w = [b * r for b in before[token]]
        z = [v * alpha[0 if k < 4 else 1 if k < 8 else 2] + bias[k] for k, v in enumerate(w)]
        dz = []
        for i in range(n):
            s = 1 / (1 + np.exp(-z[i])) - EPS
            dz.append(sum(grad_hin[token][d] * x[token][i][d] for d in range(c)) * s * (1 - s))
        for i in range(n):
            s = 1 / (1 + np.exp(-z[n + i]))
            dz.append(2 * grad_post[token][i] * s * (1 - s))
        g = [[grad_res[token][i * n + j] for j in range(n)] for i in range(n)]
        for k in range(19, -1, -1):
            row, column, norm = sums[2 * k][token], sums[2 * k + 1][token], norms[2 * k][token]
            shift = [sum(g[i][j] * norm[i][j] for i in range(n)) / column[j] ** 2 for j in range(n)]
            g = [[g[i][j] / column[j] - shift[j] for j in range(n)] for i in range(n)]
            shift = [sum(g[i][j] * norm[i][j] for j in range(n)) / row[i] for i in range(n)]
            g = [[g[i][j] / row[i] - shift[i] for j in range(n)] for i in range(n)]
        for i in range(n):
            logits = z[8 + i * n : 8 + (i + 1) * n]
            top = max(logits)
            cells = [np.exp(logits[j] - top) * g[i][j] for j in range(n)]
            dz += [cells[j] - (sum(cells) if j == logits.index(top) else 0) for j in range(n)]
        bias_sum += dz
        for k in range(24):
            alpha_sum[0 if k < 4 else 1 if k < 8 else 2] += w[k] * dz[k]
        scaled = [dz[k] * alpha[0 if k < 4 else 1 if k < 8 else 2] for k in range(24)]
        ginv = sum(before[token][k] * scaled[k] for k in range(24))
        for i in range(n):
            for d in range(c):
                column = i * c + d
                mixed = sum(phi[k][column] * scaled[k] * r for k in range(24))
                value = grad_hin[token][d] * pre[token][i] - r**3 * x[token][i][d] * ginv / (n * c) + mixed
                np.testing.assert_allclose(got.grad_x[(*token, i, d)], value, rtol=1e-9, atol=1e-12)
                for k in range(24):
                    phi_sum[k][column] += scaled[k] * r * x[token][i][d]
    np.testing.assert_allclose(got.grad_phi, phi_sum, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(got.grad_alpha, alpha_sum, rtol=1e-9)
    np.testing.assert_allclose(got.grad_bias, bias_sum, rtol=1e-9, atol=1e-12)


def test_of_equal_maxima_the_first_takes_the_gradient():
    """With saved slots that do not fit the logits the sum over a row is not zero, and shows where it went."""
    case = backward_case(cases.random_case((1, 1), 4, np.float16, seed=2))
    case.alpha[2], case.bias[8:] = 0, 0.5
    case.bias[8 + 4 : 8 + 8] = [0, 2, 1, 2]
    random = case._replace(
        norm_out=np.random.default_rng(1).uniform(0.2, 1, case.norm_out.shape).astype(np.float32)
    )
    got = mhc_pre_sinkhorn_backward(*random, dtype=np.float64).grad_bias[8:].reshape(4, 4)
    np.testing.assert_allclose(got.sum(-1), 0, atol=1e-6)
    moved = random._replace(bias=case.bias.copy())
    moved.bias[8 + 4 + 3] = np.nextafter(np.float32(2), np.float32(3))
    other = mhc_pre_sinkhorn_backward(*moved, dtype=np.float64).grad_bias[8:].reshape(4, 4)
    np.testing.assert_allclose(other[[0, 2, 3]], got[[0, 2, 3]], rtol=1e-6)
    assert abs(other[1, 1] - got[1, 1]) > 1e-3  # the maximum has left column 1
    np.testing.assert_allclose(other[1, [0, 2]], got[1, [0, 2]], rtol=1e-5)


@pytest.mark.parametrize("make", [cases.random_case, cases.constant_case, cases.steep_case])
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_float32_is_close_to_float64(make, dtype):
    case = backward_case(make((2, 5), 64, dtype))
    single, double = (mhc_pre_sinkhorn_backward(*case, dtype=t) for t in (np.float32, np.float64))
    results = [single.grad_x, *single[1:]]
    wanted = [double.grad_x, *(a.astype(np.float32) for a in double[1:])]
    report = check_mhc_pre_sinkhorn_backward(results, wanted)
    assert all(found.passed for found in report), "\n".join(map(str, report))
    assert all(np.isfinite(a.astype(np.float32)).all() for a in results)


def test_many_tokens_are_taken_in_chunks(monkeypatch):
    case = backward_case(cases.random_case((2, 9), 32, seed=3))
    whole = mhc_pre_sinkhorn_backward(*case)
    module = sys.modules["aclnn_py.reference.mhc_pre_sinkhorn_backward"]  # its function has the same name
    monkeypatch.setattr(module, "_CHUNK_BYTES", 4 * 32 * 4 * 5)
    parts = mhc_pre_sinkhorn_backward(*case)
    for a, b in zip(whole, parts, strict=True):
        np.testing.assert_allclose(a.astype(np.float64), b.astype(np.float64), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "field, value, error, text",
    [
        ("x", np.zeros((1, 2, 4, 8), np.float32), TypeError, "x must be float16 or bfloat16"),
        ("x", np.zeros((4, 8), np.float16), ValueError, "x must be"),
        ("grad_hin", np.zeros((1, 2, 8), ml_dtypes.bfloat16), TypeError, "grad_hin must have the dtype of x"),
        ("grad_hin", np.zeros((1, 2, 9), np.float16), ValueError, "grad_hin must be"),
        ("grad_h_res", np.zeros((1, 2, 4, 5), np.float32), ValueError, "grad_h_res must be"),
        ("phi", np.zeros((24, 32)), TypeError, "phi must be float32"),
        ("alpha", np.zeros(2, np.float32), ValueError, "alpha must be"),
        ("inv_rms", np.zeros((1, 2), np.float32), ValueError, "inv_rms must be"),
        ("norm_out", np.zeros((38, 1, 2, 4, 4), np.float32), ValueError, "norm_out must be"),
    ],
)
def test_wrong_input(field, value, error, text):
    case = backward_case(cases.random_case((1, 2), 8, np.float16))
    with pytest.raises(error, match=text):
        mhc_pre_sinkhorn_backward(*case._replace(**{field: value}))


def test_both_forms_of_grad_h_res():
    case = backward_case(cases.random_case((1, 2), 8, np.float16))
    square = case._replace(grad_h_res=case.grad_h_res.reshape(1, 2, 4, 4))
    for a, b in zip(mhc_pre_sinkhorn_backward(*case), mhc_pre_sinkhorn_backward(*square), strict=True):
        np.testing.assert_array_equal(a, b)
