"""Operator: one aclnn operator as a Python callable, in two phases.

The call function of each operator is generated from its prototype, as source text that `Operator.source`
shows: a loop over parameters costs half as much again as the same steps written out. Values of the expected
type take the short way; anything else, None included, goes through the parameter's converter, which also
makes the errors.
"""

from __future__ import annotations

import ctypes
import keyword
import linecache
import threading
from collections.abc import Sequence
from typing import Any

from . import catalogue, libraries, runtime
from .abi import BY_VALUE, acl
from .conversion import SLOTS, converter
from .prototype import Parameter, Prototype, parse
from .status import Argument, LibraryNotFound, fail
from .stream import Stream
from .values import shown

_ADDRESSES = ("tensor", "tensor_list")  # kinds with device memory that the stream must keep


class _NoWorkspace:
    address = None


class Operator:
    """One aclnn operator. Call it with the C parameters in C order, by position or name, outputs included.

    Tensors, or NumPy arrays for inputs; None for NULL; Python numbers, bools, strings and lists for
    attributes, scalars and arrays. `stream=` says where to run; without it, on the thread's default stream.
    The call returns when the work is on the stream; results are there after the stream was waited for
    (`Tensor.numpy()` does). Memory that the work needs stays alive until then.

    Errors: TypeError, OverflowError, ValueError naming the parameter, before any C call; AclnnParameterError
    and other AclError when the library refuses.
    """

    name: str
    prototype: Prototype
    source: str

    def __call__(self, *args: Any, stream: Stream | None = None, **kwargs: Any) -> None:
        raise NotImplementedError  # each operator's own class has the generated one

    def __repr__(self) -> str:
        return f"<Operator {self.prototype}>"

    def __str__(self) -> str:
        return self.name

    def fail(self, code: int, phase: int, values: Sequence[Any]) -> None:
        """Raises for a non-zero status code of one of the phases; `values` are the converted arguments."""
        table = tuple(Argument(p.name, _described(p, v)) for p, v in zip(self.prototype.parameters, values))
        fail(code, self.name, phase, table, hint=f"served by {libraries.which(self.name).library}")


def _described(parameter: Parameter, value: Any) -> str:
    describe = getattr(value, "describe", None)
    return str(describe()) if describe is not None else f"{shown(value)}  ({parameter.ctype})"


def _identifier(name: str) -> str:
    return name + "_" if keyword.iskeyword(name) else name


def _object_step(name: str, index: int, slot: str) -> list[str]:
    return [
        "    try:",
        f"        _{index} = {name}.{slot}",
        "    except AttributeError:",
        f"        {name} = _convert[{index}]({name})",
        f"        _{index} = {name}.{slot}",
    ]


def _value_step(name: str, index: int, parameter: Parameter) -> list[str]:
    if parameter.kind == "bool":
        test = f"{name} is not True and {name} is not False"
    elif parameter.kind == "int":
        bits = ctypes.sizeof(BY_VALUE[parameter.ctype]) * 8
        unsigned = parameter.ctype.startswith(("u", "size"))
        low, high = (0, (1 << bits) - 1) if unsigned else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        test = f"{name}.__class__ is not int or not {low} <= {name} <= {high}"
    elif parameter.ctype == "double":
        test = f"{name}.__class__ is not float"
    else:
        return [f"    {name} = _convert[{index}]({name})"]
    return [f"    if {test}:", f"        {name} = _convert[{index}]({name})"]


def call_source(prototype: Prototype) -> str:
    """Python source of the function that calls the operator."""
    parameters = prototype.parameters
    names = [_identifier(p.name) for p in parameters]
    signature = ", ".join(["_operator", *names, "*", "stream=None"])
    lines = [f"def {prototype.name}({signature}):"]
    passed = []
    for i, (parameter, name) in enumerate(zip(parameters, names)):
        slot = SLOTS.get(parameter.kind)
        if slot is not None:
            lines += _object_step(name, i, slot)
            passed.append(f"_{i}")
        else:
            lines += _value_step(name, i, parameter)
            passed.append(name)
    kept = [f"{n}._buffer" for p, n in zip(parameters, names) if p.kind in _ADDRESSES]
    values = "(" + "".join(f"{n}, " for n in names) + ")"
    lines += [
        "    try:",
        "        _thread = _local.state",
        "        _stream = _thread.stream if stream is None else stream",
        "        _handle = _stream._handle",
        "    except AttributeError:",
        "        _thread, _stream = _choose(stream)",
        "        _handle = _stream._handle",
        f"    _code = _phase1({', '.join([*passed, '_thread.size_ref', '_thread.executor_ref'])})",
        "    if _code:",
        f"        _operator.fail(_code, 1, {values})",
        "    _size, _executor = _thread.size.value, _thread.executor.value",
        "    _memory = _workspace(_stream, _size, _executor) if _size else _none",
        "    _code = _phase2(_memory.address, _size, _executor, _handle)",
        f"    _stream._keep.append(({', '.join(['_operator', *kept, '_memory'])}))",
        "    if _code:",
        f"        _operator.fail(_code, 2, {values})",
        "    if len(_stream._keep) >= _stream._limit:",
        "        _stream.settle()",
    ]
    return "\n".join(lines) + "\n"


def _choose(stream: Any) -> tuple[runtime.ThreadState, Stream]:
    """The slow way to thread and stream: first use in this thread, or something wrong with the stream."""
    thread = runtime.enter()
    if stream is None:
        if thread.stream.closed:
            thread.empty("stream")
        return thread, thread.stream
    if not isinstance(stream, Stream):
        raise TypeError(f"stream must be an aclnn.Stream or None, got {shown(stream)}")
    stream._open_handle()
    return thread, stream


def _workspace(stream: Stream, size: int, executor: int | None) -> Any:
    try:
        return stream.workspace(size)
    except BaseException:
        acl.aclDestroyAclOpExecutor(executor)  # phase 2, which would have used it up, is not coming
        raise


def _bind(prototype: Prototype) -> tuple[Any, Any]:
    phase1, phase2 = libraries.operator_functions(prototype.name)
    phase1.restype = phase2.restype = ctypes.c_int32
    by_kind = {"string": ctypes.c_char_p, "dtype": ctypes.c_int}
    types: list[Any] = [
        ctypes.c_void_p if p.kind in SLOTS else by_kind.get(p.kind) or BY_VALUE[p.ctype]
        for p in prototype.parameters
    ]
    phase1.argtypes = [*types, ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(ctypes.c_void_p)]
    phase2.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p]
    return phase1, phase2


def _build(prototype: Prototype) -> Operator:
    phase1, phase2 = _bind(prototype)
    source = call_source(prototype)
    scope: dict[str, Any] = {
        "_convert": [converter(prototype.name, p) for p in prototype.parameters],
        "_local": runtime.local,
        "_choose": _choose,
        "_workspace": _workspace,
        "_none": _NoWorkspace,
        "_phase1": phase1,
        "_phase2": phase2,
    }
    file = f"<aclnn_py operator {prototype.name}>"
    exec(compile(source, file, "exec"), scope)
    linecache.cache[file] = (
        len(source),
        None,
        source.splitlines(True),
        file,
    )  # so that tracebacks show the lines
    call = scope[prototype.name]
    call.__doc__ = _documentation(prototype)
    own = type(
        prototype.name,
        (Operator,),
        {"__call__": call, "__doc__": call.__doc__, "__module__": __name__},
    )
    made: Operator = own()
    made.name, made.prototype, made.source = prototype.name, prototype, source
    return made


def _documentation(prototype: Prototype) -> str:
    rows = [(p.name, p.ctype, p.role + (", optional" if p.optional else "")) for p in prototype.parameters]
    wide = [max((len(row[i]) for row in rows), default=0) for i in range(2)]
    lines = [f"  {name:<{wide[0]}}  {ctype:<{wide[1]}}  {role}" for name, ctype, role in rows]
    return "\n".join(
        [f"{prototype.name}, from {prototype.header}.", "", *lines, "", "Returns None; see Operator."]
    )


_operators: dict[tuple[str, str | None], Operator] = {}
_lock = threading.Lock()


def op(name: str, prototype: str | None = None) -> Operator:
    """The operator `name`, e.g. `aclnn.op("aclnnMhcPreSinkhorn")`, with its prototype from the headers in
    use.

    `prototype` gives C text (phase 1's declaration) for an operator without a header. LibraryNotFound if the
    libraries lack it, or if no header declares it and no prototype was given; PrototypeError (a ValueError)
    for text that cannot be read.
    """
    known = _operators.get((name, prototype))
    if known is not None:
        return known
    record = parse(prototype, name) if prototype is not None else catalogue.find(name, libraries.root())
    if record is None:
        libraries.operator_functions(name)  # if the libraries lack it too, that is the better message
        raise LibraryNotFound(
            f"{name} is in the libraries, but no header declares it; give its declaration: "
            f'aclnn.op("{name}", prototype="aclnnStatus {name}GetWorkspaceSize(...);")'
        )
    made = _build(record)
    with _lock:
        return _operators.setdefault((name, prototype), made)
