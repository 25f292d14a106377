"""The text of an exception: what failed, what is wrong with it, what CANN says, the arguments, what to do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from . import rules
from .messages import Message

if TYPE_CHECKING:
    from ..status import AclError, Argument

_PHASES = {1: " (phase 1, GetWorkspaceSize)", 2: " (phase 2, launch)"}
_MOST_VIOLATIONS = 10
# Of a fault of the device: whose it is, and how to find that
_EARLIER = re.compile(r" ?Belongs to [^.]*\bEARLIER\b[^.]*\.")
_BLOCK = re.compile(r"(?:Run with|else) ACLNN_PY_BLOCKING=1 to see which operator(?:\.|; )")


def text(error: AclError) -> str:
    """`str(error)`."""
    status = error.status
    phase = _PHASES.get(error.phase or 0, "")
    lines = [
        f"{error.op}{phase} returned {error.code} {status.name or '(not a known code)'}: {status.meaning}"
    ]
    broken = error.violations
    lines += [f"  {violation}" for violation in broken[:_MOST_VIOLATIONS]]
    if len(broken) > _MOST_VIOLATIONS:
        lines.append(f"  and {len(broken) - _MOST_VIOLATIONS} more: see .violations, or aclnn.check")
    own = rules.find(error.op) if error.phase == 1 and error.code // 1000 == 161 else None
    known = own is not None and not own.partial and own.are_for([a.name for a in error.arguments])
    if known and not broken:
        lines.append("  it breaks no rule that this package knows of the operator: see what CANN says")
    lines += _said(error)
    if error.hint:
        lines.append("  " + error.hint.replace("\n", "\n  "))
    if error.launched:
        lines.append("  last launched on this stream, the latest first:")
        lines += [f"    {launch}" for launch in error.launched]
    if error.arguments:
        lines.append("  arguments:")
        lines += _table(error.arguments, {violation.argument for violation in broken})
    if broken:
        lines.append(f"  first to check: {_first(error)}")
    else:
        causes, remedy = usual(error)
        if causes:
            lines.append(f"  usual cause: {causes}")
        if remedy:
            lines.append(f"  to do: {remedy}")
    if error.library:
        lines.append(f"  served by {error.library}")
    if broken:
        lines.append(
            f"  all rules: aclnn-py explain --op {error.op} {error.code}  (docs: {error.op}, constraints)"
        )
    return "\n".join(lines)


def usual(error: AclError) -> tuple[str, str]:
    """Causes and remedy of the table; where calls were waited for, without what that settled."""
    causes, remedy = error.status.causes, error.status.remedy
    if "waited for one by one (ACLNN_PY_BLOCKING)" in error.hint:
        causes = _EARLIER.sub("", causes)
        remedy = _BLOCK.sub("", remedy).removesuffix("; ")
    return causes, remedy[:1].upper() + remedy[1:]


def is_about(error: AclError, words: str) -> bool:
    """Whether a sentence names the operator or function that failed."""
    name = re.escape(error.op.partition("(")[0])
    return re.search(rf"\b{name}(?:GetWorkspaceSize|_\d+)?\b", words) is not None


def leading(error: AclError) -> Message | None:
    """The report that is about this call: the first that names it, else the first one.

    The library leads with what was reported first in this thread, which may be left from a call of somebody
    else who never read it.
    """
    reports = error.parsed
    return next((m for m in reports if is_about(error, m.text)), reports[0] if reports else None)


def _said(error: AclError) -> list[str]:
    """What the library says: the report about this call, then the others."""
    own = leading(error)
    if own is None:
        return []
    # An operator's text need not name it, but then it may be an old one that nobody read
    sure = error.phase is None or is_about(error, own.text)
    label = "CANN says" if sure else "CANN says (this may be about an earlier call of this thread)"
    lines = _shown(f"  {label}: ", own)
    others = [m for m in error.parsed if m is not own]
    if others:
        lines.append("    also pending in this thread:")
    for other in others:
        lines += _shown("      ", other)
    return lines


def _shown(start: str, message: Message) -> list[str]:
    first, *rest = str(message).splitlines() or [""]
    origin = "" if message.device is None else f"device {message.device}: "
    lines = [f"{start}{origin}{first}", *(f"      {line}" for line in rest)]
    if message.cause:
        lines.append(f"      possible cause: {message.cause}")
    if message.solution:
        lines.append(f"      solution: {message.solution}")
    return lines


def _table(arguments: tuple[Argument, ...], wrong: set[str]) -> list[str]:
    """The arguments in columns; those that break a rule are marked."""
    columns = [(a.dtype, str(list(a.shape)), *a.layout) for a in arguments if a.shape is not None]
    wide = [max((len(row[i]) for row in columns), default=0) for i in range(3)]
    name = max(len(a.name) for a in arguments)
    lines = []
    for a in arguments:
        shown = a.text
        if a.shape is not None:
            cells = (a.dtype, str(list(a.shape)), a.layout[0])
            shown = "  ".join(f"{cell:<{w}}" for cell, w in zip(cells, wide)) + f"  {a.format}"
        lines.append(f"  {'>' if a.name in wrong else ' '} {a.name:<{name}}  {shown}".rstrip())
    return lines


def _first(error: AclError) -> str:
    first = error.violations[0]
    if first.code is not None and first.code != error.code:
        return f"{first.argument}, though this package would expect {first.code} for it"
    return f"{first.argument} (rule: {first.rule})"
