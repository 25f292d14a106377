"""The checks that are about values: numbers, conditions of any kind, groups of tensors, the SoC."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .rules_call import Call, TensorInfo, Unknown
from .rules_checks import INVALID, Check, Violation, shown, spoken

if TYPE_CHECKING:
    from .rules import Rules


class Value(Check):
    """A number: an argument's name, or an expression `what` whose fault is the argument `about`.

    Give what it must be: `equals`, `one_of`, `between` (both ends included), `above`, `below` (excluded),
    `multiple_of`; they add up. NaN is refused by all of them.
    """

    def __init__(
        self,
        what: str,
        *,
        about: str = "",
        equals: Any = None,
        one_of: tuple[Any, ...] = (),
        between: tuple[Any, Any] | None = None,
        above: Any = None,
        below: Any = None,
        multiple_of: int | None = None,
        when: Any = None,
        code: int = INVALID,
    ) -> None:
        self.what, self.when, self.code = what, when, code
        self.names = (about or what,)
        self.allowed = one_of if equals is None else (equals,)
        self.between, self.above, self.below, self.multiple_of = between, above, below, multiple_of

    def _fits(self, value: Any) -> bool:
        return (
            (not self.allowed or value in self.allowed)
            and (self.between is None or self.between[0] <= value <= self.between[1])
            and (self.above is None or value > self.above)
            and (self.below is None or value < self.below)
            and (self.multiple_of is None or value % self.multiple_of == 0)
        )

    def _must(self) -> str:
        parts = []
        if self.allowed:
            parts.append(" or ".join(shown(a) for a in self.allowed))
        if self.multiple_of is not None:
            parts.append(f"a multiple of {self.multiple_of}")
        if self.between is not None:
            parts.append(f"from {self.between[0]} to {self.between[1]}")
        if self.above is not None:
            parts.append(f"above {self.above}")
        if self.below is not None:
            parts.append(f"below {self.below}")
        return ", ".join(parts)

    def problem(self, call: Call, name: str) -> Violation | None:
        value = call.evaluate(self.what)
        if self._fits(value):
            return None
        if self.what in call.rules.by_name:
            if len(self.allowed) == 1:
                call.assumed[self.what] = self.allowed[0]  # so that what follows from it is no second fault
            else:
                call.wrong.add(self.what)
        own = self.what == name
        was = f"is {shown(value)}" if own else f"{self.what} = {shown(value)}"
        given = call.given(name)
        if isinstance(given, TensorInfo):
            was = f"shape {list(given.shape)}" + ("" if own else f", {was}")
        where = f" {spoken(self.when)}" if self.when else ""
        must = f"must be {self._must()}{where}" if own else f"{self.what} must be {self._must()}{where}"
        return self.violation(call, name, was, must)

    def described(self, rules: Rules, name: str) -> str:
        return f"{'' if self.what == name else self.what + ' '}must be {self._must()}"


class Require(Check):
    """A condition of its own: `that` must hold, `must` says so in words; `was` is an expression to show."""

    def __init__(
        self,
        name: str,
        that: str | Callable[[Any], Any],
        must: str,
        *,
        was: str | Callable[[Any], Any] | None = None,
        when: Any = None,
        code: int = INVALID,
        spoils: bool = False,
    ) -> None:
        self.names, self.that, self.must, self.was = (name,), that, must, was
        self.when, self.code, self.spoils = when, code, spoils

    def problem(self, call: Call, name: str) -> Violation | None:
        if call.evaluate(self.that):
            return None
        if self.spoils:
            call.wrong.add(name)
        return self.violation(call, name, self._was(call, name), f"must {self._filled(call)}")

    def _was(self, call: Call, name: str) -> str:
        value = call.given(name)
        own = (
            f"shape {list(value.shape)}"
            if isinstance(value, TensorInfo)
            else "NULL (None)"
            if value is None
            else f"is {shown(value)}"
        )
        if self.was is None:
            return own
        try:
            found = call.evaluate(self.was)
        except Unknown:
            return own
        if self.was == f"{name}.dtype":
            return f"dtype {found}"
        label = "" if callable(self.was) or self.was == name else f"{self.was} = "
        return f"{own}, {label}{shown(found)}" if isinstance(value, TensorInfo) else f"{label}{shown(found)}"

    def _filled(self, call: Call) -> str:
        """`must` with the value behind each {expression}."""

        def value(match: re.Match[str]) -> str:
            try:
                return shown(call.evaluate(match[1]))
            except Unknown:
                return match[1]

        return re.sub(r"\{([^{}]*)\}", value, self.must)

    def described(self, rules: Rules, name: str) -> str:
        return "must " + re.sub(r"[{}]", "", self.must)


class AllOrNone(Check):
    """Tensors of a group: all given, or none."""

    def __init__(self, *group: str, when: Any = None, code: int = INVALID) -> None:
        self.group, self.when, self.code = group, when, code
        self.names = (group[0],)

    def problem(self, call: Call, name: str) -> Violation | None:
        given = [n for n in self.group if call.is_given(n)]
        null = [n for n in self.group if n not in given]
        if not given or not null:
            return None
        likewise = f" like {', '.join(null[1:])}" if null[1:] else ""
        return Violation(
            null[0],
            f"NULL (None){likewise} while {', '.join(given)} {'is' if len(given) == 1 else 'are'} given",
            "must be given together or not at all",
            self.code,
            f"{self._listed()} are all given or all NULL",
        )

    def _listed(self) -> str:
        return ", ".join(self.group[:-1]) + " and " + self.group[-1]

    def described(self, rules: Rules, name: str) -> str:
        return f"must be given together with {', '.join(self.group[1:])}, or all of them be NULL"


class OnlyOn(Check):
    """The operator, or what `when` says, exists on these SoC families only."""

    def __init__(self, *families: str, about: str, when: Any = None, code: int = INVALID) -> None:
        self.families, self.when, self.code = families, when, code
        self.names = (about,)

    def problem(self, call: Call, name: str) -> Violation | None:
        if call.value("soc") in self.families:
            return None
        return self.violation(
            call, name, f"the SoC is {call.soc or call.family}", f"supported on {self._listed()} only"
        )

    def _listed(self) -> str:
        return " and ".join("Ascend 950" if f == "950" else f for f in self.families)

    def described(self, rules: Rules, name: str) -> str:
        return f"is supported on {self._listed()} only"


class Accept(Check):
    """If `when` holds, phase 1 accepts here and makes no further checks. `says` tells what happens then."""

    def __init__(self, when: Any, says: str) -> None:
        self.when, self.says = when, says

    def problem(self, call: Call, name: str) -> Violation | None:
        return None

    def described(self, rules: Rules, name: str) -> str:
        return self.says
