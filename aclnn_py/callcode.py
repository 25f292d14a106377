"""Python source of the functions that call operators, generated from their prototypes.

A loop over parameters costs half as much again as the same steps written out. What is passed to C is made
with its C type beforehand (`ctypes.c_void_p.from_param(handle)` and the like, kept in the slots of `SLOTS`),
so the C functions have no `argtypes`: converting handles again in each call would be half of its cost.
"""

from __future__ import annotations

import ctypes
import inspect
import keyword
from collections.abc import Callable
from typing import Any

from .abi import BY_VALUE
from .conversion import SLOTS
from .prototype import Parameter, Prototype

ADDRESSES = ("tensor", "tensor_list")  # kinds with device memory that the stream must keep
NOTED = 16  # calls that are not known to be done and note where they were made
_TAKEN = ("stream", "copy_back")  # keywords of every call
_C_TYPES = {"bool": ctypes.c_bool, "string": ctypes.c_char_p, "dtype": ctypes.c_int, "format": ctypes.c_int}
ZERO = ctypes.c_uint64.from_param(0)  # the workspace size of most calls


def to_c(parameter: Parameter) -> Callable[[Any], Any]:
    """Makes the C argument from a converted value of the parameter; for kinds without a slot."""
    make: Callable[[Any], Any]
    if parameter.kind == "pointer":
        make = ctypes.c_void_p.from_param
    else:
        ctype: Any = _C_TYPES.get(parameter.kind) or BY_VALUE[parameter.ctype]
        make = ctype.from_param
    return make


def identifiers(prototype: Prototype) -> list[str]:
    """The parameters' names in Python: one that means something else there gets underscores at its end.

    None of them looks like the names of the generated code itself: those begin with an underscore and end
    without one.
    """

    def means_else(name: str) -> bool:
        return keyword.iskeyword(name) or name in _TAKEN or name.startswith("_")

    used = {p.name for p in prototype.parameters if not means_else(p.name)}
    names = []
    for parameter in prototype.parameters:
        name = parameter.name
        if means_else(name):
            name += "_"
            while name in used:
                name += "_"
            used.add(name)
        names.append(name)
    return names


def _header(prototype: Prototype, names: list[str], keywords: str = "") -> list[str]:
    """The beginning of a function of the parameters that tells itself what is missing or too much."""
    defaults = [f"{n}=_missing" for n in names]
    wrong = " or ".join(["_more", "_unknown", *(f"{n} is _missing" for n in names)])
    return [
        f"def {prototype.name}({', '.join(['_operator', *defaults, f'*_more{keywords}', '**_unknown'])}):",
        f"    if {wrong}:",
        f"        raise _operator._misfit({_tuple(names)}, _more, _unknown)",
    ]


def _tuple(names: list[str]) -> str:
    return "(" + "".join(f"{n}, " for n in names) + ")"


def _slot_step(name: str, index: int, slot: str) -> list[str]:
    return [
        "    try:",
        f"        _{index} = {name}.{slot}",
        "    except _AttributeError:",
        f"        {name} = _convert[{index}]({name})",
        f"        _{index} = {name}.{slot}",
    ]


def _value_step(name: str, index: int, parameter: Parameter) -> list[str]:
    """Lets through what needs no conversion; everything else goes through the converter."""
    if parameter.kind == "bool":
        test = f"{name} is not True and {name} is not False"
    elif parameter.kind == "int":
        low, high = parameter.limits
        test = f"{name}.__class__ is not _int or not {low} <= {name} <= {high}"
    elif parameter.ctype == "double":
        test = f"{name}.__class__ is not _float"
    else:
        return [f"    {name} = _convert[{index}]({name})"]
    return [f"    if {test}:", f"        {name} = _convert[{index}]({name})"]


def call_source(prototype: Prototype) -> str:
    """Source of the function that converts, runs both phases and keeps alive what the stream needs.

    A call takes the out-parameters of its thread for its own while it runs: a signal handler or a `__del__`
    in the middle of it may call operators too, and finds none, so it makes others.

    What the stream keeps of a call also tells, after a fault, which call it was (see diagnosis.launches): the
    operator, its place (the caller's code and where in it), and of each tensor its memory, view and element.
    Taking the place costs a tenth of a call, so that ends where NOTED calls are on the stream.
    """
    parameters = prototype.parameters
    names = identifiers(prototype)
    values = _tuple(names)
    lines = [
        *_header(prototype, names, ", stream=None, copy_back=False"),
        "    if copy_back:",
        f"        return _operator._call_and_copy_back({values}, stream)",
    ]
    passed = []
    for i, (parameter, name) in enumerate(zip(parameters, names)):
        slot = SLOTS.get(parameter.kind)
        if slot is not None:
            lines += _slot_step(name, i, slot)
            passed.append(f"_{i}")
            continue
        lines += _value_step(name, i, parameter)
        passed.append(f"_true if {name} else _false" if parameter.kind == "bool" else f"_to_c{i}({name})")
    kept = [f"{n}._kept" for p, n in zip(parameters, names) if p.kind in ADDRESSES]
    entry = ", ".join(["_operator", "_place", *kept])
    lines += [
        "    try:",
        "        _state = _local.state",
        "        _stream, _handle, _keep = _state.call",
        "        if stream is not None:",
        "            _handle = stream._handle",
        "            _keep = stream._keep",
        "            _stream = stream",
        "            if stream._device != _state.device:",
        "                raise _AttributeError",
        "        _size, _executor, _size_ref, _executor_ref = _out = _state.out",
        "    except (_AttributeError, _TypeError):",
        "        _stream, _handle, _keep = _choose(stream)",
        "        _size, _executor, _size_ref, _executor_ref = _out = _make_out()",
        "        _state = _local.state",
        "    _state.out = None",
        f"    _code = _phase1({', '.join([*passed, '_size_ref', '_executor_ref'])})",
        "    if _code:",
        f"        _operator._fail(_code, 1, {values})",
        "    _before = _len(_keep)",
        f"    if _before < {NOTED}:",
        "        try:",
        "            _frame = _getframe(1)",
        "            _place = _frame.f_code, _frame.f_lasti",
        "        except _ValueError:",  # no Python called it: atexit, a thread started with the operator
        "            _place = None",
        "    else:",
        "        _place = None",
        "    if _size:",
        "        _memory = _workspace(_stream, _size.value, _executor)",
        "        _code = _phase2(_memory.argument, _size, _executor, _handle)",
        f"        _keep.append(({entry}, _memory))",
        "    else:",
        "        _code = _phase2(None, _zero, _executor, _handle)",
        f"        _keep.append(({entry}))",
        "    _state.out = _out",
        "    if _code:",
        f"        _operator._fail(_code, 2, {values})",
        "    if _before >= _stream._limit:",
        "        _stream.settle()",
    ]
    return "\n".join(lines) + "\n"


def bind_source(prototype: Prototype) -> str:
    """Source of a function that brings arguments into C order: (operator, *args, **kwargs) -> tuple."""
    names = identifiers(prototype)
    return "\n".join([*_header(prototype, names), f"    return {_tuple(names)}"]) + "\n"


def signature(prototype: Prototype) -> inspect.Signature:
    """What a call takes, without the operator's own means of telling what does not fit."""
    kind = inspect.Parameter
    return inspect.Signature(
        [
            kind("_operator", kind.POSITIONAL_ONLY),
            *(kind(name, kind.POSITIONAL_OR_KEYWORD) for name in identifiers(prototype)),
            kind("stream", kind.KEYWORD_ONLY, default=None),
            kind("copy_back", kind.KEYWORD_ONLY, default=False),
        ]
    )
