"""aclnn.check: every rule that a call would break, without running anything."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import dtypes
from ..enums import aclDataType, aclFormat
from . import rules as _rules
from .rules import Argument, Attribute, Rules, Violation
from .rules_call import NOT_GIVEN, Call, ScalarInfo, TensorInfo

if TYPE_CHECKING:
    from ..operator import Operator

_log = logging.getLogger("aclnn_py")


@dataclass(frozen=True)
class TensorSpec:
    """A tensor that need not exist, for `aclnn.check`: shape, dtype, and if wanted strides (in elements) and
    format."""

    shape: tuple[int, ...]
    dtype: Any = "float32"
    strides: tuple[int, ...] | None = None
    format: aclFormat = aclFormat.ACL_FORMAT_ND

    def __post_init__(self) -> None:
        shape: Any = self.shape
        if isinstance(shape, (str, bytes)):
            raise TypeError(
                f"TensorSpec: shape must be a tuple of ints, got {self.shape!r}; dtype comes second"
            )


def check(
    operator: str | Operator, /, *arguments: Any, soc: str | None = None, **named: Any
) -> list[Violation]:
    """Every rule that the call would break, in the order of phase 1's checks: the first one's code is what
    phase 1 returns. An empty list: phase 1 accepts.

        aclnn.check("aclnnMhcPreSinkhorn", x=x, phi=phi, alpha=alpha, bias=bias, soc="Ascend910B3")

    Arguments have the names, and by position the order, of the C parameters; `hc_mult` is hcMult, and
    the operator may be called as in aclnn.ops, "mhc_pre_sinkhorn". Tensors are aclnn.Tensor, NumPy
    arrays, `aclnn.TensorSpec`, a pair (shape, dtype), or anything else with a shape and a dtype; None is
    NULL. Rules about arguments that are left out are not judged, so that inputs can be checked before there
    are outputs; attributes left out have their usual values.

    Nothing runs and no memory is taken. `soc` is a SoC's name or A2, A3, 950; without it, that of the
    libraries in use is asked. Errors: LookupError for an operator without rules; TypeError for arguments
    that it has not got; ValueError for a SoC that is not known, and if there is none to ask.
    """
    operator = getattr(operator, "name", operator)
    if not isinstance(operator, str):
        raise TypeError(f"operator must be a name such as 'aclnnAdd', got {operator!r}")
    rules = _rules.find(operator)
    if rules is None:
        raise LookupError(f"there are no rules for {operator}; there are for {', '.join(_rules.known())}")
    given = _by_name(rules, arguments, named)
    described: dict[str, Any] = {}
    misfits = []
    for name, value in given.items():
        argument = rules.argument(name)
        if getattr(value, "closed", False) is True:
            misfits.append(Violation(name, "is closed", "must be open", None, f"{name} is not closed"))
        try:
            described[name] = describe(argument, value)
        except TypeError as problem:
            misfits.append(
                Violation(
                    name, str(problem), f"must be {_wanted(argument)}", None, f"{name} is {_wanted(argument)}"
                )
            )
    name, family = _soc(soc)
    return misfits + list(rules.violations(Call(rules, described, name, family)))


def hints(operator: str, names: Sequence[str], values: Sequence[Any]) -> tuple[Violation, ...]:
    """The rules broken by a call that was made and failed; () if this package knows none for the operator."""
    from .. import libraries

    rules = _rules.find(operator)
    if rules is None or not rules.are_for(names):
        return ()  # another release's operator of that name
    described = {}
    try:
        if rules.partial and not libraries.is_emulator(libraries.root()):
            return ()
        for argument, value in zip(rules.arguments, values):
            described[argument.name] = describe(argument, value)
        soc = current_soc()
        broken = rules.violations(Call(rules, described, soc, _rules.family(soc)))
        theirs = {own: name for own, name in zip(rules.by_name, names) if own != name}
        return tuple(_renamed(violation, theirs) for violation in broken)
    except Exception:  # a flaw in rules must not take the place of the error that they are to explain
        _log.debug("the rules of %s could not be applied", operator, exc_info=True)
        return ()


def _renamed(violation: Violation, names: dict[str, str]) -> Violation:
    """The same with other names of arguments."""
    if not names:
        return violation
    words = re.compile(rf"\b(?:{'|'.join(names)})\b")
    argument, was, must, rule = (
        words.sub(lambda match: names[match[0]], text)
        for text in (violation.argument, violation.was, violation.must, violation.rule)
    )
    return Violation(argument, was, must, violation.code, rule)


def current_soc() -> str:
    """The SoC's name that the opened libraries report; "" if none are opened."""
    from .. import libraries
    from ..abi import acl

    if not libraries.opened():
        return ""
    name = acl.aclrtGetSocName()
    return name.decode() if name else ""


def _soc(soc: str | None) -> tuple[str, str]:
    """(name, family). Opens the libraries if the name is needed from them."""
    from .. import libraries

    if soc is None:
        if not libraries.opened() and not libraries.is_available():
            raise ValueError("there are no libraries to ask for the SoC: say which, e.g. soc='Ascend910B3'")
        libraries.root()
        from ..abi import acl

        name = acl.aclrtGetSocName()
        soc = name.decode() if name else ""
    family = _rules.family(soc)
    if not family:
        raise ValueError(
            f"soc must begin with Ascend910B, Ascend910_93 or Ascend950, or be A2, A3 or 950, got {soc!r}"
        )
    return soc, family


def _by_name(rules: Rules, arguments: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    names = [argument.name for argument in rules.arguments]
    if len(arguments) > len(names):
        raise TypeError(f"{rules.name} has {len(names)} arguments, got {len(arguments)}: {', '.join(names)}")
    given = dict(zip(names, arguments))
    for name, value in named.items():
        camel = re.sub(r"_([a-z])", lambda match: match[1].upper(), name.removesuffix("_"))
        spellings = (rules.renamed.get(n, n) for n in (name, camel, f"{camel}Optional"))
        real = next((n for n in spellings if n in names), name)
        if real not in names:
            raise TypeError(f"{rules.name} has no argument {name}; it has {', '.join(names)}")
        if real in given:
            raise TypeError(f"{rules.name}: {name} is given twice")
        given[real] = value
    return given


_WANTED = {
    "tensor": "a tensor or None",
    "scalar": "a number, an aclnn.Scalar or None",
    "int array": "a list of ints or None",
    "int": "an int",
    "float": "a number",
    "bool": "True or False",
    "str": "a str or None",
    "dtype": "a dtype",
}


def _wanted(argument: Argument) -> str:
    return _WANTED[argument.type if isinstance(argument, Attribute) else argument.kind]


def describe(argument: Argument, value: Any) -> Any:
    """A Python value, or one converted for a call, as the rules see it. TypeError saying what came."""
    from ..values import shown

    if value is NOT_GIVEN or isinstance(value, (TensorInfo, ScalarInfo)):
        return value
    if value is None or type(value).__name__ == "_Null":
        if argument.accepts(None):
            return None
        raise TypeError("is None")
    try:
        made = _DESCRIBE[argument.type if isinstance(argument, Attribute) else argument.kind](value)
    except (TypeError, ValueError, OverflowError):  # a shape of words, a format that there is not
        made = None
    if made is None or not argument.accepts(made):
        raise TypeError(f"is {shown(value)}")
    return made


def _tensor(value: Any) -> TensorInfo | None:
    from ..tensor import Tensor

    if isinstance(value, Tensor):
        return TensorInfo(value.shape, dtypes.spelled(value.data_type), value.strides, _format(value.format))
    if isinstance(value, TensorSpec):
        return TensorInfo(_lengths(value.shape), _dtype(value.dtype), value.strides, _format(value.format))
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], (tuple, list)):
        return TensorInfo(_lengths(value[0]), _dtype(value[1]))
    if isinstance(value, (bool, int, float, complex, str, bytes, list)):
        return None
    if hasattr(value, "shape") and hasattr(value, "dtype"):  # NumPy's are made dense on their way up
        return TensorInfo(_lengths(value.shape), _dtype(value.dtype))
    return None


def _lengths(shape: Any) -> tuple[int, ...]:
    return tuple(int(n) for n in ((shape,) if isinstance(shape, int) else shape))


def _format(format: aclFormat) -> str:
    return aclFormat(format).name.removeprefix("ACL_FORMAT_")


def _dtype(dtype: Any) -> str:
    """CANN's short name of a dtype, also of one that CANN has not got, and of torch's."""
    if isinstance(dtype, str) and dtype.isupper():
        return "BFLOAT16" if dtype == "BF16" else dtype
    if type(dtype).__module__ == "torch":
        dtype = str(dtype).removeprefix("torch.")
    try:
        return dtypes.spelled(dtypes.element(dtype).acl)
    except TypeError:
        return str(dtype)


def _scalar(value: Any) -> ScalarInfo | None:
    from ..arguments import Scalar

    if isinstance(value, Scalar):
        return ScalarInfo(_dtype(value.dtype), getattr(value, "_values", None))
    if isinstance(value, (np.generic, np.ndarray)):
        return ScalarInfo(_dtype(value.dtype), value.item()) if value.shape == () else None
    for kind, name in ((bool, "BOOL"), (int, "INT64"), (float, "DOUBLE"), (complex, "COMPLEX128")):
        if isinstance(value, kind):
            return ScalarInfo(name, value)
    return None


def _int_array(value: Any) -> tuple[int, ...] | None:
    from ..arguments import IntArray

    items = value._values if isinstance(value, IntArray) else value
    if not isinstance(items, (list, tuple, range, np.ndarray)):
        return None
    if not all(isinstance(i, (int, np.integer)) and not isinstance(i, bool) for i in items):
        return None
    return tuple(int(i) for i in items)


def _int(value: Any) -> int | None:
    return int(value) if isinstance(value, (int, np.integer)) and not isinstance(value, bool) else None


def _float(value: Any) -> float | None:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, value)


def _bool(value: Any) -> bool | None:
    return bool(value) if isinstance(value, (bool, np.bool_)) else None


def _str(value: Any) -> str | None:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else None


def _dtype_value(value: Any) -> str | None:
    try:
        if isinstance(value, int) and not isinstance(value, bool):
            value = aclDataType(value)
        return dtypes.spelled(value) if isinstance(value, aclDataType) else _dtype(value)
    except (TypeError, ValueError):
        return None


_DESCRIBE = {
    "tensor": _tensor,
    "scalar": _scalar,
    "int array": _int_array,
    "int": _int,
    "float": _float,
    "bool": _bool,
    "str": _str,
    "dtype": _dtype_value,
}
