"""Status codes: what they mean, and the one gate that turns a non-zero code into an exception."""

from __future__ import annotations

import operator as _operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from .diagnosis.messages import Message
    from .diagnosis.rules import Violation

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
    import json

    rows = json.loads(Path(__file__).with_name("data").joinpath("status_codes.json").read_text("utf-8"))
    return {row[0]: Status(row[0], tuple(row[1]), *row[2:]) for row in rows}


def lookup(code: int) -> Status:
    """The table's row for `code`; for a code it does not hold, what its digits say."""
    known = table().get(code)
    if known is not None:
        return known
    digits = str(code)
    layer, meaning = "unknown", "Not in the table, and unlike CANN's codes, which have six digits."
    if len(digits) == 6:
        layer = _LAYER_BY_MODULE.get(digits[1:3], "unknown")
        kind = _KIND_BY_FIRST_DIGIT.get(digits[0])
        meaning = "Not in the table" + (f"; by its first digit {kind}." if kind else ".")
    return Status(code, (), layer, meaning)


def explain(code: int | str) -> Status:
    """What a status code means: `explain(161002)`, `explain("161002")`, `explain("0x274ea")`, a symbolic
    name, a line of a log that holds one, the device's own code, `explain("0x31")`. Negative and unsigned
    forms count.

    Needs no library and no device. ValueError, with close names, for text that is none of these.
    """
    from .diagnosis.codes import find, normal

    if not isinstance(code, str):
        return lookup(normal(_operator.index(code)))
    found = find(code)
    if isinstance(found, Status):
        return found
    if not found.code:
        raise ValueError(f"{code!r} is no status code. {found.meaning} {found.advice}")
    return lookup(found.code)


class LibraryNotFound(OSError):
    """A library, or a symbol that should be in one, was not found. The text says where it was looked for."""


@dataclass(frozen=True)
class Argument:
    """One argument of a failed call, as text and plain values, so that it outlives the tensors and can be
    pickled. Of a tensor: `dtype` (CANN's short name), `shape`, `strides` (None if contiguous), `offset` and
    `format`; for anything else `shape` is None."""

    name: str
    text: str
    dtype: str = ""
    shape: tuple[int, ...] | None = None
    strides: tuple[int, ...] | None = None
    offset: int = 0
    format: str = ""

    @property
    def layout(self) -> tuple[str, str]:
        """How the elements lie, and the format."""
        strided = f"strides {list(self.strides or ())} offset {self.offset}"
        return "contiguous" if self.strides is None else strided, self.format


class AclError(Exception):
    """A CANN call returned a non-zero status code.

    `code`, `name` (symbolic), `status` (the table's row); `op` (function or operator), `phase` (1, 2 or
    None); `message`, the library's own recent error text, all of it, "" if it had none; `parsed`, the same as
    records; `headline`, the sentence of it that is about this call; `arguments`, a tuple of Argument;
    `violations`, the operator's rules that the call breaks, as `aclnn.check` reports them; `causes`, likely
    ones, the likeliest first; `library`, the file that served the operator; `hint`; `launched`, after a
    failed wait: lines about the calls that were on the stream, the latest first.

    `str()` is for a person. Pickles.
    """

    def __init__(
        self,
        code: int,
        op: str,
        phase: int | None = None,
        message: str = "",
        arguments: tuple[Argument, ...] = (),
        hint: str = "",
        launched: tuple[str, ...] = (),
        violations: tuple[Violation, ...] = (),
        library: str = "",
    ) -> None:
        super().__init__(code, op, phase, message, arguments, hint, launched, violations, library)
        self.code = code
        self.op = op
        self.phase = phase
        self.message = message
        self.arguments = arguments
        self.hint = hint
        self.launched = launched
        self.violations = violations
        self.library = library

    @property
    def status(self) -> Status:
        return lookup(self.code)

    @property
    def name(self) -> str:
        return self.status.name

    @property
    def parsed(self) -> tuple[Message, ...]:
        """`message` as records; see diagnosis.messages."""
        from .diagnosis.messages import parse

        return parse(self.message)

    @property
    def headline(self) -> str:
        """The sentence of `message` that names `op`, else its first one; "" without a message."""
        from .diagnosis.report import leading

        own = leading(self)
        return "" if own is None else own.text

    @property
    def causes(self) -> tuple[str, ...]:
        """The likeliest first: broken rules, what CANN supposes, the usual causes of the code."""
        from .diagnosis.report import usual

        said = [m.cause for m in self.parsed if m.cause]
        listed = [part.strip() for part in usual(self)[0].split(";") if part.strip()]
        return tuple(dict.fromkeys([*map(str, self.violations), *said, *listed]))

    def __str__(self) -> str:
        from .diagnosis.report import text

        return text(self)


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
FAULTS = frozenset(
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
    if code in FAULTS:
        return DeviceFault
    return AclnnError if operator_call else AclRuntimeError


def recent_message() -> str:
    """The library's pending error text of this thread, "" if none. Reading clears it."""
    from .abi import acl

    raw = acl.aclGetRecentErrMsg()
    return raw.decode("utf-8", "replace") if raw else ""


def fail(
    code: int,
    op: str,
    phase: int | None = None,
    arguments: tuple[Argument, ...] = (),
    hint: str = "",
    launched: tuple[str, ...] = (),
    find_violations: Callable[[], tuple[Violation, ...]] | None = None,
    library: str = "",
    device: int | None = None,
) -> NoReturn:
    """Raises the exception for `code`, with the library's text (which is thereby cleared). `device`: the one
    that it is about, without it this thread's."""
    message = recent_message()  # first, before anything else can add to it or clear it
    kind = exception_class(code, phase is not None)
    hint = _with_first_fault(code, op, kind, hint, launched, device)
    violations = find_violations() if find_violations is not None else ()
    raise kind(code, op, phase, message, arguments, hint, launched, violations, library)


def _with_first_fault(
    code: int, op: str, kind: type[AclError], hint: str, launched: tuple[str, ...], device: int | None
) -> str:
    """The hint, with what faulted first on the device; a first fault is remembered."""
    from .diagnosis import faults
    from .runtime import local

    if device is None:
        device = getattr(getattr(local, "state", None), "device", None)
    if device is None:
        return hint
    note = faults.note(device, code)
    if kind is DeviceFault and not note:
        line = f"{op} returned {code} {lookup(code).name}" + (
            f", last launched {launched[0]}" if launched else ""
        )
        faults.remember(device, code, op, line)
    if kind is DeviceFault and note:  # the hint is about whose fault it is: not one of these calls'
        return note
    return "\n".join(filter(None, [note, hint]))


def check(code: int, op: str, **context: Any) -> None:
    """The gate every call passes: raises for a non-zero `code` (see `fail`)."""
    if code:
        fail(code, op, **context)
