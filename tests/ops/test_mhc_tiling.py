"""The tiling functions of MhcPost, MhcPostBackward and MhcSinkhorn alone: all work is done, once, evenly."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest

NATIVE = Path(__file__).parents[2] / "native"
UB, UB_950 = 184 << 10, 248 << 10
u32, u64 = ctypes.c_uint32, ctypes.c_uint64


def structure(longs: str, ints: str, floats: str = "") -> type[ctypes.Structure]:
    fields = [(name, u64) for name in longs.split()] + [(name, u32) for name in ints.split()]
    fields += [(name, ctypes.c_float) for name in floats.split()]
    return type("Data", (ctypes.Structure,), {"_fields_": fields})


DATA = {
    "post": structure("tokens tail pieces", "streams tokens_per_piece column_tiles tile"),
    "backward": structure("tokens tail", "streams tile tokens_per_loop reserved"),
    "sinkhorn": structure("tokens", "streams iters lanes", "eps"),
}


class Tiling(NamedTuple):
    data: Any
    key: int
    block_dim: int
    workspace: int


@pytest.fixture(scope="module")
def tile(tmp_path_factory):
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        pytest.skip("needs a C++ compiler")
    library = tmp_path_factory.mktemp("tiling") / "libprobe.so"
    sources = [Path(__file__).parent / "mhc_tiling_probe.cpp"]
    sources += [
        NATIVE / "ops" / op / "op_host" / f"{op}_tiling.cpp" for op in ("mhc_post_backward", "mhc_sinkhorn")
    ]
    flags = ["-std=c++17", "-O1", "-shared", "-fPIC", f"-I{NATIVE}"]
    subprocess.run([compiler, *flags, "-o", library, *sources], check=True)
    probe = ctypes.CDLL(str(library))

    def call(op, tokens, n=4, third=128, given=True, key=-1, cores=40, ub=UB):
        data, launch, error = DATA[op](), (u64 * 3)(), ctypes.create_string_buffer(512)
        function = getattr(probe, op)
        function.argtypes = [u64, u64, u64, ctypes.c_int, ctypes.c_int, u32, u64]
        function.argtypes += [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
        arguments = (tokens, n, third, given, key, cores, ub, ctypes.byref(data), launch, error, len(error))
        if function(*arguments):
            raise ValueError(error.value.decode())
        return Tiling(data, *launch)

    return call


CORES = [1, 2, 7, 40, 56]
TOKENS = [1, 2, 3, 31, 39, 40, 41, 513, 4096, 32768]


@pytest.mark.parametrize("cores", CORES)
@pytest.mark.parametrize("tail", [1, 33, 128, 384, 2560, 4096, 7168, 99968])
@pytest.mark.parametrize("n", [1, 4, 8, 64])
def test_post_takes_each_token_and_column_once(tile, n, tail, cores):
    for tokens in TOKENS:
        t = tile("post", tokens, n, tail, cores=cores, ub=UB_950)
        data = t.data
        groups = -(-tokens // data.tokens_per_piece)
        assert data.pieces == groups * data.column_tiles
        assert (data.column_tiles - 1) * data.tile < tail <= data.column_tiles * data.tile
        assert data.tokens_per_piece == 1 or data.column_tiles == 1
        assert data.column_tiles == 1 or data.tile % 64 == 0
        assert 1 <= t.block_dim <= min(cores, data.pieces)
        assert t.workspace == 0
        # The busiest core has at most twice what an even split would give it, unless that is a single piece.
        busiest = -(-data.pieces // t.block_dim) * data.tokens_per_piece * data.tile
        assert busiest <= max(2 * tokens * tail / cores + 256, data.tokens_per_piece * data.tile)


@pytest.mark.parametrize(
    "tokens, tail, key",
    [(1, 128, 0), (40, 128, 0), (80, 128, 2), (80, 496, 2), (80, 510, 0), (4096, 4096, 0), (4096, 640, 0)],
)
def test_post_batches_tokens_of_short_rows(tile, tokens, tail, key):
    assert tile("post", tokens, 4, tail).key == key
    assert tile("post", tokens, 4, tail, given=False).key == key + 1


def test_post_few_tokens_share_their_rows(tile):
    t = tile("post", 1, 4, 99968)
    assert t.block_dim == 40 and t.data.column_tiles >= 40
    t = tile("post", 30, 4, 4096)
    assert t.block_dim == 40


@pytest.mark.parametrize("key, given", [(1, True), (3, True), (0, False), (2, False), (4, True)])
def test_post_takes_fitting_keys_only(tile, key, given):
    with pytest.raises(ValueError, match=f"no tiling key {key} for this call"):
        tile("post", 8, given=given, key=key)


def test_post_refuses_what_does_not_fit(tile):
    with pytest.raises(ValueError, match="too large for tiling key 2"):
        tile("post", 100, 4, 4096, key=2)
    with pytest.raises(ValueError, match="n = 126 streams do not fit the unified buffer"):
        tile("post", 1, 126, 128, ub=UB_950)
    assert tile("post", 1, 124, 128, ub=UB_950).data.tile == 64
    with pytest.raises(ValueError, match="exceeds what one copy can address"):
        tile("post", 1, 4096, 128)
    with pytest.raises(ValueError, match="nothing to split: 0 tokens"):
        tile("post", 0)


@pytest.mark.parametrize("ub, streams", [(UB, (4,)), (UB_950, (4, 6, 8))])
@pytest.mark.parametrize("tail", [128, 1152, 4096, 99968])
def test_backward_fits_every_chip(tile, ub, streams, tail):
    for n in streams:
        for tokens in TOKENS:
            t = tile("backward", tokens, n, tail, ub=ub)
            assert t.key == 0 and t.workspace == 0
            assert t.block_dim == min(tokens, 40)
            assert t.data.tile % 64 == 0 and 64 <= t.data.tile <= 1024
            assert t.data.tile < tail + 64
            assert 1 <= t.data.tokens_per_loop <= 32
            # 8 blocks of lanes per repeat: a pair's lanes must be within reach of a repeat stride
            assert t.data.tile // 8 <= 255
    assert tile("backward", 5, given=False).key == 1


def test_backward_refuses(tile):
    with pytest.raises(ValueError, match="no tiling key 1 for this call, only 0"):
        tile("backward", 5, key=1)
    with pytest.raises(ValueError, match="unified buffer of 1024 bytes is too small"):
        tile("backward", 5, ub=1024)
    with pytest.raises(ValueError, match="D 100 is not what the kernel can do"):
        tile("backward", 5, 4, 100)


@pytest.mark.parametrize("n", [4, 6, 8])
@pytest.mark.parametrize("slots", [True, False])
def test_sinkhorn_lanes_follow_the_tokens(tile, n, slots):
    lanes = [
        tile("sinkhorn", t, n, 20, slots, cores=56, ub=UB_950).data.lanes
        for t in (1, 896, 897, 1792, 1793, 9999)
    ]
    assert lanes == [16, 16, 32, 32, 64, 64]
    t = tile("sinkhorn", 100, n, 20, slots, cores=56, ub=UB_950)
    assert (t.key, t.block_dim, t.workspace) == (int(slots), 7, 0)
    assert t.data.eps == ctypes.c_float(1e-6).value and t.data.iters == 20


def test_sinkhorn_refuses(tile):
    with pytest.raises(ValueError, match="no tiling key 0 for this call, only 1"):
        tile("sinkhorn", 5, key=0)
    with pytest.raises(ValueError, match="unified buffer of 1024 bytes is too small"):
        tile("sinkhorn", 5, ub=1024)
    assert tile("sinkhorn", 9999, 8, 20, ub=100 << 10).data.lanes == 32
