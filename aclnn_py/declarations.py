"""Function declarations in C header text: what is there, and on which line.

Not a C parser: it knows comments, string literals, preprocessor lines, attributes, visibility macros, `extern
"C"` and function bodies, which is what headers of operators are made of. All branches of an `#if` are read,
but not those of a constant 0. What cannot be told apart is a Problem, never skipped. The time is linear in
the size of the text, whatever it holds: no pattern here may look at the same text again from many starting
points.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

_LITERAL_OR_COMMENT = re.compile(  # no literal begins after a backslash: it was tried from further left
    r'(?<!\\)"(?:\\.|[^"\\\n])*"' r"|(?<!\\)'(?:\\.|[^'\\\n])+'" r"|//(?:\\\n|[^\n])*" r"|/\*.*?(?:\*/|\Z)",
    re.S,
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
_CONDITION = re.compile(r"\s*#\s*(if|ifdef|ifndef|elif|else|endif)\b(.*)", re.S)
_NEVER = re.compile(r"[\s(]*(?:0|false)[\s)]*(?:&&.*)?\Z", re.S)
_PARAM_DOC = re.compile(r"[@\\]param\s*\[([^\[\]]*)\]\s*\**(\w+)")
_ATTRIBUTE = re.compile(r"\b(?:__attribute__|__attribute|__declspec|alignas|_Alignas|__asm__)\s*(?=\()")
_NO_FUNCTION = re.compile(  # by its first word, a type with a body, or a value
    r"(?:(?:typedef|using|template|static_assert|_Static_assert|friend)\b"
    r"|(?:struct|enum|union|class)\b[^(]*\{"
    r"|[^(]*=)"
)
_MACRO = re.compile(r"[A-Z_][A-Z0-9_]*")
_CALL = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
_OPERATOR = re.compile(r"\baclnn[A-Z]")
_DECLARING = re.compile(r"DECL|DEFINE")
_PHASE1_CALL = re.compile(r"\b\w+GetWorkspaceSize\s*\(")
_BRACKET = re.compile(r"[()\[\]{}]")
_STATEMENT_PART = re.compile(r"[;{}(]")


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
    """(text without comments and string contents, the comments with where in the new text they ended)."""
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
    """Blanks preprocessor lines and what an `#if 0` or `#elif 0` holds, up to its own #elif or #else."""
    parts: list[str] = []
    groups: list[bool] = []  # for each #if that is open, whether its branch here is never compiled
    position = never = 0  # of the groups, how many
    for match in _DIRECTIVE.finditer(text):
        between = text[position : match.start()]
        parts += [_blanked(between) if never else between, _blanked(match[0])]
        position = match.end()
        condition = _CONDITION.match(match[0])
        if condition is None:
            continue
        word, rest = condition.groups()
        if not word.startswith("if") and groups:
            never -= groups.pop()
        if word != "endif":
            groups.append(word in ("if", "elif") and bool(_NEVER.match(rest)))
            never += groups[-1]
    rest = text[position:]
    return "".join(parts) + (_blanked(rest) if never else rest)


def _blanked(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _blank(match: re.Match[str]) -> str:
    return _blanked(match[0])


def closing(text: str, opening: int) -> int:
    """Where the bracket that opens at `opening` closes; -1 if it does not."""
    depth = 0
    for match in _BRACKET.finditer(text, opening):
        depth += 1 if match[0] in "([{" else -1
        if depth == 0:
            return match.start()
    return -1


def balanced(text: str) -> bool:
    """Whether as many round brackets close as open."""
    return text.count("(") == text.count(")")


def split_top(text: str) -> list[str]:
    """Splits at the commas that are in no bracket. `<` is one up to a `=`; after it, it is arithmetic."""
    parts, depth, angles, start = [], 0, 0, 0
    is_value = False
    for match in re.finditer(r"[()\[\]{}<>,=]", text):
        c = match[0]
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif depth:
            continue
        elif c == "=":
            is_value = True
        elif c in "<>":
            angles += 0 if is_value else 1 if c == "<" else -1
        elif angles == 0:
            parts.append(text[start : match.start()])
            start, is_value = match.end(), False
    parts.append(text[start:])
    return [p.strip() for p in parts]


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """(offset, text) of what stands at the outermost level, `extern "C"` and namespaces seen through."""
    start = position = 0  # of the statement, and of what was not looked at yet
    is_call = is_type = False  # it has round brackets so far; it says struct or the like after them
    while True:
        match = _STATEMENT_PART.search(text, position)
        if match is None:
            if text[start:].strip():
                yield start, text[start:]
            return
        c, at = match[0], match.start()
        piece = text[position:at]
        if c == "(":
            end = closing(text, at)
            if end < 0:
                yield start, text[start:]
                return
            position = end + 1
            is_call, is_type = True, False
            continue
        if c == "{" and not _is_transparent(piece):
            end = closing(text, at)
            position = len(text) if end < 0 else end + 1
            is_type = is_type or bool(re.search(r"\b(?:struct|union|enum|class)\b", piece))
            if not is_call or is_type:
                continue  # the body of a type: the statement goes on after it
            yield start, text[start:at]
            if end < 0:
                yield at, text[at:]
            start = position
        else:
            if c == ";":
                yield start, text[start:at]
            start = position = at + 1
        is_call = is_type = False


def _is_transparent(head: str) -> bool:
    """Whether what a brace opens after `head` counts as the outermost level: a namespace, extern "C"."""
    last = re.split(r'[^\s\w:"]', head)[-1]
    return "namespace" in re.split(r"\W+", last) or bool(re.search(r'\bextern\s*""\s*\Z', last))


def _without_attributes(text: str) -> str:
    """Blanks __attribute__((...)), [[...]] and the like, so that offsets stay."""
    parts: list[str] = []
    position = 0
    while match := _ATTRIBUTE.search(text, position):
        end = closing(text, match.end())
        end = len(text) if end < 0 else end + 1
        parts += [text[position : match.start()], _blanked(text[match.start() : end])]
        position = end
    return re.sub(r"\[\[[^\[\]]*\]\]", _blank, "".join(parts) + text[position:])


@dataclass
class _Declarators:
    """The functions that a statement declares: (`name (`, where its list closes, result). Most declare one;
    more with a comma between them, or when a `;` is missing. `unclear` are other calls, which may declare;
    `unclosed` is where a list that does not close begins, or -1."""

    functions: list[tuple[re.Match[str], int, str]]
    unclear: list[tuple[int, str]]
    unclosed: int = -1


def _declarators(text: str) -> _Declarators:
    found = _Declarators([], [])
    words: list[str] = []  # before the function, without annotations
    position = 0
    while match := _CALL.search(text, position):
        end = closing(text, match.end() - 1)
        if end < 0:
            found.unclosed = match.end()
            break
        if between := text[position : match.start()].strip():
            words.append(between)
        position = end + 1
        inside = text[match.end() : end]
        # A macro is upper case, or holds nothing but literals: DEPRECATED("..."), since(8)
        is_macro = _MACRO.fullmatch(match[1])
        if not words or is_macro or match[1] in ("noexcept", "throw", "decltype") or _only_literals(inside):
            if _OPERATOR.search(inside) or (is_macro and _DECLARING.search(match[1])):
                found.unclear.append((match.start(), text[match.start() : end + 1]))
                words = []
            continue
        is_second = words[0] == "," and bool(found.functions)
        result = found.functions[-1][2] if is_second else " ".join(words)
        found.functions.append((match, end, result))
        words = []
    return found


def _only_literals(text: str) -> bool:
    words = re.findall(r"[^\s,]+", text)
    return bool(words) and all(re.fullmatch(r'(?:"")+|\d[\w.]*', word) for word in words)


def scan(text: str) -> tuple[list[Declaration], list[Problem]]:
    """Every function declaration of C header text in its order, and what could not be read."""
    bare, comments = _without_comments(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    clean = _without_directives(bare)
    found: list[Declaration] = []
    problems: list[Problem] = []
    used = 0  # comments before this one belong to earlier declarations
    ends = [match.start() for match in re.finditer("\n", clean)]

    def line(offset: int) -> int:
        return bisect_left(ends, offset) + 1

    def lost(offset: int, text: str, why: str) -> None:
        """Reports the operators in text that is not read."""
        for call in _PHASE1_CALL.finditer(text):
            problems.append(Problem(line(offset + call.start()), f"{why}: {_short(text[call.start() :])}"))

    if comments and not _is_closed(comments[-1][1]):
        end, last = comments[-1]
        place = line(end - max(1, last.count("\n")))
        problems.append(Problem(place, f"a comment is not closed: {_short(last)}"))
    for start, statement in _statements(clean):
        text = statement.lstrip()
        first = start + len(statement) - len(text)
        if text.startswith("{"):
            problems.append(Problem(line(first), f"a brace is not closed: {_short(text)}"))
            lost(first, text, "after a brace that is not closed")
            continue
        if "(" not in text:
            continue
        if _NO_FUNCTION.match(text):
            lost(first, text, f"a ; is missing before this, or it declares nothing, in {_short(text, 30)!r}")
            continue
        plain = _without_attributes(statement)
        declared = _declarators(plain)
        for offset, what in declared.unclear:
            problems.append(Problem(line(start + offset), f"cannot tell what this declares: {_short(what)}"))
        is_read = bool(declared.functions or declared.unclear)
        if declared.unclosed >= 0 or not (is_read or balanced(plain)):
            problems.append(Problem(line(first), f"a bracket is not closed: {_short(text)}"))
            after = max(0, declared.unclosed)
            lost(start + after, plain[after:], "after a bracket that is not closed")
        elif not is_read:
            problems.append(Problem(line(first), f"cannot tell what this declares: {_short(text)}"))
        for match, end, result in declared.functions:
            documented: dict[str, str] = {}
            while used < len(comments) and comments[used][0] <= start + match.start():
                documented |= {name: way for way, name in _PARAM_DOC.findall(comments[used][1])}
                used += 1
            place = line(start + match.start())
            inside = plain[match.end() : end]
            found.append(Declaration(match[1], " ".join(result.split()), inside, place, documented))
    return found, problems


def _is_closed(comment: str) -> bool:
    return comment.startswith("//") or (len(comment) > 3 and comment.endswith("*/"))


def _short(text: str, length: int = 80) -> str:
    words = " ".join(text[:400].split())
    return words if len(words) <= length else words[: length - 3] + "..."
