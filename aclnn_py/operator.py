"""Operator: one aclnn operator as a Python callable, in two phases.

The call function of each operator is generated from its prototype (see `callcode`), as source text that
`Operator.source` shows. Values of the expected type take the short way; anything else, None included, goes
through the parameter's converter, which also makes the errors.
"""

from __future__ import annotations

import ctypes
import linecache
import os
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from . import callcode, catalogue, libraries, runtime
from .abi import acl
from .arguments import Scalar
from .conversion import SLOTS, converter
from .creation import tensor
from .dtypes import element, host_array, spelled
from .prototype import Parameter, Prototype, parse
from .status import Argument, LibraryNotFound, fail
from .stream import Stream
from .tensor import Tensor
from .values import shown

if TYPE_CHECKING:
    from .plan import Plan


class _Missing:
    """Stands for an argument that did not come; None means NULL."""

    def __repr__(self) -> str:
        return "<missing>"


_MISSING = _Missing()
_GENERATED = "<aclnn_py "  # how the file names of generated code begin
_OURS = (str(Path(__file__).parent) + os.sep, _GENERATED)
_OPS = f"{__package__}.ops"
# What generated code uses of Python, under names that no parameter can have
_BUILTINS = {
    "_missing": _MISSING,
    "_len": len,
    "_int": int,
    "_float": float,
    "_AttributeError": AttributeError,
    "_TypeError": TypeError,
    "_ValueError": ValueError,
}


class Operator:
    """One aclnn operator. Call it with the C parameters in C order, by position or name, outputs included.

    Tensors, or NumPy arrays for inputs; None for NULL; Python numbers, bools, strings and lists for
    attributes, scalars and arrays. `stream=` says where to run; without it, on the thread's default stream.
    The call returns when the work is on the stream; results are there after the stream was waited for
    (`Tensor.numpy()` does). Memory that the work needs stays alive until then.

    `copy_back=True` takes NumPy arrays for outputs too, waits for the work and fills them.

    Errors: TypeError, OverflowError, ValueError naming the parameter, before any C call; AclnnParameterError
    and other AclError when the library refuses.
    """

    name: str
    prototype: Prototype
    source: str
    _phase1: Any
    _phase2: Any
    _converters: list[Any]
    _bind: Any
    _plain: Any  # the generated function, also while another is in its place
    _text: str | None  # the declaration that the user gave

    if TYPE_CHECKING:  # each operator's own class has the generated one

        def __call__(
            self, *args: Any, stream: Stream | None = None, copy_back: bool = False, **kwargs: Any
        ) -> None: ...

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process looks the operator up anew; a copy is the operator itself."""
        return op, (self.name, self._text)

    def plan(self, /, *args: Any, stream: Stream | None = None, **kwargs: Any) -> Plan:
        """A Plan: phase 1 now, phase 2 as often as it is called. Arguments as in a call."""
        from .plan import Plan

        return Plan(self, self._converted(self._bind(self, *args, **kwargs)), stream)

    def max_workspace_size(self, /, *args: Any, **kwargs: Any) -> int:
        """Bytes of workspace that the operator's third entry point, <name>GetMaxWorkspaceSize, asks for.

        LibraryNotFound if the operator has none, or none that is declared with the parameters of phase 1.
        """
        function = libraries.operator_symbol(self.name + "GetMaxWorkspaceSize")
        if not self.prototype.largest:
            raise LibraryNotFound(
                f"no header declares {self.name}GetMaxWorkspaceSize with the parameters of "
                f"{self.name}GetWorkspaceSize"
            )
        values = self._converted(self._bind(self, *args, **kwargs))
        runtime.enter()
        size, executor = ctypes.c_uint64(), ctypes.c_void_p()
        code = function(*self._to_c(values), ctypes.byref(size), ctypes.byref(executor))
        if code:
            self._fail(code, 1, values)
        if executor:
            acl.aclDestroyAclOpExecutor(executor)
        return size.value

    def _converted(self, values: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(convert(value) for convert, value in zip(self._converters, values))

    def _to_c(self, values: Sequence[Any]) -> list[Any]:
        """Converted values -> what phase 1 takes."""
        return [
            getattr(v, SLOTS[p.kind]) if p.kind in SLOTS else callcode.to_c(p)(v)
            for p, v in zip(self.prototype.parameters, values)
        ]

    def _call_and_copy_back(self, values: Sequence[Any], stream: Stream | None) -> None:
        given = list(values)
        targets: list[tuple[np.ndarray, Tensor]] = []

        def uploaded(value: Any, label: str) -> Any:
            if not isinstance(value, np.ndarray):
                return value
            if not value.flags.writeable:
                raise ValueError(f"{label} is a read-only array: the result cannot be copied back")
            made = tensor(host_array(value, label))
            targets.append((value, made))
            return made

        for i, parameter in enumerate(self.prototype.parameters):
            if parameter.role in ("out", "inout", "unknown"):
                label = f"{self.name}: {parameter}"
                if parameter.kind == "tensor_list" and isinstance(given[i], (list, tuple)):
                    given[i] = [uploaded(value, label) for value in given[i]]
                elif parameter.kind == "tensor":
                    given[i] = uploaded(given[i], label)
        self(*given, stream=stream)
        for array, made in targets:
            array[...] = made.numpy()

    def __repr__(self) -> str:
        return f"<Operator {self.prototype}>"

    def __str__(self) -> str:
        return self.name

    def _misfit(self, values: tuple[Any, ...], more: tuple[Any, ...], unknown: dict[str, Any]) -> TypeError:
        """The error for arguments that do not fit; `_MISSING` stands for those that did not come."""
        named = list(zip(callcode.identifiers(self.prototype), self.prototype.parameters, values))
        missing = [name for name, _, value in named if value is _MISSING]
        wrong = [f"{', '.join(missing)} missing"] if missing else []
        if more:
            count = len(values) + len(more)
            wrong.append(f"{count} positional arguments, at most {len(values)} expected")
        if unknown:
            wrong.append("no parameter " + ", ".join(f"{n} (got {shown(v)})" for n, v in unknown.items()))
        takes = ", ".join(f"{name} ({parameter.ctype})" for name, parameter, _ in named)
        came = ", ".join(f"{name}={shown(value)}" for name, _, value in named if value is not _MISSING)
        came = ", ".join(filter(None, [came, *map(shown, more)]))
        return TypeError(
            f"{self.name}: {'; '.join(wrong)}\n  it takes {takes or 'nothing'}; "
            f"keywords of a call: stream, copy_back\n  it got {came or 'nothing'}"
        )

    def _fail(self, code: int, phase: int, values: Sequence[Any]) -> None:
        """Raises for a non-zero status code of one of the phases; `values` are the converted arguments."""

        def violations() -> Any:
            from .diagnosis.check import hints

            return hints(self.name, [p.name for p in self.prototype.parameters], values)

        fail(
            code,
            self.name,
            phase,
            tuple(_described(p, v) for p, v in zip(self.prototype.parameters, values)),
            find_violations=violations if phase == 1 else None,
            library=str(libraries.which(self.name).library),
        )


def _described(parameter: Parameter, value: Any) -> Argument:
    name = parameter.name
    if isinstance(value, Tensor):
        strides = None if value.is_contiguous else value.strides
        format = value.format.name.removeprefix("ACL_FORMAT_")
        dtype = spelled(value.data_type)
        return Argument(name, value.describe(), dtype, value.shape, strides, value.offset, format)
    if isinstance(value, Scalar):
        return Argument(name, f"{spelled(element(value.dtype).acl)} {value._values}  ({parameter.ctype})")
    if isinstance(value, bytes):
        return Argument(name, f'"{value.decode("utf-8", "replace")}"  ({parameter.ctype})')
    describe = getattr(value, "describe", None)
    return Argument(name, str(describe()) if describe is not None else f"{shown(value)}  ({parameter.ctype})")


def choose(stream: Any) -> tuple[Any, ...]:
    """The slow way to `ThreadState.call`: first use in this thread, or something wrong with the stream."""
    state = runtime.enter()
    default = state.ready()  # also for the sake of the next call, whatever its stream
    if stream is None:
        return default
    if not isinstance(stream, Stream):
        raise TypeError(f"stream must be an aclnn.Stream or None, got {shown(stream)}")
    handle = stream._open_handle()
    if stream._device != state.device:
        raise ValueError(
            f"stream is on device {stream._device}, this thread on device {state.device}: make it this "
            f"thread's device with aclnn.Device({stream._device}).use(), or in a `with` block"
        )
    return (stream, handle, stream._keep)


def workspace(stream: Stream, size: int, executor: Any) -> Any:
    """Device memory for phase 2, which is about to use up the executor."""
    try:
        return stream.workspace(size)
    except BaseException:
        acl.aclDestroyAclOpExecutor(executor)  # phase 2 is not coming
        raise


def user_frame(depth: int) -> FrameType:
    """The frame that called a function of this package, for calls that one of those makes."""
    frame = sys._getframe(depth + 1)
    while frame.f_code.co_filename.startswith(_OURS) and frame.f_back is not None:
        frame = frame.f_back
    return frame


def _build(prototype: Prototype, inner: bool = False) -> Operator:
    phase1, phase2 = libraries.operator_functions(prototype.name)
    phase1.restype = phase2.restype = ctypes.c_int32
    converters = [converter(prototype.name, p) for p in prototype.parameters]
    source = callcode.call_source(prototype)
    scope: dict[str, Any] = {
        "_convert": converters,
        "_local": runtime.local,
        "_choose": choose,
        "_make_out": runtime.out_parameters,
        "_workspace": workspace,
        "_getframe": user_frame if inner else sys._getframe,
        "_zero": callcode.ZERO,
        "_true": ctypes.c_bool.from_param(True),
        "_false": ctypes.c_bool.from_param(False),
        "_phase1": phase1,
        "_phase2": phase2,
        **_BUILTINS,
    }
    for i, parameter in enumerate(prototype.parameters):
        if parameter.kind not in SLOTS:
            scope[f"_to_c{i}"] = callcode.to_c(parameter)
    call = _compiled(source, prototype.name, f"{_GENERATED}operator {prototype.name}>", scope)
    call.__doc__ = _documentation(prototype)
    call.__signature__ = callcode.signature(prototype)
    own = type(
        prototype.name,
        (Operator,),
        {"__call__": call, "__doc__": call.__doc__, "__module__": __name__},
    )
    made: Operator = own()
    made.name, made.prototype, made.source = prototype.name, prototype, source
    made._phase1, made._phase2, made._converters = phase1, phase2, converters
    made._plain = call
    made._bind = _compiled(
        callcode.bind_source(prototype),
        prototype.name,
        f"{_GENERATED}plan of {prototype.name}>",
        dict(_BUILTINS),
    )
    return made


def _compiled(source: str, name: str, file: str, scope: dict[str, Any]) -> Any:
    exec(compile(source, file, "exec"), scope)
    lines = source.splitlines(True)
    linecache.cache[file] = (len(source), None, lines, file)  # so that tracebacks show the lines
    return scope[name]


def _documentation(prototype: Prototype) -> str:
    rows = [(p.name, p.ctype, p.role + (", optional" if p.optional else "")) for p in prototype.parameters]
    wide = [max((len(row[i]) for row in rows), default=0) for i in range(2)]
    lines = [f"  {name:<{wide[0]}}  {ctype:<{wide[1]}}  {role}" for name, ctype, role in rows]
    header = os.fsencode(prototype.header).decode("utf-8", "replace")  # a docstring is UTF-8
    return "\n".join([f"{prototype.name}, from {header}.", "", *lines, "", "Returns None; see Operator."])


_operators: dict[tuple[str, str | None, bool], Operator] = {}
_lock = threading.Lock()


def op(name: str, prototype: str | None = None) -> Operator:
    """The operator `name`, e.g. `aclnn.op("aclnnMhcPreSinkhorn")`, with its prototype from the headers in
    use.

    `prototype` gives C text (phase 1's declaration) for an operator without a header. LibraryNotFound if the
    libraries lack it, or if no header declares it and no prototype was given; PrototypeError (a ValueError)
    for text that cannot be read; TypeError if `name` is no str.
    """
    # After a fault, what a function of aclnn_py.ops launched is told as launched where that was called
    caller = sys._getframe().f_back
    return _get(name, prototype, caller is not None and caller.f_globals.get("__package__") == _OPS)


_start = threading.RLock()
_started = False


def _observe_from_the_start() -> None:
    """ACLNN_PY_TRACE, ACLNN_PY_REPRODUCE: at the first operator of the process, once; other threads wait."""
    global _started
    with _start:
        if _started:
            return
        _started = True
        if os.environ.get("ACLNN_PY_TRACE") or os.environ.get("ACLNN_PY_REPRODUCE"):
            from .diagnosis.calls import observe_as_the_environment_says

            observe_as_the_environment_says()


def _get(name: str, prototype: str | None, inner: bool = False) -> Operator:
    if not isinstance(name, str):
        raise TypeError(f"name must be a str, got {shown(name)}")
    if prototype is not None and not isinstance(prototype, str):
        raise TypeError(f"prototype must be a str or None, got {shown(prototype)}")
    known = _operators.get((name, prototype, inner))
    if known is not None:
        return known
    record = parse(prototype, name) if prototype is not None else _declared(name)
    if record is None:
        libraries.operator_functions(name)  # if the libraries lack it too, that is the better message
        raise LibraryNotFound(
            f"{name} is in the libraries, but no header declares it; give its declaration: "
            f'aclnn.op("{name}", prototype="aclnnStatus {name}GetWorkspaceSize(...);")'
        )
    _observe_from_the_start()
    made = _build(record, inner)
    made._text = prototype
    with _lock:
        made = _operators.setdefault((name, prototype, inner), made)
        if _in_front is not None:
            _exchange(made)
        return made


_in_front: Callable[[Any], Any] | None = None


def exchange_calls(in_front: Callable[[Any], Any] | None) -> None:
    """Puts in_front(function) in the place of every operator's call function, later ones included.

    None puts the generated functions back. See diagnosis.calls.
    """
    global _in_front
    with _lock:
        _in_front = in_front
        for made in _operators.values():
            _exchange(made)


def _exchange(made: Operator) -> None:
    plain = made._plain
    scope = plain.__globals__
    if _in_front is None:
        type(made).__call__ = plain  # type: ignore[method-assign]
        scope["_getframe"] = scope.pop("_own_getframe", scope["_getframe"])
    else:
        type(made).__call__ = _in_front(plain)  # type: ignore[method-assign]
        scope.setdefault("_own_getframe", scope["_getframe"])
        scope["_getframe"] = user_frame  # one more function of this package is between it and the caller


def _declared(name: str) -> Prototype | None:
    # A package that does not serve the operator may declare it, with other parameters
    without, first = libraries.headers_for(name)
    return catalogue.find(name, libraries.root(), without, first)


def operators(pattern: str = "*") -> list[str]:
    """Names of the operators that the headers in use declare, sorted: `aclnn.operators("Mhc*")`.

    A shell pattern, with or without the prefix `aclnn`; case does not matter.
    """
    return catalogue.names(libraries.root(), pattern)
