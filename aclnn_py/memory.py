"""Device memory: buffers that free themselves, and copies between them and NumPy arrays."""

from __future__ import annotations

import ctypes

import numpy as np

from . import runtime
from .abi import acl
from .enums import aclrtMemcpyKind, aclrtMemMallocPolicy
from .status import OUT_OF_MEMORY, check, recent_message


class DeviceBuffer:
    """A block of device memory, freed when the last reference goes. Streams hold one while they still need
    it.

    `address` is None for a buffer of 0 bytes. Errors: OutOfDeviceMemory, after one retry with the workspaces
    released.
    """

    __slots__ = ("__weakref__", "_generation", "address", "device", "nbytes")

    def __init__(self, nbytes: int) -> None:
        self.address: int | None = None
        self.nbytes = nbytes
        self.device = runtime.enter().device
        self._generation = runtime.generation()
        if nbytes:
            self.address = _allocate(nbytes)

    def alive(self) -> bool:
        """False once ACL was finalized (or the process forked) after the buffer was made."""
        return runtime.usable(self._generation)

    def __del__(self) -> None:
        try:
            address, self.address = self.address, None
            if address is not None and self.alive():
                with runtime.on_device(self.device):
                    acl.aclrtFree(address)
        except Exception:  # nobody is there to hear it, and at interpreter exit half the module may be gone
            pass

    def __repr__(self) -> str:
        return f"DeviceBuffer({self.nbytes} bytes, device {self.device})"


def _allocate(nbytes: int) -> int:
    address = ctypes.c_void_p()
    policy = aclrtMemMallocPolicy.ACL_MEM_MALLOC_HUGE_FIRST
    code = acl.aclrtMalloc(ctypes.byref(address), nbytes, policy)
    if code in OUT_OF_MEMORY:
        recent_message()
        for stream in list(runtime.live_streams):
            stream.release_workspace()
        code = acl.aclrtMalloc(ctypes.byref(address), nbytes, policy)
    check(code, f"aclrtMalloc({nbytes} bytes)")
    assert address.value is not None
    return address.value


def _copy(target: int, source: int, nbytes: int, kind: aclrtMemcpyKind) -> None:
    check(acl.aclrtMemcpy(target, nbytes, source, nbytes, kind), f"aclrtMemcpy({nbytes} bytes, {kind.name})")


def upload(buffer: DeviceBuffer, offset: int, array: np.ndarray) -> None:
    """Copies a dense array into the buffer at a byte offset; returns when the array may be changed again."""
    if array.nbytes:
        assert buffer.address is not None
        with runtime.on_device(buffer.device):
            _copy(
                buffer.address + offset,
                array.ctypes.data,
                array.nbytes,
                aclrtMemcpyKind.ACL_MEMCPY_HOST_TO_DEVICE,
            )


def download(array: np.ndarray, buffer: DeviceBuffer, offset: int) -> None:
    """Fills a dense array from the buffer at a byte offset. Does not wait for any stream."""
    if array.nbytes:
        assert buffer.address is not None
        with runtime.on_device(buffer.device):
            _copy(
                array.ctypes.data,
                buffer.address + offset,
                array.nbytes,
                aclrtMemcpyKind.ACL_MEMCPY_DEVICE_TO_HOST,
            )


def clear(buffer: DeviceBuffer) -> None:
    """Fills the buffer with zero bytes."""
    if buffer.nbytes:
        with runtime.on_device(buffer.device):
            check(acl.aclrtMemset(buffer.address, buffer.nbytes, 0, buffer.nbytes), "aclrtMemset")


def wait_for_users(buffer: DeviceBuffer) -> None:
    """Waits for every stream with unfinished work on the buffer."""
    for stream in list(runtime.live_streams):
        if stream.uses(buffer):
            stream.synchronize()
