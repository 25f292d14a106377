"""Reading the files of aclnn.trace."""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .trace import SCHEMA

_LATEST = 1e11  # seconds: the year 5138


class NotATrace(ValueError):
    """A file that aclnn.trace did not write, or of a schema that is not known."""


@dataclass
class Trace:
    """What a file holds: `heads`, one per process; `calls`; and how many lines could not be read."""

    heads: list[dict[str, Any]] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)
    damaged: int = 0


def read(path: str | Path) -> Trace:
    """The trace in a file. Lines that cannot be read, such as one that was cut off, are counted.

    OSError; NotATrace.
    """
    found = Trace()
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            record = _record(line)
            if record is None:
                found.damaged += bool(line.strip())
            elif record["type"] == "trace":
                if record.get("schema") != SCHEMA:
                    raise NotATrace(
                        f"{path} has schema {record.get('schema')}, this version of aclnn_py reads {SCHEMA}"
                    )
                found.heads.append(record)
            elif record["type"] == "call":
                found.calls.append(record)
    if not found.heads:
        raise NotATrace(f"{path} was not written by aclnn.trace: no line of it says so")
    return found


def _record(line: str) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or not isinstance(record.get("type"), str):
        return None
    for name in ("time", "seconds"):
        value = record.setdefault(name, 0.0)
        if not isinstance(value, (int, float)) or not abs(value) < _LATEST:
            return None
    return record


def chosen(
    calls: Iterable[dict[str, Any]], pattern: str = "", errors: bool = False
) -> Iterator[dict[str, Any]]:
    """Those of an operator (a shell pattern, with or without `aclnn`, any case), or those that failed."""
    wanted = pattern.lower()
    for call in calls:
        name = str(call.get("op", "")).lower()
        fits = not wanted or any(fnmatch.fnmatchcase(n, wanted) for n in (name, name.removeprefix("aclnn")))
        if fits and not (errors and call.get("status") == 0):
            yield call


def shown(argument: Any) -> str:
    """One argument in short: "x FLOAT16 [2, 3]", "numIters 20"."""
    if not isinstance(argument, dict):
        return "?"
    name = argument.get("name", "?")
    if "shape" in argument:
        strides = f" strides {argument['strides']}" if "strides" in argument else ""
        form = f" {argument['format']}" if argument.get("format", "ND") != "ND" else ""
        return f"{name} {argument.get('dtype')} {argument['shape']}{strides}{form}"
    for kind in ("ints", "floats", "bools", "value"):
        if kind in argument:
            value = argument[kind]
            return f"{name} {'NULL' if value is None else value}"
    if "tensors" in argument:
        tensors = argument["tensors"]
        return f"{name} {len(tensors) if isinstance(tensors, list) else '?'} tensors"
    return f"{name} {argument.get('unsupported', '?')}"


@dataclass
class Total:
    """All calls of one operator."""

    calls: int = 0
    failed: int = 0
    seconds: float = 0.0
    longest: float = 0.0


def totals(calls: Iterable[dict[str, Any]]) -> dict[str, Total]:
    """By operator, those first that took the longest."""
    found: dict[str, Total] = {}
    for call in calls:
        total = found.setdefault(str(call.get("op")), Total())
        seconds = float(call.get("seconds") or 0)
        total.calls += 1
        total.failed += call.get("status") != 0
        total.seconds += seconds
        total.longest = max(total.longest, seconds)
    return dict(sorted(found.items(), key=lambda item: -item[1].seconds))
