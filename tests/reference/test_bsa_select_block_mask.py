"""The reference against masks that came from elsewhere, and against a second computation, cell by cell."""

import json
from fractions import Fraction
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from aclnn_py.reference import BSASelectBlockMaskOutputs, bsa_select_block_mask
from aclnn_py.reference.bsa import cells_to_keep, half_ties_away
from aclnn_py.testing import check_block_mask

VECTORS = sorted((Path(__file__).parents[1] / "data").glob("aclnnBSASelectBlockMask_*.npz"))


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: path.stem)
def test_vectors(path):
    with np.load(path) as file:
        a = json.loads(str(file["attrs"]))["attrs"]
        arrays = {name: file[name] for name in file.files if name != "attrs"}
    found = bsa_select_block_mask(
        arrays["query"],
        arrays["key"],
        sparsity=a["sparsity"],
        block_shape=a["blockShape"],
        layout=a["queryLayout"],
        scale=a["scaleValue"],
        actual_seq_lengths=a["actualSeqLengths"],
        actual_seq_lengths_k=a["actualSeqLengthsK"],
        actual_block_len_query=a["actualBlockLenQuery"],
        actual_block_len_key=a["actualBlockLenKey"],
    )
    np.testing.assert_array_equal(found.mask, arrays["blockSparseMaskOut"])
    np.testing.assert_array_equal(found.scores, arrays["aux_scores"])


def test_there_are_vectors():
    assert len(VECTORS) == 3


def nearest_half(x):
    """Exact: the float16 nearest to a non-negative number, halfway cases up."""
    patterns = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float64)
    i = int(np.searchsorted(patterns, x, side="right")) - 1
    if i + 1 < len(patterns) and Fraction(x) * 2 >= Fraction(patterns[i]) + Fraction(patterns[i + 1]):
        i += 1
    return patterns[i]


def test_halves_go_away_from_zero():
    rng = np.random.default_rng(0)
    steps = rng.integers(0, 0x3C00, 200).astype(np.uint16).view(np.float16).astype(np.float64)
    following = np.nextafter(steps.astype(np.float16), np.float16(2)).astype(np.float64)
    middles = ((steps + following) / 2).astype(np.float32)
    x = np.concatenate([middles, np.nextafter(middles, np.float32(0)), np.nextafter(middles, np.float32(9))])
    x = np.concatenate([x, rng.random(300).astype(np.float32), np.float32([0, 1, 2**-24, 2**-25, 2**-26])])
    expected = [nearest_half(float(value)) for value in x]
    assert half_ties_away(x).astype(np.float64).tolist() == expected


@pytest.mark.parametrize(
    "cells, sparsity, kept",
    [
        (5, 0.5, 3),
        (9, 0.5, 5),
        (4, 0.01, 1),
        (4, 0.999, 4),
        (5, 0.7, 4),
        (10, 0.55, 6),
        (6, 0.75, 5),
        (16, 0.3, 5),
    ],
)
def test_number_of_cells(cells, sparsity, kept):
    assert cells_to_keep(sparsity, cells) == kept


def by_loops(query, key, lens_q, lens_k, block, sparsity, scale):
    """One head in float64, one cell after the other."""
    means = []
    for tokens, lens in ((query, lens_q), (key, lens_k)):
        rows = [
            [
                float(np.float16(np.float32(sum(float(t[d]) for t in tokens[i * block : i * block + n]) / n)))
                if n
                else 0.0
                for d in range(tokens.shape[1])
            ]
            for i, n in enumerate(lens)
        ]
        means.append(rows)
    scores = {}
    for x, q in enumerate(means[0]):
        row = [scale * sum(a * b for a, b in zip(q, k)) for k in means[1]]
        top = max(row)
        total = sum(np.exp(value - top) for value in row)
        for y, value in enumerate(row):
            scores[x, y] = nearest_half(float(np.exp(value - top) / total))
    keep = cells_to_keep(sparsity, len(scores))
    usable = [(-score, x, y) for (x, y), score in scores.items() if lens_q[x] and lens_k[y]]
    chosen = {(x, y) for _, x, y in sorted(usable)[:keep]}
    shape = len(lens_q), len(lens_k)
    mask = np.array([[(x, y) in chosen for y in range(shape[1])] for x in range(shape[0])], np.int8)
    table = np.array([[scores[x, y] for y in range(shape[1])] for x in range(shape[0])], np.float16)
    return mask, table


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("lens_k", [None, [64, 0, 10, 3]])
def test_against_loops(dtype, lens_k):
    rng = np.random.default_rng(2)
    query = rng.standard_normal((1, 2, 150, 128), np.float32).astype(dtype)
    key = rng.standard_normal((1, 2, 200, 128), np.float32).astype(dtype)
    found = bsa_select_block_mask(
        query, key, sparsity=0.4, block_shape=(64, 64), scale=3.0, actual_block_len_key=lens_k
    )
    for head in range(2):
        mask, scores = by_loops(
            query[0, head].astype(np.float64),
            key[0, head].astype(np.float64),
            [64, 64, 22],
            lens_k or [64, 64, 64, 8],
            64,
            0.4,
            3.0,
        )
        expected = BSASelectBlockMaskOutputs(mask[None, None], scores[None, None])
        comparison = check_block_mask(found.mask[:, head : head + 1], expected)
        assert comparison.passed, str(comparison)
        np.testing.assert_allclose(found.scores[0, head].astype(float), scores, rtol=2e-3)


def test_wrong_arguments():
    good = np.zeros((1, 1, 256, 128), np.float16)
    with pytest.raises(TypeError, match="key must be float16 or bfloat16"):
        bsa_select_block_mask(good, good.astype(np.float32), sparsity=0.5)
    with pytest.raises(ValueError, match="must be BNSD or TND"):
        bsa_select_block_mask(good[0], good, sparsity=0.5)
    with pytest.raises(ValueError, match="add up to the 256 tokens"):
        bsa_select_block_mask(
            good[0, 0][:, None], good[0, 0][:, None], sparsity=0.5, layout="TND", actual_seq_lengths=[128]
        )
    with pytest.raises(ValueError, match="do not fit"):
        bsa_select_block_mask(good, good, sparsity=0.5, actual_seq_lengths=[257])


def test_comparison_sees_what_is_wrong():
    rng = np.random.default_rng(1)
    query = rng.standard_normal((1, 1, 640, 128), np.float32).astype(np.float16)
    expected = bsa_select_block_mask(query, query, sparsity=0.5, block_shape=(64, 64))
    assert check_block_mask(expected.mask, expected).passed
    more = expected.mask.copy()
    more.ravel()[np.flatnonzero(more == 0)[0]] = 1
    assert check_block_mask(more, expected).wrong_counts == 1
    swapped = expected.mask.copy()
    order = np.argsort(expected.scores.ravel())
    swapped.ravel()[order[0]], swapped.ravel()[order[-1]] = 1, 0
    assert check_block_mask(swapped, expected).bad == 2
    with pytest.raises(ValueError, match="of 0 and 1"):
        check_block_mask(expected.mask * 2, expected)
