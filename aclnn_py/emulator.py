"""Controls of the CPU emulator: what it checks, which faults it makes up, what is alive in it.

On CANN there is no such thing: `available()` is False, the queries answer nothing and the controls do
nothing, so a program may keep its calls. The same settings exist as environment variables (`ACLEMU_CHECK`,
`ACLEMU_STREAM`, `ACLEMU_CALLS`, `ACLEMU_FAULTS`); chip, cores, devices and memory have variables only
(`ACLEMU_SOC` ...). Source: `include/aclemu.h` of the emulator.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint64
from typing import Any

from . import libraries, runtime
from .status import LibraryNotFound, check

KINDS = (
    "tensor", "scalar", "array", "list", "executor", "stream", "context", "event", "notify",
    "device_memory", "host_memory",
)  # fmt: skip

_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "aclemuLiveObjects": (c_int64, [c_char_p]),
    "aclemuLeakReport": (c_size_t, [c_char_p, c_size_t]),
    "aclemuSetChecks": (c_int, [c_char_p]),
    "aclemuSetStreamMode": (c_int, [c_char_p]),
    "aclemuLogCalls": (c_int, [c_char_p]),
    "aclemuFailAllocation": (c_int, [c_uint64]),
    "aclemuFailOperator": (c_int, [c_char_p, c_int, c_int32]),
    "aclemuFailSynchronize": (c_int, [c_int]),
}


def _function(name: str) -> Any:
    """The control, or None on CANN. LibraryNotFound if there is neither."""
    libraries.root()
    try:
        function = libraries.core_function("runtime", name)
    except LibraryNotFound:
        return None
    function.restype, function.argtypes = _FUNCTIONS[name]
    return function


def _control(name: str, *arguments: Any) -> bool:
    function = _function(name)
    if function is None:
        return False
    runtime.enter()  # initialises ACL, which reads the environment's settings first
    check(function(*arguments), name)
    return True


def available() -> bool:
    """Whether the libraries in use are the emulator's. Opens them; LibraryNotFound if there are none."""
    return _function("aclemuLiveObjects") is not None


def live_objects() -> dict[str, int]:
    """How many objects of each of `KINDS` are alive in this process; {} on CANN."""
    function = _function("aclemuLiveObjects")
    return {} if function is None else {kind: function(kind.encode()) for kind in KINDS}


def leak_report() -> str:
    """What is alive, a line per kind, tensor, operator and allocation; "" if nothing is, and on CANN."""
    function = _function("aclemuLeakReport")
    if function is None:
        return ""
    size = function(None, 0) + 1
    text = ctypes.create_string_buffer(size)
    function(text, size)
    return text.value.decode()


def set_checks(*names: str) -> bool:
    """Turns on the named checks, "memory", "sync" and "leaks", and the others off.

    memory: red zones around allocations made from now on, poison in freed ones; sync: host access to memory
    that unfinished work uses is refused; leaks: finalizing writes the leak report to standard error.
    False on CANN. AclRuntimeError for another name.
    """
    return _control("aclemuSetChecks", ",".join(names).encode())


def set_stream_mode(mode: str) -> bool:
    """ "async", or "delayed": streams made from now on work only when something waits for them.

    False on CANN. AclRuntimeError for another mode.
    """
    return _control("aclemuSetStreamMode", mode.encode())


def log_calls(path: str | os.PathLike[str] | None) -> bool:
    """Writes a line per C call to the end of a file; None ends it. False on CANN."""
    return _control("aclemuLogCalls", None if path is None else os.fsencode(path))


def fail_allocation(nth: int) -> bool:
    """The nth allocation of device memory from now on fails with 207001; 0 takes that back. False on CANN."""
    return _control("aclemuFailAllocation", nth)


def fail_synchronize(code: int) -> bool:
    """The next synchronise finds that its stream faulted with `code`; 0 takes that back. False on CANN."""
    return _control("aclemuFailSynchronize", code)


@contextmanager
def failing_operator(name: str, phase: int, code: int) -> Iterator[bool]:
    """Within it, phase 1 or 2 of an operator returns `code` where it would succeed; yields False on CANN."""
    works = _control("aclemuFailOperator", name.encode(), phase, code)
    try:
        yield works
    finally:
        _control("aclemuFailOperator", name.encode(), phase, 0)
