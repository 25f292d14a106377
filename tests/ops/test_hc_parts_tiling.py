"""The tiling functions of hc_pre_inv_rms, hc_pre_sinkhorn and hc_post, called without the emulator."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest

NATIVE = Path(__file__).parents[2] / "native"
OPS = ("hc_pre_inv_rms", "hc_pre_sinkhorn", "hc_post")
UB = {"A2": 184 << 10, "950": 248 << 10}
CORES = [1, 2, 7, 40, 48, 56]
TOKENS = [1, 2, 31, 32, 33, 40, 41, 129, 512, 8193, 32768]
LENGTHS = [1, 7, 64, 256, 16384, 20480, 28672, 80000, 2**30]


def structure(**fields):
    kinds = {"u32": ctypes.c_uint32, "u64": ctypes.c_uint64, "f": ctypes.c_float}
    listed = [(name, kinds[kind]) for kind, names in fields.items() for name in names.split()]
    return type("Data", (ctypes.Structure,), {"_fields_": listed})


DATA = {
    "inv_rms": structure(
        u64="rows row_size rows_per_core", u32="rows_per_pass piece lanes load_bytes", f="epsilon mean_factor"
    ),
    "sinkhorn": structure(u64="tokens tail rows_per_core", u32="rows_per_loop tail_tile iters", f="eps"),
    "post": structure(u64="tokens tail pieces", u32="streams tokens_per_piece column_tiles tile"),
}


class Chip(ctypes.Structure):
    _fields_ = (
        ("cores", ctypes.c_uint32),
        ("ub", ctypes.c_uint64),
        ("key", ctypes.c_int64),
        ("error", ctypes.c_char * 512),
        ("chosen", ctypes.c_uint64),
        ("block_dim", ctypes.c_uint64),
        ("workspace", ctypes.c_uint64),
    )


@pytest.fixture(scope="module")
def tile(tmp_path_factory):
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        pytest.skip("needs a C++ compiler")
    library = tmp_path_factory.mktemp("tiling") / "libprobe.so"
    sources = [Path(__file__).parent / "hc_parts_tiling_probe.cpp"]
    sources += [NATIVE / "ops" / op / "op_host" / f"{op}_tiling.cpp" for op in OPS]
    subprocess.run(
        [compiler, "-std=c++17", "-O1", "-shared", "-fPIC", f"-I{NATIVE}", "-o", library, *sources],
        check=True,
    )
    probe = ctypes.CDLL(str(library))

    def call(op, *sizes, cores=40, ub=UB["A2"], key=-1):
        chip, data = Chip(cores, ub, key), DATA[op]()
        wide, narrow = sizes[:2], sizes[2:]
        arguments = [*map(ctypes.c_uint64, wide), *map(ctypes.c_uint32, narrow)]
        if getattr(probe, op)(*arguments, ctypes.byref(chip), ctypes.byref(data)):
            raise ValueError(chip.error.decode())
        return data, chip

    return call


@pytest.mark.parametrize("cores", CORES)
def test_every_row_has_one_core(tile, cores):
    for tokens in TOKENS:
        for data, chip in (
            tile("inv_rms", tokens, 256, 2, cores=cores),
            tile("sinkhorn", tokens, 64, cores=cores),
        ):
            assert 1 <= chip.block_dim <= cores
            assert (chip.block_dim - 1) * data.rows_per_core < tokens <= chip.block_dim * data.rows_per_core
            assert chip.workspace == 0


@pytest.mark.parametrize("ub", UB.values(), ids=UB)
@pytest.mark.parametrize("item", [2, 4])
@pytest.mark.parametrize("length", LENGTHS)
def test_inv_rms_fits_the_unified_buffer(tile, ub, item, length):
    for tokens in TOKENS:
        for key in (-1, 1001):
            data, chip = tile("inv_rms", tokens, length, item, ub=ub, key=key)
            lanes = data.lanes * (8 if item == 2 else 4)
            results = 4 * (-(-data.rows_per_pass * 4 // 32) * 32)
            assert 2 * data.load_bytes + lanes + results <= ub
            assert 1 <= data.rows_per_pass <= data.rows_per_core
            if chip.chosen == 1000:
                assert data.load_bytes == data.rows_per_pass * (-(-length * item // 32) * 32)
            else:
                assert data.load_bytes == data.piece * item and data.piece % data.lanes == 0 < data.piece


def test_inv_rms_splits_rows_only_where_it_must(tile):
    keys = {item: [tile("inv_rms", 100, length, item)[1].chosen for length in LENGTHS] for item in (2, 4)}
    assert keys[2] == [1000] * 7 + [1001] * 2
    assert keys[4] == [1000] * 6 + [1001] * 3
    assert tile("inv_rms", 100, 28672, 4, ub=UB["950"])[1].chosen == 1000
    with pytest.raises(ValueError, match="there is no tiling key 7, only 1000 and 1001"):
        tile("inv_rms", 100, 64, 2, key=7)
    with pytest.raises(ValueError, match="rows of 64 elements do not fit the unified buffer of 512 bytes"):
        tile("inv_rms", 100, 64, 2, ub=512)
    with pytest.raises(ValueError, match="0 rows"):
        tile("inv_rms", 0, 64, 2)


def test_sinkhorn_cuts_the_tail(tile):
    for tail, expected in ((1, 128), (64, 128), (4096, 2048), (2**30, 2048)):
        assert tile("sinkhorn", 100, tail)[0].tail_tile == expected
    assert tile("sinkhorn", 100, 4096, ub=64 << 10)[0].tail_tile < 2048
    assert [tile("sinkhorn", tokens, 64)[0].rows_per_loop for tokens in (40, 640, 641)] == [16, 16, 32]
    with pytest.raises(ValueError, match="unified buffer of 1024 bytes is too small"):
        tile("sinkhorn", 100, 64, ub=1024)
    with pytest.raises(ValueError, match="there is no tiling key 1, only 0"):
        tile("sinkhorn", 100, 64, key=1)


def test_post_keeps_the_dtype_of_post_in_the_key(tile):
    for post_type in (0, 1, 2):
        assert tile("post", 1000, 64, 2, post_type)[1].chosen == 2 * post_type + 1
        assert tile("post", 1000, 4096, 2, post_type)[1].chosen == 2 * post_type
        assert tile("post", 1000, 64, 2, post_type, key=2 * post_type)[1].chosen == 2 * post_type
        with pytest.raises(ValueError, match=f"only {2 * post_type} and {2 * post_type + 1}"):
            tile("post", 1000, 64, 2, post_type, key=(2 * post_type + 2) % 6)
    data, chip = tile("post", 1000, 4096, 4, 2)
    assert (data.tokens, data.tail, data.streams) == (1000, 4096, 4)
    assert data.pieces * data.tokens_per_piece * data.tile >= 1000 * 4096 and chip.block_dim == 40
