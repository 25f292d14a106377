"""Where prototypes come from: headers that the user named, then custom packages, then the root in use.

Headers are read when they are asked for; what a folder declares is kept between processes, see header_cache.
"""

from __future__ import annotations

import fnmatch
import os
import re
import stat
import threading
from collections.abc import Collection
from pathlib import Path

from . import roots
from .prototype import Header, Prototype, PrototypeError, read_header

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
    from . import header_cache

    with _lock:
        files = _files(place)
        first = len(files) > 1 and place not in _complete
        if first:
            for file, known in header_cache.load(place).items():
                _headers.setdefault(file, known)
        before = dict(_headers)
        headers = [_read(file) for file in files]
        if first and _headers != before:
            header_cache.store(place, {file: _headers[file] for file in files if file in _headers})
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
    import difflib

    folded = {n.lower(): n for n in prototypes(root) if n != operator}
    near = difflib.get_close_matches(operator.lower(), folded, n=3, cutoff=0.75)
    return [folded[n] for n in near]
