"""Streams: where work goes, what it keeps alive, and waiting for it."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any

from . import runtime
from .abi import acl
from .diagnosis import faults, launches
from .enums import aclrtStreamStatus
from .memory import DeviceBuffer
from .status import STREAM_SYNC_TIMEOUT, AclError, check, fail, recent_message
from .values import shown

if TYPE_CHECKING:
    from .event import Event

SLICE = 0.2  # seconds between looks for Ctrl-C
_LOOK_EVERY = 256  # calls between looks whether the stream is done
_MOST_IN_FLIGHT = 1024  # calls; one more waits for the stream
_LARGEST_KEPT_WORKSPACE = 256 << 20  # bytes


class Stream:
    """A queue of work on the current device. Work of one stream runs in order; different streams may overlap.

    `with aclnn.Stream() as s:` waits for the work and destroys the stream at the end of the block. Safe to
    share between threads. A stream keeps the memory of unfinished calls alive; with more than 1024 unfinished
    calls, the next one waits. Its workspace is one buffer that grows; one above 256 MiB is given back as soon
    as the stream passed.
    """

    __slots__ = (
        "__weakref__",
        "_first_limit",
        "_generation",
        "_handle",
        "_keep",
        "_limit",
        "_lock",
        "_passed",
        "_workspace",
        "_device",
        "_dropping",
    )

    def __init__(self) -> None:
        state = runtime.enter()
        self._device = state.device
        self._generation = state.generation
        # One entry per call: what was called, and the memory it uses (see callcode and diagnosis.launches)
        self._keep: deque[tuple[Any, ...]] = deque()
        self._passed = 0  # entries dropped so far
        self._dropping = False
        self._lock = threading.RLock()
        self._workspace: DeviceBuffer | None = None
        self._limit = self._first_limit = 0 if _blocking() else _LOOK_EVERY  # calls kept; one more settles
        handle = ctypes.c_void_p()
        check(acl.aclrtCreateStream(ctypes.byref(handle)), "aclrtCreateStream")
        self._handle = ctypes.c_void_p.from_param(handle.value)  # ready to be passed, with its C type
        runtime.live_streams.add(self)

    @property
    def device(self) -> runtime.Device:
        return runtime.Device(self._device)

    @property
    def closed(self) -> bool:
        return not hasattr(self, "_handle")

    def _open_handle(self) -> Any:
        runtime.refuse_if_over()
        if self.closed or not runtime.usable(self._generation):
            raise ValueError("this stream was closed")
        runtime.enter()
        return self._handle

    def workspace(self, nbytes: int) -> DeviceBuffer:
        """Device memory of at least `nbytes` for the next work on this stream. Hold it until the launch."""
        held = self._workspace
        if held is None or held.nbytes < nbytes:
            del held
            self._workspace = None  # so that the old one can go before the new one is asked for
            held = DeviceBuffer(nbytes)
            if nbytes <= _LARGEST_KEPT_WORKSPACE:
                self._workspace = held
        return held

    def release_workspace(self) -> None:
        """Gives the workspace back as soon as the stream passed the calls that use it."""
        self._workspace = None
        if not self.closed:
            self._drop_finished()

    def release_memory(self) -> None:
        """Gives back the workspace and what calls kept alive, waiting for them. For when memory runs out."""
        self._workspace = None
        try:
            if self._keep and self._device == runtime.enter().device:
                self.synchronize()
        except (ValueError, AclError):
            pass  # closed by another thread, or a fault, which the next wait reports again

    def uses(self, buffer: DeviceBuffer) -> bool:
        """Whether a call that may not be finished uses the buffer."""
        return any(_holds(entry, buffer) for entry in list(self._keep))

    def settle(self) -> None:
        """Drops what finished calls kept alive. Called every so many calls; waits only at the limit."""
        if self._first_limit == 0 or (not self._drop_finished() and len(self._keep) >= _MOST_IN_FLIGHT):
            self.synchronize()
        else:
            self._limit = len(self._keep) + _LOOK_EVERY

    def _drop_finished(self) -> bool:
        """If the stream is idle, drops what the calls so far kept alive."""
        with self._lock:
            target = self._passed + len(self._keep)
        idle = self._is_idle()
        if idle:
            self._drop(target)
        return idle

    def _is_idle(self) -> bool:
        status = ctypes.c_int(aclrtStreamStatus.ACL_STREAM_STATUS_NOT_READY)
        if not acl.has("aclrtStreamQuery"):
            return False
        if acl.aclrtStreamQuery(self._handle, ctypes.byref(status)):
            recent_message()  # a fault: the next synchronise reports it
            return False
        return status.value == aclrtStreamStatus.ACL_STREAM_STATUS_COMPLETE

    def _drop(self, target: int) -> None:
        dropped = []  # goes outside the lock: freeing runs code that may come back here
        with self._lock:
            if self._dropping:  # this is a signal handler or a __del__ in the middle of the lines below
                return
            self._dropping = True
            try:
                for _ in range(target - self._passed):
                    dropped.append(self._keep.popleft())
            finally:
                self._passed += len(dropped)
                self._dropping = False
        del dropped

    def wait(self, event: Event) -> None:
        """Work put on this stream from now on starts after the event's mark was passed. Returns at once."""
        from .event import Event

        if not isinstance(event, Event):
            raise TypeError(f"wait: event must be an aclnn.Event, got {shown(event)}")
        mark, handle = event._open(), self._open_handle()
        with runtime.on_device(self._device):
            check(acl.aclrtStreamWaitEvent(handle, mark), "aclrtStreamWaitEvent")
        self._keep.append(("Stream.wait", event))

    def synchronize(self, timeout: float | None = None) -> None:
        """Waits until the work put on the stream so far is done. Ctrl-C works while waiting.

        Errors: StreamTimeout after `timeout` seconds (the work goes on); DeviceFault and other AclError when
        work failed; ValueError for a closed stream.
        """
        handle = self._open_handle()
        with self._lock:
            target = self._passed + len(self._keep)
        with runtime.on_device(self._device):
            code = _wait(handle, timeout)
        if not code:
            faults.forget(self._device)
            self._drop(target)
            self._limit = self._first_limit
            return
        with self._lock:
            waiting = list(self._keep)[: max(0, target - self._passed)]
        launched, number = launches.last(waiting), len(waiting)
        del waiting  # the traceback of the error must not hold the memory of the calls
        more: dict[str, Any] = {"launched": launched, "device": self._device}
        if code == STREAM_SYNC_TIMEOUT and timeout is not None:
            hint = f"{timeout:g} s passed; what is on the stream still runs"
            fail(code, "Stream.synchronize", hint=hint, **more)
        try:
            fail(code, "Stream.synchronize", hint=self._culprit(number), **more)
        finally:  # not before: freeing memory of a device in fault adds to the library's text
            self._drop(target)
            self._limit = self._first_limit

    def _culprit(self, number: int) -> str:
        """How to find which call a fault belongs to."""
        if number == 0:
            known = faults.first(self._device) is not None
            return (
                ""
                if known
                else "nothing of this package is unfinished on the stream: other code put it there"
            )
        if self._first_limit == 0:  # blocking: at most what was waited for
            return "calls are waited for one by one (ACLNN_PY_BLOCKING), so the fault is of the last one"
        one = "the operator" if number == 1 else f"one of the {number} operators"
        return (
            f"the fault is of {one} launched here before and not known to be done, not of this wait; set "
            "ACLNN_PY_BLOCKING=1 in the environment to have each call waited for, and the culprit named"
        )

    def close(self) -> None:
        """Waits for the work and destroys the stream. Closing twice is fine."""
        if self.closed:
            return
        if runtime.usable(self._generation):
            with runtime.on_device(self._device):
                self._destroy()
        else:
            self._abandon()

    def _destroy(self) -> None:
        """Destroys the stream, whose device is current."""
        try:
            handle = self._handle
            del self._handle
        except AttributeError:
            return
        runtime.forget_stream(self)
        if acl.aclrtDestroyStream(handle):
            recent_message()
        self._drop(self._passed + len(self._keep))
        self._workspace = None

    def _abandon(self) -> None:
        """Forgets a handle that is dead already, or that belongs to the parent of this process."""
        try:
            del self._handle
        except AttributeError:
            return
        runtime.forget_stream(self)
        self._keep.clear()

    def __del__(self) -> None:
        try:
            self.close()
        except KeyboardInterrupt:
            runtime.interrupt_again()
        except Exception:  # nobody is there to hear it, and at interpreter exit half the module may be gone
            pass

    def __enter__(self) -> Stream:
        self._open_handle()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            if kind is None and not self.closed:
                self.synchronize()
        finally:
            self.close()

    def __repr__(self) -> str:
        state = "closed" if self.closed else f"{len(self._keep)} calls not known to be finished"
        return f"<Stream on device {self._device}, {state}>"


def _blocking() -> bool:
    """ACLNN_PY_BLOCKING=1: each call waits for its work, so that a fault is reported where it belongs."""
    return os.environ.get("ACLNN_PY_BLOCKING", "") not in ("", "0")


def _holds(items: tuple[Any, ...], buffer: DeviceBuffer) -> bool:
    return any(item is buffer or (item.__class__ is tuple and _holds(item, buffer)) for item in items)


def _wait(handle: Any, timeout: float | None) -> int:
    """Synchronises in slices, so that a signal handler gets its turn. The status code of the last slice."""
    end = None if timeout is None else time.monotonic() + max(timeout, 0.0)
    if not acl.has("aclrtSynchronizeStreamWithTimeout"):
        return _wait_by_query(handle, end)
    while True:
        left = SLICE if end is None else min(SLICE, end - time.monotonic())
        code: int = acl.aclrtSynchronizeStreamWithTimeout(handle, max(1, int(left * 1000)))
        if code != STREAM_SYNC_TIMEOUT:
            return code
        if end is not None and time.monotonic() >= end:
            return code
        recent_message()  # a slice that ran out is no error


def _wait_by_query(handle: Any, end: float | None) -> int:
    if end is not None:
        status = ctypes.c_int()
        while True:
            code = acl.aclrtStreamQuery(handle, ctypes.byref(status))
            if code or status.value == aclrtStreamStatus.ACL_STREAM_STATUS_COMPLETE:
                break
            if time.monotonic() >= end:
                return STREAM_SYNC_TIMEOUT
            time.sleep(0.001)
    code = acl.aclrtSynchronizeStream(handle)
    return int(code)


def synchronize(timeout: float | None = None) -> None:
    """Waits for every stream of this package on this thread's device. Errors: see `Stream.synchronize`."""
    device = runtime.enter().device
    end = None if timeout is None else time.monotonic() + timeout
    for stream in runtime.live_streams:
        if stream._device == device and not stream.closed and runtime.usable(stream._generation):
            stream.synchronize(None if end is None else max(0.0, end - time.monotonic()))


def current_stream() -> Stream:
    """This thread's default stream on its current device; calls without `stream=` go there."""
    return runtime.enter().stream
