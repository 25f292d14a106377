"""C prototype text -> Prototype record: the only description of an operator that the package has.

Which tensors an operator writes, C does not always tell: outputs and tensors changed in place may be const.
In this order, a tensor or tensor list is

1. what its own `@param [in]`, `[out]` or `[in,out]` comment says; inout if its name ends with Ref, whatever
   else is said;
2. an output if it is not const;
3. an output if its place and its name say so, see _with_hidden_outputs;
4. of an operator called ...Inplace... without Ref: inout, if it is the first;
5. of an operator that by all this writes nothing: unknown, if it is const and in the last run of tensors.
   An array is not taken there without copy_back=True, for it may be a result that would get lost;
6. an input.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .abi import BY_VALUE

if TYPE_CHECKING:  # imported where text is read: known headers come from the cache
    from .declarations import Declaration

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
_NAMED_OUT = re.compile(r"(?:out|.*(?:Out|_out))(?:Optional)?")
_GRADIENT = re.compile(r"(?:grad|d)_?[Oo]ut(?:Optional)?")  # of the output: an input of a backward operator
_STATISTIC = re.compile(r"softmax(?:Lse|Max|Sum)(?:Optional)?")  # what attention hands to its backward pass
_PHASE1 = "GetWorkspaceSize"
_LARGEST = "GetMaxWorkspaceSize"
_RESULTS = ("aclnnStatus", "aclError", "int32_t", "int")
_PHASE2 = ["void*", "uint64_t", "aclOpExecutor*", "aclrtStream"]


class PrototypeError(ValueError):
    """Text that is not the phase-1 prototype of an operator, or uses a C type that is not known."""


@dataclass(frozen=True)
class Parameter:
    """One parameter. `role` is in, out, inout, unknown (which of these) or attr; `kind` says which Python
    values it takes."""

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

    `header` is file:line. `largest` says that there is a third entry point, <name>GetMaxWorkspaceSize, with
    the same parameters. `phase2` is the parameter list of phase 2 as declared, e.g. "void* workspace,
    uint64_t workspaceSize, aclOpExecutor* executor, const aclrtStream stream"; empty if it is not declared.
    """

    name: str
    parameters: tuple[Parameter, ...]
    header: str = ""
    largest: bool = False
    phase2: str = ""

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.parameters))})"


@dataclass(frozen=True)
class Header:
    """What a header declares. `others` are functions that are no operators, as C text; `problems` say what
    could not be read. Both begin with file:line, or with the file alone if nothing of it could be read."""

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
    tokens = re.findall(r"[\w:]+|[*&]|\[[\s\w]*\]|\S", text.split("=")[0])
    tokens = [t.removeprefix("::").removeprefix("std::") for t in tokens]
    skipped = ("struct", "enum", "volatile", "restrict", "__restrict", "__restrict__", "register")
    tokens = ["*" if t[0] in "[&" else t for t in tokens if t not in skipped]
    strange = [t for t in tokens if not re.fullmatch(r"[\w:]+|\*", t)]
    first_star = next((i for i, t in enumerate(tokens) if t == "*"), len(tokens))
    before = [t for t in tokens[:first_star] if t != "const"]
    # IN, OUT, ACL_IN ...: a macro in front of a type
    macros = 0
    while macros + 1 < len(before) and re.fullmatch(r"_?[A-Z][A-Z0-9_]*", before[macros]):
        macros += 1
    before = before[macros:]
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
    from .declarations import split_top

    parts = split_top(declaration.parameters)
    if parts in ([""], ["void"]):
        return []
    if len(parts) > 1000:
        raise PrototypeError(f"{where}: {declaration.name} has {len(parts)} parameters, more than 1000")
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


def _prototype(declaration: Declaration, where: str, suffix: str = _PHASE1) -> Prototype:
    name = declaration.name.removesuffix(suffix)
    declared = _parameters(declaration, where)
    if [t.replace("size_t", "uint64_t") for t, _ in declared[-2:]] != ["uint64_t*", "aclOpExecutor**"]:
        raise PrototypeError(f"{where}: {declaration.name} must end with uint64_t *, aclOpExecutor **")
    result = declaration.result.split()[-1] if declaration.result else ""
    if result not in _RESULTS and not result.isupper():
        raise PrototypeError(f"{where}: {declaration.name} returns {declaration.result}, not aclnnStatus")
    parameters: dict[str, Parameter] = {}
    for ctype, parameter in declared[:-2]:
        kind = _kind(ctype)
        if not kind:
            raise PrototypeError(
                f"{where}: parameter {parameter} of {name} has the type {ctype}, which is not known"
            )
        if parameter in parameters:
            raise PrototypeError(f"{where}: {name} has two parameters {parameter}")
        role = _role(ctype, parameter, kind, declaration.documented.get(parameter, ""))
        parameters[parameter] = Parameter(parameter, ctype, kind, role, "Optional" in parameter)
    documented = {n for n, way in declaration.documented.items() if "in" in way.lower()}
    return Prototype(name, tuple(_with_hidden_outputs(name, list(parameters.values()), documented)), where)


def _with_hidden_outputs(name: str, parameters: list[Parameter], documented: set[str]) -> list[Parameter]:
    """Gives const tensors their role, but not the `documented` inputs.

    The last run of tensors without another parameter between them holds the outputs. If an attribute stands
    before it and none after it, it holds nothing else in the usual order (inputs, attributes, outputs): a
    const tensor called out, ...Out or ..._out is an output, or one of softmax's statistics, and so are the
    const tensors after it. If not, inputs stand in it too: then those are outputs that are called so without
    interruption at the run's end, non-const ones among them, with the statistics after them; the other const
    tensors after them only if no output is non-const.
    """
    found = list(parameters)

    def promote(i: int, role: str = "out") -> None:
        if found[i].role == "in" and found[i].name not in documented:
            found[i] = replace(found[i], role=role)

    end = next((i + 1 for i in reversed(range(len(found))) if found[i].kind in _WITH_ROLE), 0)
    start = end
    while start and found[start - 1].kind in _WITH_ROLE:
        start -= 1

    def is_named(i: int) -> bool:
        known = found[i].role == "out" or not _GRADIENT.fullmatch(found[i].name)
        return found[i].name not in documented and known and bool(_NAMED_OUT.fullmatch(found[i].name))

    def is_output(i: int) -> bool:
        return found[i].role == "out" or is_named(i)

    if start and end == len(found):
        for i in range(start, end):
            is_const = found[i].role == "in" and found[i].name not in documented
            if is_const and (is_named(i) or _STATISTIC.fullmatch(found[i].name)):
                for after in range(i, end):
                    promote(after)
                break
    else:
        last = next((i for i in reversed(range(start, end)) if is_output(i)), -1)
        first = last
        while first > start and is_output(first - 1):
            first -= 1
        all_const = all(p.role != "out" or p.ctype.startswith("const ") for p in found)
        for i in range(first, end) if last >= 0 else ():
            if i <= last or all_const or _STATISTIC.fullmatch(found[i].name):
                promote(i)
    tensors = [i for i, p in enumerate(found) if p.kind in _WITH_ROLE]
    if "Inplace" in name and tensors and not any(p.role == "inout" for p in found):
        found[tensors[0]] = replace(found[tensors[0]], role="inout")
    if not any(p.role in ("out", "inout") for p in found):
        for i in range(start, end):
            promote(i, "unknown")
    return found


def _written(declaration: Declaration, where: str) -> str:
    """The parameter list in one way of writing; a const value stays const, though a caller need not know."""
    from .declarations import split_top

    parts = []
    texts = split_top(declaration.parameters)
    for text, (ctype, name) in zip(texts, _parameters(declaration, where)):  # a lone void is no parameter
        is_const = "const" in text.split() and not ctype.endswith("*")
        named = ctype if re.fullmatch(r"arg\d+", name) else f"{ctype} {name}"
        parts.append(f"const {named}" if is_const else named)
    return ", ".join(parts)


def _difference(first: Prototype, third: Prototype) -> str:
    """How the parameters of GetMaxWorkspaceSize differ from those of phase 1, empty if they do not. Other
    names for the same types are fine, the same names in another order are not."""
    ours, theirs = first.parameters, third.parameters
    if len(ours) != len(theirs):
        return f"has {len(theirs)} parameters and {_PHASE1} {len(ours)}, at {first.header}"
    names, other = [p.name for p in ours], [p.name for p in theirs]
    is_reordered = set(names) == set(other)
    for a, b in zip(ours, theirs):
        if a.ctype != b.ctype or (is_reordered and a.name != b.name):
            return f"has {b} where {_PHASE1} has {a}, at {first.header}"
    return ""


def read_header(text: str, where: str) -> Header:
    """Reads all declarations of a header; each is an operator, another function or a problem."""
    from .declarations import scan

    declarations, unreadable = scan(text)
    operators: dict[str, Prototype] = {}
    others: list[str] = []
    problems = [f"{where}:{p.line}: {p.message}" for p in unreadable]
    second: dict[str, tuple[Declaration, str]] = {}
    largest: dict[str, Prototype] = {}
    for declaration in declarations:
        place = f"{where}:{declaration.line}"
        suffix = next((s for s in (_LARGEST, _PHASE1) if declaration.name.endswith(s)), "")
        if suffix and declaration.name != suffix:
            try:
                made = _prototype(declaration, place, suffix)
            except PrototypeError as problem:
                problems.append(str(problem))
                continue
            if suffix == _LARGEST:
                largest[made.name] = made
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
            continue
        operators[name] = replace(operators[name], phase2=_written(declaration, place))
        if types != _PHASE2:
            problems.append(f"{place}: {name} takes ({', '.join(types)}), not ({', '.join(_PHASE2)})")
    for name, third in largest.items():
        if name not in operators:
            problems.append(f"{third.header}: {name}{_LARGEST} is declared without {name}{_PHASE1}")
        elif otherwise := _difference(operators[name], third):
            problems.append(f"{third.header}: {name}{_LARGEST} {otherwise}; it is not offered")
        else:
            operators[name] = replace(operators[name], largest=True)
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
