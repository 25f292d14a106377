"""Results of MhcSinkhorn on the SoC of this process; run by test_mhc_sinkhorn.py."""

import itertools
import json
import os
from pathlib import Path

import numpy as np

import aclnn_py as aclnn
from aclnn_py.reference import mhc_sinkhorn as reference

DATA = Path(__file__).parents[1] / "data"
ON_950 = "950" in os.environ.get("ACLEMU_SOC", "")


def close(actual, expected, what=""):
    assert actual.dtype == expected.dtype and actual.shape == expected.shape, what
    np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5, err_msg=what)


def attempt(x, what, **attributes):
    expected = reference(x, **attributes)
    for need_backward in (False, True):
        result = aclnn.ops.mhc_sinkhorn(x, need_backward=need_backward, **attributes)
        assert (result.norm_out is None) == (result.sum_out is None) == (not need_backward)
        for field, actual in result._asdict().items():
            if actual is not None:
                close(actual.numpy(), getattr(expected, field), f"{what} {field}")


def random_x(*shape, scale=1.0):
    return (np.random.default_rng(shape).standard_normal(shape) * scale).astype(np.float32)


def check_vectors():
    paths = sorted(DATA.glob("aclnnMhcSinkhorn_*.npz"))
    assert len(paths) == 3
    for path in paths:
        with np.load(path) as file:
            attrs = json.loads(str(file["attrs"]))["attrs"]
            slots = "normOut" in file
            result = aclnn.ops.mhc_sinkhorn(
                file["x"], eps=attrs["eps"], num_iters=attrs["numIters"], need_backward=slots
            )
            close(result.output.numpy(), file["output"], path.stem)
            if slots:
                close(result.norm_out.numpy(), file["normOut"], path.stem)
                close(result.sum_out.numpy(), file["sumOut"], path.stem)


def check_sweep():
    for n, tokens, iters in itertools.product(
        (4, 6, 8), (1, 7, 15, 16, 17, 63, 65, 500, 1793), (1, 2, 20, 100)
    ):
        if tokens * iters <= 10_000:
            attempt(random_x(tokens, n, n), f"n {n} T {tokens} iters {iters}", num_iters=iters)


def check_many_tokens():
    x = random_x(5_000, 8, 8)
    close(aclnn.ops.mhc_sinkhorn(x).output.numpy(), reference(x).output)


def check_steep_and_constant():
    for n in (4, 6, 8):
        attempt(random_x(5, n, n, scale=30.0), f"steep n {n}")
        attempt(np.full((2, 3, n, n), 0.5, np.float32), f"constant n {n}")
        far = np.where(random_x(9, n, n) > 0, 1e4, -1e4).astype(np.float32)
        attempt(far, f"far apart n {n}")


def check_eps_is_a_c_float():
    x = random_x(4, 4, 4)
    for eps in (0.0, 1e-3, 0.25):
        attempt(x, f"eps {eps}", eps=eps)


def check_layouts():
    x = random_x(2, 3, 6, 6)
    grid, line = (aclnn.ops.mhc_sinkhorn(a, need_backward=True) for a in (x, x.reshape(6, 6, 6)))
    for a, b in zip(grid, line, strict=True):
        np.testing.assert_array_equal(a.numpy().ravel(), b.numpy().ravel())


def check_what_is_not_finite_spoils_its_token_only():
    clean = random_x(40, 4, 4)
    dirty = clean.copy()
    dirty[3, 1, 2], dirty[17, 0, 0], dirty[39, 3, 3] = np.nan, np.inf, -np.inf
    good, bad = (aclnn.ops.mhc_sinkhorn(x, need_backward=True) for x in (clean, dirty))
    expected = reference(dirty)
    others = [t for t in range(40) if t not in (3, 17, 39)]
    np.testing.assert_array_equal(good.output.numpy()[others], bad.output.numpy()[others])
    for field, actual in bad._asdict().items():
        np.testing.assert_array_equal(np.isnan(actual.numpy()), np.isnan(getattr(expected, field)), field)
    assert np.isnan(bad.output.numpy()[[3, 17, 39]]).all()


def check_strided_input_and_output():
    x = random_x(5, 4, 4)
    large = np.zeros((10, 8, 12), np.float32)
    large[::2, ::2, ::3] = x
    view = aclnn.tensor(large)[::2, ::2, ::3]
    close(aclnn.ops.mhc_sinkhorn(view).output.numpy(), reference(x).output)
    output = aclnn.zeros((10, 8, 12), "float32")[::2, ::2, ::3]
    norm, total = (aclnn.zeros((2 * size,), "float32")[::2] for size in (40 * 5 * 4 * 8, 40 * 5 * 8))
    aclnn.op("aclnnMhcSinkhorn")(view, 1e-6, 20, output, norm, total)
    for actual, expected in zip((output, norm, total), reference(x), strict=True):
        close(actual.numpy(), expected)


def check_one_element_counts_as_left_out():
    x = random_x(3, 4, 4)
    output, one, other = aclnn.empty((3, 4, 4)), aclnn.zeros((1,)), aclnn.zeros((1, 1))
    aclnn.op("aclnnMhcSinkhorn")(x, 1e-6, 20, output, one, other)
    close(output.numpy(), reference(x).output)
    assert one.numpy()[0] == other.numpy()[0, 0] == 0


def check_python_refuses_before_c():
    for x, error, text in (
        (np.zeros((2, 4, 4)), TypeError, "x is float64, it must be float32"),
        ("x", TypeError, "x must be"),
        (np.zeros((4, 4), np.float32), ValueError, "x has shape (4, 4)"),
    ):
        try:
            aclnn.ops.mhc_sinkhorn(x)
        except error as caught:
            assert text in str(caught), caught
        else:
            raise AssertionError("accepted")


if __name__ == "__main__":
    from soc_checks import main

    main(globals())
