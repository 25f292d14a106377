"""The twin's instructions, driven from Python: a small library of probes, built once per session with g++."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

NATIVE = Path(__file__).resolve().parents[2] / "native"
PROBES = Path(__file__).resolve().parent / "probes"
FLAGS = [
    "-std=c++17",
    "-fPIC",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-Wall",
    "-Wextra",
]

AIV_ONLY, AIC_ONLY, MIX_1_1, MIX_1_2 = range(4)
FAULTS = ["NONE", "AIC_EXCEPTION", "AIV_EXCEPTION", "AIC_TIMEOUT", "AIV_TIMEOUT"]


class _Args(ctypes.Structure):
    _fields_ = [
        ("in_", ctypes.c_void_p * 4),
        ("in_bytes", ctypes.c_uint64 * 4),
        ("out", ctypes.c_void_p * 4),
        ("out_bytes", ctypes.c_uint64 * 4),
        ("number", ctypes.c_int64 * 24),
        ("real", ctypes.c_double * 4),
    ]


class KernelFault(Exception):
    """A launch that failed: `kind` is the fault's name, the text the twin's message."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


class Twin:
    """Runs probes. Arrays of `out` are written in place."""

    bfloat16 = np.dtype(ml_dtypes.bfloat16)

    def __init__(self, library: Path) -> None:
        self._run = ctypes.CDLL(str(library)).probe_run
        self._run.restype = ctypes.c_int
        self._run.argtypes = [
            ctypes.c_char_p, ctypes.c_int, ctypes.c_uint, ctypes.c_uint, ctypes.c_uint, ctypes.c_uint64,
            ctypes.POINTER(_Args), ctypes.c_char_p, ctypes.c_size_t,
        ]  # fmt: skip

    def __call__(
        self, name: str, *, inputs: Any = (), out: Any = (), numbers: Any = (), reals: Any = (),
        task: int = AIV_ONLY, blocks: int = 1, threads: int = 1, arch: int = 2201, key: int = 0,
    ) -> None:  # fmt: skip
        """Raises KernelFault if the launch fails."""
        args = _Args()
        for i, array in enumerate(inputs):
            assert array.flags.c_contiguous
            args.in_[i], args.in_bytes[i] = array.ctypes.data, array.nbytes
        for i, array in enumerate(out):
            assert array.flags.c_contiguous
            args.out[i], args.out_bytes[i] = array.ctypes.data, array.nbytes
        for i, number in enumerate(numbers):
            args.number[i] = _signed(int(number))
        for i, real in enumerate(reals):
            args.real[i] = float(real)
        message = ctypes.create_string_buffer(4096)
        fault = self._run(
            name.encode(), task, blocks, threads, arch, key, ctypes.byref(args), message, len(message)
        )
        if fault == -1:
            raise LookupError(f"no probe named {name}")
        if fault != 0:
            raise KernelFault(FAULTS[fault], message.value.decode())

    def refuses(self, *fragments: str, kind: str = "AIV_EXCEPTION", **call: Any) -> str:
        """Asserts that the launch fails with `kind` and a message that has all fragments; returns it."""
        name = call.pop("name")
        with pytest.raises(KernelFault) as caught:
            self(name, **call)
        message = str(caught.value)
        for fragment in fragments:
            assert fragment in message, message
        assert caught.value.kind == kind, message
        return message


def walk(itemsize: int, lanes: np.ndarray, repeats: int, block_stride: int, repeat_stride: int) -> Any:
    """Element index of each (repeat, lane): blocks of 32 bytes, strides in blocks."""
    per_block = 32 // itemsize
    repeat = np.arange(repeats)[:, None]
    return (repeat * repeat_stride + lanes // per_block * block_stride) * per_block + lanes % per_block


def bits_to_lanes(low: int, high: int, lanes: int) -> np.ndarray:
    """The lanes that two mask words select."""
    mask = low | (high << 64)
    return np.array([i for i in range(lanes) if mask >> i & 1])


def build(directory: Path, extra: list[str]) -> Path:
    """Compiles probes and twin into one library."""
    compiler = os.environ.get("CXX") or shutil.which("g++")
    if compiler is None:
        pytest.skip("needs g++ to build the twin's probes")
    sources = sorted(PROBES.glob("*.cpp")) + sorted((NATIVE / "ascendc" / "twin").glob("*.cpp"))
    # The kernel table belongs to a library of operators.
    sources = [source for source in sources if source.name != "registry.cpp"]
    objects = [directory / f"{source.parent.name}_{source.stem}.o" for source in sources]
    include = [f"-I{NATIVE}", f"-I{NATIVE / 'ascendc'}"]

    def run(command: list[str]) -> None:
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr[:4000]}"

    def compile_one(pair: tuple[Path, Path]) -> None:
        run([compiler, *FLAGS, *extra, *include, "-c", str(pair[0]), "-o", str(pair[1])])

    with ThreadPoolExecutor(max_workers=2) as pool:
        list(pool.map(compile_one, zip(sources, objects)))
    library = directory / "libprobes.so"
    run([compiler, "-shared", *FLAGS, *extra, *map(str, objects), "-o", str(library), "-lpthread"])
    return library


@pytest.fixture(scope="session")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Twin:
    """The probes; TWIN_PROBE_FLAGS replaces the optimisation flags, e.g. "-O3 -march=x86-64-v3"."""
    extra = os.environ.get("TWIN_PROBE_FLAGS", "-O0").split()
    return Twin(build(tmp_path_factory.mktemp("probes"), extra))


@pytest.fixture(scope="session")
def layout() -> Any:
    """How operands are walked, as index arrays."""

    class Layout:
        walk = staticmethod(walk)
        bits_to_lanes = staticmethod(bits_to_lanes)

    return Layout


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Random numbers that depend on the test's name only."""
    return np.random.default_rng(list(request.node.nodeid.encode()))
