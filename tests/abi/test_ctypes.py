"""One round through both libraries with nothing but ctypes, in this process."""

import ctypes
import pathlib
from collections.abc import Iterator

import pytest

COUNT = 1000
SIZE = ctypes.c_size_t(4 * COUNT)


class Libraries:
    def __init__(self, root: pathlib.Path) -> None:
        self.runtime = ctypes.CDLL(str(root / "lib64" / "libascendcl.so"))
        self.nnopbase = ctypes.CDLL(str(root / "lib64" / "libnnopbase.so"))
        self.runtime.aclGetRecentErrMsg.restype = ctypes.c_char_p
        self.nnopbase.aclCreateTensor.restype = ctypes.c_void_p
        self.nnopbase.aclDestroyTensor.argtypes = [ctypes.c_void_p]
        self.runtime.aclrtFree.argtypes = [ctypes.c_void_p]
        self.runtime.aclrtDestroyStream.argtypes = [ctypes.c_void_p]
        self.runtime.aclemuLiveObjects.restype = ctypes.c_int64


@pytest.fixture
def libraries(root: pathlib.Path) -> Iterator[Libraries]:
    both = Libraries(root)
    # Other tests of this process may have initialised it: then the call is counted.
    assert both.runtime.aclInit(None) in (0, 100002)
    assert both.runtime.aclrtSetDevice(0) == 0
    both.runtime.aclGetRecentErrMsg()
    yield both
    assert both.runtime.aclrtResetDevice(0) == 0
    assert both.runtime.aclFinalizeReference(None) == 0


def test_memory_and_streams(libraries: Libraries) -> None:
    acl = libraries.runtime
    stream, device = ctypes.c_void_p(), ctypes.c_void_p()
    assert acl.aclrtCreateStream(ctypes.byref(stream)) == 0
    assert acl.aclrtMalloc(ctypes.byref(device), SIZE, 0) == 0
    assert stream.value is not None and stream.value > 2**32
    assert device.value is not None and device.value > 2**32
    source = (ctypes.c_float * COUNT)(*range(COUNT))
    target = (ctypes.c_float * COUNT)()
    assert acl.aclrtMemcpy(device, SIZE, source, SIZE, 1) == 0
    assert acl.aclrtMemcpyAsync(target, SIZE, device, SIZE, 2, stream) == 0
    assert acl.aclrtSynchronizeStream(stream) == 0
    assert list(target) == list(source)
    assert acl.aclrtFree(device) == 0
    assert acl.aclrtDestroyStream(stream) == 0


def test_errors_are_told_once(libraries: Libraries) -> None:
    acl = libraries.runtime
    assert acl.aclrtMalloc(None, SIZE, 0) == 100000
    text = acl.aclGetRecentErrMsg()
    assert b"devPtr" in text and b"100000" in text
    assert acl.aclGetRecentErrMsg() is None
    assert acl.aclrtPeekAtLastError(0) == 100000
    assert acl.aclrtGetLastError(0) == 100000
    assert acl.aclrtGetLastError(0) == 0


def test_tensors_are_counted(libraries: Libraries) -> None:
    alive = libraries.runtime.aclemuLiveObjects
    before = alive(b"tensor")
    dims = (ctypes.c_int64 * 2)(3, 4)
    tensor = libraries.nnopbase.aclCreateTensor(
        dims, ctypes.c_uint64(2), 0, None, ctypes.c_int64(0), 2, dims, ctypes.c_uint64(2), None
    )
    assert tensor is not None and alive(b"tensor") == before + 1
    offset = ctypes.c_int64(-1)
    assert libraries.nnopbase.aclGetViewOffset(ctypes.c_void_p(tensor), ctypes.byref(offset)) == 0
    assert offset.value == 0
    assert libraries.nnopbase.aclDestroyTensor(tensor) == 0
    assert libraries.nnopbase.aclDestroyTensor(tensor) == 161002
    assert alive(b"tensor") == before
    libraries.runtime.aclGetRecentErrMsg()
