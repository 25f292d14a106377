"""Log files as they come: plain, packed by gzip, or UTF-16, as PowerShell writes what a program says."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from .logs import Log

_GZIP = b"\x1f\x8b"
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_NAMES = (".log", ".txt", ".out", ".err", ".gz")


def looks_like_a_path(text: str) -> bool:
    """Whether text can only be meant as the name of a file."""
    return "/" in text or text.endswith(_NAMES)


def in_folder(folder: Path) -> Iterator[Path]:
    """The log files in a folder and below, the oldest first."""
    found = []
    for path in folder.rglob("*"):
        try:
            if ".log" in path.name and path.is_file():
                found.append((path.stat().st_mtime, path))
        except OSError:  # it went away, or may not be looked at
            continue
    yield from (path for _, path in sorted(found))


def read(log: Log, stream: BinaryIO, name: str) -> str:
    """Reads a stream that has `peek`. What was wrong with it, "" if nothing was: the part before counts."""
    try:
        log.read(_plain(stream))
    except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
        return f"{name}: damaged gzip data: {problem}"
    return ""


def _plain(stream: Any) -> BinaryIO:
    head = stream.peek(2)[:2]
    if head == _GZIP:
        packed: Any = gzip.GzipFile(fileobj=stream)
        return _plain(packed) if packed.peek(2) else packed
    if head in _UTF16:
        return codecs.EncodedFile(stream, "utf-8", "utf-16", "replace")
    return stream  # type: ignore[no-any-return]
