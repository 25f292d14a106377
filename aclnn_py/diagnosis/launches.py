"""What is on a stream: the last operators launched, for the report of a fault that shows only later.

A stream keeps an entry per call until it knows that the call is done, for the sake of the memory that it
uses. The entry begins with the operator and the place of the call, which is the caller's code object and the
offset of an instruction in it; the line is worked out here. Frames would tell the same, but keep every local
variable alive. With many calls unfinished the later ones note no place (see callcode): they are told
as after the last one that did, apart from those alike that did, since they may be from elsewhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from types import CodeType
from typing import Any, NamedTuple

SHOWN = 8  # of the last launches
_PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep
MOST_OF_A_LIST = 3  # tensors


class MadeIn(NamedTuple):
    """Where a plan was made, in place of where it was called: replaying a plan takes no notes."""

    code: CodeType
    offset: int


def line_of(code: CodeType, offset: int) -> int:
    """The line of the instruction at a byte offset."""
    found = code.co_firstlineno
    for start, end, line in code.co_lines():
        if start <= offset < end and line is not None:
            found = line
    return found


def what(entry: tuple[Any, ...]) -> str:
    """The operator of an entry with its tensors: "aclnnAdd  self FLOAT [2, 3], out FLOAT [2, 3]"."""
    if isinstance(entry[0], str):  # a copy, an event
        return entry[0]
    operator, _, *kept = entry
    tensors = [p for p in operator.prototype.parameters if p.kind in ("tensor", "tensor_list")]
    shapes = [f"{p.name} {_shown(p.kind, item)}" for p, item in zip(tensors, kept) if item is not None]
    return "  ".join(filter(None, [str(operator), ", ".join(shapes)]))


def where(entry: tuple[Any, ...]) -> str:
    """Where it was called: "at train.py:12 in step"; "" if that was not noted."""
    if isinstance(entry[0], str) or entry[1] is None:
        return ""
    place = entry[1]
    code, offset = place
    verb = "plan made at" if isinstance(place, MadeIn) else "at"
    if code.co_filename.startswith(_PACKAGE):  # a call with copy_back, which waits: the traceback tells more
        return ""
    return f"{verb} {_short(code.co_filename)}:{line_of(code, offset)} in {code.co_name}"


def last(entries: Iterable[tuple[Any, ...]], most: int = SHOWN) -> tuple[str, ...]:
    """The last launches as lines, latest first; neighbours that are alike are told once, with a number."""
    groups: list[list[Any]] = []  # what, where, number
    for entry in reversed(list(entries)):
        operator, site = what(entry), where(entry)
        if groups and groups[-1][:2] == [operator, site]:
            groups[-1][2] += 1
        elif len(groups) < most:
            groups.append([operator, site, 1])
        else:
            groups.append([operator, site, 1])  # only for its place
            if site:
                break
    lines = []
    for i, (operator, site, number) in enumerate(groups[:most]):
        near = next((s for _, s, _ in groups[i + 1 :] if s), "")
        told = site or (f"after the one {near}" if near else "")
        lines.append("  ".join(filter(None, [operator, told, f"({number} times)" if number > 1 else ""])))
    return tuple(lines)


def _shown(kind: str, kept: tuple[Any, ...]) -> str:
    if kind == "tensor_list":
        items = ["None" if item is None else _shown("tensor", item) for item in kept[:MOST_OF_A_LIST]]
        more = [f"... {len(kept)} in all"] if len(kept) > MOST_OF_A_LIST else []
        return f"[{', '.join(items + more)}]"
    _, view, element = kept
    return f"{element.acl.name.removeprefix('ACL_')} {list(view.shape)}"


def _short(path: str) -> str:
    """The path from the working folder where that is shorter."""
    try:
        relative = os.path.relpath(path)
    except (OSError, ValueError):
        return path
    return relative if not relative.startswith("..") and os.path.isfile(relative) else path
