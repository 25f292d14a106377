"""Where prototypes come from: headers that the user named, then custom packages, then the root in use.

Headers are read when they are asked for. What a folder declares is kept in the user's cache folder
($XDG_CACHE_HOME or ~/.cache, aclnn_py/), per file with its size and time; a cache that cannot be read or
written is done without.
"""

from __future__ import annotations

import difflib
import fnmatch
import hashlib
import json
import logging
import os
import re
import stat
import tempfile
import threading
from collections.abc import Collection
from dataclasses import astuple
from pathlib import Path
from typing import Any

from . import roots
from ._version import __version__
from .prototype import Header, Parameter, Prototype, PrototypeError, read_header

_log = logging.getLogger("aclnn_py")
_FORMAT = f"{__version__}/2"  # of the cache; another one is not read
_lock = threading.RLock()
_added: list[Path] = []
_headers: dict[Path, tuple[int, int, Header]] = {}  # file -> size, time, what it declares
_complete: set[Path] = set()  # folders whose files were all read once


def add_headers(path: str | os.PathLike[str]) -> None:
    """Adds a header, or a folder of headers, to where operators are looked up; the last one added wins.

    FileNotFoundError if it does not exist.
    """
    where = Path(path).resolve()
    where.stat()
    with _lock:
        _added.insert(0, where)


def _places(root: Path) -> list[Path]:
    return [*_added, *roots.header_folders(root)]


_UNREADABLE = "cannot be read"


def _read(file: Path) -> Header:
    """What a header declares. One that cannot be read, such as a link to nowhere, is one problem."""
    try:
        status = file.stat()
        key = status.st_size, status.st_mtime_ns
        known = _headers.get(file)
        if known is not None and known[:2] == key:
            return known[2]
        if not stat.S_ISREG(status.st_mode):  # reading a pipe would wait for ever
            return Header({}, (), (f"{file}: {_UNREADABLE}: it is not a file",))
        header = read_header(file.read_text("utf-8", "replace"), str(file))
    except OSError as error:
        _headers.pop(file, None)
        return Header({}, (), (f"{file}: {_UNREADABLE}: {error.strerror}",))
    _headers[file] = (*key, header)
    return header


def _files(place: Path) -> list[Path]:
    return sorted(place.rglob("*.h")) if place.is_dir() else [place]


def _all(place: Path) -> list[Header]:
    """What each header of a folder declares, by way of the cache."""
    with _lock:
        files = _files(place)
        if len(files) > 1 and place not in _complete:
            _load(place)
        before = dict(_headers)
        headers = [_read(file) for file in files]
        if len(files) > 1 and (place not in _complete and _headers != before):
            _store(place, files)
        _complete.add(place)
        return headers


def _file_name(operator: str) -> str:
    """The header name that CANN's operators use: aclnnMhcPre -> aclnn_mhc_pre.h."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", operator).lower() + ".h"


def find(
    operator: str, root: Path, without: Collection[Path] = (), first: Path | None = None
) -> Prototype | None:
    """The operator's prototype from its header, None if no header has it. Folders `without` do not count, and
    `first` counts before every folder that the user did not add.

    PrototypeError if a header declares the name as something that cannot be called, or in a way that cannot
    be read, or if the header of that name cannot be read.
    """
    other = ""
    places = _places(root) if first is None else [*_added, first, *roots.header_folders(root)]
    for place in places:
        if place in without or not os.path.exists(place):
            continue
        guess = place / _file_name(operator)
        if os.path.isfile(guess) and operator in (near := _read(guess)).operators:
            return near.operators[operator]
        for header in _all(place):
            if operator in header.operators:
                return header.operators[operator]
            for text in (*header.problems, *header.others):
                about = re.search(rf"\b{re.escape(operator)}(GetWorkspaceSize)?\b", text)
                if not other and (about or text.startswith(f"{guess}: {_UNREADABLE}")):
                    note = "" if text in header.problems else " is a function, not a two-phase operator"
                    other = text + note
    if other:
        raise PrototypeError(other)
    return None


def find_header(
    operator: str, root: Path, without: Collection[Path] = (), first: Path | None = None
) -> Path | None:
    """The header that declares the operator, or None; see `find`."""
    try:
        found = find(operator, root, without, first)
    except PrototypeError as problem:
        return Path(str(problem).split(":")[0])
    return None if found is None else Path(found.header.rpartition(":")[0])


def prototypes(root: Path) -> dict[str, Prototype]:
    """Every operator that the headers declare, by name; of two with one name, the one that `find` gives."""
    found: dict[str, Prototype] = {}
    for place in _places(root):
        if os.path.exists(place):
            for header in _all(place):
                for name, prototype in header.operators.items():
                    found.setdefault(name, prototype)
    return dict(sorted(found.items()))


def names(root: Path, pattern: str = "*") -> list[str]:
    """The operators whose name, with or without `aclnn`, fits a shell pattern; case does not matter."""
    want = pattern.lower()
    return [
        name
        for name in prototypes(root)
        if any(fnmatch.fnmatchcase(n, want) for n in (name.lower(), name.lower().removeprefix("aclnn")))
    ]


def report(root: Path) -> tuple[list[str], list[str]]:
    """(functions that are no operators, what could not be read), each with its place."""
    headers = [h for place in _places(root) if os.path.exists(place) for h in _all(place)]
    return [o for h in headers for o in h.others], [p for h in headers for p in h.problems]


def close_names(operator: str, root: Path) -> list[str]:
    """Operators with a name much like this one, for error messages."""
    folded = {n.lower(): n for n in prototypes(root) if n != operator}
    near = difflib.get_close_matches(operator.lower(), folded, n=3, cutoff=0.75)
    return [folded[n] for n in near]


def _cache_file(place: Path) -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "aclnn_py" / f"{hashlib.sha256(str(place).encode()).hexdigest()[:24]}.json"


def _load(place: Path) -> None:
    try:
        head, _, body = _cache_file(place).read_text("utf-8").partition("\n")
        if head != _signature(body):
            return
        for file, size, time, operators, others, problems in json.loads(body):
            made = {name: _restored(name, *rest) for name, *rest in operators}
            _headers.setdefault(Path(file), (size, time, Header(made, tuple(others), tuple(problems))))
    except (OSError, RuntimeError, ValueError, TypeError) as problem:
        _log.debug("no header cache for %s: %s", place, problem)


def _restored(name: str, parameters: list[list[Any]], header: str, largest: bool, phase2: str) -> Prototype:
    return Prototype(name, tuple(Parameter(*p) for p in parameters), header, largest, phase2)


def _store(place: Path, files: list[Path]) -> None:
    rows = []
    for file in files:
        if file not in _headers:  # it could not be read
            continue
        size, time, header = _headers[file]
        operators = [
            (p.name, [astuple(x) for x in p.parameters], p.header, p.largest, p.phase2)
            for p in header.operators.values()
        ]
        rows.append((str(file), size, time, operators, header.others, header.problems))
    body = json.dumps(rows, separators=(",", ":"))
    try:
        target = _cache_file(place)
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


def _signature(body: str) -> str:
    """First line of a cache file: its format, and a sum over the rest, so that damage is noticed."""
    return f"aclnn_py headers {_FORMAT} {hashlib.sha256(body.encode()).hexdigest()}"
