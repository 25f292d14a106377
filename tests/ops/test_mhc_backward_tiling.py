"""The tiling function of MhcPreSinkhornBackward: all work is given out once, nothing exceeds the chip."""

from __future__ import annotations

import ctypes
import itertools
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

NATIVE = Path(__file__).parents[2] / "native"
UB, L0C = 184 << 10, 128 << 10
UB_950, L0C_950 = 248 << 10, 256 << 10


class _Data(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_uint64) for name in ("tokens", "tail", "token_stride", "rows_per_core")),
        *(
            (name, ctypes.c_uint64)
            for name in ("tokens_per_part", "units_per_block", "planes", "phi", "sums")
        ),
        *((name, ctypes.c_uint64) for name in ("grad_phi", "ring", "workspace")),
        *((name, ctypes.c_uint32) for name in ("streams", "mix", "mix_rows", "num_iters", "vector_cores")),
        *((name, ctypes.c_uint32) for name in ("lanes", "token_parts", "streams_per_sweep")),
        *((name, ctypes.c_float) for name in ("hc_eps", "mean_factor")),
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
    name = "mhc_pre_sinkhorn_backward"
    sources = [Path(__file__).parent / "mhc_backward_tiling_probe.cpp"]
    sources.append(NATIVE / "ops" / name / "op_host" / f"{name}_tiling.cpp")
    subprocess.run(
        [compiler, "-std=c++17", "-O1", "-shared", "-fPIC", f"-I{NATIVE}", "-o", library, *sources],
        check=True,
    )
    probe = ctypes.CDLL(str(library)).probe
    u32, u64 = ctypes.c_uint32, ctypes.c_uint64
    probe.argtypes = [u64, u32, u64, ctypes.c_int, u32, u32, u64, u64]
    probe.argtypes += [ctypes.POINTER(_Result), ctypes.c_char_p, ctypes.c_size_t]

    def call(tokens, tail=4096, n=4, key=-1, aic=20, aiv=40, ub=UB, l0c=L0C):
        result, error = _Result(), ctypes.create_string_buffer(512)
        if probe(tokens, n, tail, key, aic, aiv, ub, l0c, ctypes.byref(result), error, len(error)):
            raise ValueError(error.value.decode())
        return Tiling(result.data, result.key, result.block_dim, result.workspace)

    return call


CORES = [(1, 1), (1, 2), (4, 7), (20, 40), (24, 48)]
TOKENS = [1, 2, 33, 63, 64, 65, 129, 1000, 1024, 70_000]
CHIPS = [(4, UB, L0C), *((n, UB_950, L0C_950) for n in range(1, 9))]


@pytest.mark.parametrize("key", [-1, 0, 1])
@pytest.mark.parametrize(("aic", "aiv"), CORES)
def test_every_token_of_every_column_is_in_one_unit(tile, aic, aiv, key):
    for tokens, tail, (n, ub, l0c) in itertools.product(TOKENS, (128, 384, 4096, 99968), CHIPS):
        t = tile(tokens, tail, n, key, aic, aiv, ub, l0c)
        data, blocks = t.data, max(1, min(aic, aiv // 2))
        sweeps = -(-n // data.streams_per_sweep)
        units = tail // 128 * sweeps * data.token_parts
        assert 1 <= t.block_dim <= blocks
        assert data.units_per_block * t.block_dim >= units
        assert data.tokens_per_part % 64 == 0
        assert (
            (data.token_parts - 1) * data.tokens_per_part < tokens <= data.token_parts * data.tokens_per_part
        )
        assert (data.vector_cores - 1) * data.rows_per_core < tokens <= data.vector_cores * data.rows_per_core
        assert data.vector_cores <= 2 * t.block_dim
        assert t.key == (key if key >= 0 else int(data.token_parts > 1))
        assert data.token_parts == 1 or t.key == 1


def test_parts_of_the_workspace_do_not_overlap(tile):
    for tokens, tail, key, (n, ub, l0c) in itertools.product(TOKENS, (128, 4096), (0, 1), CHIPS):
        t = tile(tokens, tail, n, key, ub=ub, l0c=l0c)
        d = t.data
        mix, rows = n * n + 2 * n, -(-(n * n + 2 * n) // 8) * 8
        assert (d.mix, d.mix_rows) == (mix, rows) and d.token_stride >= tokens
        sizes = [
            tokens * rows,
            (rows + n + 1) * d.token_stride,
            n * tail * rows,
            d.vector_cores * (rows + 8),
            d.token_parts * mix * n * tail if key else 0,
            t.block_dim * 4 * 64 * 128,
        ]
        starts = [0, d.planes, d.phi, d.sums, d.grad_phi, d.ring, d.workspace]
        for start, size, end in zip(starts, sizes, starts[1:], strict=False):
            assert start % 512 == 0 and start + 4 * size <= end
        assert t.workspace == (16 << 20) + d.workspace


def test_on_chip_memory_is_enough(tile):
    for n, ub, l0c in CHIPS:
        d = tile(1000, n=n, ub=ub, l0c=l0c).data
        accumulators = d.streams_per_sweep * -(-d.mix // 16) * 16 * 128 * 4
        assert accumulators + 2 * 64 * 128 * 4 <= l0c
        assert d.lanes == (32 if n <= 4 else 16)
    assert tile(1000).data.streams_per_sweep == 4  # one sweep over the tokens for all streams
    for n in range(1, 9):
        tile(1000, n=n, ub=UB_950, l0c=L0C_950)
    tile(1000, ub=168704)
    with pytest.raises(ValueError, match="168704 are needed"):
        tile(1000, ub=168703)


def test_the_tokens_are_split_only_where_columns_are_few(tile):
    assert [tile(1024, tail).key for tail in (4096, 2560, 1280, 128)] == [0, 0, 1, 1]
    assert [tile(tokens, 128).data.token_parts for tokens in (1, 64, 65, 1024, 4096)] == [1, 1, 2, 16, 16]


def test_numbers_for_the_kernel(tile):
    d = tile(7).data
    assert (d.hc_eps, d.mean_factor, d.num_iters) == (ctypes.c_float(1e-6).value, 1 / 16384, 20)


def test_refusals(tile):
    for arguments in (
        {"tokens": 0},
        {"tokens": 1, "tail": 100},
        {"tokens": 1, "n": 9},
        {"tokens": 1, "n": 0},
    ):
        with pytest.raises(ValueError, match="nothing to split"):
            tile(**arguments)
    with pytest.raises(ValueError, match="no tiling key 2"):
        tile(1, key=2)
    with pytest.raises(ValueError, match="unified buffer of 65536 bytes is too small"):
        tile(1, ub=64 << 10)
    with pytest.raises(ValueError, match="L0C of 65536 bytes"):
        tile(1, l0c=64 << 10)
