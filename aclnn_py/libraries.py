"""Opening the libraries of the chosen root, and finding symbols in them.

Core libraries (runtime, nnopbase) are opened first, then operator libraries as a symbol is asked for, in the
order custom packages, built-in ones; see `roots`. Every library is opened RTLD_LOCAL, because two operator
libraries may hold different C++ objects of one name, and none is ever closed: their threads and exit handlers
live as long as the process. A custom library that cannot be opened is passed over, with one warning, since
it must not keep others from serving their operators. ACLNN_PY_RTLD_GLOBAL=1 opens the built-in operator
libraries RTLD_GLOBAL before any custom one, for custom libraries that were linked without naming what they
need.
"""

from __future__ import annotations

import ctypes
import logging
import os
import platform
import re
import struct
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import abi, roots
from .status import LibraryNotFound

_log = logging.getLogger("aclnn_py")
_lock = threading.RLock()
_opened: dict[
    Path, ctypes.CDLL
] = {}  # never emptied: a CDLL object must outlive every function taken from it
_unopened: dict[Path, str] = {}  # custom libraries that were passed over, and why
_root: Path | None = None


def _after_fork() -> None:
    global _lock
    _lock = threading.RLock()  # another thread of the parent may have held it


os.register_at_fork(after_in_child=_after_fork)


def _explain(error: OSError, path: Path, root: Path) -> str:
    text = str(error)
    instead = _instead(path, root)
    missing = re.match(r"(.+?): cannot open shared object file: (.*)", text)
    if missing and missing[1] == str(path):
        # The loader says "No such file" of a file that is there, but made for another processor
        foreign = path.is_file() and missing[2].startswith("No such file")
        cause = f"it is not for this machine ({platform.machine()})" if foreign else missing[2]
        return f"{path} cannot be opened: {cause}; {instead}"
    if missing and "libascend_hal.so" in missing[1]:
        return (
            f"{path} needs libascend_hal.so, which was not found: it belongs to the NPU driver "
            "(/usr/local/Ascend/driver/lib64/driver); mount the driver into the container and put that "
            f"folder on LD_LIBRARY_PATH, or {instead}"
        )
    if missing:
        return f"{path} needs {missing[1]}, which was not found; {roots.set_env_hint(root)}{instead}"
    undefined = re.search(r"undefined symbol: (\w+)", text)
    if undefined:
        holder = next((p for p in roots.operator_libraries(root) if _exports(p, undefined[1])), None)
        where = (
            f"; {holder} has it: set ACLNN_PY_RTLD_GLOBAL=1 to open that one globally first" if holder else ""
        )
        return (
            f"{path} cannot be opened: it uses the symbol {undefined[1]}, which it was not linked to{where}; "
            f"or {instead}"
        )
    if re.search(r"ELF|file too short|cannot read file data", text):
        return f"{path} cannot be opened, it is damaged or no library: {text}; reinstall it, or {instead}"
    return f"{path} cannot be opened: {text}; {roots.set_env_hint(root)}{instead}"


def _instead(path: Path, root: Path) -> str:
    """The way out that is left when a library cannot be made to open."""
    if path.name == roots.CUSTOM_NAME and roots.EMULATOR_ROOT not in path.parents:
        return "take its package off ASCEND_CUSTOM_OPP_PATH or ASCEND_OPP_PATH"
    if root == roots.EMULATOR_ROOT or roots.EMULATOR_ROOT in path.parents:
        return "install aclnn-py again"
    return "set ACLNN_PY_BACKEND=emulator to use the CPU emulator instead"


def _exports(path: Path, name: str) -> bool:
    try:
        return hasattr(_load(path, ctypes.RTLD_LOCAL), name)
    except OSError:
        return False


class _Library(ctypes.CDLL):
    """ctypes says in UTF-8 that a symbol is missing: a path or name of other bytes makes a UnicodeError."""

    def __getitem__(self, name: Any) -> Any:
        try:
            return super().__getitem__(name)
        except UnicodeError:
            raise AttributeError(f"{self._name!a} has no symbol {name!a}") from None


def _load(path: Path, mode: int) -> ctypes.CDLL:
    """OSError if it cannot be opened; also of a file whose end is missing, which would kill the process."""
    try:
        size, end = os.stat(path).st_size, _end_of_segments(path)
    except OSError:
        size = end = 0  # the loader says it better
    if size < end:
        raise OSError(f"{path}: file too short: {size} bytes are there of {end} or more")
    return _Library(str(path), mode=mode)


def _end_of_segments(path: Path) -> int:
    """How long a library file must be to be mapped, 0 if it is no 64-bit ELF file."""
    with open(path, "rb") as file:
        head = file.read(64)
        if head[:6] != b"\x7fELF\x02\x01" or len(head) < 64:
            return 0
        (start,), (each, count) = struct.unpack_from("<Q", head, 32), struct.unpack_from("<2H", head, 54)
        file.seek(start)
        table = file.read(each * count)
    end = start + each * count
    for at in range(0, len(table) - 55, max(each, 56)):
        kind, _, offset, _, _, length = struct.unpack_from("<2I4Q", table, at)
        if kind == 1:  # PT_LOAD
            end = max(end, offset + length)
    return int(end)


def _open(path: Path, root: Path, mode: int = ctypes.RTLD_LOCAL) -> ctypes.CDLL:
    with _lock:
        library = _opened.get(path)
        if library is None:
            try:
                library = _load(path, mode)
            except OSError as error:
                raise LibraryNotFound(_explain(error, path, root)) from None
            _opened[path] = library
            _log.debug("opened %s", path)
        return library


def _core_paths(root: Path) -> dict[str, list[Path]]:
    lib64 = root / "lib64"
    runtime = [lib64 / n for n in roots.RUNTIME_NAMES if (lib64 / n).is_file()]
    return {"runtime": runtime, "nnopbase": [lib64 / roots.NNOPBASE_NAME]}


def root() -> Path:
    """The root in use: the first call chooses it and opens its core libraries. LibraryNotFound if none."""
    global _root
    if _root is not None:
        return _root
    with _lock:
        if _root is None:
            _root = _chosen()
        return _root


def _chosen() -> Path:
    """The first candidate whose core libraries open. Says once which it is, as a warning if others were
    passed over for it."""
    candidates = roots.candidates()
    problems = [roots.home_problem()] if roots.home_problem() else []
    for candidate in candidates:
        try:
            for paths in _core_paths(candidate).values():
                _open(paths[0], candidate)
        except LibraryNotFound as problem:
            problems.append(str(problem))
            continue
        used = f"using {'the CPU emulator' if is_emulator(candidate) else 'the libraries'} of {candidate}"
        if problems:
            _log.warning("%s; %s instead", "; ".join(problems), used)
        else:
            _log.info(used)
        return candidate
    raise LibraryNotFound("; ".join(problems))


def is_emulator(chosen: Path) -> bool:
    """For people's eyes only: whether the opened root is an emulator, which exports controls of its own."""
    return hasattr(_open(_core_paths(chosen)["runtime"][0], chosen), "aclemuLiveObjects")


def is_available() -> bool:
    """Whether there is a root with the core libraries (CANN or the emulator). Opens nothing."""
    try:
        return bool(roots.candidates())
    except LibraryNotFound:
        return False


def core_function(library: str, name: str) -> Any:
    """A fresh ctypes function of a core library, "runtime" or "nnopbase". May raise LibraryNotFound."""
    here = root()
    paths = _core_paths(here)[library]
    for path in paths:
        try:
            return _open(path, here)[name]
        except AttributeError:
            continue
    names = " or ".join(str(p) for p in paths)
    raise LibraryNotFound(f"{name} is not in {names}; this CANN release is older than the function")


def open_operator_libraries() -> list[tuple[Path, ctypes.CDLL]]:
    """The operator libraries with their paths, opened, in the order in which symbols are looked up.

    Without custom ones that cannot be opened. LibraryNotFound if a built-in one cannot.
    """
    here = root()
    custom, built_in = roots.custom_libraries(here), roots.operator_libraries(here)
    if custom and os.environ.get("ACLNN_PY_RTLD_GLOBAL", "") == "1":
        for path in built_in:
            _open(path, here, ctypes.RTLD_GLOBAL)
    found = []
    with _lock:
        for path in custom:
            try:
                found.append((path, _open(path, here)))
                _unopened.pop(path, None)
            except LibraryNotFound as problem:
                if _unopened.get(path) != str(problem):
                    _log.warning("passed over: %s", problem)
                _unopened[path] = str(problem)
    return found + [(path, _open(path, here)) for path in [*built_in, *_core_paths(here)["nnopbase"]]]


def unopened() -> dict[Path, str]:
    """The custom libraries in use that could not be opened, and why."""
    return {path: _unopened[path] for path in roots.custom_libraries(root()) if path in _unopened}


def _and_unopened() -> str:
    """For the end of a list of searched libraries."""
    problems = unopened().values()
    return f"; not searched, because it could not be opened: {'; '.join(problems)}" if problems else ""


def operator_functions(name: str) -> tuple[Any, Any]:
    """The two phases of an operator, as fresh ctypes functions from the first library that has both.

    LibraryNotFound says which libraries were searched, or which of the two phases is missing.
    """
    first, second = name + "GetWorkspaceSize", name
    halves: list[str] = []
    handles = open_operator_libraries()
    for path, library in handles:
        has = [hasattr(library, s) for s in (first, second)]
        if all(has):
            return library[first], library[second]
        if any(has):
            halves.append(f"{path} has {first if has[0] else second} but not {second if has[0] else first}")
    if halves:
        raise LibraryNotFound(f"{name} is incomplete: " + "; ".join(halves) + _and_unopened())
    searched = ", ".join(str(path) for path, _ in handles)
    from .catalogue import close_names

    near = close_names(name, root())
    raise LibraryNotFound(
        f"{name} is not in {searched}; it needs a newer CANN or a custom package (ASCEND_CUSTOM_OPP_PATH)"
        + (f"; close names: {', '.join(near)}" if near else "")
        + _and_unopened()
    )


def headers_for(name: str) -> tuple[list[Path], Path | None]:
    """Header folders that say nothing about an operator, because their package's library did not open, and
    the folder of the library that serves it, None if none does."""
    served = (path for path, library in open_operator_libraries() if hasattr(library, name))
    without = [_headers_beside(library) for library in unopened()]
    library = next(served, None)
    return without, None if library is None else _headers_beside(library)


def _headers_beside(library: Path) -> Path:
    if library.name == roots.CUSTOM_NAME:
        return library.parents[1] / "include"
    return library.parents[1] / "include" / "aclnnop"


def operator_symbol(name: str) -> Any:
    """A fresh ctypes function from the first operator library with `name`. LibraryNotFound if none has it."""
    handles = open_operator_libraries()
    for _, library in handles:
        if hasattr(library, name):
            return library[name]
    raise LibraryNotFound(f"{name} is not in {', '.join(str(path) for path, _ in handles)}{_and_unopened()}")


@dataclass(frozen=True)
class Where:
    """Which header declares a C symbol (None if no header is known) and which library file serves it."""

    symbol: str
    header: Path | None
    library: Path

    def __str__(self) -> str:
        return f"{self.symbol}: {self.library}, declared in {self.header or 'no header that was found'}"


class _DlInfo(ctypes.Structure):
    _fields_ = [
        ("dli_fname", ctypes.c_char_p),
        ("dli_fbase", ctypes.c_void_p),
        ("dli_sname", ctypes.c_char_p),
        ("dli_saddr", ctypes.c_void_p),
    ]


def _file_of(function: Any, asked: Path) -> Path:
    """The file a function is in: a look-up in one library also finds what the libraries it needs have."""
    try:
        dladdr = ctypes.CDLL(None)["dladdr"]
    except AttributeError:
        return asked
    dladdr.restype, dladdr.argtypes = ctypes.c_int, [ctypes.c_void_p, ctypes.POINTER(_DlInfo)]
    info = _DlInfo()
    address = ctypes.cast(function, ctypes.c_void_p)
    if dladdr(address, ctypes.byref(info)) and info.dli_fname:
        return Path(os.fsdecode(info.dli_fname))
    return asked


def which(symbol: str) -> Where:
    """The header and the library that serve a C symbol (an operator, either of its phases, or an acl
    function).

    LibraryNotFound if no library has it.
    """
    here = root()
    row = abi.FUNCTIONS.get(symbol)
    header: Path | None
    if row is not None:
        header = here / "include" / row.header
    else:
        from .catalogue import find_header

        operator = symbol.removesuffix("GetWorkspaceSize")
        header = find_header(operator, here, *headers_for(operator))
    core = [(path, _open(path, here)) for paths in _core_paths(here).values() for path in paths]
    for path, library in [*core, *open_operator_libraries()]:
        if hasattr(library, symbol):
            return Where(
                symbol, header if header and header.is_file() else None, _file_of(library[symbol], path)
            )
    searched = ", ".join(map(str, opened()))
    raise LibraryNotFound(f"{symbol} is in none of the libraries: {searched}{_and_unopened()}")


def opened() -> list[Path]:
    """The library files opened so far, in the order of opening."""
    return list(_opened)
