"""A view of the emulator's libraries through plain ctypes, without any of the package's own binding code."""

import contextlib
import ctypes
import functools
import gc
import json
import math
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import aclnn_py

# These tests state what the emulator does, also on a machine that has CANN.
os.environ.setdefault("ACLNN_PY_BACKEND", "emulator")

HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2
ITEM_SIZE = {0: 4, 1: 2, 11: 8, 27: 2}  # of FLOAT, FLOAT16, DOUBLE, BF16


@dataclass
class Answer:
    status: int
    message: str | None
    workspace_size: int | None
    executor: int | None
    tensors: list[int] = field(default_factory=list)


class RawAbi:
    """The C functions by name. The tensors of a call share one device buffer, each with a region of its own.

    A tensor is described by an object with shape, dtype, format and strides, or by None for NULL.
    """

    ATTRS = ("hcMult", "numIters", "hcEps", "normEps", "needBackward")

    def __init__(self, root: Path, buffer_size: int):
        libraries = [
            ctypes.CDLL(str(root / "lib64" / f"lib{n}.so")) for n in ("ascendcl", "nnopbase", "opapi")
        ]
        p, i32, i64, u64 = ctypes.c_void_p, ctypes.c_int32, ctypes.c_int64, ctypes.c_uint64
        dims = ctypes.POINTER(i64)
        self.init = self._bind(libraries, "aclInit", [ctypes.c_char_p])
        self.set_device = self._bind(libraries, "aclrtSetDevice", [i32])
        self.create_context = self._bind(libraries, "aclrtCreateContext", [p, i32])
        self.destroy_context = self._bind(libraries, "aclrtDestroyContext", [p])
        self.get_context = self._bind(libraries, "aclrtGetCurrentContext", [p])
        self.set_context = self._bind(libraries, "aclrtSetCurrentContext", [p])
        self.create_stream = self._bind(libraries, "aclrtCreateStream", [p])
        self.destroy_stream = self._bind(libraries, "aclrtDestroyStream", [p])
        self.synchronize = self._bind(libraries, "aclrtSynchronizeStream", [p])
        self.malloc = self._bind(libraries, "aclrtMalloc", [p, ctypes.c_size_t, i32])
        self.free = self._bind(libraries, "aclrtFree", [p])
        self.memcpy = self._bind(libraries, "aclrtMemcpy", [p, ctypes.c_size_t, p, ctypes.c_size_t, i32])
        self.error_text = self._bind(libraries, "aclGetRecentErrMsg", [], ctypes.c_char_p)
        self.live_objects = self._bind(libraries, "aclemuLiveObjects", [ctypes.c_char_p], i64)
        self.create_tensor = self._bind(
            libraries, "aclCreateTensor", [dims, u64, i32, dims, i64, i32, dims, u64, p], ctypes.c_void_p
        )
        self.destroy_tensor = self._bind(libraries, "aclDestroyTensor", [p])
        self.plan = self._bind(
            libraries,
            "aclnnMhcPreSinkhornGetWorkspaceSize",
            [p] * 4 + [i64, i64, ctypes.c_double, ctypes.c_double, ctypes.c_bool] + [p] * 10,
        )
        self.run = self._bind(libraries, "aclnnMhcPreSinkhorn", [p, u64, p, p])

        assert self.init(None) in (0, 100002)  # the second: someone in this process was first
        assert self.set_device(0) == 0
        self.buffer_size = buffer_size
        self.buffer = self.new_buffer(buffer_size)
        self.stream = self.new_stream()
        self._next, self.offsets = 0, []  # of the tensors in the buffer, in C order

    @staticmethod
    def _bind(libraries, name, argtypes, restype=ctypes.c_int32):
        function = next(getattr(lib, name) for lib in reversed(libraries) if hasattr(lib, name))
        function.argtypes, function.restype = argtypes, restype
        return function

    def close(self):
        assert self.destroy_stream(self.stream) == 0
        assert self.free(self.buffer) == 0

    def new_buffer(self, size):
        address = ctypes.c_void_p()
        assert self.malloc(ctypes.byref(address), size, 0) == 0
        return address.value

    def new_stream(self):
        stream = ctypes.c_void_p()
        assert self.create_stream(ctypes.byref(stream)) == 0
        return stream.value

    @contextlib.contextmanager
    def other_context(self):
        """A new context with a stream, current in the block."""
        home, other = ctypes.c_void_p(), ctypes.c_void_p()
        assert self.get_context(ctypes.byref(home)) == 0
        assert self.create_context(ctypes.byref(other), 0) == 0
        assert self.set_context(other) == 0
        stream = self.new_stream()
        try:
            yield stream
        finally:
            self.destroy_stream(stream)
            assert self.set_context(home) == 0
            assert self.destroy_context(other) == 0

    def message(self):
        text = self.error_text()
        return None if text is None else text.decode()

    def make(self, spec):
        self.offsets.append(self._next)
        if spec is None:
            return None
        rank = len(spec.shape)
        shape = (ctypes.c_int64 * rank)(*spec.shape)
        # Two faults may give one tensor a shape and strides of different rank: then the shape is enough.
        steps = spec.strides if spec.strides and len(spec.strides) == rank else None
        strides = None if steps is None else (ctypes.c_int64 * rank)(*steps)
        span = max(0, math.prod(spec.shape))
        if steps and span:
            span = 1 + sum((n - 1) * step for n, step in zip(spec.shape, steps, strict=True))
        storage, storage_rank = (shape, rank) if strides is None else ((ctypes.c_int64 * 1)(span), 1)
        size = span * ITEM_SIZE[spec.dtype]
        # What does not fit lies at the start, which is good enough for calls that are to be refused.
        fits = self._next + size <= self.buffer_size
        address = self.buffer + (self._next if fits else 0)
        self._next += -(-size // 512) * 512 if fits else 0
        handle = self.create_tensor(
            shape, rank, spec.dtype, strides, 0, spec.format, storage, storage_rank, address
        )
        assert handle
        return handle

    def live(self) -> dict:
        """How many objects of each kind exist in this process."""
        kinds = ("tensor", "executor", "stream", "context", "device_memory")
        return {kind: self.live_objects(kind.encode()) for kind in kinds}

    def phase1(self, tensors: dict, attrs: dict, out_pointers: dict) -> Answer:
        """Plans with freshly made tensors. Of an accepted call they live until `finish`."""
        self._next, self.offsets = 0, []
        handles = [self.make(spec) for spec in tensors.values()]
        size, executor = ctypes.c_uint64(2**64 - 1), ctypes.c_void_p()
        self.error_text()
        status = self.plan(
            *handles[:4],
            *(attrs[name] for name in self.ATTRS),
            *handles[4:],
            ctypes.byref(size) if out_pointers["workspaceSize"] else None,
            ctypes.byref(executor) if out_pointers["executor"] else None,
        )
        answer = Answer(status, self.message(), size.value, executor.value, handles)
        if status:
            self.finish(answer)
        return answer

    def phase2(self, answer: Answer, stream: int | None = None) -> int:
        stream = stream or self.stream
        workspace = self.new_buffer(answer.workspace_size) if answer.workspace_size else None
        status = self.run(workspace, answer.workspace_size, answer.executor, stream)
        if status == 0:
            status = self.synchronize(stream)
        if workspace:
            assert self.free(workspace) == 0
        self.finish(answer)
        return status

    def finish(self, answer: Answer) -> None:
        for handle in answer.tensors:
            assert self.destroy_tensor(handle) == 0
        answer.tensors = []

    def fill(self, value: int, size: int) -> None:
        data = bytes([value]) * size
        assert self.memcpy(self.buffer, self.buffer_size, data, size, HOST_TO_DEVICE) == 0

    def read(self, size: int) -> bytes:
        data = ctypes.create_string_buffer(size)
        assert self.memcpy(data, size, self.buffer, size, DEVICE_TO_HOST) == 0
        return data.raw


@pytest.fixture(scope="session")
def emulator_root() -> Path:
    installed = Path(aclnn_py.__file__).parent / "_emulator"
    root = Path(os.environ.get("ACLNN_PY_TEST_ROOT") or installed)
    if not (root / "lib64" / "libopapi.so").exists():
        pytest.skip(f"this installation was built without the emulator: no {root}/lib64/libopapi.so")
    return root


@pytest.fixture(scope="module")
def abi(emulator_root):
    gc.collect()  # tensors of earlier modules, else they go while a test here counts
    raw = RawAbi(emulator_root, 64 << 20)
    yield raw
    raw.close()


@functools.cache
def _checks_on(soc: str, script: Path) -> dict[str, str | None]:
    done = subprocess.run(
        [sys.executable, script],
        env=os.environ | {"ACLEMU_SOC": soc},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {line["check"]: line["error"] for line in lines}


@pytest.fixture
def on_soc(emulator_root):
    """on_soc(soc, script, check): runs a script of `soc_checks`, once per SoC; its check must pass."""

    def demand(soc: str, script: Path, check: str) -> None:
        error = _checks_on(soc, script)[check]
        assert error is None, error

    return demand
