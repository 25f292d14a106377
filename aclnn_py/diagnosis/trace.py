"""aclnn.trace: a line of JSON per operator call.

The first line of a process tells what the file is:

    {"type": "trace", "schema": 1, "pid": 7, "time": ..., "program": ..., "versions": {...}, "soc": ...}

Each other line is one call:

    {"type": "call", "n": 1, "kind": "call", "op": "aclnnAdd", "arguments": [...], "status": 0,
     "name": "", "time": ..., "seconds": ..., "pid": 7, "thread": ..., "thread_name": ...,
     "stream": "0x...", "device": 0}

`kind` is "call", "plan" (phase 1 of a plan) or "replay" (phase 2 of one). Arguments are as in
`diagnosis.described`. After a failure `status` is its code and `phase`, `error` and `message` tell more; an
error of Python's own, such as a TypeError, has the status null and its type as `name`.
Readers skip fields they do not know.
"""

from __future__ import annotations

import base64
import contextlib
import ctypes
import json
import logging
import os
import sys
import threading
import time
import weakref
from typing import Any

from .. import _version, runtime
from ..status import AclError, lookup
from . import calls, described

SCHEMA = 1
_log = logging.getLogger("aclnn_py")
_open: weakref.WeakSet[trace] = weakref.WeakSet()


def _after_fork() -> None:
    for each in _open:
        each._lock = threading.Lock()  # another thread of the parent may have held it


os.register_at_fork(after_in_child=_after_fork)


class trace(calls.Observer):
    """Writes a line of JSON per operator call to a file, from now on until `close()` or the end of a `with`.

        with aclnn.trace("run.jsonl"):
            ...

    `aclnn-py trace show run.jsonl` shows it; diagnosis/trace.py says what is in a line. A file that exists
    is overwritten, or with `append` continued. `data=True` adds the elements of the inputs, up to
    `most_bytes` of each: this copies them and waits for them. Without it a tensor is told by dtype, shape,
    strides and format.

    The environment variable ACLNN_PY_TRACE names a file for a whole process, which is appended to; {pid} in
    it becomes the process's id. All threads write; child processes write to the same file. While nothing is
    traced, nothing of this is in a call.

    OSError if the file cannot be written; if that happens later (a disk that is full), one warning is logged
    and tracing ends, and the program goes on.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        data: bool = False,
        most_bytes: int = 1 << 20,
        append: bool = False,
    ) -> None:
        self.path = os.fspath(path)
        self.data, self.most_bytes = data, most_bytes
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
        try:
            self._file = os.open(self.path, flags if append else flags | os.O_TRUNC, 0o666)
        except OSError as problem:
            raise type(problem)(
                problem.errno, f"aclnn.trace: cannot write {self.path}: {problem.strerror}"
            ) from None
        self._lock = threading.Lock()
        self._count = 0
        self._begun = 0  # the process that wrote its first line
        self._open = True
        try:
            self._begin()
        except OSError as problem:
            self.close()
            raise type(problem)(
                problem.errno, f"aclnn.trace: cannot write {self.path}: {problem.strerror}"
            ) from None
        calls.observe(self)
        _open.add(self)

    @property
    def closed(self) -> bool:
        return not self._open

    def close(self) -> None:
        """Ends the trace. Calls that are under way in other threads are not written. Twice is fine."""
        calls.ignore(self)
        with self._lock:
            if self._open:
                self._open = False
                os.close(self._file)

    def __enter__(self) -> trace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _begin(self) -> None:
        self._begun = os.getpid()
        head = {
            "type": "trace",
            "schema": SCHEMA,
            "pid": self._begun,
            "time": round(time.time(), 6),
            "program": sys.argv[0] if sys.argv else "",
            "versions": {"aclnn_py": _version.__version__, "Python": sys.version.split()[0]},
        }
        self._put(head)

    def _put(self, line: dict[str, Any]) -> None:
        """One write per line: lines of several processes do not mix in a file that is appended to."""
        raw = (json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8", "replace")
        while raw:
            raw = raw[os.write(self._file, raw) :]

    def before(self, call: calls.Called) -> list[dict[str, Any]] | None:
        """The arguments, taken before the call: it may change them."""
        if call.values is None:
            return None
        try:
            return [self._argument(p, v) for p, v in zip(call.operator.prototype.parameters, call.values)]
        except Exception:  # what cannot be told here will fail in the call, with the better text
            _log.debug("arguments of %s could not be traced", call.operator, exc_info=True)
            return None

    def _argument(self, parameter: Any, value: Any) -> dict[str, Any]:
        made = described.argument(parameter, value)
        if self.data and parameter.kind == "tensor" and parameter.role != "out" and "shape" in made:
            size = described.nbytes(value)
            if size > self.most_bytes:
                made["data_left_out"] = f"{size} bytes, more than {self.most_bytes}"
                return made
            try:
                made["data"] = base64.b64encode(described.elements(value).tobytes()).decode("ascii")
            except (AclError, ValueError) as problem:  # a device in fault gives nothing back
                made["data_left_out"] = str(problem).splitlines()[0]
        return made

    def after(self, call: calls.Called, kept: list[dict[str, Any]] | None) -> None:
        error = call.error
        code: int | None
        if isinstance(error, AclError):
            code, name = error.code, lookup(error.code).name
        else:
            code, name = (0, "") if error is None else (None, type(error).__name__)
        thread = threading.current_thread()
        stream = call.stream
        if stream is None:
            with contextlib.suppress(RuntimeError):  # the child of a fork has none and may not make one
                stream = getattr(getattr(runtime.local, "state", None), "stream", None)
        handle = getattr(stream, "_handle", None)
        line: dict[str, Any] = {
            "kind": call.kind,
            "op": call.operator.name,
            "arguments": kept,
            "status": code,
            "name": name,
            "time": round(call.time, 6),
            "seconds": round(call.seconds, 9),
            "pid": os.getpid(),
            "thread": threading.get_native_id(),
            "thread_name": thread.name,
            "stream": hex((handle and ctypes.cast(handle, ctypes.c_void_p).value) or 0),
            "device": getattr(stream, "_device", None),
        }
        if isinstance(error, AclError):
            line |= {
                "phase": error.phase,
                "error": error.headline or error.status.meaning,
                "message": error.message,
            }
        elif error is not None:
            line["error"] = str(error)
        try:
            with self._lock:
                if not self._open:
                    return
                if self._begun != os.getpid():
                    self._begin()  # the child of a fork
                self._count += 1
                self._put({"type": "call", "n": self._count, **line})
        except (OSError, ValueError) as problem:
            _log.warning("the trace %s ends here, it cannot be written: %s", self.path, problem)
            self.close()
