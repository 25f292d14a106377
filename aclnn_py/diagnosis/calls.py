"""Looking at calls: functions in front of those that call operators and wait, put there only while somebody
looks.

Nothing is asked in a call while nobody does: the generated functions are exchanged as a whole.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from .. import operator as _operator
from .. import runtime
from ..event import Event
from ..operator import Operator
from ..plan import Plan
from ..status import DeviceFault
from ..stream import Stream


@dataclass
class Called:
    """One call: of an operator (kind "call"), the making of a plan ("plan"), or its replay ("replay").

    `values` are the arguments as they came, in C order; None if they did not fit. `error` is what the call
    raised, None if it returned. `time` is time.time() at its begin, `seconds` how long it took on the host.
    """

    operator: Operator
    kind: str
    values: tuple[Any, ...] | None
    stream: Any
    time: float
    seconds: float = 0.0
    error: BaseException | None = None


class Observer:
    """Gets every call of every thread. What it raises is logged."""

    def before(self, call: Called) -> Any:
        """Before the call; what it returns is handed to `after`."""

    def after(self, call: Called, kept: Any) -> None:
        """After it, in the same thread."""

    def faulted(self, stream: Stream, before: int, behind: int, fault: DeviceFault) -> None:
        """A wait found a fault of one of the `before` last calls on the stream; `behind` calls came after
        them, and are not waited for. Not told of waits inside a call."""


_observers: tuple[Observer, ...] = ()
_lock = threading.RLock()
_inside = threading.local()
_plain_plan, _plain_replay = Operator.plan, Plan.__call__
_plain_wait, _plain_event_wait = Stream.synchronize, Event.synchronize


def observe(observer: Observer) -> None:
    """From now on `observer` gets the calls."""
    global _observers
    with _lock:
        _observers = (*_observers, observer)
        if len(_observers) == 1:
            _operator.exchange_calls(_observed)
            Operator.plan = _plan  # type: ignore[method-assign]
            Plan.__call__ = _replay  # type: ignore[method-assign]
            Stream.synchronize = _wait  # type: ignore[method-assign]
            Event.synchronize = _event_wait  # type: ignore[method-assign]


def ignore(observer: Observer) -> None:
    """Ends that. Twice is fine."""
    global _observers
    with _lock:
        before = len(_observers)
        _observers = tuple(o for o in _observers if o is not observer)
        if before and not _observers:
            _operator.exchange_calls(None)
            Operator.plan = _plain_plan  # type: ignore[method-assign]
            Plan.__call__ = _plain_replay  # type: ignore[method-assign]
            Stream.synchronize = _plain_wait  # type: ignore[method-assign]
            Event.synchronize = _plain_event_wait  # type: ignore[method-assign]


def _observed(plain: Any) -> Any:
    """A function to take the place of an operator's own call function."""

    def call(_operator: Operator, /, *args: Any, **kwargs: Any) -> Any:
        if getattr(_inside, "busy", False):  # copy_back=True calls again
            return plain(_operator, *args, **kwargs)
        rest = {k: v for k, v in kwargs.items() if k not in ("stream", "copy_back")}
        record = Called(_operator, "call", _bound(_operator, args, rest), kwargs.get("stream"), time.time())
        return _run(record, plain, _operator, *args, **kwargs)

    call.__doc__, call.__signature__ = plain.__doc__, plain.__signature__  # type: ignore[attr-defined]
    return call


def _plan(self: Operator, /, *args: Any, stream: Any = None, **kwargs: Any) -> Plan:
    if getattr(_inside, "busy", False):
        return _plain_plan(self, *args, stream=stream, **kwargs)
    record = Called(self, "plan", _bound(self, args, kwargs), stream, time.time())
    made: Plan = _run(record, _plain_plan, self, *args, stream=stream, **kwargs)
    return made


def _replay(self: Plan) -> None:
    if getattr(_inside, "busy", False):  # a plan that is not repeatable calls again
        _plain_replay(self)
        return
    values = None if self.closed else self._values
    _run(Called(self.operator, "replay", values, self._stream, time.time()), _plain_replay, self)


def _wait(self: Stream, timeout: float | None = None) -> None:
    _waited(self, _count(list(self._keep)), 0, lambda: _plain_wait(self, timeout))


def _event_wait(self: Event, timeout: float | None = None) -> None:
    for stream in runtime.live_streams:
        entries = list(stream._keep)
        marks = [i for i, entry in enumerate(entries) if entry[0] == "Event.record" and entry[1] is self]
        if marks:
            before, behind = _count(entries[: marks[-1]]), _count(entries[marks[-1] :])
            _waited(stream, before, behind, lambda: _plain_event_wait(self, timeout))
            return
    _plain_event_wait(self, timeout)


def _count(entries: list[tuple[Any, ...]]) -> int:
    """How many are calls of operators, and not copies or events."""
    return sum(not isinstance(entry[0], str) for entry in entries)


def _waited(stream: Stream, before: int, behind: int, wait: Callable[[], None]) -> None:
    try:
        wait()
    except DeviceFault as fault:
        if before and not getattr(_inside, "busy", False):
            for observer in _observers:
                _told(observer.faulted, stream, before, behind, fault)
        raise


def _bound(operator: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...] | None:
    try:
        return tuple(operator._bind(operator, *args, **kwargs))
    except TypeError:  # the call itself says so
        return None


def _told(function: Any, *args: Any) -> Any:
    """What an observer makes of a call; its own failure must not become the call's."""
    try:
        return function(*args)
    except Exception:
        logging.getLogger("aclnn_py").warning("a call could not be recorded", exc_info=True)
        return None


def _run(record: Called, function: Any, *args: Any, **kwargs: Any) -> Any:
    observers = _observers
    _inside.busy = True
    try:
        kept = [_told(observer.before, record) for observer in observers]
        start = time.perf_counter()
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            record.error = error
            raise
        finally:
            record.seconds = time.perf_counter() - start
            for observer, own in zip(observers, kept):
                _told(observer.after, record, own)
            record.error = None  # else the traceback would hold itself alive through this frame
    finally:
        _inside.busy = False


def observe_as_the_environment_says() -> None:
    """Starts what ACLNN_PY_TRACE and ACLNN_PY_REPRODUCE name, for the life of the process.

    What cannot be written is logged as an error, and the program runs without it.
    """
    from .reproducer import reproduce
    from .trace import trace

    starts: tuple[tuple[str, Callable[[str], Any]], ...] = (
        ("ACLNN_PY_TRACE", partial(trace, append=True)),  # child processes have the variable too
        ("ACLNN_PY_REPRODUCE", reproduce),
    )
    for variable, start in starts:
        target = os.environ.get(variable, "")
        if target:
            try:
                start(target.replace("{pid}", str(os.getpid())))
            except OSError as problem:
                logging.getLogger("aclnn_py").error("%s=%s: %s", variable, target, problem)
