"""How C and C++ programs are built against the root in use: include folders, libraries, run paths."""

from __future__ import annotations

import logging
import os
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

from . import roots

_log = logging.getLogger("aclnn_py")
_CXX = (".cpp", ".cc", ".cxx", ".C")
_NO_LINK = ("-c", "-E", "-S", "-fsyntax-only", "-M", "-MM", "-###", "--version", "--help")


def _is_cxx(arguments: Sequence[str]) -> bool:
    """Whether there is a C++ source, by its name or by -x."""
    return any(Path(a).suffix in _CXX or a in ("c++", "-xc++") for a in arguments)


def compiler(arguments: Sequence[str]) -> list[str]:
    """$CXX or g++ if there is a C++ source, else $CC or gcc. FileNotFoundError if it is not installed."""
    is_cxx = _is_cxx(arguments)
    variable, usual = ("CXX", ("g++", "c++", "clang++")) if is_cxx else ("CC", ("gcc", "cc", "clang"))
    chosen = shlex.split(os.environ.get(variable, ""))
    if not chosen:
        chosen = [next((name for name in usual if shutil.which(name)), usual[0])]
    if shutil.which(chosen[0]) is None:
        raise FileNotFoundError(
            f"no {'C++' if is_cxx else 'C'} compiler: {chosen[0]} was not found; set {variable}, or install "
            "one, e.g. apt-get install g++"
        )
    return chosen


def command(arguments: Sequence[str]) -> list[str]:
    """The compiler's command line for these arguments against the root in use, which is not opened.

    Custom packages come first, then the operator libraries, nnopbase and the runtime, each only if the
    program needs it. LibraryNotFound if there is no root.
    """
    root = roots.candidates()[0]
    problem = roots.home_problem()
    if problem:
        _log.warning("%s; using %s instead", problem, root)
    made = compiler(arguments)
    if _is_cxx(arguments) and not any(a.startswith("-std=") for a in arguments):
        made.append("-std=c++17")
    made += arguments
    includes = [
        folder.parent if folder.name == "aclnnop" else folder for folder in roots.header_folders(root)
    ]
    made += [f"-I{folder}" for folder in includes if folder.is_dir()]
    if only_compiles(arguments):
        return made
    lib64 = root / "lib64"
    custom = roots.custom_libraries(root)
    names = [path.name for path in roots.operator_libraries(root)] + [roots.NNOPBASE_NAME]
    names += [name for name in (*roots.RUNTIME_NAMES, "libc_sec.so") if (lib64 / name).is_file()]
    if any(a.startswith("-x") for a in arguments):
        made += ["-x", "none"]  # or the libraries that are named by their path would be compiled, too
    made += ["-Wl,--as-needed", *map(str, custom)]
    made += [f"-L{folder}" for folder in [*(c.parent for c in custom), lib64]]
    made += [f"-l{name.removeprefix('lib').removesuffix('.so')}" for name in names]
    for folder in dict.fromkeys([*(c.parent for c in custom), lib64]):
        made += ["-Xlinker", "-rpath", "-Xlinker", str(folder)]  # -Wl would cut a folder at its commas
    return made


def only_compiles(arguments: Sequence[str]) -> bool:
    """Whether one of the arguments makes the compiler stop before linking."""
    return any(a in _NO_LINK for a in arguments)


def output(arguments: Sequence[str]) -> Path | None:
    """The program that the arguments name with -o, or None."""
    for i, argument in enumerate(arguments):
        if argument == "-o" and i + 1 < len(arguments):
            return Path(arguments[i + 1])
        if argument.startswith("-o") and len(argument) > 2:
            return Path(argument[2:])
    return None
