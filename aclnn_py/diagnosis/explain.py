"""What `aclnn-py explain` says of codes, of an operator's part in them, of logs: rows of (label, text)."""

from __future__ import annotations

from typing import Any

from .. import catalogue, roots
from ..prototype import Prototype, PrototypeError
from ..status import LibraryNotFound, Status, lookup
from .codes import Note, device_note, facts, find, message_note
from .logs import Finding, Log, Process

Row = tuple[str, str]  # label, text


class UnknownOperator(Exception):
    """Neither a header nor a rule tells of the operator."""


_ROLES = {
    "root": "CAUSE",
    "wrapper": "wrapper",
    "follow-up": "follow-up",
    "other": "separate",
}
_MOST = 4  # names in a list


def title(meaning: Status | Note) -> str:
    """The line over the rows of a code."""
    if isinstance(meaning, Note):
        return meaning.name
    return f"{meaning.code} {' / '.join(meaning.names) or '(not a known code)'}"


def rows(meaning: Status | Note) -> list[Row]:
    """What a code means, as rows."""
    if isinstance(meaning, Note):
        if not meaning.code:
            return [("meaning", meaning.meaning), ("to do", meaning.advice)]
        status = lookup(meaning.code)
        found = [("meaning", meaning.meaning), ("cause", meaning.advice)]
        found += [("to do", status.remedy)] if status.remedy else []
        return [*found, ("code", f"acl reports it as {status.code} {status.name}")]
    found = [("layer", meaning.layer), ("meaning", meaning.meaning)]
    found += [("causes", meaning.causes)] if meaning.causes else []
    found += [("to do", meaning.remedy)] if meaning.remedy else []
    if meaning.code in facts()["wrappers"]:
        found.append(("note", "a wrapper in most logs: look for an earlier code"))
    return found


def prototype_of(operator: str) -> Prototype | None:
    """The operator's declaration from the headers of the first root, None if there is none. Opens nothing."""
    try:
        found = roots.candidates()
        return catalogue.find(operator, found[0])
    except (LibraryNotFound, PrototypeError):
        return None


def full_name(operator: str) -> str:
    """`MhcPreV2`, `mhc_pre_v2` and `aclnnMhcPreV2GetWorkspaceSize` all mean aclnnMhcPreV2."""
    name = operator.strip().removesuffix("GetWorkspaceSize")
    if "_" in name or (name[:1].islower() and not name.startswith("aclnn")):
        name = "".join(part[:1].upper() + part[1:] for part in name.removeprefix("aclnn_").split("_"))
    return name if name.startswith("aclnn") else "aclnn" + name


def operator_rows(operator: str, code: int | None = None) -> list[Row]:
    """The operator's parameters, and its rules that can give the code. UnknownOperator without any."""
    prototype = prototype_of(operator)
    texts = _rules(operator, code)
    if prototype is None and not texts:
        try:
            near = catalogue.close_names(operator, roots.candidates()[0])
            also = f"; close names: {', '.join(near)}" if near else ""
        except LibraryNotFound:
            also = "; neither CANN nor the emulator was found, whose headers would tell (aclnn-py doctor)"
        raise UnknownOperator(f"no header declares {operator}, and no rules of it are known{also}")
    found: list[Row] = []
    if prototype is not None:
        wide = max((len(p.name) for p in prototype.parameters), default=0)
        types = max((len(p.ctype) for p in prototype.parameters), default=0)
        for i, p in enumerate(prototype.parameters):
            optional = ", may be None" if p.optional else ""
            found.append(
                ("takes" if not i else "", f"{p.name:<{wide}}  {p.ctype:<{types}}  {p.role}{optional}")
            )
    if texts and prototype is not None and code is not None:
        found.append(("rules", f"that give {code}; the tables are in docs/ops/{operator}.md"))
    for i, text in enumerate(texts):
        headed = i > 0 or (bool(found) and found[-1][0] == "rules")
        found.append(("" if headed else "rules", text))
    if not texts:
        found.append(("rules", "none are known for this operator: see its page in CANN's documents"))
    return found


def _rules(operator: str, code: int | None) -> list[str]:
    end = "" if code is None else f": {code} {lookup(code).name}"
    try:
        from . import rules

        return [text.removesuffix(end) for text in rules.texts(operator, code)]
    except Exception as problem:  # they are in a package that needs NumPy; a damaged one raises anything
        return [f"cannot be read: {problem}"]


def where(finding: Finding) -> str:
    """Lines and counts of a finding."""
    if finding.count == 1:
        return f"line {finding.line}"
    return f"{finding.count} times, lines {finding.line} to {finding.last_line}"


def process_title(process: Process, several: bool) -> str:
    name = f"process {process.pid}" if process.pid else "lines that name no process"
    if process.pid == "others":
        name = "further processes"
    label = f" ({process.label})" if process.label and process.pid not in ("others", process.label) else ""
    return f"{name}{label}" if several or process.pid else ""


def headline(finding: Finding) -> str:
    return f"{_ROLES[finding.role]:<10}{title(finding.status)}  ({where(finding)})"


def short(finding: Finding, root: Finding | None) -> str:
    """What to say of a finding that is not the cause."""
    if finding.role == "wrapper":
        return "only passes on that something else failed"
    if finding.role == "follow-up" and root is not None:
        return f"came after {root.code}: {finding.status.meaning}"
    operators = ", ".join(name for name, _ in finding.operators.most_common(_MOST))
    status = finding.status
    return " ".join(filter(None, [f"of {operators}:" if operators else "", status.meaning, status.remedy]))


def cause_rows(process: Process, finding: Finding) -> list[Row]:
    """What stands around the cause, and what the table says about it."""
    status = finding.status
    found = [("meaning", status.meaning), ("line", f'"{finding.text}"')]
    operators = [name for name, _ in finding.operators.most_common(_MOST)]
    calls = [name for name, _ in finding.calls.most_common(_MOST)]
    if operators:
        found.append(("operator", ", ".join(operators)))
    if calls:
        found.append(("call", ", ".join(calls)))
    if finding.time:
        found.append(("time", finding.time))
    found += _evidence(process)
    found += [("causes", status.causes)] if status.causes else []
    found += [("to do", status.remedy)] if status.remedy else []
    return found


def _evidence(process: Process) -> list[Row]:
    found: list[Row] = []
    for value, line in list(process.notes.items())[:_MOST]:
        note = device_note(value)
        if note is not None:
            found.append(("device", f"{note.name}, {note.meaning.split(': ', 1)[1]} (line {line})"))
    for text, line in list(process.device_texts.items())[:_MOST]:
        known = next((why for part, why in facts()["device_texts"] if part.lower() in text.lower()), "")
        found.append(("device", f'"{text}" (line {line})' + (f": {known}" if known else "")))
    for kernel, line in list(process.kernels.items())[:_MOST]:
        found.append(("kernel", f"{kernel} (line {line})"))
    for name, (line, sentence) in list(process.messages.items())[:_MOST]:
        message = message_note(name)
        meaning = f": {message.meaning[0].lower()}{message.meaning[1:-1]}" if message else ""
        found.append(("library", f"{name} (line {line}){meaning}"))
        if sentence:
            found.append(("", f'"{sentence}"'))
        if message and not message.name.endswith("9999"):
            found.append(("", message.advice))
    for i, text in enumerate(process.under):
        found.append(("below it" if not i else "", text))
    return found


def framework_rows(process: Process) -> list[Row]:
    """What the framework's own codes are worth."""
    found = []
    for name, line in process.frameworks.items():
        note = message_note(name)
        if note is not None:
            kind = "wrapper" if note.advice.startswith("A wrapper") else "framework"
            found.append((kind, f"{name} (line {line}), {note.meaning} {note.advice}"))
    return found


def without_code_rows(process: Process) -> list[Row]:
    """For a process whose log has messages, but no status code."""
    return _evidence(process)


def as_json(log: Log) -> dict[str, Any]:
    """A log as plain data: schema 1."""
    return {
        "schema": 1,
        "lines": log.lines,
        "processes": [
            {
                "pid": p.pid,
                "label": p.label,
                "root": p.root.code if p.root else None,
                "codes": [
                    {
                        "code": f.code,
                        "name": f.status.name,
                        "role": f.role,
                        "line": f.line,
                        "count": f.count,
                        "operators": dict(f.operators),
                        "calls": dict(f.calls),
                        "text": f.text,
                    }
                    for f in sorted(p.findings.values(), key=lambda f: f.line)
                ],
                "frameworks": list(p.frameworks),
                "messages": {name: sentence for name, (_, sentence) in p.messages.items()},
                "device": [note.name for value in p.notes if (note := device_note(value))]
                + list(p.device_texts),
            }
            for p in log.processes()
        ],
    }


__all__ = ["as_json", "find", "full_name", "operator_rows", "rows", "title"]
