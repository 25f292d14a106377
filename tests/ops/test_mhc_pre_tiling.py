"""The tiling function of MhcPre alone: keys, every token and column taken once, workspace, unified buffer."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

NATIVE = Path(__file__).parents[2] / "native"
UB = 248 << 10


class _Data(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_uint64) for name in ("tokens", "tail", "rows_per_core", "rows_per_finish")),
        *(
            (name, ctypes.c_uint64)
            for name in ("chunks_per_part", "slot_bytes", "products", "squares", "workspace")
        ),
        *((name, ctypes.c_uint32) for name in ("vector_cores", "k_parts", "rows_per_loop", "k_per_slot")),
        *((name, ctypes.c_uint32) for name in ("tail_tile", "hf32", "gamma", "reserved")),
        *((name, ctypes.c_float) for name in ("norm_eps", "mean_factor")),
        ("out_flag", ctypes.c_uint32),
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
    sources = [
        Path(__file__).parent / "mhc_pre_tiling_probe.cpp",
        NATIVE / "ops" / "mhc_pre" / "op_host" / "mhc_pre_tiling.cpp",
        NATIVE / "ops" / "mhc_common" / "op_host" / "mhc_projection_tiling.cpp",
    ]
    subprocess.run(
        [compiler, "-std=c++17", "-O1", "-shared", "-fPIC", f"-I{NATIVE}", "-o", library, *sources],
        check=True,
    )
    probe = ctypes.CDLL(str(library)).probe
    probe.restype = ctypes.c_int
    probe.argtypes = [ctypes.c_uint64] * 3 + [ctypes.c_int] * 3 + [ctypes.c_uint32, ctypes.c_uint64]
    probe.argtypes += [ctypes.POINTER(_Result), ctypes.c_char_p, ctypes.c_size_t]

    def call(tokens, n=4, tail=2560, res=True, hf32=False, key=-1, aic=28, ub=UB):
        result, error = _Result(), ctypes.create_string_buffer(512)
        if probe(tokens, n, tail, res, hf32, key, aic, ub, ctypes.byref(result), error, len(error)):
            raise ValueError(error.value.decode())
        return Tiling(result.data, result.key, result.block_dim, result.workspace)

    return call


@pytest.mark.parametrize("n", [4, 6, 8])
@pytest.mark.parametrize("res", [True, False])
@pytest.mark.parametrize("tail", [16, 48, 2560, 16384])
def test_every_token_and_column_is_multiplied_once(tile, n, res, tail):
    width = n * tail
    for tokens in (1, 3, 33, 65, 640, 2048, 5000):
        for key in (-1, 0, 1):
            for aic in (1, 4, 28):
                t = tile(tokens, n, tail, res, key=key, aic=aic)
                assert t.key // 10 == n * 10 + (not res)
                assert key < 0 or t.key % 10 == key
                assert 1 <= t.block_dim <= aic
                total = 0
                for block in range(t.block_dim):
                    part, k_part = divmod(block, t.data.k_parts)
                    single = t.data.vector_cores % 2 == 1 and part == t.data.vector_cores // 2
                    first = part * 2 * t.data.rows_per_core
                    last = min(first + (1 if single else 2) * t.data.rows_per_core, tokens)
                    step = t.data.chunks_per_part * t.data.k_per_slot
                    columns = min((k_part + 1) * step, width) - k_part * step
                    assert last > first and columns > 0 and columns % 32 == 0
                    total += (last - first) * columns
                assert total == tokens * width


@pytest.mark.parametrize("n", [4, 6, 8])
@pytest.mark.parametrize("res", [True, False])
def test_workspace_holds_slots_products_and_squares(tile, n, res):
    stride = -(-(2 * n + (n * n if res else 0)) // 8) * 8
    for tokens in (1, 70, 3000):
        for key in (0, 1):
            t = tile(tokens, n, res=res, key=key)
            slots = t.block_dim * 2 * t.data.slot_bytes
            assert t.data.slot_bytes == 2 * t.data.rows_per_loop * 256 * 4
            squares = t.data.k_parts * tokens * 4 if key == 1 else 0
            assert t.data.workspace == slots + t.data.k_parts * tokens * stride * 4 + squares
            assert t.workspace == (16 << 20) + t.data.workspace


def test_unified_buffer(tile):
    """Less of the tail at a time where more streams need more room."""
    assert tile(5000, 4, 2560).data.tail_tile == 2048
    sizes = [tile(5000, n, 16384).data.tail_tile for n in (4, 6, 8)]
    assert sizes == sorted(sizes, reverse=True) and all(size % 128 == 0 and size > 0 for size in sizes)
    assert tile(3, 4, 16).data.tail_tile == 128
    with pytest.raises(ValueError, match="unified buffer of 4096 bytes"):
        tile(5000, 8, ub=4096)


def test_keys(tile):
    assert [tile(tokens).key for tokens in (1, 64, 896, 897, 2048)] == [401, 401, 401, 400, 400]
    assert tile(1, 6, res=False).key == 611 and tile(5000, 8).key == 800
    assert tile(5000, 8, key=801).key == 801
    for key in (2, 401, 810):
        with pytest.raises(ValueError, match=f"tiling key {key}"):
            tile(5000, 8, key=key)


def test_attributes_reach_the_kernel(tile):
    data = tile(7, hf32=True).data
    assert (data.hf32, data.gamma, data.out_flag) == (1, 1, 1)
    assert data.hc_eps == data.norm_eps == ctypes.c_float(1e-6).value
    assert data.mean_factor == ctypes.c_float(1 / 10240).value


def test_refuses_what_cannot_be_split(tile):
    with pytest.raises(ValueError, match="0 tokens"):
        tile(0)
