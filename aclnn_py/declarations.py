"""Function declarations in C header text: what is there, and on which line.

Not a C parser: it knows comments, string literals, preprocessor lines, attributes, visibility macros, `extern
"C"` and function bodies, which is what headers of operators are made of. Both branches of an `#if` are read;
`#if 0` is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_LITERAL_OR_COMMENT = re.compile(
    r'"(?:\\.|[^"\\\n])*"' r"|'(?:\\.|[^'\\\n])+'" r"|//(?:\\\n|[^\n])*" r"|/\*.*?(?:\*/|\Z)", re.S
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
_IF_0 = re.compile(r"^[ \t]*#[ \t]*if[ \t]+0\b.*?^[ \t]*#[ \t]*(?:endif|else)\b", re.S | re.M)
_TRANSPARENT = re.compile(r'(?:\bextern\s*""|\bnamespace\b[\s\w:]*)\s*\Z')
_PARAM_DOC = re.compile(r"[@\\]param\s*\[([^\]]*)\]\s*\**(\w+)")
_ATTRIBUTE = re.compile(r"\b(?:__attribute__|__attribute|__declspec|alignas|_Alignas|__asm__)\s*(?=\()")
_NO_FUNCTION = re.compile(  # by its first word, a type with a body, or a value
    r"\s*(?:(?:typedef|using|template|static_assert|_Static_assert|friend)\b"
    r"|(?:struct|enum|union|class)\b[^(]*\{"
    r"|[^(]*=)"
)
_MACRO = re.compile(r"[A-Z_][A-Z0-9_]*")


@dataclass(frozen=True)
class Declaration:
    """One function declaration: `result` and `parameters` are C text without comments and attributes."""

    name: str
    result: str
    parameters: str
    line: int
    documented: dict[str, str]  # parameter -> what the comment before the declaration says: in, out, ...


@dataclass(frozen=True)
class Problem:
    """Text that looks like a declaration but could not be read."""

    line: int
    message: str


def _without_comments(text: str) -> tuple[str, list[tuple[int, str]]]:
    """(text without comments and string contents, the comments with where in the new text they were)."""
    parts: list[str] = []
    comments: list[tuple[int, str]] = []
    length = position = 0
    for match in _LITERAL_OR_COMMENT.finditer(text):
        found = match[0]
        replacement = {"/": "\n" * found.count("\n") or " ", '"': '""', "'": "0"}[found[0]]
        between = text[position : match.start()]
        parts += [between, replacement]
        length += len(between) + len(replacement)
        if found[0] == "/":
            comments.append((length, found))
        position = match.end()
    parts.append(text[position:])
    return "".join(parts), comments


def _without_directives(text: str) -> str:
    return _DIRECTIVE.sub(_blank, _IF_0.sub(_blank, text))


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def closing(text: str, opening: int) -> int:
    """Where the bracket that opens at `opening` closes; -1 if it does not."""
    depth = 0
    for match in re.compile(r"[()\[\]{}]").finditer(text, opening):
        depth += 1 if match[0] in "([{" else -1
        if depth == 0:
            return match.start()
    return -1


def balanced(text: str) -> bool:
    """Whether as many round brackets close as open."""
    return text.count("(") == text.count(")")


def split_top(text: str) -> list[str]:
    """Splits at the commas that are in no bracket."""
    parts, depth, start = [], 0, 0
    for match in re.finditer(r"[()\[\]{}<>,]", text):
        c = match[0]
        if c == ",":
            if depth == 0:
                parts.append(text[start : match.start()])
                start = match.end()
        else:
            depth += 1 if c in "([{<" else -1
    parts.append(text[start:])
    return [p.strip() for p in parts]


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """(offset, text) of what stands at the outermost level, `extern "C"` and namespaces seen through."""
    start = position = 0
    for_block = re.compile(r"[;{}(]")
    while True:
        match = for_block.search(text, position)
        if match is None:
            if text[start:].strip():
                yield start, text[start:]
            return
        c, at = match[0], match.start()
        if c == "(":
            end = closing(text, at)
            if end < 0:
                yield start, text[start:]
                return
            position = end + 1
        elif c == ";":
            yield start, text[start:at]
            start = position = at + 1
        elif c == "}" or _TRANSPARENT.search(text[start:at]):
            start = position = at + 1
        else:
            head = text[start:at]
            end = closing(text, at)
            end = len(text) - 1 if end < 0 else end
            position = end + 1
            if "(" in head and not re.search(r"\b(?:struct|union|enum|class)\b[^()]*\Z", head):
                yield start, head
                start = position


def _without_attributes(text: str) -> str:
    """Blanks __attribute__((...)), [[...]] and the like, so that offsets stay."""
    while True:
        match = _ATTRIBUTE.search(text)
        if match is None:
            break
        end = closing(text, text.index("(", match.end()))
        end = len(text) - 1 if end < 0 else end
        text = text[: match.start()] + re.sub(r"[^\n]", " ", text[match.start() : end + 1]) + text[end + 1 :]
    return re.sub(r"\[\[.*?\]\]", _blank, text, flags=re.S)


def _declarator(text: str) -> tuple[re.Match[str], int] | None:
    """The `name (` of the function that a statement declares, and where its parameter list closes."""
    groups = []
    position = 0
    while True:
        match = re.compile(r"\b([A-Za-z_]\w*)\s*\(").search(text, position)
        if match is None:
            break
        end = closing(text, match.end() - 1)
        if end < 0:
            return None
        groups.append((match, end))
        position = end + 1
    # A macro is upper case, or holds nothing but literals: DEPRECATED("..."), SINCE(8)
    functions = [
        (m, end)
        for m, end in groups
        if not _MACRO.fullmatch(m[1])
        and not re.fullmatch(r'\s*(?:""|\d[\w.]*)(?:\s*,?\s*(?:""|\d[\w.]*))*\s*', text[m.end() : end])
    ]
    return functions[-1] if functions else None


def scan(text: str) -> tuple[list[Declaration], list[Problem]]:
    """Every function declaration of C header text in its order, and what could not be read."""
    bare, comments = _without_comments(text)
    clean = _without_directives(bare)
    found: list[Declaration] = []
    problems: list[Problem] = []
    used = 0  # comments before this one belong to earlier declarations
    for start, statement in _statements(clean):
        if "(" not in statement or _NO_FUNCTION.match(statement):
            continue
        plain = _without_attributes(statement)
        first = start + len(statement) - len(statement.lstrip())
        declared = _declarator(plain)
        if declared is None or not plain[: declared[0].start()].strip():
            line = clean.count("\n", 0, first) + 1
            what = "cannot tell what this declares" if balanced(plain) else "a bracket is not closed"
            problems.append(Problem(line, f"{what}: {_short(statement)}"))
            continue
        match, end = declared
        for macro in re.finditer(r"\b([A-Z_][A-Z0-9_]*)\s*\(([^()]*\baclnn[A-Z]\w*[^()]*)\)", plain):
            if macro.start() < match.start():
                line = clean.count("\n", 0, start + macro.start()) + 1
                problems.append(Problem(line, f"cannot tell what this declares: {_short(macro[0])}"))
        own = [c for at, c in comments[used:] if at <= first + match.start()]
        used += len(own)
        documented = {name: way for c in own for way, name in _PARAM_DOC.findall(c)}
        found.append(
            Declaration(
                match[1],
                " ".join(plain[: match.start()].split()),
                plain[match.end() : end],
                clean.count("\n", 0, start + match.start()) + 1,
                documented,
            )
        )
    return found, problems


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 80 else words[:77] + "..."
