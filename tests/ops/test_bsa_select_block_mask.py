"""Results of aclnnBSASelectBlockMask through the binding, against the NumPy reference."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import aclnn_py as aclnn
from aclnn_py.reference import bsa_select_block_mask as reference
from aclnn_py.testing import check_block_mask

BF16 = ml_dtypes.bfloat16
HERE = Path(__file__).parent
VECTORS = sorted((HERE.parent / "data").glob("aclnnBSASelectBlockMask_*.npz"))
NAN, INF = float("nan"), float("inf")


def run(query, key, **options):
    return aclnn.ops.bsa_select_block_mask(query, key, **options).numpy()


def assert_right(query, key, **options):
    """Returns the mask, after comparing it with the reference's."""
    mask, expected = run(query, key, **options), reference(query, key, **options)
    found = check_block_mask(mask, expected)
    assert found.passed, str(found)
    return mask


def normal(shape, dtype=np.float16, seed=0):
    return np.random.default_rng(seed).standard_normal(shape, np.float32).astype(dtype)


def pair(batch, heads, sq, sk, dtype=np.float16, seed=0):
    return normal((batch, heads, sq, 128), dtype, seed), normal((batch, heads, sk, 128), dtype, seed + 1)


def ones(sq, sk, dtype=np.float16):
    return np.full((1, 1, sq, 128), 0.1, dtype), np.full((1, 1, sk, 128), 0.1, dtype)


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: path.stem)
def test_vectors(path):
    with np.load(path) as file:
        a = json.loads(str(file["attrs"]))["attrs"]
        query, key, expected = (file[n] for n in ("query", "key", "blockSparseMaskOut"))
    mask = run(
        query,
        key,
        sparsity=a["sparsity"],
        block_shape=a["blockShape"],
        layout=a["queryLayout"],
        scale=a["scaleValue"],
        actual_seq_lengths=a["actualSeqLengths"],
        actual_seq_lengths_k=a["actualSeqLengthsK"],
        actual_block_len_query=a["actualBlockLenQuery"],
        actual_block_len_key=a["actualBlockLenKey"],
    )
    np.testing.assert_array_equal(mask, expected)


def test_there_are_vectors():
    assert len(VECTORS) == 3


@pytest.mark.parametrize("dtype", [np.float16, BF16])
@pytest.mark.parametrize(
    "batch, heads, sq, sk, block",
    [
        (1, 1, 256, 256, (128, 128)),
        (2, 3, 640, 320, (64, 128)),
        (1, 2, 65, 4097, (64, 64)),
        (3, 1, 1000, 130, (128, 64)),
        (1, 1, 129, 1, (64, 64)),
        (1, 4, 2500, 2500, (320, 192)),
        (1, 1, 8192, 8192, (64, 64)),
        (2, 1, 130, 300, (1024, 64)),
    ],
)
def test_random(dtype, batch, heads, sq, sk, block):
    for sparsity in (0.2, 0.75):
        assert_right(*pair(batch, heads, sq, sk, dtype, sq), sparsity=sparsity, block_shape=block)


@pytest.mark.parametrize(
    "cells, sparsity, kept",
    [
        ((5, 1), 0.5, 3),
        ((3, 3), 0.5, 5),
        ((2, 2), 0.01, 1),
        ((2, 2), 0.999, 4),
        ((1, 5), 0.7, 4),
        ((2, 5), 0.55, 6),
        ((3, 2), 0.75, 5),
        ((4, 4), 0.3, 5),
        ((4, 4), 1e-30, 1),
        ((4, 4), 1 - 1e-6, 16),
        ((40, 41), 1e-3, 2),
    ],
)
def test_number_of_ones(cells, sparsity, kept):
    """round(sparsity * cells), half away from zero, in float32; at least one."""
    query, key = pair(2, 2, cells[0] * 64, cells[1] * 64)
    mask = assert_right(query, key, sparsity=sparsity, block_shape=(64, 64))
    assert mask.sum((2, 3)).tolist() == [[kept, kept]] * 2


@pytest.mark.parametrize("sparsity", [0.25, 0.5, 0.75])
@pytest.mark.parametrize("rows, columns", [(2, 2), (3, 4), (4, 4), (5, 33), (90, 70)])
def test_equal_scores_go_to_the_lower_index(rows, columns, sparsity):
    mask = run(*ones(rows * 64, columns * 64), sparsity=sparsity, block_shape=(64, 64))
    kept = max(1, int(np.floor(sparsity * rows * columns + 0.5)))
    expected = np.arange(rows * columns) < kept
    np.testing.assert_array_equal(mask.ravel(), expected.astype(np.int8))


def test_equal_scores_within_random_ones():
    """Few different keys: whole columns tie, and the cut goes through the middle of them."""
    query, key = pair(1, 2, 64 * 50, 64 * 60)
    key[:, :, :] = np.tile(key[:, :, :192], (1, 1, 20, 1))
    for sparsity in (0.1, 0.34, 0.5, 0.9):
        assert_right(query, key, sparsity=sparsity, block_shape=(64, 64))


@pytest.mark.parametrize("tokens", [1, 63, 64, 65, 127, 129])
def test_tnd_lengths(tokens):
    """A single block is allowed in TND, and it is chosen."""
    query, key = normal((tokens, 2, 128)), normal((tokens, 2, 128), seed=1)
    lengths = {"actual_seq_lengths": [tokens], "actual_seq_lengths_k": [tokens]}
    for block in ((64, 64), (128, 128)):
        mask = assert_right(query, key, sparsity=0.5, layout="TND", block_shape=block, **lengths)
        assert mask.shape == (1, 2, -(-tokens // block[0]), -(-tokens // block[1]))
        if mask[0, 0].size == 1:
            assert mask.all()


def test_tnd_with_an_empty_sequence():
    query, key = normal((440, 3, 128), BF16), normal((600, 3, 128), BF16, 1)
    mask = assert_right(
        query,
        key,
        sparsity=0.5,
        layout="TND",
        block_shape=(64, 64),
        actual_seq_lengths=[200, 0, 240, 0],
        actual_seq_lengths_k=[100, 300, 0, 200],
    )
    assert mask.sum((2, 3)).tolist() == [[4] * 3, [0] * 3, [0] * 3, [0] * 3]


def test_sequences_of_different_lengths():
    query, key = pair(4, 2, 1000, 700)
    lengths = {"actual_seq_lengths": [1000, 1, 500, 0], "actual_seq_lengths_k": [64, 700, 65, 700]}
    mask = assert_right(query, key, sparsity=0.5, block_shape=(64, 128), **lengths)
    assert not mask[1, :, 1:].any() and not mask[2, :, 8:].any() and not mask[3].any()


@pytest.mark.parametrize("poison", [NAN, INF, 1e4])
def test_padding_has_no_influence(poison):
    query, key = pair(2, 2, 300, 400)
    options = {"sparsity": 0.4, "block_shape": (64, 64), "actual_seq_lengths": [200, 300]}
    options["actual_seq_lengths_k"] = [400, 129]
    expected = assert_right(query, key, **options)
    query[0, :, 200:] = poison
    key[1, :, 129:] = poison
    np.testing.assert_array_equal(run(query, key, **options), expected)


@pytest.mark.parametrize("poison", [NAN, -1e4])
def test_tokens_behind_a_block_length_have_no_influence(poison):
    query, key = pair(2, 1, 256, 192)
    lens_q, lens_k = [[64, 10, 0, 1], [3, 64, 64, 7]], [[64, 0, 33], [1, 2, 64]]
    options = {"sparsity": 0.5, "block_shape": (64, 64)}
    options |= {"actual_block_len_query": lens_q, "actual_block_len_key": lens_k}
    expected = assert_right(query, key, **options)
    for array, lens in ((query, lens_q), (key, lens_k)):
        for batch, row in enumerate(lens):
            for block, length in enumerate(row):
                array[batch, :, block * 64 + length : (block + 1) * 64] = poison
    np.testing.assert_array_equal(run(query, key, **options), expected)


def test_blocks_of_length_zero():
    query, key = pair(1, 3, 64 * 9, 64 * 40)
    rng = np.random.default_rng(5)
    lens_q, lens_k = rng.integers(0, 3, 9) * 32, rng.integers(0, 2, 40) * 64
    for sparsity in (0.1, 0.5, 0.999):
        options = {"sparsity": sparsity, "block_shape": (64, 64)}
        options |= {"actual_block_len_query": lens_q, "actual_block_len_key": lens_k}
        mask = assert_right(query, key, **options)
        assert not mask[:, :, lens_q == 0].any() and not mask[..., lens_k == 0].any()
        usable = int((lens_q > 0).sum() * (lens_k > 0).sum())
        assert mask[0, 0].sum() == min(usable, int(np.floor(np.float32(sparsity) * np.float32(360) + 0.5)))


def test_all_blocks_of_length_zero():
    query, key = pair(1, 2, 128, 256)
    options = {"sparsity": 0.5, "block_shape": (64, 64)}
    assert not run(query, key, actual_block_len_query=[0, 0], **options).any()
    assert not run(query, key, actual_block_len_key=[0] * 4, **options).any()


def test_block_lens_in_tnd():
    query, key = normal((200, 2, 128)), normal((300, 2, 128), seed=1)
    assert_right(
        query,
        key,
        sparsity=0.5,
        layout="TND",
        block_shape=(64, 64),
        actual_seq_lengths=[130, 70],
        actual_seq_lengths_k=[64, 236],
        actual_block_len_query=[64, 0, 64, 5, 6],
        actual_block_len_key=[20, 64, 0, 64, 44],
    )


@pytest.mark.parametrize("which", ["query", "key"])
@pytest.mark.parametrize("value", [NAN, INF, -INF])
@pytest.mark.parametrize("dtype", [np.float16, BF16])
def test_one_value_that_is_no_number(which, value, dtype):
    """It may move the choice, never the count: NaN scores are the largest, the lower index first."""
    query, key = pair(2, 2, 64 * 6, 64 * 7, dtype)
    spoilt = query if which == "query" else key
    spoilt[0, 1, 64 * 2 + 3, 17] = value
    mask = assert_right(query, key, sparsity=0.3, block_shape=(64, 64))
    assert mask.sum((2, 3)).tolist() == [[13, 13], [13, 13]]
    if which == "query" and np.isnan(value):
        assert mask[0, 1, 2].all()


def test_means_beyond_float16():
    """bfloat16 reaches further than the means: infinity, then NaN."""
    query, key = pair(1, 1, 256, 256, BF16)
    query[0, 0, :64] = 1e6
    assert_right(query, key, sparsity=0.5, block_shape=(64, 64))


def test_all_not_a_number():
    query, key = pair(1, 1, 256, 320)
    key[:] = NAN
    mask = assert_right(query, key, sparsity=0.5, block_shape=(64, 64))
    assert mask.ravel().tolist() == [1] * 10 + [0] * 10


def test_rows_longer_than_a_chunk():
    """More key blocks than are kept in the unified buffer at a time; with equal and with zero-length ones."""
    blocks = 4200
    rng = np.random.default_rng(3)
    means = rng.standard_normal((blocks // 3, 128), np.float32).astype(np.float16)
    key = np.repeat(np.tile(means, (3, 1)), 64, axis=0)[None, None]
    query = normal((1, 1, 150, 128), seed=4)
    lens = rng.integers(0, 4, blocks) * 16
    for sparsity in (0.15, 0.6):
        assert_right(query, key, sparsity=sparsity, block_shape=(64, 64))
        assert_right(query, key, sparsity=sparsity, block_shape=(64, 64), actual_block_len_key=lens)


def random_call(rng):
    """Query, key and keyword arguments: any layout, lengths, block lengths, and now and then odd values."""
    tnd, heads, batch = rng.random() < 0.5, int(rng.integers(1, 4)), int(rng.integers(1, 4))
    dtype = (np.float16, BF16)[rng.integers(2)]
    blocks = [int(64 * rng.choice([1, 1, 2, 3])) for _ in range(2)]
    lengths = [rng.integers(1, rng.choice([130, 900]), batch) for _ in range(2)]
    lengths[0][rng.integers(batch)] += 2 * blocks[0]  # more than one block, as BNSD wants
    lengths[1][1:] *= rng.integers(0, 2, batch - 1)
    options = {
        "sparsity": float(rng.choice([rng.uniform(0.01, 0.99), 1e-6, 0.999999])),
        "block_shape": blocks,
    }
    names = ("actual_seq_lengths", "actual_seq_lengths_k")
    arrays = []
    for name, own in zip(names, lengths, strict=True):
        shape = (own.sum(), heads, 128) if tnd else (batch, heads, own.max(), 128)
        array = rng.standard_normal(shape, np.float32)
        kind = rng.integers(4)
        if kind == 0:
            array[:] = 0.1
        elif kind == 1:
            array.reshape(-1)[rng.integers(array.size, size=3)] = rng.choice([NAN, INF, -INF, 6e4], 3)
        arrays.append(array.astype(dtype))
        if tnd or rng.random() < 0.6:
            options[name] = own.tolist()
    for name, own, block in zip(("query", "key"), lengths, blocks, strict=True):
        if rng.random() < 0.5:
            count = sum(-(-own // block)) if tnd else batch * -(-own.max() // block)
            lens = rng.integers(0, block + 1, count) * rng.integers(0, 2, count)
            options[f"actual_block_len_{name}"] = lens
    return (*arrays, options | ({"layout": "TND"} if tnd else {}))


@pytest.mark.parametrize("seed", range(30))
def test_random_calls(seed):
    query, key, options = random_call(np.random.default_rng(seed))
    assert_right(query, key, **options)


@pytest.mark.parametrize("scale", [1.0, -0.5, 30.0, None, 0.0, 1e-60])
def test_scale(scale):
    assert_right(*pair(1, 2, 500, 600), sparsity=0.4, block_shape=(64, 64), scale=scale)


def test_every_cell_is_written():
    query, key = pair(2, 2, 300, 500)
    mask = aclnn.tensor(np.full((2, 2, 5, 8), 77, np.int8))
    lengths, lengths_k = [300, 100], [64, 500]
    aclnn.op("aclnnBSASelectBlockMask")(
        query, key, [64, 64], None, lengths, lengths_k, None, None, "BNSD", "BNSD", 2, 0.0, 0.5, mask
    )
    expected = reference(
        query,
        key,
        sparsity=0.5,
        block_shape=(64, 64),
        actual_seq_lengths=lengths,
        actual_seq_lengths_k=lengths_k,
    )
    np.testing.assert_array_equal(mask.numpy(), expected.mask)


@pytest.mark.parametrize("key", ["0", "1"])
def test_tiling_keys(monkeypatch, key):
    monkeypatch.setenv("ACLEMU_TILING_KEY", key)
    assert_right(*pair(2, 3, 300, 700, BF16), sparsity=0.5, block_shape=(64, 64))


def test_strided_inputs():
    query, key = pair(2, 4, 600, 400)
    views = (
        aclnn.tensor(query)[:, ::2, 1::2],
        aclnn.tensor(key.swapaxes(1, 2).copy()).transpose(0, 2, 1, 3)[:, 1::2],
    )
    expected = run(query[:, ::2, 1::2], key[:, 1::2], sparsity=0.5, block_shape=(64, 64))
    np.testing.assert_array_equal(run(*views, sparsity=0.5, block_shape=(64, 64)), expected)


def test_repeats_bit_for_bit():
    query, key = pair(1, 2, 2000, 2000)
    first = run(query, key, sparsity=0.5, block_shape=(64, 64))
    for _ in range(19):
        np.testing.assert_array_equal(run(query, key, sparsity=0.5, block_shape=(64, 64)), first)


@pytest.fixture(scope="module")
def case_script():
    spec = importlib.util.spec_from_file_location("bsa_case", HERE / "bsa_case.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def masks_of(path, **settings):
    command = [sys.executable, str(HERE / "bsa_case.py"), str(path)]
    ran = subprocess.run(command, env={**os.environ, **settings}, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


SETTINGS = [
    *(
        {"ACLEMU_SOC": soc}
        for soc in ("Ascend910B1", "Ascend910B4", "Ascend910_9391", "Ascend950PR_9579", "Ascend950PR_958b")
    ),
    {"ACLEMU_AICORES": "1", "ACLEMU_THREADS": "1"},
    {"ACLEMU_AICORES": "4:7", "ACLEMU_THREADS": "3"},
    {"ACLEMU_THREADS": "1"},
    {"ACLEMU_THREADS": "4", "ACLEMU_CHECK": "memory"},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda s: " ".join(s.values()))
def test_chips_cores_and_threads(tmp_path, case_script, settings):
    """The same masks on every chip, with any number of cores, played by any number of threads."""
    masks = masks_of(tmp_path / "masks.npz", **settings)
    for name, (query, key, options) in case_script.cases().items():
        np.testing.assert_array_equal(masks[name], run(query, key, **options), err_msg=name)
        found = check_block_mask(masks[name], reference(query, key, **options))
        assert found.passed, f"{name}: {found}"


def test_wrong_arguments_in_python():
    query, key = pair(1, 1, 256, 256)
    call = aclnn.ops.bsa_select_block_mask
    with pytest.raises(TypeError, match="query is float32, it must be float16 or bfloat16"):
        call(query.astype(np.float32), key, sparsity=0.5)
    with pytest.raises(ValueError, match="layout is 'BSND', it must be 'BNSD' or 'TND'"):
        call(query, key, sparsity=0.5, layout="BSND")
    with pytest.raises(ValueError, match=r"query has shape .*, it must be \[T, N, 128\]"):
        call(query, key, sparsity=0.5, layout="TND")
    with pytest.raises(ValueError, match="block_shape is 64, it must be two numbers"):
        call(query, key, sparsity=0.5, block_shape=64)
    with pytest.raises(TypeError, match="actual_seq_lengths must be whole numbers"):
        call(query, key, sparsity=0.5, actual_seq_lengths=[1.5])
    with pytest.raises(ValueError, match=r"actual_block_len_key has shape \(2, 1\), .* = \(1, 2\)"):
        call(query, key, sparsity=0.5, actual_block_len_key=[[5], [6]])
    with pytest.raises(TypeError):
        call(query, key, 0.5)
    with pytest.raises(aclnn.AclnnParameterError, match="dtype of query"):
        call(query, key.astype(BF16), sparsity=0.5)


@pytest.mark.parametrize("lengths", [[128, 256], [128], [], [-1, 257], None, [256, 256], [2**40], [300]])
def test_tnd_lengths_that_do_not_add_up(lengths):
    query = normal((256, 1, 128))
    with pytest.raises(aclnn.AclnnParameterError, match=r"(?s)161002.*actualSeqLengths"):
        aclnn.ops.bsa_select_block_mask(
            query, query, sparsity=0.5, layout="TND", actual_seq_lengths=lengths, actual_seq_lengths_k=lengths
        )


def test_long_arrays_are_cut_in_messages():
    query = normal((1000, 1, 128))
    lengths = {"actual_seq_lengths": [1] * 999, "actual_seq_lengths_k": [1] * 1000}
    with pytest.raises(aclnn.AclnnParameterError) as caught:
        aclnn.ops.bsa_select_block_mask(query, query, sparsity=0.5, layout="TND", **lengths)
    lines = str(caught.value).splitlines()
    assert max(map(len, lines)) < 400
    cut = f"[{'1, ' * 16}...] (999 entries)"
    assert any(line.startswith(f"  actualSeqLengths: is {cut}, must be per-sequence") for line in lines)
    assert any(line.startswith("  > actualSeqLengths ") and f"IntArray({cut})" in line for line in lines)
    assert repr(aclnn.IntArray(range(16))) == f"IntArray({list(range(16))})"


NEWER = """aclnnStatus aclnnBSASelectBlockMaskGetWorkspaceSize(
    const aclTensor *query, const aclTensor *key, const aclIntArray *blockShape,
    const aclIntArray *postBlockShape, const aclIntArray *actualSeqLengths,
    const aclIntArray *actualSeqLengthsKV, const aclIntArray *actualBlockLenQuery,
    const aclIntArray *actualBlockLenKey, char *qInputLayout, char *kvInputLayout, int64_t numKeyValueHeads,
    double scaleValue, double sparsity, aclTensor *blockSparseMaskOut, uint64_t *workspaceSize,
    aclOpExecutor **executor);"""


def test_argument_names_of_newer_headers():
    """The rules explain a refusal in the names that the user's header has; aclnn.check knows both."""
    query, mask = normal((256, 1, 128)), aclnn.empty((2, 1, 2, 2), "int8")
    arguments = (
        query,
        query,
        None,
        None,
        [128, 128],
        [128, 256],
        None,
        None,
        "TND",
        "TND",
        1,
        0.0,
        0.5,
        mask,
    )
    with pytest.raises(aclnn.AclnnParameterError) as caught:
        aclnn.op("aclnnBSASelectBlockMask", prototype=NEWER)(*arguments)
    (broken,) = caught.value.violations
    assert broken.argument == "actualSeqLengthsKV"
    assert broken.rule.startswith("actualSeqLengthsKV must be per-sequence lengths")
    assert "  > actualSeqLengthsKV " in str(caught.value)
    for names in (
        ("queryLayout", "keyLayout"),
        ("qInputLayout", "kvInputLayout"),
        ("q_input_layout", "key_layout"),
    ):
        layouts = dict(zip(names, ("BNSD", "TND"), strict=True))
        found = aclnn.check("aclnnBSASelectBlockMask", query=query, key=query, sparsity=0.5, **layouts)
        assert "keyLayout" in [violation.argument for violation in found]


def test_an_operator_with_other_arguments_is_not_judged():
    """Nothing is claimed about a release whose operator of that name is another one."""
    query, mask = normal((256, 1, 128)), aclnn.empty((1, 1, 2, 2), "int8")
    other = NEWER.replace("actualSeqLengthsKV", "cumulativeLengths")
    call = aclnn.op("aclnnBSASelectBlockMask", prototype=other)
    with pytest.raises(aclnn.AclnnParameterError) as caught:
        call(query, query, None, None, [256], [1], None, None, "TND", "TND", 1, 0.0, 0.5, mask)
    assert caught.value.violations == ()
    assert "breaks no rule" not in str(caught.value)


def test_lengths_as_arrays():
    query = normal((256, 1, 128))
    lengths = np.array([128, 128], np.int32)
    options = {"layout": "TND", "actual_seq_lengths": lengths, "actual_seq_lengths_k": lengths}
    assert_right(query, query, sparsity=0.5, **options)


def test_a_single_block_is_refused_in_bnsd():
    query, key = pair(1, 1, 128, 128)
    with pytest.raises(aclnn.AclnnInnerError, match=r"(?s)561002.*product above 1"):
        run(query, key, sparsity=0.5)
    assert_right(*pair(1, 1, 256, 256), sparsity=0.5)


@pytest.mark.slow
def test_256k_tokens():
    """The largest example of the operator's documentation: 2048 x 2048 blocks in four heads."""
    tokens = 256 * 1024
    query, key = (np.full((1, 4, tokens, 128), 0.1, np.float16) for _ in range(2))
    mask = run(query, key, sparsity=0.5)
    assert mask.sum((2, 3)).tolist() == [[2048 * 1024] * 4]
    assert mask[:, :, :1024].all()
