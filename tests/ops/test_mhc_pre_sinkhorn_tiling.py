"""The tiling function alone: every token is taken once, and nothing exceeds the chip."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

NATIVE = Path(__file__).parents[2] / "native"
UB = 184 << 10
N, MIX = 4, 24


class _Projection(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_uint64) for name in ("tokens", "tail", "rows_per_core", "rows_per_finish")),
        *(
            (name, ctypes.c_uint64)
            for name in ("chunks_per_part", "slot_bytes", "products", "squares", "workspace")
        ),
        *((name, ctypes.c_uint32) for name in ("vector_cores", "k_parts", "rows_per_loop", "k_per_slot")),
        *((name, ctypes.c_uint32) for name in ("tail_tile", "hf32", "gamma", "reserved")),
        *((name, ctypes.c_float) for name in ("norm_eps", "mean_factor")),
    ]


class _Data(ctypes.Structure):
    _anonymous_ = ("projection",)
    _fields_ = [
        ("projection", _Projection),
        ("num_iters", ctypes.c_uint32),
        ("need_backward", ctypes.c_uint32),
        ("hc_eps", ctypes.c_float),
    ]


class _Result(ctypes.Structure):
    _fields_ = [
        ("data", _Data),
        ("key", ctypes.c_uint64),
        ("block_dim", ctypes.c_uint64),
        ("workspace", ctypes.c_uint64),
    ]


class Tiling(NamedTuple):
    data: _Data
    key: int
    block_dim: int
    workspace: int


@pytest.fixture(scope="module")
def tile(tmp_path_factory):
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        pytest.skip("needs a C++ compiler")
    library = tmp_path_factory.mktemp("tiling") / "libprobe.so"
    sources = [Path(__file__).parent / "tiling_probe.cpp"]
    for folder, name in (("mhc_pre_sinkhorn", "mhc_pre_sinkhorn"), ("mhc_common", "mhc_projection")):
        sources += (NATIVE / "ops" / folder / "op_host").glob(f"{name}_tiling.cpp")
    subprocess.run(
        [compiler, "-std=c++17", "-O1", "-shared", "-fPIC", f"-I{NATIVE}", "-o", library, *sources],
        check=True,
    )
    probe = ctypes.CDLL(str(library)).probe
    probe.restype = ctypes.c_int
    probe.argtypes = [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int, ctypes.c_uint32, ctypes.c_uint32]
    probe.argtypes += [ctypes.c_uint64, ctypes.POINTER(_Result), ctypes.c_char_p, ctypes.c_size_t]

    def call(tokens, tail=4096, key=-1, aic=20, aiv=40, ub=UB):
        result, error = _Result(), ctypes.create_string_buffer(512)
        if probe(tokens, tail, key, aic, aiv, ub, ctypes.byref(result), error, len(error)):
            raise ValueError(error.value.decode())
        return Tiling(result.data, result.key, result.block_dim, result.workspace)

    return call


CORES = [(1, 1), (1, 2), (4, 7), (20, 40), (24, 48)]
TOKENS = [1, 2, 3, 31, 32, 33, 63, 64, 65, 129, 256, 511, 512, 513, 1280, 1281, 8191, 32768]


@pytest.mark.parametrize("key", [-1, 0, 1])
@pytest.mark.parametrize(("aic", "aiv"), CORES)
@pytest.mark.parametrize("tokens", TOKENS)
def test_every_token_and_column_is_multiplied_once(tile, tokens, aic, aiv, key):
    t = tile(tokens, key=key, aic=aic, aiv=aiv)
    chunks = N * t.data.tail // t.data.k_per_slot
    taken = [[0] * chunks for _ in range(tokens)] if tokens <= 600 else None
    total = 0
    for block in range(t.block_dim):
        part, k_part = divmod(block, t.data.k_parts)
        single = t.data.vector_cores % 2 == 1 and part == t.data.vector_cores // 2
        first = part * 2 * t.data.rows_per_core
        rows = range(first, min(first + (1 if single else 2) * t.data.rows_per_core, tokens))
        columns = range(k_part * t.data.chunks_per_part, min((k_part + 1) * t.data.chunks_per_part, chunks))
        assert len(rows) > 0 and len(columns) > 0, f"block {block} has nothing to do"
        total += len(rows) * len(columns)
        if taken:
            for row in rows:
                for column in columns:
                    taken[row][column] += 1
    assert total == tokens * chunks
    assert taken is None or all(count == 1 for row in taken for count in row)


@pytest.mark.parametrize(("aic", "aiv"), CORES)
@pytest.mark.parametrize("tokens", TOKENS)
def test_launch_fits_the_chip(tile, tokens, aic, aiv):
    for key in (-1, 0, 1):
        t = tile(tokens, key=key, aic=aic, aiv=aiv)
        assert 1 <= t.block_dim <= aic
        assert t.block_dim * t.data.rows_per_finish * 2 >= tokens
        assert t.data.rows_per_loop in (16, 32)
        slots = t.block_dim * 2 * t.data.slot_bytes
        products = t.data.k_parts * tokens * MIX * 4
        squares = t.data.k_parts * tokens * 4 if t.key == 1 else 0
        assert t.data.products == slots
        assert t.data.workspace == slots + products + squares
        assert t.workspace == (16 << 20) + t.data.workspace


@pytest.mark.parametrize("tail", [128, 256, 4096, 7168, 99968])
def test_tail_is_cut_to_fit_the_unified_buffer(tile, tail):
    assert tile(100, tail).data.tail_tile == min(tail, 2048)
    small = tile(100, tail, ub=130 << 10).data.tail_tile
    assert small <= min(tail, 2048) and small % 128 == 0


def test_key_is_chosen_by_how_many_blocks_can_share_a_tile(tile):
    assert [tile(tokens).key for tokens in (1, 64, 256, 640, 641, 1024, 32768)] == [1, 1, 1, 1, 0, 0, 0]
    assert tile(1, tail=128).key == 1 and tile(1, tail=128).data.k_parts == 2
    assert tile(1, aic=1, aiv=2).key == 0


def test_scalars_reach_the_kernel_as_float(tile):
    data = tile(7).data
    assert data.hc_eps == ctypes.c_float(1e-6).value
    assert data.mean_factor == 1 / 16384
    assert (data.num_iters, data.need_backward, data.hf32) == (20, 1, 0)


def test_refuses_what_cannot_be_split(tile):
    with pytest.raises(ValueError, match="0 tokens"):
        tile(0)
    with pytest.raises(ValueError, match="unified buffer of 1024 bytes"):
        tile(100, ub=1024)
