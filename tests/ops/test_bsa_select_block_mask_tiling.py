"""The tiling function of BSASelectBlockMask alone: what each batch keeps, and that all fits the chip."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

NATIVE = Path(__file__).parents[2] / "native"
FIELDS = 12
SYSTEM = 16 << 20
QUERY_START, KEY_START, ROWS, COLUMNS, QUERY_LENS, KEY_LENS, KEEP = 2, 3, 4, 5, 6, 7, 8


def u64(*names):
    return [(name, ctypes.c_uint64) for name in names]


class _Input(ctypes.Structure):
    _fields_ = [
        *u64("tnd", "heads", "query_axis", "key_axis", "block_x", "block_y", "x_blocks", "y_blocks", "batch"),
        ("query_lengths", ctypes.c_int64 * 8),
        ("key_lengths", ctypes.c_int64 * 8),
        *u64("query_lens_count", "key_lens_count"),
        ("query_lens", ctypes.c_int64 * 64),
        ("key_lens", ctypes.c_int64 * 64),
        ("sparsity", ctypes.c_double),
        ("key", ctypes.c_int64),
        *u64("aic", "aiv"),
    ]


class _Data(ctypes.Structure):
    _fields_ = [
        *u64("batch", "heads", "query_elements", "key_elements", "query_lens_count", "key_lens_count"),
        *u64(
            "query_head_stride",
            "key_head_stride",
            "token_stride",
            "block_x",
            "block_y",
            "x_blocks",
            "y_blocks",
        ),
        *u64(
            "head_cells", "pooled_key", "scores", "slot_bytes", "cells", "counts", "counts_bytes", "workspace"
        ),
        *((name, ctypes.c_uint32) for name in ("group_heads", "tile_rows", "slot_columns", "vector_cores")),
        ("scale", ctypes.c_float),
        ("reserved", ctypes.c_uint32),
    ]


class _Result(ctypes.Structure):
    _fields_ = [
        ("data", _Data),
        *u64("key", "block_dim", "workspace"),
        ("batches", (ctypes.c_int64 * FIELDS) * 8),
    ]


class Plan(NamedTuple):
    data: _Data
    key: int
    block_dim: int
    workspace: int
    batches: list[list[int]]


@pytest.fixture(scope="module")
def tile(tmp_path_factory):
    """tile(queries, keys, ...): the plan; ValueError when the tiling refuses."""
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("needs g++ to build the tiling function")
    library = tmp_path_factory.mktemp("tiling") / "libtiling.so"
    sources = [
        Path(__file__).with_name("bsa_tiling_probe.cpp"),
        NATIVE / "ops" / "bsa_select_block_mask" / "op_host" / "bsa_select_block_mask_tiling.cpp",
    ]
    command = [
        compiler,
        "-std=c++17",
        "-Wall",
        "-shared",
        "-fPIC",
        f"-I{NATIVE}",
        *map(str, sources),
        "-o",
        library,
    ]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    probe = ctypes.CDLL(str(library)).probe

    def run(
        queries,
        keys,
        *,
        heads=1,
        block=(128, 128),
        tnd=False,
        sparsity=0.5,
        lens=((), ()),
        key=-1,
        cores=(20, 40),
    ):
        axes = [sum(v) if tnd else max(v) for v in (queries, keys)]
        blocks = [-(-max(v) // size) for v, size in zip((queries, keys), block)]
        given = _Input(tnd, heads, *axes, *block, *blocks, len(queries))
        given.query_lengths[: len(queries)], given.key_lengths[: len(keys)] = queries, keys
        given.query_lens_count, given.key_lens_count = map(len, lens)
        given.query_lens[: len(lens[0])], given.key_lens[: len(lens[1])] = lens
        given.sparsity, given.key, (given.aic, given.aiv) = sparsity, key, cores
        result, error = _Result(), ctypes.create_string_buffer(300)
        if probe(ctypes.byref(given), ctypes.byref(result), error, len(error)):
            raise ValueError(error.value.decode())
        rows = [list(row) for row in result.batches[: len(queries)]]
        return Plan(result.data, result.key, result.block_dim, result.workspace, rows)

    return run


@pytest.mark.parametrize("cores", [(20, 40), (24, 48), (1, 2), (4, 7), (32, 64)])
@pytest.mark.parametrize("tokens", [256, 8192, 262144, 1 << 20])
@pytest.mark.parametrize("heads", [1, 4, 100])
def test_the_parts_of_the_workspace_follow_each_other(tile, tokens, heads, cores):
    plan = tile([tokens], [tokens], heads=heads, cores=cores)
    d = plan.data
    blocks = tokens // 128
    pitch = -(-blocks // 32) * 32
    assert d.vector_cores == 2 * plan.block_dim <= cores[1]
    assert d.pooled_key >= heads * blocks * 256
    assert d.scores - d.pooled_key >= heads * blocks * 256
    assert d.cells - d.scores >= plan.block_dim * 2 * d.tile_rows * pitch * 4
    assert d.counts - d.cells >= d.group_heads * blocks * pitch * 2
    assert d.workspace - d.counts == 2 * d.counts_bytes >= 2 * d.group_heads * d.vector_cores * 32
    assert plan.workspace == d.workspace + SYSTEM
    assert 16 <= d.tile_rows <= 128 and d.tile_rows % 16 == 0
    assert 1 <= d.group_heads <= min(heads, 16)
    assert all(offset % 512 == 0 for offset in (d.pooled_key, d.scores, d.cells, d.counts, d.workspace))


def test_the_documented_example_needs_less_than_100_mib(tile):
    assert tile([1 << 18], [1 << 18], heads=4).workspace < 100 << 20


def test_batches_in_bnsd(tile):
    plan = tile([300, 64, 0], [100, 128, 256], heads=2, block=(64, 128), sparsity=0.3)
    assert plan.key == 1
    assert [row[QUERY_START] for row in plan.batches] == [b * 300 * 2 * 128 for b in range(3)]
    assert [row[KEY_START] for row in plan.batches] == [b * 256 * 2 * 128 for b in range(3)]
    assert [(row[ROWS], row[COLUMNS]) for row in plan.batches] == [(5, 1), (1, 1), (0, 2)]
    assert [row[KEEP] for row in plan.batches] == [2, 1, 0]  # 1.5 goes up
    assert [row[QUERY_LENS] for row in plan.batches] == [0, 5, 10]


def test_batches_in_tnd(tile):
    lens = [64, 0, 3, 7], [1, 0, 64, 64, 64]
    plan = tile([100, 70], [130, 100], heads=3, block=(64, 64), tnd=True, sparsity=0.9, lens=lens)
    assert plan.key == 0
    assert [row[QUERY_START] for row in plan.batches] == [0, 100 * 3 * 128]
    assert [row[KEY_START] for row in plan.batches] == [0, 130 * 3 * 128]
    assert [(row[QUERY_LENS], row[KEY_LENS]) for row in plan.batches] == [(0, 0), (2, 3)]
    # 2 x 3 blocks of which 1 x 2 have tokens, and 2 x 2 that all have.
    assert [row[KEEP] for row in plan.batches] == [2, 4]
    assert plan.data.token_stride == 3 * 128 and plan.data.query_head_stride == 128


@pytest.mark.parametrize(
    "blocks, sparsity, kept",
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
def test_number_of_cells(tile, blocks, sparsity, kept):
    assert tile([blocks * 128], [128], sparsity=sparsity).batches[0][KEEP] == kept


def test_tiling_keys(tile):
    assert tile([500], [500], heads=1, tnd=True).key == 1  # the tokens of one head have no gaps
    assert tile([500], [500], heads=2, key=0).key == 0
    with pytest.raises(ValueError, match="no tiling key 1 for this layout"):
        tile([500], [500], heads=2, tnd=True, key=1)
    with pytest.raises(ValueError, match="no tiling key 2"):
        tile([500], [500], key=2)


def test_a_head_has_at_most_two_thousand_million_cells(tile):
    assert tile([46336 * 64], [46336 * 64], block=(64, 64)).data.head_cells == 46336**2
    with pytest.raises(ValueError, match="blockSparseMaskOut has 46400 x 46400 blocks"):
        tile([46400 * 64], [46400 * 64], block=(64, 64))
