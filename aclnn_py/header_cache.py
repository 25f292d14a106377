"""What the headers of a folder declare, kept between processes.

One file per folder in the user's cache folder ($XDG_CACHE_HOME or ~/.cache, aclnn_py/), with each header's
size and time. A cache that cannot be read or written is done without.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import tempfile
from collections.abc import Mapping
from dataclasses import astuple
from pathlib import Path
from typing import Any

from ._version import __version__
from .prototype import Header, Parameter, Prototype

Known = tuple[int, int, Header]  # a file's size and time, and what it declares

_log = logging.getLogger("aclnn_py")
_FORMAT = f"{__version__}/2"  # of the cache; another one is not read


def file_of(place: Path) -> Path:
    """Where the cache of a folder of headers is."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):  # XDG: a relative one counts as unset
        base = str(Path.home() / ".cache")
    return Path(base) / "aclnn_py" / f"{hashlib.sha256(os.fsencode(place)).hexdigest()[:24]}.json"


def load(place: Path) -> dict[Path, Known]:
    """What was known about the folder's headers; nothing if there is no cache or it is damaged."""
    known: dict[Path, Known] = {}
    try:
        head, _, body = file_of(place).read_text("utf-8").partition("\n")
        if head == _signature(body):
            for file, size, time, operators, others, problems in json.loads(body):
                made = {name: _restored(name, *rest) for name, *rest in operators}
                known[Path(file)] = (size, time, Header(made, tuple(others), tuple(problems)))
    except (OSError, RuntimeError, ValueError, TypeError) as problem:
        _log.debug("no header cache for %s: %s", place, problem)
    return known


def store(place: Path, known: Mapping[Path, Known]) -> None:
    """Writes the folder's cache, whole or not at all."""
    rows = []
    for file, (size, time, header) in known.items():
        operators = [
            (p.name, [astuple(x) for x in p.parameters], p.header, p.largest, p.phase2)
            for p in header.operators.values()
        ]
        rows.append((str(file), size, time, operators, header.others, header.problems))
    body = json.dumps(rows, separators=(",", ":"))
    try:
        target = file_of(place)
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=target.parent)
        try:
            with open(handle, "w", encoding="utf-8") as file_:
                file_.write(_signature(body) + "\n" + body)
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise
    except (OSError, RuntimeError) as problem:
        _log.debug("the header cache for %s is not written: %s", place, problem)


def _restored(name: str, parameters: list[list[Any]], header: str, largest: bool, phase2: str) -> Prototype:
    return Prototype(name, tuple(Parameter(*p) for p in parameters), header, largest, phase2)


def _signature(body: str) -> str:
    """First line of a cache file: its format, and a sum over the rest, so that damage is noticed."""
    return f"aclnn_py headers {_FORMAT} {hashlib.sha256(body.encode()).hexdigest()}"
