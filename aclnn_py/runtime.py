"""Bringing ACL up and down, and the device of each thread.

ACL starts at the first use and ends at interpreter exit, or with the outermost `Runtime` block. What another
library initialised is left alone. Each thread that touches the API gets its device set; the default is the
device that the process chose first, 0 if it never chose. After a fork the child can do nothing with the
parent's ACL: every use raises and nothing is destroyed there.
"""

from __future__ import annotations

import _thread
import atexit
import ctypes
import os
import threading
import weakref
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from .abi import acl
from .diagnosis import faults
from .status import check, recent_message

if TYPE_CHECKING:
    from .dlpack import Loan
    from .event import Event
    from .memory import DeviceBuffer
    from .stream import Stream

T = TypeVar("T")


class Owner(Protocol):
    """Owns C objects in host memory, and is in `live_owners` meanwhile."""

    def _release(self) -> None: ...


_REPEAT_INITIALIZE = 100002


class _Process:
    """What is true of the whole process."""

    initialised = False
    must_finalize = False  # our aclInit counts, so one finalize is ours to make
    finalized_before = False
    kept = False  # ended for us, but ACL is up for memory that is lent out
    implicit = False  # started by a use outside any Runtime block: stays up until exit
    references = 0  # Runtime blocks that are open
    generation = 0  # grows at each end: handles of an older generation are dead
    forked = False
    exiting = False
    over = False  # exiting, and everything of ours is destroyed
    default_device: int | None = None
    devices_set: Counter[int] = Counter()


class _Live(Generic[T]):
    """Objects that are alive, held weakly. Unlike a WeakSet, safe to walk while other threads add to it."""

    def __init__(self) -> None:
        self._references: dict[int, weakref.ref[T]] = {}

    def add(self, item: T) -> None:
        key = id(item)
        self._references[key] = weakref.ref(item, lambda _: self._references.pop(key, None))

    def __iter__(self) -> Iterator[T]:
        found = [reference() for reference in list(self._references.values())]
        return iter([item for item in found if item is not None])


_process = _Process()
_lock = threading.RLock()
local = threading.local()
live_streams: _Live[Stream] = _Live()
live_buffers: _Live[DeviceBuffer] = _Live()
live_events: _Live[Event] = _Live()
loans: _Live[Loan] = _Live()
_live_states: _Live[ThreadState] = _Live()
# Owners of C objects in host memory (tensors, scalars, plans, ...) by id. They take themselves out when they
# release what they own, which their `__del__` does at the latest, so no callback is paid for each.
live_owners: dict[int, weakref.ref[Owner]] = {}


class ThreadState:
    """What a thread needs for its calls: its device, its default stream, the out-parameters of phase 1.

    Two tuples hold it ready for the generated functions. `call`: the stream, its handle, what it keeps; unset
    until `ready` makes it. `out`: see `out_parameters`; None while a call uses them, and at first. Both are
    read in every call, so this class has no __getattr__, which would make that several times slower.
    """

    __slots__ = ("__weakref__", "call", "device", "generation", "out", "streams")
    call: tuple[Stream, Any, deque[tuple[Any, ...]]]
    out: tuple[ctypes.c_uint64, ctypes.c_void_p, Any, Any] | None

    def __init__(self) -> None:
        self.device = -1
        self.generation = -1
        self.out = None
        self.streams: dict[int, Stream] = {}

    def ready(self) -> tuple[Stream, Any, deque[tuple[Any, ...]]]:
        """`call`, made at first use, after a change of device, after the stream was closed or ACL ended."""
        try:
            return self.call
        except AttributeError:
            pass
        enter()
        from .stream import Stream

        stream = self.streams.get(self.device)
        if stream is None or stream.closed:
            stream = self.streams[self.device] = Stream()
        self.call = (stream, stream._handle, stream._keep)
        return self.call

    @property
    def stream(self) -> Stream:
        """The thread's default stream on its device."""
        return self.ready()[0]

    def invalidate(self) -> None:
        """Makes the next use come through `ready` and `enter`."""
        try:
            del self.call
        except AttributeError:
            pass


def out_parameters() -> tuple[ctypes.c_uint64, ctypes.c_void_p, Any, Any]:
    """What phase 1 fills: the workspace size, the executor, and references to them."""
    size, executor = ctypes.c_uint64(), ctypes.c_void_p()
    return size, executor, ctypes.byref(size), ctypes.byref(executor)


def forget_stream(stream: Stream) -> None:
    """No thread uses a stream that was closed as its default one."""
    for state in _live_states:
        if stream in list(state.streams.values()):
            state.invalidate()


def enter() -> ThreadState:
    """This thread's state, with ACL up and the thread's device set. Every use of the API comes through."""
    state: ThreadState | None = getattr(local, "state", None)
    if state is not None and state.generation == _process.generation:
        return state
    return _enter_slowly(state)


def _enter_slowly(state: ThreadState | None, wanted: int | None = None) -> ThreadState:
    refuse_if_over()
    with _lock:
        if not _process.initialised:
            _initialise()
            _process.implicit = True
        device = _adopted_device() if wanted is None and state is None else None
        if device is None:
            if wanted is None:  # a thread keeps its device when ACL ended and started again
                wanted = (_process.default_device or 0) if state is None else state.device
            device = _set_device(wanted)
        if state is None:
            state = ThreadState()
            _live_states.add(state)
        state.invalidate()
        state.device = device
        state.generation = _process.generation
    local.state = state
    return state


def refuse_if_over() -> None:
    """RuntimeError in a forked child of a process that used ACL, and at the end of the interpreter."""
    if _process.forked:
        raise RuntimeError(
            "ACL was started before this process was forked, and a device cannot be used after a fork: start "
            "the child with the 'spawn' method, e.g. multiprocessing.get_context('spawn')"
        )
    if _process.exiting:
        raise RuntimeError("the interpreter is exiting and ACL has been finalized")


def _adopted_device() -> int | None:
    """The device that other code already set in this thread, if any."""
    device = ctypes.c_int32()
    if acl.aclrtGetDevice(ctypes.byref(device)):
        recent_message()  # "no device yet" is no news: its text must not show up in a later error
        return None
    if _process.default_device is None:
        _process.default_device = device.value
    return device.value


def _set_device(device: int) -> int:
    check(acl.aclrtSetDevice(device), f"aclrtSetDevice({device})")
    _process.devices_set[device] += 1
    if _process.default_device is None:
        _process.default_device = device
    return device


def _initialise() -> None:
    if _process.kept:
        _process.kept, _process.initialised = False, True
        return
    code = acl.aclInit(None)
    if code == _REPEAT_INITIALIZE:
        recent_message()
        # Somebody else's. A repeated aclInit still counts where counting exists, so our count is ours to give
        # back; without the counting form, finalizing would pull ACL from under its owner.
        _process.must_finalize = acl.has("aclFinalizeReference")
    else:
        hint = (
            "ACL was finalized earlier in this process and did not start again"
            if _process.finalized_before
            else ""
        )
        check(code, "aclInit", hint=hint)
        _process.must_finalize = True
    _process.initialised = True


def _finalise() -> None:
    """Ends everything of this generation. Errors are of no use to anybody here, so they are dropped.

    Memory that is lent out stays until the borrower lets go, and with it its device and ACL.
    """
    _process.generation += 1  # first, so that no other thread takes a stream that is about to go
    lent = {id(loan.buffer): loan.buffer for loan in loans}
    lending = {buffer.device for buffer in lent.values()}
    buffers = list(live_buffers)  # held while the streams, which hold some of them, go
    for stream in live_streams:
        if _try_device(stream._device):
            stream._destroy()
    for event in live_events:
        if _try_device(event._device):
            event._destroy()
    # After the work, which may read them; the latest first, as a plan's executor goes before its tensors
    for reference in list(live_owners.values())[::-1]:
        owner = reference()
        if owner is not None:
            owner._release()
    for buffer in buffers:
        if id(buffer) not in lent and _try_device(buffer.device):
            buffer.free()
    for state in _live_states:
        state.invalidate()
        state.streams.clear()
    for device in set(_process.devices_set) - lending:
        for _ in range(_process.devices_set.pop(device)):
            acl.aclrtResetDevice(device)
    _process.initialised = _process.implicit = False
    _process.kept = bool(lending)
    faults.forget_all()  # the devices were reset
    if lending:
        return
    if _process.must_finalize:
        if acl.has("aclFinalizeReference"):
            acl.aclFinalizeReference(ctypes.byref(ctypes.c_uint64()))
        else:
            acl.aclFinalize()
    _process.must_finalize = False
    _process.finalized_before = True


def _try_device(device: int) -> bool:
    fine = bool(acl.aclrtSetDevice(device) == 0)
    _process.devices_set[device] += fine
    return fine


def free_outlived(buffer: DeviceBuffer) -> None:
    """Frees memory that was lent out when its generation ended, now that the borrower let go."""
    with _lock:
        up = _process.kept or _process.initialised
        if not up or _process.forked or _process.exiting:
            return
        if _try_device(buffer.device):
            buffer.free()
        state = getattr(local, "state", None)
        if state is not None and state.device != buffer.device:
            _try_device(state.device)


class Runtime:
    """Keeps ACL up for a block: `with aclnn.Runtime(): ...`. Blocks nest; the outermost ends ACL.

    Only needed to end ACL before the interpreter does. ACL that was in use outside any block stays up.
    """

    def __enter__(self) -> Runtime:
        refuse_if_over()
        with _lock:
            if not _process.initialised:
                _initialise()
            _process.references += 1
        return self

    def __exit__(self, *_: object) -> None:
        with _lock:
            _process.references -= 1
            if _process.references == 0 and not _process.implicit and not _process.forked:
                _finalise()


@atexit.register
def _at_exit() -> None:
    _process.exiting = True
    if (_process.initialised or _process.kept) and not _process.forked:
        with _lock:
            _finalise()
    _process.over = True


def _after_fork() -> None:
    global _lock
    _lock = threading.RLock()
    if _process.initialised or _process.kept:
        _process.forked = True
        _process.generation += 1
        for state in _live_states:
            state.invalidate()
        for stream in live_streams:
            stream._abandon()


os.register_at_fork(after_in_child=_after_fork)


def interrupt_again() -> None:
    """For a `__del__`, whose exceptions Python drops: Ctrl-C that hit there comes once more, when it is over.

    A call destroys what it made of its arguments, so in a loop of calls every tenth Ctrl-C hits there.
    """
    import signal

    here = threading.current_thread() is threading.main_thread()
    if here and callable(signal.getsignal(signal.SIGINT)):
        with suppress(RuntimeError):  # no new threads at the end of the interpreter
            _thread.start_new_thread(signal.pthread_kill, (threading.get_ident(), signal.SIGINT))


def generation() -> int:
    """The present generation; device handles made in another one are dead."""
    return _process.generation


def usable(made_in: int) -> bool:
    """Whether device handles of generation `made_in` may still be given to ACL."""
    return made_in == _process.generation and _process.initialised


def host_objects_usable() -> bool:
    """Whether descriptors (aclTensor and the like, host memory only) may still be destroyed."""
    return not (_process.forked or _process.over)


class Device:
    """A device of this process, numbered from 0 within the visible ones.

    `Device(1).use()` makes it this thread's device; `with Device(1):` does so for a block. Tensors and
    streams belong to the device that was current when they were made. Errors: AclRuntimeError 107001 for a
    number that does not exist.
    """

    def __init__(self, number: int) -> None:
        self.number = number

    def use(self) -> Device:
        """Makes it this thread's device."""
        _enter_slowly(getattr(local, "state", None), self.number)
        return self

    @staticmethod
    def current() -> Device:
        """This thread's device."""
        return Device(enter().device)

    @staticmethod
    def count() -> int:
        """How many devices this process sees."""
        enter_process()
        number = ctypes.c_uint32()
        check(acl.aclrtGetDeviceCount(ctypes.byref(number)), "aclrtGetDeviceCount")
        return number.value

    def __enter__(self) -> Device:
        self._previous = enter().device
        return self.use()

    def __exit__(self, *_: object) -> None:
        Device(self._previous).use()

    def __repr__(self) -> str:
        return f"Device({self.number})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.number == self.number

    def __hash__(self) -> int:
        return hash(("Device", self.number))


def enter_process() -> None:
    """ACL up, but no device set in this thread: enough for questions about the machine."""
    refuse_if_over()
    with _lock:
        if not _process.initialised:
            _initialise()
            _process.implicit = True


@contextmanager
def on_device(device: int) -> Iterator[None]:
    """This thread on `device` for a block; free when it already is."""
    present = enter().device
    if present == device:
        yield
        return
    _set_device(device)
    try:
        yield
    finally:
        _set_device(present)
