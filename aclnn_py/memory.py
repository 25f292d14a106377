"""Device memory: buffers that free themselves, and copies between them and NumPy arrays."""

from __future__ import annotations

import ctypes
import time
from typing import TYPE_CHECKING

import numpy as np

from . import runtime
from .abi import acl
from .enums import aclrtMemcpyKind, aclrtMemMallocPolicy
from .status import OUT_OF_MEMORY, AclRuntimeError, check, recent_message
from .values import shown

if TYPE_CHECKING:
    from .stream import Stream


class DeviceBuffer:
    """A block of device memory, freed when the last reference goes. Streams hold it while they need it.

    `address` is None for a buffer of 0 bytes; `argument` is the address ready to be passed. Errors:
    OutOfDeviceMemory, after a retry with the streams' memory given back.
    """

    __slots__ = ("__weakref__", "_generation", "address", "argument", "device", "nbytes")

    def __init__(self, nbytes: int) -> None:
        self.address: int | None = None
        self.nbytes = nbytes
        self.device = runtime.enter().device
        self._generation = runtime.generation()
        if nbytes >= 1 << 63:  # a larger number would be cut to fit size_t
            raise ValueError(f"{nbytes} bytes are more than any device can address")
        if nbytes:
            self.address = _allocate(nbytes)
            self.argument = ctypes.c_void_p.from_param(self.address)
            runtime.live_buffers.add(self)

    def alive(self) -> bool:
        """False once ACL was finalized (or the process forked) after the buffer was made."""
        return runtime.usable(self._generation)

    def free(self) -> None:
        """Frees the memory; its device must be current."""
        address, self.address = self.address, None
        if address is not None and acl.aclrtFree(address):
            recent_message()  # after a fault; its text must not show up in a later error

    def __del__(self) -> None:
        try:
            if self.address is not None and self.alive():
                with runtime.on_device(self.device):
                    self.free()
            elif self.address is not None:
                runtime.free_outlived(self)
        except KeyboardInterrupt:
            runtime.interrupt_again()
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
        for stream in runtime.live_streams:
            stream.release_memory()
        code = acl.aclrtMalloc(ctypes.byref(address), nbytes, policy)
    check(code, f"aclrtMalloc({nbytes} bytes)")
    assert address.value is not None
    return address.value


def _address(buffer: DeviceBuffer) -> int:
    if buffer.address is None:
        raise ValueError("the memory of this tensor went when ACL was finalized")
    return buffer.address


def _copy(target: int, source: int, nbytes: int, kind: aclrtMemcpyKind) -> None:
    check(acl.aclrtMemcpy(target, nbytes, source, nbytes, kind), f"aclrtMemcpy({nbytes} bytes, {kind.name})")


def upload(buffer: DeviceBuffer, offset: int, array: np.ndarray) -> None:
    """Copies a dense array into the buffer at a byte offset; returns when the array may be changed again."""
    if array.nbytes:
        with runtime.on_device(buffer.device):
            kind = aclrtMemcpyKind.ACL_MEMCPY_HOST_TO_DEVICE
            _copy(_address(buffer) + offset, array.ctypes.data, array.nbytes, kind)


def download(array: np.ndarray, buffer: DeviceBuffer, offset: int) -> None:
    """Fills a dense array from the buffer at a byte offset. Does not wait for any stream."""
    if array.nbytes:
        with runtime.on_device(buffer.device):
            kind = aclrtMemcpyKind.ACL_MEMCPY_DEVICE_TO_HOST
            _copy(array.ctypes.data, _address(buffer) + offset, array.nbytes, kind)


def copy_on_stream(
    stream: Stream, buffer: DeviceBuffer, offset: int, array: np.ndarray, *, upload: bool
) -> None:
    """Puts a copy between a dense array and the buffer at a byte offset on a stream, which keeps both."""
    from .stream import Stream

    if not isinstance(stream, Stream):
        raise TypeError(f"stream must be an aclnn.Stream, got {shown(stream)}")
    handle = stream._open_handle()
    if array.nbytes:
        kind = "HOST_TO_DEVICE" if upload else "DEVICE_TO_HOST"
        device, host = _address(buffer) + offset, array.ctypes.data
        target, source = (device, host) if upload else (host, device)
        with runtime.on_device(buffer.device):
            direction = aclrtMemcpyKind[f"ACL_MEMCPY_{kind}"]
            code = acl.aclrtMemcpyAsync(target, array.nbytes, source, array.nbytes, direction, handle)
        stream._keep.append(("copy", buffer, array))
        check(code, f"aclrtMemcpyAsync({array.nbytes} bytes, {direction.name})")


def clear(buffer: DeviceBuffer) -> None:
    """Fills the buffer with zero bytes."""
    if buffer.nbytes:
        with runtime.on_device(buffer.device):
            check(acl.aclrtMemset(_address(buffer), buffer.nbytes, 0, buffer.nbytes), "aclrtMemset")


def wait_for_users(buffer: DeviceBuffer) -> None:
    """Waits for every stream with unfinished work on the buffer."""
    for stream in runtime.live_streams:
        while stream.uses(buffer):
            try:
                stream.synchronize()
                break
            except (ValueError, AclRuntimeError):
                if not stream.closed:
                    raise
                time.sleep(0.001)  # another thread is destroying it, which waits for the work too
