"""The arguments of one call as the rules see them: descriptions, without data, memory or library.

Rules are written in terms of argument names and of symbols. A symbol is defined by an expression, or it is
an axis in the declared shape of a tensor: with x declared as [*tokens, n, c], `c` is the last length of x.
"""

from __future__ import annotations

import builtins
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from .. import views

if TYPE_CHECKING:
    from .rules import Rules


class Unknown(Exception):
    """A rule needs what was not given, is NULL, or was found wrong already: it cannot be judged."""


class _NotGiven:
    """Stands for an argument that was left out; NULL is None."""

    def __repr__(self) -> str:
        return "not given"


NOT_GIVEN = _NotGiven()


@dataclass(frozen=True)
class TensorInfo:
    """What a rule may ask of a tensor. dtype and format are CANN's short names: FLOAT16, ND."""

    shape: tuple[int, ...]
    dtype: str
    strides: tuple[int, ...] | None = None  # in elements; None: contiguous
    format: str = "ND"

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def is_empty(self) -> bool:
        return 0 in self.shape

    @property
    def is_dense(self) -> bool:
        return self.strides is None or views.View(self.shape, self.strides).is_contiguous

    @property
    def is_private(self) -> bool:
        return "C1HWC0" in self.format or "FRACTAL" in self.format


@dataclass(frozen=True)
class ScalarInfo:
    dtype: str
    value: Any = None


@dataclass(frozen=True)
class Axis:
    """One entry of a shape: an expression, or `*name` for any number of axes."""

    text: str
    starred: bool
    expression: str

    @property
    def symbol(self) -> str:
        return self.expression if self.expression.isidentifier() else ""


@cache
def shapes(text: str) -> tuple[tuple[Axis, ...], ...]:
    """The alternatives of a declared shape: "[*tokens, n] | [n*n + 2n]". `2n` means 2*n."""
    alternatives = []
    for part in text.split("|"):
        inside = part.strip()
        if not (inside.startswith("[") and inside.endswith("]")):
            raise ValueError(f"a shape is written [a, b], not {part!r}")
        axes = []
        for entry in _split(inside[1:-1]):
            starred = entry.startswith("*")
            bare = entry.removeprefix("*")
            axes.append(Axis(entry, starred, re.sub(r"(?<![\w.])(\d+)(?=[A-Za-z_(])", r"\1*", bare)))
        if sum(axis.starred for axis in axes) > 1:
            raise ValueError(f"a shape has at most one starred entry: {part!r}")
        alternatives.append(tuple(axes))
    return tuple(alternatives)


def _split(text: str) -> list[str]:
    """At commas outside parentheses."""
    parts, depth, start = [], 0, 0
    for i, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == "," and not depth:
            parts.append(text[start:i].strip())
            start = i + 1
    last = text[start:].strip()
    return [*parts, last] if last or parts else []


@cache
def _compiled(expression: str) -> Any:
    return compile(expression.strip(), f"<rule {expression}>", "eval")


def ceil(a: int, b: int) -> int:
    """a / b, rounded up."""
    if b == 0:
        raise Unknown
    return -(-a // b)


_BUILTINS = (
    "abs", "all", "any", "bool", "int", "len", "max", "min", "range", "sorted", "sum", "tuple", "zip",
)  # fmt: skip
_FUNCTIONS = {
    **{name: getattr(builtins, name) for name in _BUILTINS},
    "ceil": ceil,
    "finite": math.isfinite,
    "prod": math.prod,
}


class Scope(dict):
    """The names of an expression, looked up when they are reached: the branch not taken is never asked.

    eval() takes a dict as globals and honours `__missing__` of a subclass, in comprehensions as well. Rules
    that are functions use the names as attributes.
    """

    def __init__(self, call: Call) -> None:
        super().__init__(_FUNCTIONS, __builtins__={}, given=call.is_given)
        self._call = call

    def __missing__(self, name: str) -> Any:
        return self._call.value(name)

    __getattr__ = __missing__


class Call:
    """Arguments of one call of one operator on one SoC family; see the module."""

    def __init__(self, rules: Rules, arguments: Mapping[str, Any], soc: str = "", family: str = "") -> None:
        self.rules = rules
        self.arguments = dict(arguments)
        self.soc, self.family = soc, family
        self.assumed: dict[str, Any] = {}  # what a wrong attribute should have been
        self.wrong: set[str] = set()  # arguments whose value or shape says nothing about others
        self.wrong_dtype: set[str] = set()
        self.scope = Scope(self)
        self._pending: set[str] = set()

    def given(self, name: str) -> Any:
        """The argument, None for NULL, a default if it was left out and has one, else NOT_GIVEN."""
        value = self.arguments.get(name, NOT_GIVEN)
        return self.rules.argument(name).default if value is NOT_GIVEN else value

    def is_given(self, name: str) -> bool:
        """For expressions: whether an argument is not NULL."""
        value = self.given(name)
        if value is NOT_GIVEN:
            raise Unknown
        return value is not None

    def tensor(self, name: str) -> TensorInfo:
        """The tensor, or Unknown for NULL and for one left out."""
        value = self.given(name)
        if not isinstance(value, TensorInfo):
            raise Unknown
        return value

    def value(self, name: str) -> Any:
        """What a name in an expression stands for."""
        if name in self.assumed:
            return self.assumed[name]
        if name == "soc":
            if not self.family:
                raise Unknown
            return self.family
        if name in self.rules.by_name:
            value = self.given(name)
            if value is None or value is NOT_GIVEN or name in self.wrong:
                raise Unknown
            return value
        if name in self._pending:
            raise RecursionError(f"{self.rules.name}: the symbol {name} is defined by itself")
        self._pending.add(name)
        try:
            definition = self.rules.symbols.get(name)
            return self.bound(name) if definition is None else self.evaluate(definition)
        finally:
            self._pending.discard(name)

    def bound(self, symbol: str) -> Any:
        """The symbol's axis or axes in the first tensor that was declared with it and is here."""
        for argument in self.rules.binders(symbol):
            value = self.given(argument.name)
            if value is NOT_GIVEN:
                continue
            if not isinstance(value, TensorInfo) or argument.name in self.wrong:
                raise Unknown
            for axes in shapes(argument.shape):
                found = position(axes, symbol, value.rank)
                if found is not None:
                    return value.shape[found]
            raise Unknown
        if not self.rules.binders(symbol):
            raise NameError(f"{self.rules.name}: {symbol} is no argument, symbol or axis")
        raise Unknown

    def evaluate(self, expression: str | Callable[[Any], Any]) -> Any:
        """Unknown if it needs what is not known; also where the arguments make no sense of it, as x[3]."""
        try:
            return expression(self.scope) if callable(expression) else eval(_compiled(expression), self.scope)
        except (IndexError, ZeroDivisionError, OverflowError, TypeError):
            raise Unknown from None

    def holds(self, condition: str | Callable[[Any], Any] | None) -> bool:
        """False for a condition that cannot be judged."""
        try:
            return condition is None or bool(self.evaluate(condition))
        except Unknown:
            return False

    def expected(self, axes: tuple[Axis, ...]) -> tuple[int, ...]:
        """The lengths that a declared shape stands for in this call."""
        lengths: list[int] = []
        for axis in axes:
            value = self.evaluate(axis.expression)
            lengths += value if axis.starred else [value]
        return tuple(lengths)


def position(axes: tuple[Axis, ...], symbol: str, rank: int) -> int | slice | None:
    """Where a symbol stands in a shape of that rank; a slice for a starred one; None if it does not fit."""
    star = next((i for i, axis in enumerate(axes) if axis.starred), None)
    if (rank != len(axes)) if star is None else (rank < len(axes) - 1):
        return None
    for i, axis in enumerate(axes):
        if axis.symbol == symbol:
            if axis.starred:
                return slice(i, rank - (len(axes) - 1 - i))
            return i if star is None or i < star else i + rank - len(axes)
    return None


def symbols_of(axes: tuple[Axis, ...]) -> list[str]:
    """The names in a shape, in the order of their first use."""
    found = (re.findall(r"\b[A-Za-z_][\w.]*\b(?!\()", axis.expression) for axis in axes)
    return list(dict.fromkeys(name for names in found for name in names if name not in _FUNCTIONS))
