"""C prototype text -> Prototype record: the only description of an operator that the package has."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from .abi import BY_VALUE
from .declarations import Declaration, scan, split_top

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
    "aclFormat": "format",
    "bool": "bool",
    "_Bool": "bool",
    "float": "float",
    "double": "float",
}
# C's own words for integers -> the name with a width (LP64, which both of CANN's hosts are)
_WORDS = {
    "char": "int8_t",
    "short": "int16_t",
    "int": "int",
    "long": "int64_t",
    "unsigned char": "uint8_t",
    "unsigned short": "uint16_t",
    "unsigned": "uint32_t",
    "unsigned long": "uint64_t",
}
_WITH_ROLE = ("tensor", "tensor_list")
_PHASE1 = "GetWorkspaceSize"
_LARGEST = "GetMaxWorkspaceSize"
_RESULTS = ("aclnnStatus", "aclError", "int32_t", "int")
_PHASE2 = ["void*", "uint64_t", "aclOpExecutor*", "aclrtStream"]


class PrototypeError(ValueError):
    """Text that is not the phase-1 prototype of an operator, or uses a C type that is not known."""


@dataclass(frozen=True)
class Parameter:
    """One parameter. `role` is in, out, inout or attr; `kind` says which Python values it takes."""

    name: str
    ctype: str
    kind: str
    role: str
    optional: bool

    @property
    def is_pointer(self) -> bool:
        return self.ctype.endswith("*")

    @property
    def limits(self) -> tuple[int, int]:
        """Smallest and largest value of an integer parameter."""
        from .values import integer_limits

        return integer_limits(self.ctype)

    def __str__(self) -> str:
        return f"{self.ctype} {self.name}"


@dataclass(frozen=True)
class Prototype:
    """An operator: its name and its parameters in C order, without workspaceSize and executor.

    `header` is file:line. `largest` says that there is a third entry point, <name>GetMaxWorkspaceSize.
    """

    name: str
    parameters: tuple[Parameter, ...]
    header: str = ""
    largest: bool = False

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.parameters))})"


@dataclass(frozen=True)
class Header:
    """What a header declares. `others` are functions that are no operators, as C text; `problems` say what
    could not be read. Both begin with file:line."""

    operators: dict[str, Prototype]
    others: tuple[str, ...]
    problems: tuple[str, ...]


def _base(words: list[str]) -> tuple[str, list[str]]:
    """(type, words after it) from the words before and after a type: `unsigned long x`, `aclTensor x`."""
    own = ("unsigned", "signed", "char", "short", "int", "long")
    count = 0
    while count < len(words) and words[count] in own:
        count += 1
    if not count:
        return words[0], words[1:]
    used = words[:count]
    sign = "unsigned " if "unsigned" in used else ""
    size = next((w for w in ("char", "short", "long") if w in used), "" if sign else "int")
    return _WORDS[(sign + size).strip()], words[count:]


def _parameter(text: str, position: int, function: str, where: str) -> tuple[str, str]:
    """(C type, name) of one parameter declaration; the type is written `const T*` or `T`."""
    unreadable = f"cannot read parameter {position + 1} of {function}, {' '.join(text.split())!r}"
    tokens = re.findall(r"[\w:]+|[*&]|\[\s*\w*\s*\]|\S", text.split("=")[0])
    skipped = ("struct", "enum", "volatile", "restrict", "__restrict", "__restrict__", "register")
    tokens = ["*" if t[0] in "[&" else t for t in tokens if t not in skipped]
    strange = [t for t in tokens if not re.fullmatch(r"[\w:]+|\*", t)]
    first_star = next((i for i, t in enumerate(tokens) if t == "*"), len(tokens))
    before = [t for t in tokens[:first_star] if t != "const"]
    # IN, OUT, ACL_IN ...: a macro in front of a type
    while len(before) > 1 and re.fullmatch(r"_?[A-Z][A-Z0-9_]*", before[0]):
        del before[0]
    if strange or not before:
        raise PrototypeError(f"{where}: {unreadable}")
    base, rest = _base(before)
    rest += [t for t in tokens[first_star:] if t not in ("const", "*")]
    stars = tokens.count("*")
    if len(rest) > 1:
        raise PrototypeError(f"{where}: {unreadable}")
    # const on a value by itself says nothing to the caller
    prefix = "const " if stars and "const" in tokens[:first_star] else ""
    if base == "int8_t" and before[0] == "char" and stars:
        base = "char"
    return f"{prefix}{base}{'*' * stars}", rest[0] if rest else f"arg{position}"


def _parameters(declaration: Declaration, where: str) -> list[tuple[str, str]]:
    parts = split_top(declaration.parameters)
    if parts in ([""], ["void"]):
        return []
    return [_parameter(p, i, declaration.name, where) for i, p in enumerate(parts)]


def _kind(ctype: str) -> str:
    bare = ctype.removeprefix("const ")
    if bare in _KINDS:
        return _KINDS[bare]
    number = bare.removesuffix("*")
    is_int = number in BY_VALUE and re.fullmatch(r"u?int\d*(_t)?|size_t", number)
    if bare.endswith("*") and (is_int or number in ("void", "float", "double", "bool")):
        return "pointer"
    return "int" if is_int else ""


def _role(ctype: str, name: str, kind: str, documented: str) -> str:
    if kind == "pointer":
        return "in" if ctype.startswith("const ") else "out"
    if kind not in _WITH_ROLE:
        return "attr"
    if re.search(r"Ref(Optional)?$", name):
        return "inout"
    if "out" in documented.lower():
        return "inout" if "in" in documented.lower().replace("inout", "in") else "out"
    return "in" if ctype.startswith("const ") else "out"


def _prototype(declaration: Declaration, where: str) -> Prototype:
    name = declaration.name.removesuffix(_PHASE1)
    declared = _parameters(declaration, where)
    if [t.replace("size_t", "uint64_t") for t, _ in declared[-2:]] != ["uint64_t*", "aclOpExecutor**"]:
        raise PrototypeError(f"{where}: {declaration.name} must end with uint64_t *, aclOpExecutor **")
    result = declaration.result.split()[-1] if declaration.result else ""
    if result not in _RESULTS and not result.isupper():
        raise PrototypeError(f"{where}: {declaration.name} returns {declaration.result}, not aclnnStatus")
    parameters: list[Parameter] = []
    for ctype, parameter in declared[:-2]:
        kind = _kind(ctype)
        if not kind:
            raise PrototypeError(
                f"{where}: parameter {parameter} of {name} has the type {ctype}, which is not known"
            )
        if any(p.name == parameter for p in parameters):
            raise PrototypeError(f"{where}: {name} has two parameters {parameter}")
        role = _role(ctype, parameter, kind, declaration.documented.get(parameter, ""))
        parameters.append(Parameter(parameter, ctype, kind, role, "Optional" in parameter))
    return Prototype(name, tuple(_with_hidden_outputs(name, parameters)), where)


def _with_hidden_outputs(name: str, parameters: list[Parameter]) -> list[Parameter]:
    """Outputs that C declares const, told by name: the last ones of generated operators, out or ...Out, and
    what an in-place operator overwrites, its first tensor."""
    found = list(parameters)
    for i in reversed(range(len(found))):
        parameter = found[i]
        named_out = parameter.name == "out" or re.search(r"Out(Optional)?$", parameter.name)
        if parameter.kind not in _WITH_ROLE or not (named_out or parameter.role == "out"):
            break
        if parameter.role == "in":
            found[i] = replace(parameter, role="out")
    tensors = [i for i, p in enumerate(found) if p.kind in _WITH_ROLE]
    in_place = "Inplace" in name and not any(p.role == "inout" for p in found)
    if in_place and tensors:
        found[tensors[0]] = replace(found[tensors[0]], role="inout")
    return found


def read_header(text: str, where: str) -> Header:
    """Reads all declarations of a header; each is an operator, another function or a problem."""
    declarations, unreadable = scan(text)
    operators: dict[str, Prototype] = {}
    others: list[str] = []
    problems = [f"{where}:{p.line}: {p.message}" for p in unreadable]
    second: dict[str, tuple[Declaration, str]] = {}
    largest: dict[str, str] = {}
    for declaration in declarations:
        place = f"{where}:{declaration.line}"
        if declaration.name.endswith(_LARGEST):
            largest[declaration.name.removesuffix(_LARGEST)] = place
        elif declaration.name.endswith(_PHASE1) and declaration.name != _PHASE1:
            try:
                made = _prototype(declaration, place)
            except PrototypeError as problem:
                problems.append(str(problem))
                continue
            known = operators.setdefault(made.name, made)
            if known.parameters != made.parameters:
                problems.append(
                    f"{place}: {made.name} is declared otherwise at {known.header}; that one counts"
                )
        else:
            second.setdefault(declaration.name, (declaration, place))
    for name, (declaration, place) in second.items():
        try:
            types = [t for t, _ in _parameters(declaration, place)]
        except PrototypeError as problem:
            problems.append(str(problem))
            continue
        if name not in operators:
            others.append(f"{place}: {declaration.result} {name}({', '.join(types)})")
        elif types != _PHASE2:
            problems.append(f"{place}: {name} takes ({', '.join(types)}), not ({', '.join(_PHASE2)})")
    for name, place in largest.items():
        if name in operators:
            operators[name] = replace(operators[name], largest=True)
        else:
            problems.append(f"{place}: {name}{_LARGEST} is declared without {name}{_PHASE1}")
    return Header(operators, tuple(others), tuple(problems))


def parse(text: str, name: str | None = None, where: str = "prototype") -> Prototype:
    """Reads the phase-1 prototype of operator `name` (or of the only one) from C text, e.g. a header.

    Comments, attributes, macros, any layout, `const T *` and `T const *` are fine. PrototypeError says file
    and line.
    """
    header = read_header(text, where)
    if name is not None and name in header.operators:
        return header.operators[name]
    if name is None and len(header.operators) > 1:
        raise PrototypeError(f"{where}: declares several operators, {', '.join(header.operators)}; say which")
    if name is None and header.operators and not header.problems:
        return next(iter(header.operators.values()))
    about = [p for p in header.problems if name is None or name in p]
    if about:
        raise PrototypeError("; ".join(about))
    raise PrototypeError(f"{where}: no declaration of {name or '<operator>'}{_PHASE1}(...)")
