"""Results of aclnnMhcPreSinkhorn through the binding, against the NumPy reference."""

import json
import os
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import aclnn_py as aclnn
from aclnn_py.reference import mhc_pre_sinkhorn as reference
from aclnn_py.testing import cases, check_mhc_pre_sinkhorn

BF16 = ml_dtypes.bfloat16
HERE = Path(__file__).parent
VECTORS = sorted((HERE.parent / "data").glob("aclnnMhcPreSinkhorn_*.npz"))
C_NAMES = ["hin", "hPost", "hRes", "hPre", "hcBeforeNorm", "invRms", "sumOut", "normOut"]


def run(case, need_backward=True):
    result = aclnn.ops.mhc_pre_sinkhorn(*case, need_backward=need_backward)
    return [None if tensor is None else tensor.numpy() for tensor in result]


def assert_right(actual, expected, outputs=8):
    report = check_mhc_pre_sinkhorn(actual, expected)
    assert len(report) == outputs
    assert all(found.passed for found in report), "\n".join(map(str, report))


@pytest.mark.parametrize("dtype", [np.float16, BF16])
@pytest.mark.parametrize("tokens", [1, 2, 3, 31, 33, 65, 130])
def test_random_tokens(dtype, tokens):
    case = cases.random_case((1, tokens), 128, dtype, seed=tokens)
    assert_right(run(case), reference(*case, need_backward=True))


@pytest.mark.parametrize("make", [cases.random_case, cases.steep_case, cases.constant_case])
@pytest.mark.parametrize("dtype", [np.float16, BF16])
@pytest.mark.parametrize("c", [128, 256, 384, 4096, 12800])
def test_tail_axis(make, dtype, c):
    case = make((2, 3), c, dtype)
    assert_right(run(case), reference(*case, need_backward=True))


@pytest.mark.parametrize("make", [cases.random_case, cases.constant_case])
def test_largest_tail_axis(make):
    """400 thousand products per sum. Equal ones are the harder case: all roundings go one way."""
    case = make((1, 1), 99968)
    assert_right(run(case), reference(*case, need_backward=True))


@pytest.mark.parametrize("backward", [True, False])
def test_many_tokens_per_core(backward):
    case = cases.random_case((3, 900), 128, BF16, seed=12)
    assert_right(run(case, backward), reference(*case, need_backward=backward), 8 if backward else 3)


@pytest.mark.parametrize("key", ["0", "1"])
def test_32768_tokens(monkeypatch, key):
    monkeypatch.setenv("ACLEMU_TILING_KEY", key)
    case = cases.random_case((4, 8192), 128)
    assert_right(run(case, need_backward=False), reference(*case), 3)


@pytest.mark.parametrize("dtype", [np.float16, BF16])
@pytest.mark.parametrize("lead, c", [((3, 7), 256), ((1, 1), 4096)])
def test_without_backward_is_the_same(dtype, lead, c):
    case = cases.random_case(lead, c, dtype, seed=3)
    short, full = run(case, need_backward=False), run(case)
    assert all(output is None for output in short[3:])
    assert_right(short, reference(*case), outputs=3)
    for a, b in zip(short[:3], full[:3], strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("dtype", [np.float16, BF16])
def test_hin_is_rounded_once_to_nearest(dtype):
    """One ulp of difference is tolerated elsewhere; cutting off would use it up in every second element."""
    case = cases.random_case((2, 20), 512, dtype, seed=21)
    differing = run(case)[0] != reference(*case).hin
    assert differing.mean() < 0.01


@pytest.mark.parametrize("seed", range(3))
def test_steep_logits(seed):
    case = cases.steep_case((1, 35), 256, BF16, seed=seed)
    result = run(case)
    assert all(np.isfinite(output.astype(np.float32)).all() for output in result)
    assert_right(result, reference(*case, need_backward=True))


def test_columns_of_h_res_sum_to_one():
    matrix = run(cases.random_case((2, 40), 256))[2].reshape(80, 4, 4)
    np.testing.assert_allclose(matrix.sum(-2), 1, atol=1e-5)
    np.testing.assert_allclose(matrix.sum(-1), 1, atol=1e-2)


def test_other_eps():
    case = cases.random_case((1, 9), 128, np.float16, seed=11)
    eps = {"hc_eps": 0.25, "norm_eps": 0.5}
    result = aclnn.ops.mhc_pre_sinkhorn(*case, **eps, need_backward=True)
    assert_right([tensor.numpy() for tensor in result], reference(*case, **eps, need_backward=True))


@pytest.mark.parametrize("dtype", [np.float16, BF16])
def test_extreme_sizes_of_x(dtype):
    """RMS normalisation takes the size out again; hcBeforeNorm and hin keep it: compared relative to it."""
    case = cases.random_case((1, 6), 128, dtype)
    sizes = np.array([0, 1e-4, 1e3, 1e4 if dtype == np.float16 else 1e17, 1, 1], np.float32)[:, None, None]
    case.x[0] = np.clip(case.x[0].astype(np.float32), -1, 1) * sizes
    result, expected = run(case), reference(*case, need_backward=True)
    assert all(np.isfinite(output.astype(np.float32)).all() for output in result)
    scale = np.maximum(sizes[:, :, 0], 1)
    np.testing.assert_allclose(result[4] / scale, expected[4] / scale, rtol=1e-4, atol=1e-4)
    hin, expected_hin = (outputs[0].astype(np.float32) / scale for outputs in (result, expected))
    np.testing.assert_allclose(hin, expected_hin, rtol=8e-3, atol=4e-3)
    for index in (1, 2, 3, 5, 6, 7):
        np.testing.assert_allclose(
            result[index], expected[index], rtol=1e-4, atol=1e-4, err_msg=C_NAMES[index]
        )


def test_one_nan_spoils_its_token_only():
    case = cases.random_case((1, 70), 128, np.float16)
    case.x[0, 40, 2, 5] = np.nan
    result, expected = run(case), reference(*case, need_backward=True)
    assert np.isnan(result[0][0, 40].astype(np.float32)).all() and np.isnan(result[2][0, 40]).all()
    rest = [t for t in range(70) if t != 40]
    for index, (a, b) in enumerate(zip(result, expected, strict=True)):
        a, b = (np.moveaxis(array, -3 if index == 7 else -2, 0)[rest].astype(np.float32) for array in (a, b))
        assert np.isfinite(a).all()
        np.testing.assert_allclose(a, b, rtol=8e-3 if index == 0 else 1e-4, atol=4e-3 if index == 0 else 1e-4)


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: path.stem)
def test_vectors(path):
    with np.load(path) as file:
        header = json.loads(str(file["attrs"]))
        arrays = {k: file[k].view(BF16) if t == "bfloat16" else file[k] for k, t in header["dtypes"].items()}
    backward = header["attrs"]["needBackward"]
    result = run([arrays[name] for name in ("x", "phi", "alpha", "bias")], backward)
    assert_right(result, [arrays.get(name) for name in C_NAMES], 8 if backward else 3)


def test_there_are_vectors():
    assert len(VECTORS) == 3


def test_strided_inputs():
    """Views of larger device tensors: every second token, a slice of the tail axis, a transposed phi."""
    case = cases.random_case((2, 6), 512, BF16, seed=8)
    x = aclnn.tensor(case.x)[:, ::2, :, 128:384]
    wide = np.zeros((1024, 48), np.float32)
    phi = wide[:, ::2].T
    phi[:] = case.phi[:, :1024]
    alpha = np.repeat(case.alpha, 2)[::2]
    seen = (case.x[:, ::2, :, 128:384].copy(), np.ascontiguousarray(phi), case.alpha, case.bias)
    result = aclnn.ops.mhc_pre_sinkhorn(
        x,
        aclnn.tensor(wide)[:, ::2].T,
        aclnn.tensor(np.repeat(case.alpha, 2))[::2],
        case.bias,
        need_backward=True,
    )
    assert alpha.tolist() == case.alpha.tolist()
    assert_right([tensor.numpy() for tensor in result], reference(*seen, need_backward=True))
    for a, b in zip((tensor.numpy() for tensor in result), run(seen), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("lead, c", [((0, 3), 128), ((2, 0), 256), ((2, 3), 0)])
@pytest.mark.parametrize("backward", [True, False])
def test_empty(lead, c, backward):
    result = run(cases.random_case(lead, c), backward)
    expected = reference(*cases.random_case(lead, c), need_backward=backward)
    assert [None if r is None else (r.shape, r.dtype) for r in result] == [
        None if e is None else (e.shape, e.dtype) for e in expected
    ]


@pytest.mark.parametrize("backward", [True, False])
def test_without_columns_no_result_is_what_memory_held(backward, monkeypatch):
    def used(shape, dtype=np.float32):
        return aclnn.tensor(np.full(shape, 7, dtype))

    monkeypatch.setattr("aclnn_py.ops.mhc.empty", used)
    result = run(cases.random_case((2, 3), 0), backward)
    assert not any(r.any() for r in result if r is not None)


def test_raw_form_writes_into_the_callers_tensors():
    case = cases.random_case((2, 3), 128, np.float16, seed=6)
    expected = reference(*case, need_backward=True)
    outputs = [aclnn.empty(e.shape, e.dtype) for e in expected]
    op = aclnn.op("aclnnMhcPreSinkhorn")
    op(*map(aclnn.tensor, case), 4, 20, 1e-6, 1e-6, True, *outputs)
    assert_right([tensor.numpy() for tensor in outputs], expected)
    op(*map(aclnn.tensor, case), 4, 20, 1e-6, 1e-6, False, *outputs[:3], *[None] * 5)
    assert_right([tensor.numpy() for tensor in outputs], expected)


def test_strided_output_is_refused():
    case = cases.random_case((2, 4), 128, np.float16)
    shapes = [e.shape for e in reference(*case)[:3]]
    wide = aclnn.empty((2, 8, 128), np.float16)
    outputs = [wide[:, ::2], *(aclnn.empty(shape, np.float32) for shape in shapes[1:])]
    with pytest.raises(aclnn.AclnnParameterError, match=r"(?s)161002.*hin") as caught:
        aclnn.op("aclnnMhcPreSinkhorn")(
            *map(aclnn.tensor, case), 4, 20, 1e-6, 1e-6, False, *outputs, *[None] * 5
        )
    assert caught.value.code == 161002
    assert_right(run(case), reference(*case, need_backward=True))


def test_repeats_bit_for_bit():
    case = cases.random_case((3, 17), 384, BF16, seed=4)
    first = run(case)
    for _ in range(5):
        for a, b in zip(first, run(case), strict=True):
            np.testing.assert_array_equal(a, b)


def test_ten_thousand_calls_leave_memory_flat(emulator_root):
    ran = subprocess.run(
        [sys.executable, str(HERE / "run_many.py"), str(emulator_root), "12000"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    reports = [json.loads(line) for line in ran.stdout.splitlines()]
    assert len(reports) == 6
    assert all(report["objects"] == reports[0]["objects"] for report in reports), reports
    # The allocator takes some pages now and then; a leak of 16 bytes a call makes every step grow.
    resident = [report["resident"] for report in reports]
    assert np.diff(resident).min() < 16 * 2000, resident
    assert resident[-1] - resident[0] < 16 << 20, resident


def subprocess_results(path, tokens, **settings):
    environment = {**os.environ, **settings}
    command = [sys.executable, str(HERE / "run_case.py"), str(path), *map(str, tokens)]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


@pytest.mark.parametrize("cores", ["1:1", "1", "4:7", "20"])
def test_core_counts_and_thread_counts(tmp_path, cores):
    """Any split over cores is right; how many threads play the cores does not change a bit."""
    tokens = [1, 3, 33, 130]
    runs = [
        subprocess_results(
            tmp_path / f"{threads}.npz", tokens, ACLEMU_AICORES=cores, ACLEMU_THREADS=str(threads)
        )
        for threads in (1, 2, 3, 4)
    ]
    for other in runs[1:]:
        assert other.keys() == runs[0].keys()
        for name, array in runs[0].items():
            np.testing.assert_array_equal(array, other[name], err_msg=name)
    for count in tokens:
        for dtype in (np.dtype(np.float16), np.dtype(BF16)):
            expected = reference(*cases.random_case((1, count), 256, dtype, seed=count), need_backward=True)
            found = [runs[0][f"{count} {dtype} {name}"] for name in expected._fields]
            assert_right([found[0].view(dtype), *found[1:]], expected)
