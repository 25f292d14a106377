"""C prototype text -> Prototype record: the only description of an operator that the package has."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from .abi import BY_VALUE

# C type without const and spaces -> what kind of Python value it takes. By-value numbers come from
# abi.BY_VALUE.
_KINDS = {
    "aclTensor*": "tensor",
    "aclTensorList*": "tensor_list",
    "aclScalar*": "scalar",
    "aclScalarList*": "scalar_list",
    "aclIntArray*": "int_array",
    "aclFloatArray*": "float_array",
    "aclBoolArray*": "bool_array",
    "char*": "string",
    "aclDataType": "dtype",
    "bool": "bool",
    "float": "float",
    "double": "float",
}
_OBJECTS_WITH_ROLE = ("tensor", "tensor_list")
_TAIL = ("uint64_t*", "aclOpExecutor**")


class PrototypeError(ValueError):
    """Text that is not the phase-1 prototype of an operator, or uses a C type that is not known."""


@dataclass(frozen=True)
class Parameter:
    """One parameter. `role` is in, out or attr; `kind` says which Python values it takes."""

    name: str
    ctype: str
    kind: str
    role: str
    optional: bool

    @property
    def is_pointer(self) -> bool:
        return self.ctype.endswith("*")

    def __str__(self) -> str:
        return f"{self.ctype} {self.name}"


@dataclass(frozen=True)
class Prototype:
    """An operator: its name and its parameters in C order, without workspaceSize and executor."""

    name: str
    parameters: tuple[Parameter, ...]
    header: str = ""

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.parameters))})"


def strip_comments(text: str) -> str:
    """The text without comments and preprocessor lines; the line numbers stay."""

    def blank(match: re.Match[str]) -> str:
        return "\n" * match[0].count("\n") or " "

    text = re.sub(r"//[^\n]*|/\*.*?\*/", blank, text, flags=re.S)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, text, flags=re.M)


def _split(text: str) -> list[str]:
    """Splits a parameter list at its top-level commas."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    parts.append(text[start:])
    return [p.strip() for p in parts if p.strip() and p.strip() != "void"]


def _closing(text: str, opening: int) -> int:
    depth = 0
    for i in range(opening, len(text)):
        depth += (text[i] == "(") - (text[i] == ")")
        if depth == 0:
            return i
    return -1


def _parameter(text: str, position: int, where: str) -> tuple[str, str]:
    """(C type, name) of one parameter declaration; the type is written `const T*` or `T`."""
    text = text.split("=")[0]
    tokens = re.findall(r"\w+|\*|\[\s*\w*\s*\]|\S", text)
    tokens = ["*" if t.startswith("[") else t for t in tokens if t not in ("struct", "enum")]
    strange = [t for t in tokens if not re.fullmatch(r"\w+|\*", t)]
    if strange:
        raise PrototypeError(f"{where}: cannot read parameter {position + 1}, {text.strip()!r}")
    base_const, base = False, ""
    stars, name = 0, f"arg{position}"
    for token in tokens:
        if token == "const":
            base_const = base_const or stars == 0
        elif token == "*":
            stars += 1
        elif not base:
            base = token
        else:
            name = token
    if not base:
        raise PrototypeError(f"{where}: parameter {position + 1}, {text.strip()!r}, has no type")
    # const on a value by itself says nothing to the caller
    prefix = "const " if base_const and stars else ""
    return f"{prefix}{base}{'*' * stars}", name


def _kind(ctype: str) -> str:
    bare = ctype.removeprefix("const ")
    if bare in _KINDS:
        return _KINDS[bare]
    if bare in BY_VALUE and re.fullmatch(r"u?int\d*(_t)?|size_t", bare):
        return "int"
    return ""


def _role(ctype: str, kind: str) -> str:
    if kind not in _OBJECTS_WITH_ROLE:
        return "attr"
    return "in" if ctype.startswith("const ") else "out"


def parse_at(text: str, start: int, name: str, where: str) -> Prototype:
    """The prototype whose parameter list opens at or after `start` of comment-free `text`."""
    opening = text.index("(", start)
    closing = _closing(text, opening)
    if closing < 0:
        raise PrototypeError(f"{where}: the parameter list of {name}GetWorkspaceSize is not closed")
    declared = [_parameter(p, i, where) for i, p in enumerate(_split(text[opening + 1 : closing]))]
    if tuple(t for t, _ in declared[-2:]) != _TAIL:
        raise PrototypeError(f"{where}: {name}GetWorkspaceSize must end with uint64_t *, aclOpExecutor **")
    parameters = []
    for ctype, parameter in declared[:-2]:
        kind = _kind(ctype)
        if not kind:
            raise PrototypeError(
                f"{where}: parameter {parameter} of {name} has the type {ctype}, which is not known"
            )
        optional = parameter.endswith("Optional")
        parameters.append(Parameter(parameter, ctype, kind, _role(ctype, kind), optional))
    return Prototype(name, tuple(_with_const_outputs(parameters)), where)


def _with_const_outputs(parameters: list[Parameter]) -> list[Parameter]:
    """Generated operators declare outputs const too; told by place and name: the last ones, out or ...Out."""
    found = list(parameters)
    for i in reversed(range(len(found))):
        parameter = found[i]
        is_object = parameter.kind in _OBJECTS_WITH_ROLE
        if not is_object or not (parameter.name == "out" or parameter.name.endswith("Out")):
            break
        found[i] = replace(parameter, role="out")
    return found


def names_in(text: str) -> list[str]:
    """Names of the operators whose phase 1 is declared in comment-free text."""
    return re.findall(r"\b(\w+)GetWorkspaceSize\s*\(", text)


def parse(text: str, name: str | None = None, where: str = "prototype") -> Prototype:
    """Reads the phase-1 prototype of operator `name` (or of the only one) from C text, e.g. a header.

    Comments, attributes, macros, any layout, `const T *` and `T const *` are fine. PrototypeError says file
    and line.
    """
    clean = strip_comments(text)
    found = [
        (m[1], m.start(1))
        for m in re.finditer(r"\b(\w+)GetWorkspaceSize\s*\(", clean)
        if name is None or m[1] == name
    ]
    if not found:
        raise PrototypeError(f"{where}: no declaration of {name or '<operator>'}GetWorkspaceSize(...)")
    if name is None and len({n for n, _ in found}) > 1:
        raise PrototypeError(
            f"{where}: declares several operators, {', '.join(n for n, _ in found)}; say which"
        )
    operator, start = found[0]
    line = clean.count("\n", 0, start) + 1
    return parse_at(clean, start, operator, f"{where}:{line}")
