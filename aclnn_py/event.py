"""Events: marks on streams, to order streams among each other, to wait for a point, to take times."""

from __future__ import annotations

import ctypes
import time
from types import NoneType
from typing import Any

from . import runtime
from .abi import acl
from .diagnosis import launches
from .enums import aclrtEventRecordedStatus
from .status import EVENT_SYNC_TIMEOUT, check, fail, recent_message
from .stream import SLICE, Stream, current_stream
from .values import shown


class Event:
    """A mark on a stream: `event.record(a)`, then `b.wait(event)`, `event.synchronize()` or `event.done`.

    An event that was never recorded counts as done. `close()`, `with` and garbage collection release it; a
    stream keeps an event alive until it passed it.
    """

    __slots__ = ("__weakref__", "_device", "_event", "_generation", "_recorded")

    def __init__(self) -> None:
        state = runtime.enter()
        self._device, self._generation = state.device, state.generation
        self._recorded = False
        handle = ctypes.c_void_p()
        check(acl.aclrtCreateEvent(ctypes.byref(handle)), "aclrtCreateEvent")
        self._event: Any = handle.value
        runtime.live_events.add(self)

    @property
    def closed(self) -> bool:
        return not hasattr(self, "_event")

    def _open(self) -> Any:
        runtime.refuse_if_over()
        if self.closed or not runtime.usable(self._generation):
            raise ValueError("this event was closed")
        return self._event

    def record(self, stream: Stream | None = None) -> Event:
        """Marks where the stream (the thread's default one without `stream`) is now; returns the event."""
        event = self._open()
        if not isinstance(stream, (Stream, NoneType)):
            raise TypeError(f"record: stream must be an aclnn.Stream or None, got {shown(stream)}")
        on = current_stream() if stream is None else stream
        handle = on._open_handle()
        with runtime.on_device(on._device):
            check(acl.aclrtRecordEvent(event, handle), "aclrtRecordEvent")
        on._keep.append(("Event.record", self))
        self._recorded = True
        return self

    @property
    def done(self) -> bool:
        """Whether the stream passed the mark. Does not wait."""
        event = self._open()
        if not self._recorded:
            return True
        status = ctypes.c_int()
        with runtime.on_device(self._device):
            check(acl.aclrtQueryEventStatus(event, ctypes.byref(status)), "aclrtQueryEventStatus")
        return status.value == aclrtEventRecordedStatus.ACL_EVENT_RECORDED_STATUS_COMPLETE

    def synchronize(self, timeout: float | None = None) -> None:
        """Waits until the stream passed the mark. Ctrl-C works while waiting.

        Errors: StreamTimeout after `timeout` seconds; DeviceFault and other AclError; ValueError if closed.
        """
        event = self._open()
        end = None if timeout is None else time.monotonic() + max(timeout, 0.0)
        while self._recorded:
            left = SLICE if end is None else min(SLICE, end - time.monotonic())
            with runtime.on_device(self._device):
                code = acl.aclrtSynchronizeEventWithTimeout(event, max(1, int(left * 1000)))
            if code == EVENT_SYNC_TIMEOUT and (end is None or time.monotonic() < end):
                recent_message()  # a slice that ran out is no error
                continue
            if code:
                hint = f"{timeout:g} s passed" if code == EVENT_SYNC_TIMEOUT and timeout is not None else ""
                before = self._launched_before()
                fail(code, "Event.synchronize", hint=hint, launched=before, device=self._device)
            return

    def _launched_before(self) -> tuple[str, ...]:
        """The last calls before the mark on the stream where it is, for the report of a fault."""
        for stream in runtime.live_streams:
            entries = list(stream._keep)
            marks = [i for i, entry in enumerate(entries) if entry[1] is self and entry[0] == "Event.record"]
            if marks:
                return launches.last(entries[: marks[-1]])
        return ()

    def elapsed_since(self, start: Event) -> float:
        """Seconds on the device from another event to this one. Both must be recorded and done."""
        if not isinstance(start, Event):
            raise TypeError(f"elapsed_since: start must be an aclnn.Event, got {shown(start)}")
        ours, theirs = self._open(), start._open()
        milliseconds = ctypes.c_float()
        with runtime.on_device(self._device):
            code = acl.aclrtEventElapsedTime(ctypes.byref(milliseconds), theirs, ours)
        check(code, "aclrtEventElapsedTime")
        return milliseconds.value / 1000

    def close(self) -> None:
        """Destroys the event. Closing twice is fine."""
        if runtime.usable(self._generation):
            with runtime.on_device(self._device):
                self._destroy()
        elif not self.closed:
            del self._event  # dead already, or the parent's

    def _destroy(self) -> None:
        """Destroys the event, whose device is current."""
        try:
            event = self._event
            del self._event
        except AttributeError:
            return
        if acl.aclrtDestroyEvent(event):
            recent_message()

    def __del__(self) -> None:
        try:
            self.close()
        except KeyboardInterrupt:
            runtime.interrupt_again()
        except Exception:  # at interpreter exit half the module may be gone
            pass

    def __enter__(self) -> Event:
        self._open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if self.closed:
            return f"<Event on device {self._device}, closed>"
        return f"<Event on device {self._device}, {'recorded' if self._recorded else 'not recorded'}>"
