"""Results of aclnnHcPre and aclnnHcPreV2 through the binding, against the NumPy reference."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import aclnn_py as aclnn
from aclnn_py import reference
from aclnn_py.testing import cases, check_hc_pre, compare

BF16 = np.dtype(ml_dtypes.bfloat16)
HERE = Path(__file__).parent
VECTORS = ["HcPre_bsnd_d4096_const", "HcPreV2_tnd_d4096_ternary"]
SWEEP = [1, 2, 7, 511, 512, 513, 768, 3079, 8193, 12288, 16384, 32768]


def arrays(tensors):
    return [tensor.numpy() for tensor in tensors]


def pre_mix_for(case, seed=0):
    return np.random.default_rng((seed, 7)).uniform(-1, 2, case.x.shape[:-1]).astype(np.float32)


def assert_right(actual, expected):
    report = check_hc_pre(actual, expected)
    assert all(found.passed for found in report), "\n".join(map(str, report))


def random_case(lead, d, seed=0):
    """Both signs everywhere, unlike the public tests' inputs, with logits that differ between tokens."""
    rng = np.random.default_rng(seed)
    bound = 1 / np.sqrt(d)
    return cases.HcPreCase(
        rng.standard_normal((*lead, 4, d), np.float32).astype(BF16),
        rng.uniform(-bound, bound, (24, 4 * d)).astype(np.float32),
        rng.standard_normal(3, np.float32),
        rng.standard_normal(24, np.float32),
    )


@pytest.mark.parametrize("key", ["0", "1"])
@pytest.mark.parametrize("lead, d", [((1,), 4096), ((2, 17), 5120), ((1, 65), 7168), ((130,), 4096)])
def test_both_splits(monkeypatch, lead, d, key):
    monkeypatch.setenv("ACLEMU_TILING_KEY", key)
    case = random_case(lead, d, seed=len(lead))
    expected = reference.hc_pre_v2(*case)
    got = arrays(aclnn.ops.hc_pre_v2(*case))
    # HF32 in both: the sums differ in their order alone.
    for name, a, e in zip(expected._fields, got, expected, strict=True):
        limit = (8e-3, 4e-3) if name == "y" else (1e-5, 1e-5)
        found = compare(a, e, *limit, 1 if name == "y" else 0, name)
        assert found.passed, found
    assert [a.shape for a in got] == [(*lead, d), (*lead, 4), (*lead, 4, 4), (*lead, 4)]
    three = arrays(aclnn.ops.hc_pre(*case))
    for a, b in zip(three, got[:3], strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("tokens", [1, 2, 7, 33, 511, 512, 513])
def test_number_of_tokens(tokens):
    case = cases.hc_pre_case((tokens,), 4096, seed=tokens)
    assert_right(arrays(aclnn.ops.hc_pre(*case)), reference.hc_pre(*case))


@pytest.mark.parametrize("lead", [(5,), (2, 3)])
@pytest.mark.parametrize("d", [4096, 5120, 7168])
def test_pre_mix_weighs_y_and_nothing_else(lead, d):
    case = cases.hc_pre_case(lead, d, seed=d)
    pre_mix = pre_mix_for(case)
    without, given = (arrays(aclnn.ops.hc_pre_v2(*case, mix)) for mix in (None, pre_mix))
    assert_right(without, reference.hc_pre_v2(*case))
    assert_right(given, reference.hc_pre_v2(*case, pre_mix))
    for a, b in zip(without[1:], given[1:], strict=True):
        np.testing.assert_array_equal(a, b)
    own = arrays(aclnn.ops.hc_pre_v2(*case, without[3]))
    np.testing.assert_array_equal(own[0], without[0])


@pytest.mark.parametrize("key", ["0", "1"])
def test_pre_mix_may_be_where_hc_pre_goes(monkeypatch, key):
    """One buffer from round to round: each token's weights are read before its new ones are written."""
    monkeypatch.setenv("ACLEMU_TILING_KEY", key)
    case = random_case((70,), 4096, seed=13)
    pre_mix = pre_mix_for(case)
    expected = reference.hc_pre_v2(*case, pre_mix)
    outputs = [aclnn.empty(e.shape, e.dtype) for e in expected[:3]]
    mixed = aclnn.tensor(pre_mix)
    aclnn.op("aclnnHcPreV2")(*map(aclnn.tensor, case), mixed, 4, 20, 1e-6, 1e-6, *outputs, mixed)
    assert_right(arrays([*outputs, mixed]), expected)


def test_the_product_is_hf32():
    """Closer by far to the truncated reference than to the float32 one, and the other way round."""
    case = random_case((40,), 4096, seed=3)
    truncated, whole = (reference.hc_pre(*case, hf32=hf32).post for hf32 in (True, False))
    gap = np.abs(truncated - whole).max()
    fused, composite = (aclnn.ops.hc_pre(*case, route=route).post.numpy() for route in ("fused", "composite"))
    assert gap > 1e-5
    assert np.abs(fused - truncated).max() < gap / 20
    assert np.abs(composite - whole).max() < gap / 20


@pytest.mark.parametrize("lead, d", [((1,), 4096), ((3, 11), 5120), ((600,), 4096), ((1, 9), 7168)])
def test_composite_route(lead, d):
    case = cases.hc_pre_case(lead, d, seed=5)
    fused, composite = (arrays(aclnn.ops.hc_pre(*case, route=route)) for route in ("fused", "composite"))
    assert [a.shape for a in fused] == [a.shape for a in composite]
    assert_right(composite, reference.hc_pre(*case, hf32=False))
    assert_right(composite, fused)


def test_composite_route_in_several_pieces(monkeypatch):
    case = cases.hc_pre_case((50,), 4096, seed=6)
    whole = arrays(aclnn.ops.hc_pre(*case, route="composite"))
    monkeypatch.setattr(aclnn.ops.hc, "_WIDENED_BYTES", 7 * 4 * 4 * 4096)
    for a, b in zip(arrays(aclnn.ops.hc_pre(*case, route="composite")), whole, strict=True):
        np.testing.assert_allclose(a.astype(np.float32), b.astype(np.float32), rtol=8e-3, atol=1e-6)


@pytest.mark.parametrize("lead, fused", [((16,), True), ((8, 16), True), ((17,), False), ((144,), False)])
def test_documented_route(lead, fused):
    case = random_case(lead, 4096, seed=8)
    documented, auto, like = (
        arrays(aclnn.ops.hc_pre(*case, route=route))
        for route in ("documented", "auto", "fused" if fused else "composite")
    )
    for a, b in zip(documented, like, strict=True):
        np.testing.assert_array_equal(a, b)
    assert fused == (documented[1] == auto[1]).all()


def test_epsilons_at_their_places():
    """C has hc_eps in front of norm_eps."""
    case = random_case((9,), 4096, seed=9)
    eps = {"hc_eps": 0.25, "norm_eps": 0.5}
    expected = reference.hc_pre(*case, **eps)
    assert_right(arrays(aclnn.ops.hc_pre(*case, **eps)), expected)
    outputs = [aclnn.empty(e.shape, e.dtype) for e in expected]
    aclnn.op("aclnnHcPre")(*map(aclnn.tensor, case), 4, 20, 0.25, 0.5, *outputs)
    assert_right(arrays(outputs), expected)
    assert_right(
        arrays(aclnn.ops.hc_pre(*case, **eps, route="composite")), reference.hc_pre(*case, **eps, hf32=False)
    )


def test_one_nan_spoils_its_token_only():
    case = random_case((70,), 4096, seed=10)
    expected = reference.hc_pre_v2(*case)
    case.x[40, 2, 5] = np.nan
    got = arrays(aclnn.ops.hc_pre_v2(*case))
    rest = [t for t in range(70) if t != 40]
    assert all(np.isnan(a[40].astype(np.float32)).any() for a in got)
    assert_right([a[rest] for a in got], [e[rest] for e in expected])


@pytest.mark.parametrize("name", VECTORS)
def test_vectors(name):
    with np.load(HERE.parent / "data" / f"{name}.npz") as file:
        header = json.loads(str(file["attrs"]))
        given = {k: file[k].view(BF16) if t == "bfloat16" else file[k] for k, t in header["dtypes"].items()}
    inputs = [given[k] for k in ("x", "hc_fn", "hc_scale", "hc_base")]
    if header["op"] == "HcPre":
        assert_right(arrays(aclnn.ops.hc_pre(*inputs)), [given[k] for k in ("y", "post", "comb_frag")])
    else:
        expected = [given[k] for k in ("y", "post", "comb_frag", "hc_pre")]
        assert_right(arrays(aclnn.ops.hc_pre_v2(*inputs)), expected)


def test_strided_tensors_are_made_dense():
    case = random_case((6,), 4096, seed=11)
    x, hc_fn, scale, base = case
    x_wide = aclnn.tensor(np.repeat(x, 2, axis=0))[::2]
    fn_turned = aclnn.tensor(np.ascontiguousarray(hc_fn.T)).T
    assert not x_wide.is_contiguous and not fn_turned.is_contiguous
    for route in ("composite", "fused"):
        expected = arrays(aclnn.ops.hc_pre(*case, route=route))
        got = arrays(aclnn.ops.hc_pre(x_wide, fn_turned, scale, base, route=route))
        for a, b in zip(got, expected, strict=True):
            np.testing.assert_array_equal(a, b)
    with pytest.raises(aclnn.AclnnError, match=r"(?s)561002.*x is not contiguous") as caught:
        outputs = [aclnn.empty(e.shape, e.dtype) for e in expected]
        aclnn.op("aclnnHcPre")(x_wide, *map(aclnn.tensor, case[1:]), 4, 20, 1e-6, 1e-6, *outputs)
    assert caught.value.code == 561002


def test_repeats_bit_for_bit():
    case = random_case((51,), 5120, seed=12)
    first = arrays(aclnn.ops.hc_pre_v2(*case))
    for _ in range(3):
        for a, b in zip(first, arrays(aclnn.ops.hc_pre_v2(*case)), strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    "soc",
    [
        *(pytest.param(soc, marks=pytest.mark.slow) for soc in ("Ascend910B1", "Ascend910B4")),
        "Ascend910_9391",
        "Ascend950PR_9579",
    ],
)
def test_every_chip_and_any_number_of_threads(tmp_path, soc):
    """Right on every chip; how many threads play its cores does not change a bit."""
    runs = []
    for threads in (1, 3):
        path = tmp_path / f"{threads}.npz"
        done = subprocess.run(
            [sys.executable, str(HERE / "hc_pre_case.py"), str(path)],
            env={**os.environ, "ACLEMU_SOC": soc, "ACLEMU_THREADS": str(threads)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        with np.load(path) as file:
            runs.append({name: file[name] for name in file.files})
    assert str(runs[0].pop("soc")) == str(runs[1].pop("soc")) == soc
    assert runs[0].keys() == runs[1].keys() and len(runs[0]) > 20
    for name, array in runs[0].items():
        np.testing.assert_array_equal(array, runs[1][name], err_msg=name)


def hc_pre_in_pieces(case, pre_mix):
    """The reference, a few thousand tokens at a time: it keeps all Sinkhorn steps."""
    step = 4096
    for first in range(0, len(case.x), step):
        part = slice(first, first + step)
        yield part, reference.hc_pre_v2(case.x[part], *case[1:], None if pre_mix is None else pre_mix[part])


@pytest.mark.slow
@pytest.mark.parametrize("tokens", SWEEP)
def test_published_sweep(capsys, tokens):
    """The published verification: d, pre_mix, axes and routes for every number of tokens."""
    start = time.perf_counter()
    for d in (4096, 5120, 7168):
        case = cases.hc_pre_case((tokens,), d, seed=tokens)
        pre_mix = pre_mix_for(case)
        x = aclnn.tensor(case.x)
        shaped = x.reshape(1, tokens, 4, d) if tokens % 2 else x.reshape(2, tokens // 2, 4, d)
        weights = [aclnn.tensor(array) for array in case[1:]]
        mixed = aclnn.tensor(pre_mix)
        results = {
            "pre_mix left out": (arrays(aclnn.ops.hc_pre_v2(x, *weights)), None),
            "pre_mix given": (arrays(aclnn.ops.hc_pre_v2(x, *weights, mixed)), pre_mix),
        }
        four = [a.reshape(tokens, *a.shape[2:]) for a in arrays(aclnn.ops.hc_pre(shaped, *weights))]
        for a, b in zip(four, results["pre_mix left out"][0], strict=False):
            np.testing.assert_array_equal(a, b)
        composite = arrays(aclnn.ops.hc_pre(x, *weights, route="composite"))
        assert_right(composite, four)
        for name, (got, mix) in results.items():
            expected = [np.empty_like(a) for a in got]
            for part, wanted in hc_pre_in_pieces(case, mix):
                for whole, piece in zip(expected, wanted, strict=True):
                    whole[part] = piece
            report = check_hc_pre(got, expected)
            assert all(found.passed for found in report), "\n".join(map(str, report))
            with capsys.disabled():
                worst = ", ".join(f"{found.name} {found.bad}" for found in report)
                seconds = time.perf_counter() - start
                print(
                    f"\n  T {tokens} d {d}, {name}: bad elements {worst}; {seconds:.0f} s", end="", flush=True
                )


@pytest.mark.slow
def test_memory_of_the_largest_call():
    """The largest call's process stays below its tensors and half a GiB."""
    script = HERE / "hc_pre_memory.py"
    done = subprocess.run(
        [sys.executable, str(script), "32768", "4096"],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    got = json.loads(done.stdout)
    assert got["peak"] - got["tensors"] < 512 << 20, got
