"""Status codes: what they mean, and the one gate that turns a non-zero code into an exception."""

from __future__ import annotations

import json
import operator as _operator
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NoReturn

_LAYER_BY_MODULE = {"00": "acl", "07": "runtime", "45": "graph engine", "48": "acl", "61": "aclnn"}
_KIND_BY_FIRST_DIGIT = {
    "1": "an error of the caller or the environment",
    "2": "a resource or product limit",
    "3": "a state of the business logic",
    "5": "an internal error",
}


@dataclass(frozen=True)
class Status:
    """One status code. ``str()`` gives a few lines for a person; unknown codes have no names."""

    code: int
    names: tuple[str, ...]
    layer: str
    meaning: str
    causes: str = ""
    remedy: str = ""

    @property
    def name(self) -> str:
        """Symbolic name, or an empty string for a code that the table does not hold."""
        return self.names[0] if self.names else ""

    def __str__(self) -> str:
        title = " / ".join(self.names) or "(not a known code)"
        lines = [f"{self.code} {title}", f"  layer:   {self.layer}", f"  meaning: {self.meaning}"]
        if self.causes:
            lines.append(f"  causes:  {self.causes}")
        if self.remedy:
            lines.append(f"  remedy:  {self.remedy}")
        return "\n".join(lines)


@lru_cache(maxsize=1)
def table() -> dict[int, Status]:
    """Every known status code, read from the package's data file at the first use."""
    rows = json.loads(Path(__file__).with_name("data").joinpath("status_codes.json").read_text("utf-8"))
    return {row[0]: Status(row[0], tuple(row[1]), *row[2:]) for row in rows}


def lookup(code: int) -> Status:
    """The table's row for `code`; for a code it does not hold, what its digits say."""
    known = table().get(code)
    if known is not None:
        return known
    digits = str(code)
    layer = meaning = "unknown"
    if len(digits) == 6:
        layer = _LAYER_BY_MODULE.get(digits[1:3], "unknown")
        meaning = (
            "Not in the table; by its first digit " + _KIND_BY_FIRST_DIGIT.get(digits[0], "unknown") + "."
        )
    return Status(code, (), layer, meaning)


def explain(code: int | str) -> Status:
    """What a status code means: `explain(161002)`, `explain("161002")`, `explain("0x274ea")` or a symbolic
    name.

    Needs no library and no device. ValueError for text that is neither a number nor a known name.
    """
    if isinstance(code, str):
        text = code.strip()
        for status in table().values():
            if text.upper() in status.names:
                return status
        try:
            return lookup(int(text, 0))
        except ValueError:
            raise ValueError(f"{code!r} is neither a status code nor the name of one") from None
    return lookup(_operator.index(code))


class LibraryNotFound(OSError):
    """A library, or a symbol that should be in one, was not found. The text says where it was looked for."""


@dataclass(frozen=True)
class Argument:
    """One argument of a failed call, as text, so that it outlives the tensors and can be pickled."""

    name: str
    text: str


class AclError(Exception):
    """A CANN call returned a non-zero status code.

    Attributes: `code`; `name` (symbolic); `op` (function or operator); `phase` (1, 2 or None); `message` (the
    library's own recent error text, all of it, "" if it had none); `headline` (the line of it that is about
    this call); `arguments` (tuple of Argument); `status` (the table's row); `hint`.
    """

    def __init__(
        self,
        code: int,
        op: str,
        phase: int | None = None,
        message: str = "",
        arguments: tuple[Argument, ...] = (),
        hint: str = "",
    ) -> None:
        super().__init__(code, op, phase, message, arguments, hint)
        self.code = code
        self.op = op
        self.phase = phase
        self.message = message
        self.arguments = arguments
        self.hint = hint

    @property
    def status(self) -> Status:
        return lookup(self.code)

    @property
    def name(self) -> str:
        return self.status.name

    @property
    def headline(self) -> str:
        """The first line of `message` that names `op`, else its first line; "" without a message.

        The library leads with what was reported first in this thread, which may be left from a call of
        somebody else who never read it.
        """
        lines = [line.strip() for line in self.message.strip().splitlines()]
        name = re.escape(self.op.partition("(")[0])
        own = re.compile(rf"\b{name}(?:GetWorkspaceSize|_\d+)?\b")
        return next((line for line in lines if own.search(line)), lines[0] if lines else "")

    def _said(self) -> str:
        text, headline = self.message.strip(), self.headline
        head, _, rest = text.partition("TraceBack (most recent call last):")
        if headline in head:
            return text
        others = [line for line in rest.strip("\n").splitlines() if line.strip() != headline]
        return "\n".join([headline, "also pending in this thread:", head.rstrip(), *others])

    def __str__(self) -> str:
        status = self.status
        phase = {1: " (phase 1, GetWorkspaceSize)", 2: " (phase 2, launch)"}.get(self.phase or 0, "")
        lines = [
            f"{self.op}{phase} returned {self.code} {status.name or '(not a known code)'}: {status.meaning}"
        ]
        if self.message:
            lines.append("  the library says: " + self._said().replace("\n", "\n    "))
        if self.hint:
            lines.append("  " + self.hint.replace("\n", "\n  "))
        if self.arguments:
            width = max(len(a.name) for a in self.arguments)
            lines.append("  arguments:")
            lines += [f"    {a.name:<{width}}  {a.text}" for a in self.arguments]
        if status.causes:
            lines.append(f"  usual cause: {status.causes}")
        if status.remedy:
            lines.append(f"  to do: {status.remedy}")
        return "\n".join(lines)


class AclnnError(AclError):
    """An operator call, or a call of the operator library, failed."""


class AclnnParameterError(AclnnError):
    """161xxx: the library refused an argument."""


class AclnnRuntimeError(AclnnError):
    """361xxx: a runtime call inside the operator failed."""


class AclnnInnerError(AclnnError):
    """561xxx: the operator failed inside: tiling, kernel package, shape inference."""


class AclRuntimeError(AclError):
    """A runtime (acl*, aclrt*) call failed."""


class OutOfDeviceMemory(AclRuntimeError):
    """Device memory could not be allocated."""


class DeviceFault(AclRuntimeError):
    """The device reported a fault or timeout of work launched earlier."""


class StreamTimeout(AclRuntimeError):
    """A stream or event was not done within the given time. The work goes on."""


OUT_OF_MEMORY = frozenset({200000, 207001, 207018, 245000})
STREAM_SYNC_TIMEOUT = 507046
EVENT_SYNC_TIMEOUT = 507047
_FAULTS = frozenset(
    {207003, 207016, 207017, 507010, 507011, 507013, 507899, 507901, 507915, 507916}
    | set(range(507014, 507019))
    | set(range(507034, 507037))
    | set(range(507042, 507046))
    | set(range(507048, 507051))
    | set(range(507053, 507058))
)


def exception_class(code: int, operator_call: bool = False) -> type[AclError]:
    """The exception class for `code`; `operator_call` decides where a code of no special class belongs."""
    by_module = {161: AclnnParameterError, 361: AclnnRuntimeError, 561: AclnnInnerError}
    if code // 1000 in by_module:
        return by_module[code // 1000]
    if code in OUT_OF_MEMORY:
        return OutOfDeviceMemory
    if code in (STREAM_SYNC_TIMEOUT, EVENT_SYNC_TIMEOUT):
        return StreamTimeout
    if code in _FAULTS:
        return DeviceFault
    return AclnnError if operator_call else AclRuntimeError


def recent_message() -> str:
    """The library's pending error text of this thread, "" if none. Reading clears it."""
    from .abi import acl

    raw = acl.aclGetRecentErrMsg()
    return raw.decode("utf-8", "replace") if raw else ""


def fail(
    code: int, op: str, phase: int | None = None, arguments: tuple[Argument, ...] = (), hint: str = ""
) -> NoReturn:
    """Raises the exception for `code`, with the library's text (which is thereby cleared)."""
    raise exception_class(code, phase is not None)(code, op, phase, recent_message(), arguments, hint)


def check(code: int, op: str, **context: Any) -> None:
    """The gate every call passes: raises for a non-zero `code` (see `fail`)."""
    if code:
        fail(code, op, **context)
