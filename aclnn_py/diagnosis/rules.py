"""What an operator accepts, as data: its arguments, and its checks in the order in which phase 1 makes them.

One module per operator in `aclnn_py/ops/constraints/` holds a `RULES`. From it come `aclnn.check`, the hint
lines of an exception and the table of the operator's page. The order matters: the first check that fails
decides the status code.

Conditions and lengths are Python expressions over argument names (`x.shape`, `x.rank`, `x.dtype`, `x.size`,
`len(lengths)`, `numIters`), symbols, `soc` (A2, A3 or 950) and `given('x')`; see `rules_call`. A check that
needs what is NULL, left out or wrong already is not made: what is wrong once is reported once.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

from ..status import lookup
from .rules_call import NOT_GIVEN, Call, ScalarInfo, TensorInfo, Unknown, shapes
from .rules_checks import (
    INVALID,
    NULLPTR,
    OFF_950,
    ON_950,
    Addressable,
    AxisLength,
    Check,
    Dense,
    DType,
    NotEmpty,
    NotNull,
    PublicFormat,
    Rank,
    SameFormat,
    Shape,
    Violation,
    spoken,
)
from .rules_values import Accept, AllOrNone, OnlyOn, Require, Value

__all__ = [
    "Accept",
    "Addressable",
    "AllOrNone",
    "Argument",
    "Attribute",
    "AxisLength",
    "Check",
    "DType",
    "Dense",
    "INVALID",
    "IntArray",
    "NULLPTR",
    "NotEmpty",
    "NotNull",
    "OFF_950",
    "ON_950",
    "OnlyOn",
    "PublicFormat",
    "Rank",
    "Require",
    "Rules",
    "SameFormat",
    "Scalar",
    "Shape",
    "Tensor",
    "Value",
    "Violation",
    "family",
    "find",
    "known",
    "module_name",
    "spoken",
    "summary",
    "texts",
]

_FAMILIES = (("Ascend950", "950"), ("Ascend910_93", "A3"), ("Ascend910B", "A2"))


def family(soc: str) -> str:
    """A2, A3 or 950 for a SoC's name such as Ascend910B3 (or for such a family itself); "" for others."""
    known = {name for _, name in _FAMILIES}
    return soc if soc in known else next((name for start, name in _FAMILIES if soc.startswith(start)), "")


@dataclass(frozen=True)
class Argument:
    """One parameter of the operator, called as in C. `used_if`: a condition; if it does not hold, the
    argument is ignored. `default` stands for one that `aclnn.check` did not get."""

    name: str
    used_if: str | None = field(default=None, kw_only=True)
    default: Any = field(default=NOT_GIVEN, kw_only=True)
    note: str = field(default="", kw_only=True)  # for the operator's page
    optional: bool = field(default=False, kw_only=True)
    kind = ""

    def accepts(self, value: Any) -> bool:
        """Whether a described value is of this kind."""
        return value is None


@dataclass(frozen=True)
class Tensor(Argument):
    """`dtypes`: short names separated by blanks. `shape`: "[*tokens, n, c]", alternatives separated by "|".
    `like`: a tensor whose dtype this one must have."""

    dtypes: str = ""
    shape: str = ""
    like: str = field(default="", kw_only=True)
    kind = "tensor"

    def accepts(self, value: Any) -> bool:
        return value is None or isinstance(value, TensorInfo)


@dataclass(frozen=True)
class Scalar(Argument):
    """An aclScalar."""

    kind = "scalar"

    def accepts(self, value: Any) -> bool:
        return value is None or isinstance(value, ScalarInfo)


@dataclass(frozen=True)
class IntArray(Argument):
    """An aclIntArray; a tuple of ints in expressions."""

    kind = "int array"

    def accepts(self, value: Any) -> bool:
        return value is None or isinstance(value, tuple)


@dataclass(frozen=True)
class Attribute(Argument):
    """A number, bool, string or dtype passed by value. `type`: int, float, bool, str or dtype."""

    type: str = "int"
    kind = "attribute"

    def accepts(self, value: Any) -> bool:
        if self.type in ("str", "dtype"):
            return value is None or isinstance(value, str)
        if self.type == "bool":
            return isinstance(value, bool)
        number = int if self.type == "int" else (int, float)
        return isinstance(value, number) and not isinstance(value, bool)


@dataclass(frozen=True)
class Rules:
    """What one operator accepts.

    `symbols`: name -> expression (or function of the scope). `axes`: symbol -> words for it on the page.
    `samples`: valid calls to start tests from, each the values of free symbols and attributes; `soc` in one
    lists the families it is for. `partial`: for an operator of which the emulator has a part, what CANN takes
    besides; on CANN the rules then explain no errors. `renamed`: what headers of other releases call
    arguments, and what these are called here.
    """

    name: str
    arguments: tuple[Argument, ...]
    checks: tuple[Check, ...]
    symbols: Mapping[str, Any] = field(default_factory=dict)
    axes: Mapping[str, str] = field(default_factory=dict)
    samples: tuple[Mapping[str, Any], ...] = ()
    partial: str = ""
    renamed: Mapping[str, str] = field(default_factory=dict)

    def are_for(self, names: Sequence[str]) -> bool:
        """Whether an operator with parameters of these names is the one that the rules are about."""
        return [self.renamed.get(name, name) for name in names] == list(self.by_name)

    @cached_property
    def by_name(self) -> dict[str, Argument]:
        return {argument.name: argument for argument in self.arguments}

    def argument(self, name: str) -> Argument:
        return self.by_name[name]

    def binders(self, symbol: str) -> list[Tensor]:
        """The tensors in whose declared shape the symbol stands alone as an axis."""
        return self._binders.get(symbol, [])

    @cached_property
    def _binders(self) -> dict[str, list[Tensor]]:
        found: dict[str, list[Tensor]] = {}
        for argument in self.arguments:
            if isinstance(argument, Tensor) and argument.shape:
                names = {axis.symbol for axes in shapes(argument.shape) for axis in axes if axis.symbol}
                for symbol in names:
                    found.setdefault(symbol, []).append(argument)
        return found

    def spelled(self, shape: str) -> str:
        """A declared shape for a person."""
        return shape.replace(" | ", " or ")

    def violations(self, call: Call) -> Iterator[Violation]:
        """Every rule the call breaks, in the order of the checks."""
        return (violation for _, violation in self.judged(call))

    def judged(self, call: Call) -> Iterator[tuple[Check, Violation]]:
        """The violations with the checks that found them."""
        for check in self.checks:
            if not call.holds(check.when):
                continue
            if isinstance(check, Accept):
                return
            for name in check.names:
                argument = self.by_name.get(name)
                if argument is not None and not call.holds(argument.used_if):
                    continue
                try:
                    problem = check.problem(call, name)
                except Unknown:
                    continue
                if problem is not None:
                    yield check, problem


def summary(rules: Rules, check: Check) -> str:
    """A check as a line of Markdown: what must be, when, and the status code."""
    condition = f" ({_code(spoken(check.when))})" if check.when else ""
    if isinstance(check, Accept):
        return f"{_code(spoken(check.when))}: accepted here, without the checks that follow; {check.says}"
    names = ", ".join(f"`{name}`" for name in check.names)
    texts = list(dict.fromkeys(check.described(rules, name) for name in check.names))
    if len(texts) == 1:
        said = f"{names} {texts[0]}"
    else:
        what = "dtype" if isinstance(check, DType) else "shape" if isinstance(check, Shape) else ""
        said = f"{what} of {names}, as in the table" if what else "; ".join(texts)
    return f"{said}{condition}: {check.code} {lookup(check.code).name}"


def _code(condition: str) -> str:
    """`if x > 0` with the expression set as code."""
    return f"if `{condition.removeprefix('if ')}`" if condition.startswith("if ") else condition


def module_name(operator: str) -> str:
    """aclnnMhcPreV2 -> mhc_pre_v2: the module of an operator's constraints."""
    words = operator.removeprefix("aclnn")
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", words).lower()


@cache
def find(operator: str) -> Rules | None:
    """The rules of an operator, by its name or that of its function in aclnn.ops; None if it has none here.

    They are loaded at the first use.
    """
    name = module_name(operator)
    if not re.fullmatch(r"[a-z]\w*", name):
        return None
    package = f"{__package__.rpartition('.')[0]}.ops.constraints"
    try:
        module = importlib.import_module(f"{package}.{name}")
    except ModuleNotFoundError as missing:
        if missing.name == f"{package}.{name}":
            return None
        raise
    rules: Rules = module.RULES
    return rules if operator in (rules.name, name) else None


def known() -> list[str]:
    """Names of the operators that have rules here, sorted."""
    import pkgutil

    from ..ops import constraints

    found = []
    for module in pkgutil.iter_modules(constraints.__path__):
        if not module.name.startswith("_"):
            found.append(importlib.import_module(f"{constraints.__name__}.{module.name}").RULES.name)
    return sorted(found)


def texts(operator: str, code: int | None = None) -> list[str]:
    """The checks of an operator as lines of plain text, or those of one status code; [] without rules."""
    rules = find(operator)
    if rules is None:
        return []
    chosen = [
        check
        for check in rules.checks
        if code is None or (check.code == code and not isinstance(check, Accept))
    ]
    return [summary(rules, check).replace("`", "") for check in chosen]
