"""What a check is, and the checks of tensors. A check says what is wrong with an argument, what it must be,
and with which status code it is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..values import brief
from .rules_call import Call, TensorInfo, Unknown, position, shapes, symbols_of

if TYPE_CHECKING:
    from .rules import Argument, Rules

NULLPTR, INVALID = 161001, 161002
ON_950, OFF_950 = "soc == '950'", "soc != '950'"
_SPOKEN = {
    ON_950: "on Ascend 950",
    OFF_950: "on A2 and A3",
    "soc == 'A2'": "on A2",
    "soc == 'A3'": "on A3",
}


def spoken(condition: Any) -> str:
    """A condition for a person."""
    if callable(condition):
        return str(condition.__doc__ or condition.__name__).strip()
    return _SPOKEN.get(condition, f"if {condition}")


def spelled_dtype(name: str) -> str:
    """CANN's short name, with NumPy's where that is another word: FLOAT (float32)."""
    other = {"FLOAT": "float32", "DOUBLE": "float64"}.get(name)
    return f"{name} ({other})" if other else name


@dataclass(frozen=True)
class Violation:
    """One rule that a call breaks: the argument, what it was, what it must be, the status code, the rule.

    `code` is what phase 1 returns if no other rule is broken before; None where Python refuses with a
    TypeError before any C call. `str()` is one line.
    """

    argument: str
    was: str
    must: str
    code: int | None
    rule: str

    def __str__(self) -> str:
        return f"{self.argument}: {self.was}, {self.must}"


class Check:
    """One kind of check. `names` are the arguments it is made for, in order."""

    names: tuple[str, ...] = ()
    code: int = INVALID
    when: Any = None

    def problem(self, call: Call, name: str) -> Violation | None:
        """What is wrong with one argument. Unknown if that cannot be judged."""
        raise NotImplementedError

    def described(self, rules: Rules, name: str) -> str:
        """What the argument must be, for the operator's page."""
        raise NotImplementedError

    def violation(self, call: Call, name: str, was: str, must: str) -> Violation:
        rule = f"{name} {self.described(call.rules, name)}"
        return Violation(name, was, must, self.code, rule + (f" {spoken(self.when)}" if self.when else ""))


class _Named(Check):
    def __init__(self, *names: str, when: Any = None, code: int | None = None) -> None:
        self.names, self.when = names, when
        if code is not None:
            self.code = code


class NotNull(_Named):
    """The arguments must be given."""

    code = NULLPTR

    def problem(self, call: Call, name: str) -> Violation | None:
        if call.is_given(name):
            return None
        why = f" {spoken(self.when)}" if self.when else ""
        return self.violation(call, name, "NULL (None)", f"must be given{why}")

    def described(self, rules: Rules, name: str) -> str:
        return "must be given"


class DType(_Named):
    """The dtypes that the arguments were declared with, or `allowed` instead; and the dtype of `like`."""

    def __init__(self, *names: str, allowed: str = "", when: Any = None, code: int | None = None) -> None:
        super().__init__(*names, when=when, code=code)
        self.allowed = allowed

    def _allowed(self, argument: Argument) -> list[str]:
        return (self.allowed or getattr(argument, "dtypes", "")).split()

    def problem(self, call: Call, name: str) -> Violation | None:
        argument = call.rules.argument(name)
        dtype = call.tensor(name).dtype
        allowed = self._allowed(argument)
        if allowed and dtype not in allowed:
            call.wrong_dtype.add(name)
            return self.violation(
                call,
                name,
                f"dtype {spelled_dtype(dtype)}",
                f"must be {' or '.join(map(spelled_dtype, allowed))}",
            )
        like = getattr(argument, "like", "")
        if like and like not in call.wrong_dtype and dtype != call.tensor(like).dtype:
            wanted = spelled_dtype(call.tensor(like).dtype)
            return self.violation(
                call, name, f"dtype {spelled_dtype(dtype)}", f"must be {wanted}, the dtype of {like}"
            )
        return None

    def described(self, rules: Rules, name: str) -> str:
        argument = rules.argument(name)
        like = getattr(argument, "like", "")
        said = [" or ".join(self._allowed(argument))] + ([f"the dtype of {like}"] if like else [])
        return f"dtype must be {', '.join(filter(None, said))}"


class Rank(_Named):
    """The number of dimensions: `be` is a tuple of them, or an expression such as "x.rank - 1"."""

    def __init__(
        self, *names: str, be: str | int | tuple[int, ...], when: Any = None, code: int | None = None
    ) -> None:
        super().__init__(*names, when=when, code=code)
        self.be = (be,) if isinstance(be, int) else be

    def problem(self, call: Call, name: str) -> Violation | None:
        tensor = call.tensor(name)
        allowed = (call.evaluate(self.be),) if isinstance(self.be, str) else self.be
        if tensor.rank in allowed:
            return None
        call.wrong.add(name)
        ranks = " or ".join(map(str, allowed))
        where = f" {spoken(self.when)}" if self.when else ""
        said = self._meant(call, name, allowed)
        return self.violation(
            call,
            name,
            f"{tensor.rank} dimensions, shape {list(tensor.shape)}",
            f"must have {ranks}{said}{where}",
        )

    def _meant(self, call: Call, name: str, allowed: Sequence[int]) -> str:
        shape = getattr(call.rules.argument(name), "shape", "")
        return f": {call.rules.spelled(shape)}" if shape else ""

    def described(self, rules: Rules, name: str) -> str:
        be = self.be if isinstance(self.be, str) else " or ".join(map(str, self.be))
        return f"must have {be} dimensions"


class Addressable(_Named):
    """No negative length, and few enough elements to address."""

    _MOST = 1 << 40

    def problem(self, call: Call, name: str) -> Violation | None:
        size = 1
        for n in call.tensor(name).shape:
            if n < 0 or n > self._MOST or (n and size > self._MOST // n):
                call.wrong.add(name)
                was = f"shape {list(call.tensor(name).shape)}"
                return self.violation(call, name, was, self.described(call.rules, name))
            size *= n
        return None

    def described(self, rules: Rules, name: str) -> str:
        return "must have no negative length and at most 2^40 elements"


class Shape(_Named):
    """The shape that the arguments were declared with, or `be` instead."""

    def __init__(self, *names: str, be: str = "", when: Any = None, code: int | None = None) -> None:
        super().__init__(*names, when=when, code=code)
        self.be = be

    def problem(self, call: Call, name: str) -> Violation | None:
        shape = self._shape(call.rules, name)
        actual = call.tensor(name).shape
        expected = [call.expected(axes) for axes in shapes(shape)]
        if actual in expected:
            return None
        numbers = " or ".join(str(list(e)) for e in expected)
        return self.violation(
            call, name, f"shape {list(actual)}", f"expected {numbers}{self._meaning(call, shape, numbers)}"
        )

    def _meaning(self, call: Call, shape: str, numbers: str) -> str:
        spelled = call.rules.spelled(shape)
        if spelled == numbers:
            return ""
        names = dict.fromkeys(s for axes in shapes(shape) for s in symbols_of(axes))
        values = [(s, call.evaluate(s)) for s in names]
        known = ", ".join(f"{s} = {list(v) if isinstance(v, tuple) else v}" for s, v in values)
        return f" = {spelled}" + (f" with {known}" if known else "")

    def _shape(self, rules: Rules, name: str) -> str:
        return self.be or str(getattr(rules.argument(name), "shape", ""))

    def described(self, rules: Rules, name: str) -> str:
        return f"shape must be {rules.spelled(self._shape(rules, name))}"


class AxisLength(Check):
    """One axis of a tensor's declared shape must have the length that its symbol stands for elsewhere."""

    def __init__(self, name: str, symbol: str, when: Any = None, code: int = INVALID) -> None:
        self.names, self.symbol, self.when, self.code = (name,), symbol, when, code

    def problem(self, call: Call, name: str) -> Violation | None:
        tensor = call.tensor(name)
        if name in call.wrong:
            raise Unknown
        for axes in shapes(call.rules.argument(name).shape):  # type: ignore[attr-defined]
            at = position(axes, self.symbol, tensor.rank)
            if at is not None:
                expected = call.evaluate(self.symbol)
                if tensor.shape[at] == expected:
                    return None
                call.wrong.add(name)  # its axes are not what they seem
                where = at if isinstance(at, int) else at.start
                return self.violation(
                    call,
                    name,
                    f"shape {list(tensor.shape)}",
                    f"axis {where} must be {self._named(call.rules)} = {expected}",
                )
        raise Unknown

    def _named(self, rules: Rules) -> str:
        source = rules.symbols.get(self.symbol)
        return source if isinstance(source, str) and source.isidentifier() else self.symbol

    def described(self, rules: Rules, name: str) -> str:
        source = self._named(rules)
        return f"axis {self.symbol} must be {source if source != self.symbol else 'as elsewhere'}"


class NotEmpty(_Named):
    """No tensor or array without elements."""

    def problem(self, call: Call, name: str) -> Violation | None:
        value = call.value(name)
        if (value.size if isinstance(value, TensorInfo) else len(value)) != 0:
            return None
        was = f"shape {list(value.shape)}, no elements" if isinstance(value, TensorInfo) else "no elements"
        return self.violation(call, name, was, "must not be empty")

    def described(self, rules: Rules, name: str) -> str:
        return "must not be empty"


class Dense(_Named):
    """Contiguous, because nothing copies."""

    def problem(self, call: Call, name: str) -> Violation | None:
        tensor = call.tensor(name)
        if tensor.is_dense:
            return None
        return self.violation(
            call,
            name,
            f"shape {list(tensor.shape)} with strides {list(tensor.strides or ())}",
            "must be contiguous: the operator writes it as if dense",
        )

    def described(self, rules: Rules, name: str) -> str:
        return "must be contiguous"


class PublicFormat(_Named):
    """No format private to the device, such as FRACTAL_NZ."""

    def problem(self, call: Call, name: str) -> Violation | None:
        tensor = call.tensor(name)
        if not tensor.is_private:
            return None
        return self.violation(call, name, f"private format {tensor.format}", "must be ND")

    def described(self, rules: Rules, name: str) -> str:
        return "format must be ND, not a private one"


class SameFormat(Check):
    """The format of another tensor."""

    def __init__(self, name: str, like: str, when: Any = None, code: int = INVALID) -> None:
        self.names, self.like, self.when, self.code = (name,), like, when, code

    def problem(self, call: Call, name: str) -> Violation | None:
        own, other = call.tensor(name).format, call.tensor(self.like).format
        if own == other:
            return None
        return self.violation(call, name, f"format {own}", f"must be {other}, the format of {self.like}")

    def described(self, rules: Rules, name: str) -> str:
        return f"format must be that of {self.like}"


def shown(value: Any) -> str:
    if isinstance(value, tuple):
        return brief(value)
    return f'"{value}"' if isinstance(value, str) else str(value)
