"""Where the libraries are: the choice between CANN and the emulator, made from the environment and the files
alone.

Order, for ``ACLNN_PY_BACKEND=auto`` (the default): ``ASCEND_HOME_PATH``; ``/usr/local/Ascend/cann``;
``/usr/local/Ascend/ascend-toolkit/latest``; the same two under ``$HOME/Ascend``; the emulator inside this
package. ``cann`` stops before the emulator, ``emulator`` takes only that. A root is a folder with ``lib64``
and ``include``; the emulator is laid out as one, so nothing after this file knows which it is. An
``ASCEND_HOME_PATH`` that is no such folder is an error for ``cann``; ``auto`` goes on with the next, and
whoever takes that one says so (see `home_problem`): never is anything computed somewhere else in silence. One
whose libraries are there, but cannot be opened, is an error for both.
"""

from __future__ import annotations

import os
from pathlib import Path

from .status import LibraryNotFound

RUNTIME_NAMES = ("libacl_rt.so", "libascendcl.so")
NNOPBASE_NAME = "libnnopbase.so"
OPERATOR_NAMES = tuple(
    [f"libopapi_{part}.so" for part in ("math", "nn", "cv", "transformer", "oam", "legacy")]
    + ["libopapi.so"]
    + [f"libaclnn_{part}.so" for part in ("ops_infer", "ops_train", "math", "sparse", "fft", "rand")]
)
CUSTOM_NAME = "libcust_opapi.so"

EMULATOR_ROOT = Path(__file__).with_name("_emulator")
SYSTEM_ROOTS = (Path("/usr/local/Ascend/cann"), Path("/usr/local/Ascend/ascend-toolkit/latest"))
_BACKENDS = ("auto", "cann", "emulator")
_USE_EMULATOR = "set ACLNN_PY_BACKEND=emulator to use the CPU emulator instead"


def backend() -> str:
    """The value of ACLNN_PY_BACKEND: auto, cann or emulator. LibraryNotFound for anything else."""
    value = os.environ.get("ACLNN_PY_BACKEND", "").strip().lower() or "auto"
    if value not in _BACKENDS:
        raise LibraryNotFound(f"ACLNN_PY_BACKEND is {value!r}; it must be one of {', '.join(_BACKENDS)}")
    return value


def usual_roots() -> list[Path]:
    """The install roots that are tried when ASCEND_HOME_PATH is not set, or is no root."""
    home = Path(os.environ.get("HOME") or "/nonexistent") / "Ascend"
    return [*SYSTEM_ROOTS, home / "cann", home / "ascend-toolkit" / "latest"]


def missing_part(root: Path) -> str:
    """What makes `root` no toolkit root, as the end of a sentence; "" if it has the two core libraries."""
    if not os.path.exists(root):  # not root.exists(), which raises where it may not look
        return "which does not exist"
    if not os.path.isdir(root):
        return "which is a file, not a folder"
    lib64 = root / "lib64"
    if not any(os.path.isfile(lib64 / name) for name in RUNTIME_NAMES):
        return f"which has no lib64/{' or lib64/'.join(RUNTIME_NAMES)}"
    if not os.path.isfile(lib64 / NNOPBASE_NAME):
        return f"which has no lib64/{NNOPBASE_NAME}"
    return ""


def home_problem() -> str:
    """What is wrong with ASCEND_HOME_PATH, if it is looked at and is no root; else ""."""
    value = os.environ.get("ASCEND_HOME_PATH", "").strip()
    problem = missing_part(Path(value)) if value and backend() != "emulator" else ""
    return f"ASCEND_HOME_PATH is {value!r}, {problem}" if problem else ""


def candidates() -> list[Path]:
    """The roots that hold the core libraries as files, best first. LibraryNotFound if there is none, or if
    ASCEND_HOME_PATH is wrong and only CANN will do."""
    choice = backend()
    problem = home_problem()
    if problem and choice == "cann":
        raise LibraryNotFound(f"{problem}; {_other_root_hint()}{_USE_EMULATOR}")
    home_path = os.environ.get("ASCEND_HOME_PATH", "").strip()
    if home_path and not problem and choice != "emulator":
        return [Path(home_path)]
    found = []
    if choice != "emulator":
        found += [root for root in usual_roots() if not missing_part(root)]
    if choice != "cann" and not missing_part(EMULATOR_ROOT):
        found.append(EMULATOR_ROOT)
    if not found:
        raise LibraryNotFound(_nothing_found(choice, problem))
    return found


def _other_root_hint() -> str:
    for root in usual_roots():
        if not missing_part(root):
            script = root / "set_env.sh"
            return f"source {script} or " if script.is_file() else f"set it to {root} or "
    return ""


def set_env_hint(root: Path) -> str:
    """Advice to source the environment script that belongs to `root`, if it has one."""
    for script in (root / "set_env.sh", root.parent / "set_env.sh"):
        if script.is_file():
            return f"source {script}, which sets the library paths, or "
    return ""


def _nothing_found(choice: str, problem: str) -> str:
    looked = ", ".join(str(r) for r in usual_roots())
    if choice == "emulator":
        return (
            f"the emulator was asked for (ACLNN_PY_BACKEND=emulator), but {EMULATOR_ROOT} is not there: this "
            "is a source tree or an install without it; run `pip install .` in the source tree (needs g++)"
        )
    text = f"no CANN found: {problem or 'ASCEND_HOME_PATH is not set'}, and none of these holds one: {looked}"
    if choice == "auto":
        text += (
            f"; and the emulator is not built ({EMULATOR_ROOT} is not there): set ASCEND_HOME_PATH, "
            "or run `pip install .` in the source tree (needs g++)"
        )
    else:
        text += "; set ASCEND_HOME_PATH, or ACLNN_PY_BACKEND=emulator for the CPU emulator"
    return text


def _vendor_names(config: Path) -> list[str]:
    try:
        text = config.read_text("utf-8", "replace")
    except OSError:
        return []
    for line in text.splitlines():
        line = line.strip()
        if "priority" in line and not line.startswith("#"):
            return [name.strip() for name in line.partition("=")[2].split(",") if name.strip()]
    return []


def custom_packages(root: Path | None = None) -> list[Path]:
    """Folders of custom operator packages, first wins: ASCEND_CUSTOM_OPP_PATH, then the vendors of
    ASCEND_OPP_PATH, then those of `root`'s own opp folder, which ASCEND_OPP_PATH names in a shell that
    sourced set_env.sh.

    Read from the environment at each call, so a change after import counts.
    """
    folders = [Path(p) for p in os.environ.get("ASCEND_CUSTOM_OPP_PATH", "").split(":") if p.strip()]
    named = os.environ.get("ASCEND_OPP_PATH", "").strip()
    opps = [Path(named)] if named else []
    if root is not None:
        opps.append(root / "opp")
    for vendors in (opp / "vendors" for opp in opps):
        folders += [vendors / name for name in _vendor_names(vendors / "config.ini")]
    found: dict[str, Path] = {}
    for folder in folders:
        found.setdefault(os.path.realpath(folder), folder)
    return list(found.values())


def custom_libraries(root: Path | None = None) -> list[Path]:
    """The custom operator libraries that exist, first wins; see `custom_packages`."""
    files = [folder / "op_api" / "lib" / CUSTOM_NAME for folder in custom_packages(root)]
    return [f for f in files if os.path.isfile(f)]


def operator_libraries(root: Path) -> list[Path]:
    """The operator libraries of a root that exist, in the order in which they are searched."""
    return [root / "lib64" / name for name in OPERATOR_NAMES if (root / "lib64" / name).is_file()]


def header_folders(root: Path) -> list[Path]:
    """Where operator headers are, in the order in which they are searched: custom packages, then the root."""
    folders = [folder / "op_api" / "include" for folder in custom_packages(root)]
    return [*folders, root / "include" / "aclnnop"]
