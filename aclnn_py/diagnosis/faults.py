"""The first fault of each device, kept as text.

A device that faulted stays so for the rest of the process, and everything after it fails with codes of its
own: each such error repeats what came first. No exception is kept, since its traceback would keep tensors
alive.
"""

from __future__ import annotations

import time
from typing import NamedTuple


class Fault(NamedTuple):
    """What was first: the code, the call that reported it, the time (time.time()), and a line about it."""

    code: int
    op: str
    when: float
    line: str


_first: dict[int, Fault] = {}  # by device


def first(device: int) -> Fault | None:
    """The first fault that the device reported since it last finished work without one."""
    return _first.get(device)


def remember(device: int, code: int, op: str, line: str) -> None:
    """Keeps a fault unless the device had one before."""
    _first.setdefault(device, Fault(code, op, time.time(), line))


def forget(device: int) -> None:
    """The device finished work without a fault, or was reset."""
    if _first:
        _first.pop(device, None)


def forget_all() -> None:
    _first.clear()


def follows(code: int) -> bool:
    """Whether a code may be the consequence of a fault: any but those of refused arguments."""
    return code // 1000 not in (100, 148, 161) and code not in (107001, 107002, 107003)


def note(device: int, code: int) -> str:
    """A sentence about the device's first fault for an error that may follow from it, else ""."""
    fault = _first.get(device)
    if fault is None or not follows(code):
        return ""
    ago = time.time() - fault.when
    clock = time.strftime("%H:%M:%S", time.localtime(fault.when))
    return (
        f"device {device} is in fault since {clock} ({ago:.1f} s ago), which this most likely follows from. "
        f"The first error was: {fault.line}. Only a new process, or a reset of the device, ends that"
    )
