"""Where prototypes come from: the headers of custom packages and of the root in use."""

from __future__ import annotations

import difflib
import re
import threading
from pathlib import Path

from . import roots
from .prototype import Prototype, names_in, parse, strip_comments

_index: dict[Path, dict[str, Path]] = {}  # header folder -> operator -> header
_lock = threading.Lock()


def _file_name(operator: str) -> str:
    """The header name that CANN's operators use: aclnnMhcPre -> aclnn_mhc_pre.h."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", operator).lower() + ".h"


def _folder_index(folder: Path) -> dict[str, Path]:
    with _lock:
        known = _index.get(folder)
    if known is None:
        known = {}
        for header in sorted(folder.glob("*.h")):
            for name in names_in(strip_comments(header.read_text("utf-8", "replace"))):
                known.setdefault(name, header)
        with _lock:
            _index[folder] = known
    return known


def find_header(operator: str, root: Path) -> Path | None:
    """The header that declares the operator, or None."""
    for folder in roots.header_folders(root):
        guess = folder / _file_name(operator)
        if guess.is_file() and operator in names_in(strip_comments(guess.read_text("utf-8", "replace"))):
            return guess
        if folder.is_dir():
            header = _folder_index(folder).get(operator)
            if header is not None:
                return header
    return None


def names(root: Path) -> list[str]:
    """Every operator that the headers declare, sorted."""
    found: set[str] = set()
    for folder in roots.header_folders(root):
        if folder.is_dir():
            found.update(_folder_index(folder))
    return sorted(found)


def close_names(operator: str, root: Path) -> list[str]:
    """Operators with a name much like this one, for error messages."""
    known = [n for n in names(root) if n != operator]
    folded = {n.lower(): n for n in known}
    near = difflib.get_close_matches(operator.lower(), folded, n=3, cutoff=0.75)
    return [folded[n] for n in near]


def find(operator: str, root: Path) -> Prototype | None:
    """The operator's prototype from its header, None if no header has it. PrototypeError if unreadable."""
    header = find_header(operator, root)
    if header is None:
        return None
    return parse(header.read_text("utf-8", "replace"), operator, str(header))
