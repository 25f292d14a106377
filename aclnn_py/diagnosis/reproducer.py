"""aclnn.reproduce: a folder per failed operator call, from which it can be made again.

    failure-0001/
        call.json         the operator, its C declaration, the arguments (see `described`), the error
        arguments.npz     the elements of the tensors, as bits where NumPy has no such type
        environment.json  versions, SoC, libraries, and the variables of `VARIABLES`; no others
        reproduce.py      the call as a program: needs aclnn_py and this folder, nothing else

`aclnn-py replay failure-0001/` makes the call and compares the status code.
"""

from __future__ import annotations

import json
import logging
import os
import platform
import sys
import threading
import time
import weakref
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np

from .. import _version, dtypes, libraries
from ..prototype import Parameter, Prototype
from ..status import AclError, DeviceFault, LibraryNotFound
from ..stream import Stream, current_stream
from . import calls, described, reproducer_script

SCHEMA = 1
# Only these are written down: an environment holds tokens and passwords.
VARIABLES = (
    "ACLEMU_AICORES", "ACLEMU_CHECK", "ACLEMU_DEVICES", "ACLEMU_ERROR_FORM", "ACLEMU_FAULTS", "ACLEMU_MEMORY",
    "ACLEMU_SOC", "ACLEMU_STREAM", "ACLEMU_THREADS", "ACLEMU_TILING_KEY", "ACLNN_CACHE_LIMIT",
    "ACLNN_PY_BACKEND", "ACLNN_PY_BLOCKING", "ACLNN_PY_RTLD_GLOBAL", "ASCEND_CUSTOM_OPP_PATH",
    "ASCEND_GLOBAL_LOG_LEVEL", "ASCEND_HOME_PATH", "ASCEND_LAUNCH_BLOCKING", "ASCEND_OPP_PATH",
    "ASCEND_RT_VISIBLE_DEVICES", "ASCEND_SLOG_PRINT_TO_STDOUT", "DISABLE_L2_CACHE", "LD_LIBRARY_PATH",
)  # fmt: skip
_SUSPECTS = 8  # calls before a wait that are saved if it finds a fault
_log = logging.getLogger("aclnn_py")
_Launched = tuple[Prototype, list[dict[str, Any]]]  # the operator, its arguments as `described`


class reproduce(calls.Observer):
    """From now on, until `close()` or the end of a `with`, a folder is written for each operator call that
    fails with a status code.

        aclnn.reproduce("failures")     # failures/failure-0001/, failure-0002/, ...

    `aclnn-py replay FOLDER`, or the program in it, makes the call again. Tensors of more than `most_bytes`
    are described but not saved, and zeros when replayed; so is what the device no longer hands out after a
    fault. After `most` folders nothing more is written. The exception's `hint` says where the folder is.

    A fault of the device shows only when something waits: then the last calls on the stream are saved that it
    may be of, without the elements of their tensors, since those may have changed. With ACLNN_PY_BLOCKING=1
    the wait is in the call, and the one is saved, with its elements.

    The environment variable ACLNN_PY_REPRODUCE names a folder for a whole process ({pid} becomes the
    process's id).

    OSError if the folder cannot be made. A folder that cannot be written later is logged, and does not hide
    the error.
    """

    def __init__(
        self, folder: str | os.PathLike[str], *, most_bytes: int = 256 << 20, most: int = 50
    ) -> None:
        self.folder = Path(folder)
        self.most_bytes, self.most = most_bytes, most
        self.written: list[Path] = []
        self._lock = threading.Lock()
        self._launched: weakref.WeakKeyDictionary[Stream, deque[_Launched]] = weakref.WeakKeyDictionary()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise type(problem)(
                problem.errno, f"aclnn.reproduce: cannot make {self.folder}: {problem.strerror}"
            ) from None
        if not os.access(self.folder, os.W_OK | os.X_OK):
            raise PermissionError(13, f"aclnn.reproduce: cannot write to {self.folder}")
        calls.observe(self)

    def close(self) -> None:
        """Ends that. Twice is fine."""
        calls.ignore(self)

    def __enter__(self) -> reproduce:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def before(self, call: calls.Called) -> None:
        pass

    def after(self, call: calls.Called, kept: None) -> None:
        error = call.error
        if call.values is not None and call.kind != "plan":
            stream = call.stream or current_stream()
            late = isinstance(error, DeviceFault) and error.op == "Stream.synchronize" and stream._first_limit
            if error is None or late:
                self._note(stream, call)
            if late and isinstance(error, DeviceFault):  # the stream was full: not the fault of this call
                self.faulted(stream, _SUSPECTS, 0, error)
                return
        if not isinstance(error, AclError) or call.values is None or len(self.written) >= self.most:
            return
        try:
            made = save(self._next(), call.operator.prototype, call.values, error, self.most_bytes)
        except Exception as problem:
            _log.warning("the failed call of %s could not be saved: %s", call.operator, problem)
            return
        self.written.append(made)
        error.hint = "\n".join(filter(None, [error.hint, f"saved: aclnn-py replay {made}"]))

    def _note(self, stream: Stream, call: calls.Called) -> None:
        """Keeps what a call was that a later wait may find a fault of."""
        prototype = call.operator.prototype
        arguments = [
            described.argument(parameter, value, most=sys.maxsize)
            for parameter, value in zip(prototype.parameters, call.values or ())
        ]
        with self._lock:
            self._launched.setdefault(stream, deque(maxlen=_SUSPECTS)).append((prototype, arguments))

    def faulted(self, stream: Stream, before: int, behind: int, fault: DeviceFault) -> None:
        with self._lock:
            noted = list(self._launched.pop(stream, ()))
        suspects: list[_Launched] = []
        for launched in reversed(noted[-before - behind : len(noted) - behind]):
            if launched not in suspects:
                suspects.append(launched)
        made = []
        for prototype, arguments in suspects[: self.most - len(self.written)]:
            for argument in arguments:
                for item in argument.get("tensors", [argument]):
                    if item is not None and "shape" in item and argument["name"] not in _outputs(prototype):
                        item["left_out"] = "the fault showed only at a wait, after the call"
            folder = self._next()
            write(folder, prototype, arguments, {}, fault, suspect=True)
            made.append(folder)
        self.written += made
        if made:
            rest = f", or one of {', '.join(map(str, made[1:]))}" if made[1:] else ""
            blocking = "ACLNN_PY_BLOCKING=1 saves the one that failed, with its elements"
            note = f"saved: aclnn-py replay {made[0]}{rest}; {blocking}"
            fault.hint = "\n".join(filter(None, [fault.hint, note]))

    def _next(self) -> Path:
        """A new folder; several processes may share the place."""
        number = 1
        while True:
            made = self.folder / f"failure-{number:04}"
            try:
                made.mkdir()
                return made
            except FileExistsError:
                number += 1


def save(folder: Path, prototype: Any, values: tuple[Any, ...], error: AclError, most_bytes: int) -> Path:
    """Writes the files of one failed call into an existing, empty folder."""
    arrays: dict[str, np.ndarray] = {}
    arguments: list[dict[str, Any]] = []
    for parameter, value in zip(prototype.parameters, values):
        made = described.argument(parameter, value, most=sys.maxsize)
        for place, tensor, item in _tensors(parameter, value, made):
            if parameter.role != "out":
                _keep_elements(arrays, place, tensor, item, most_bytes)
        arguments.append(made)
    return write(folder, prototype, arguments, arrays, error)


def write(
    folder: Path,
    prototype: Any,
    arguments: list[dict[str, Any]],
    arrays: dict[str, np.ndarray],
    error: AclError,
    suspect: bool = False,
) -> Path:
    """Writes the files. `suspect`: the error is of this call or of another one."""
    record = {
        "schema": SCHEMA,
        "op": prototype.name,
        "declaration": _declaration(prototype),
        "arguments": arguments,
        "status": error.code,
        "name": error.name,
        "phase": error.phase,
        "message": error.message,
        "text": str(error),
        "time": round(time.time(), 3),
    }
    if suspect:
        record["suspect"] = True
    np.savez(folder / "arguments.npz", **arrays)  # type: ignore[arg-type]
    _write(folder / "environment.json", environment(prototype.name))
    (folder / "reproduce.py").write_text(reproducer_script.program(record), "utf-8", "replace")
    _write(folder / "call.json", record)  # last: a folder without it is not complete
    return folder


def _tensors(parameter: Parameter, value: Any, made: dict[str, Any]) -> list[tuple[str, Any, dict[str, Any]]]:
    """(name in the npz, tensor, its record) of each tensor of an argument."""
    if "shape" in made:
        return [(parameter.name, value, made)]
    if "tensors" in made:
        items = list(getattr(value, "tensors", value))
        places = [f"{parameter.name}.{i}" for i in range(len(items))]
        return [(p, t, r) for p, t, r in zip(places, items, made["tensors"]) if r is not None]
    return []


def _keep_elements(
    arrays: dict[str, np.ndarray], place: str, tensor: Any, made: dict[str, Any], most_bytes: int
) -> None:
    size = described.nbytes(tensor)
    if size > most_bytes:
        made["left_out"] = f"{size} bytes, more than {most_bytes}"
        return
    try:
        arrays[place] = described.elements(tensor)
        made["elements"] = place
    except (AclError, ValueError) as problem:  # a device in fault gives nothing back
        made["left_out"] = str(problem).splitlines()[0]


def _outputs(prototype: Any) -> set[str]:
    return {p.name for p in prototype.parameters if p.role == "out"}


def _declaration(prototype: Any) -> str:
    parameters = [f"{_ctype(p)} {p.name}" for p in prototype.parameters]
    tail = ["uint64_t *workspaceSize", "aclOpExecutor **executor"]
    return f"aclnnStatus {prototype.name}GetWorkspaceSize({', '.join([*parameters, *tail])});"


def _ctype(parameter: Parameter) -> str:
    """The type, const where the role says that the operator only reads."""
    const = parameter.is_pointer and parameter.role in ("in", "attr") and "const" not in parameter.ctype
    return f"const {parameter.ctype}" if const else parameter.ctype


def environment(operator: str = "") -> dict[str, Any]:
    """Where the call was made. No variable but those of `VARIABLES`."""
    made: dict[str, Any] = {
        "versions": {
            "aclnn_py": _version.__version__,
            "Python": platform.python_version(),
            "numpy": np.__version__,
            "ml_dtypes": getattr(dtypes.ml_dtypes, "__version__", None),
        },
        "platform": platform.platform(),
        "machine": platform.machine(),
        "variables": {name: os.environ[name] for name in VARIABLES if name in os.environ},
    }
    try:
        from ..info import info

        found = info()
        made |= {
            "backend": found.backend,
            "root": str(found.root),
            "soc": found.soc,
            "devices": found.device_count,
            "libraries": [str(path) for path in found.libraries],
        }
        made["versions"]["ACL"] = found.versions.get("ACL")
        if operator:
            made["served_by"] = str(libraries.which(operator).library)
    except (AclError, LibraryNotFound, OSError) as problem:
        made["libraries_error"] = str(problem)
    return made


def _write(file: Path, record: dict[str, Any]) -> None:
    text = json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False)
    file.write_text(text + "\n", "utf-8", "replace")
