"""Is this machine able to run aclnn? What is there, what is missing, what does not fit.

Made for the moment when nothing works, so every part looks for itself and none may raise; ACL itself is
started in another process."""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import platform
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .. import abi, libraries, roots
from .._version import __version__
from ..status import LibraryNotFound
from . import versions

OK, WARNING, PROBLEM, INFORMATION = "ok", "warning", "problem", "information"
PROBE_SECONDS = 120.0
_VARIABLES = (
    "ACLNN_PY_BACKEND", "ACLNN_PY_BLOCKING", "ACLNN_PY_RTLD_GLOBAL", "ASCEND_HOME_PATH", "ASCEND_OPP_PATH",
    "ASCEND_CUSTOM_OPP_PATH", "ASCEND_RT_VISIBLE_DEVICES", "ASCEND_LAUNCH_BLOCKING",
    "ASCEND_GLOBAL_LOG_LEVEL", "ASCEND_SLOG_PRINT_TO_STDOUT", "ASCEND_PROCESS_LOG_PATH", "LD_LIBRARY_PATH",
)  # fmt: skip
_CHECKED_NAMES = (
    *roots.RUNTIME_NAMES, roots.NNOPBASE_NAME, *roots.OPERATOR_NAMES, roots.CUSTOM_NAME, "libascend_hal.so",
    "libruntime.so",
)  # fmt: skip
_DRIVER_NAME = "libascend_hal.so"
DRIVER = Path("/usr/local/Ascend/driver")
DEVICES = Path("/dev")


@dataclass
class Check:
    """One line of the report."""

    section: str
    name: str
    state: str  # ok, warning, problem or information
    text: str
    advice: str = ""


@dataclass
class Report:
    """What the doctor found. `healthy` unless a check is a problem."""

    checks: list[Check] = field(default_factory=list)
    symbols: dict[str, str | None] = field(default_factory=dict)  # acl function -> library file
    duplicates: dict[str, list[str]] = field(default_factory=dict)  # file name -> places
    versions: dict[str, str] = field(default_factory=dict)  # component -> version
    probe: dict[str, Any] = field(default_factory=dict)

    @property
    def healthy(self) -> bool:
        return all(check.state != PROBLEM for check in self.checks)

    def add(self, section: str, name: str, state: str, text: str, advice: str = "") -> None:
        self.checks.append(Check(section, name, state, text, advice))

    def as_json(self) -> dict[str, Any]:
        """Plain data: schema 1."""
        return {"schema": 1, "healthy": self.healthy, "aclnn_py": __version__, **asdict(self)}


def examine(probe: bool = True) -> Report:
    """All checks, in the order of the report. `probe=False` starts no ACL."""
    report = Report()
    _python(report)
    python = report.healthy  # else an operator would only fail again for what is missing
    root = _root(report)
    _variables(report)
    if root is not None:
        opened = _libraries(report, root)
        _packages(report, root)
        _duplicates(report, root)
        emulator = opened and libraries.is_emulator(root)
        if not emulator:
            _driver(report, root)
        _versions(report, root)
        if opened and probe and python:
            _probe(report)
            if not emulator:
                _kernels(report, root)
        if not emulator:
            _logs(report)
    return report


def _python(report: Report) -> None:
    report.add("Python", "Python", OK, f"{platform.python_version()}, {sys.executable}")
    report.add("Python", "aclnn_py", OK, f"{__version__}, {Path(__file__).parents[1]}")
    needs = (("numpy", (1, 26), PROBLEM, ""), ("ml_dtypes", (0, 5), WARNING, ", for bfloat16 and float8"))
    for name, least, state, use in needs:
        wanted = ".".join(map(str, least))
        if not report.healthy:  # and would say so on standard error
            report.add("Python", name, state, "not tried: it needs numpy")
            continue
        try:
            version = str(importlib.import_module(name).__version__)
        except Exception as problem:  # half of a package left behind raises anything
            text = f"cannot be imported: {problem}"
            report.add("Python", name, state, text, f"pip install '{name}>={wanted}'{use}")
            continue
        old = tuple(int(n) for n in re.findall(r"\d+", version)[:2]) < least
        advice = f"pip install '{name}>={wanted}'" if old else ""
        report.add("Python", name, WARNING if old else OK, version, advice)
    report.add("Python", "machine", OK, f"{platform.machine()}, {platform.system()} {platform.release()}")


def _root(report: Report) -> Path | None:
    section = "backend"
    try:
        choice = roots.backend()
        found = roots.candidates()
    except LibraryNotFound as problem:
        report.add(section, "root", PROBLEM, str(problem))
        return None
    try:
        chosen = libraries.root()  # opens the core libraries
    except LibraryNotFound:
        chosen = found[0]
    home = os.environ.get("ASCEND_HOME_PATH", "").strip()
    if chosen == roots.EMULATOR_ROOT:
        asked = choice == "emulator"
        why = (
            "ACLNN_PY_BACKEND=emulator"
            if asked
            else "no CANN was found, and the emulator comes with the package"
        )
    elif home and chosen == Path(home):
        why = "ASCEND_HOME_PATH"
    else:
        why = "ASCEND_HOME_PATH is not set, and this is a usual place"
    report.add(section, "root", OK, f"{chosen} ({why})")
    if roots.home_problem():
        report.add(
            section, "root", WARNING, roots.home_problem(), "correct it, or unset it to have the emulator"
        )
    real = os.path.realpath(chosen)
    if real != str(chosen):
        report.add(section, "root", INFORMATION, f"that is {real}")
    others = _other_roots(real)
    if others:
        text = ", ".join(others)
        report.add(section, "other roots", INFORMATION, text, "set ASCEND_HOME_PATH to use another one")
    return chosen


def _other_roots(chosen: str) -> list[str]:
    """Other installs of CANN: in the usual places, and beside those and the chosen one (other versions)."""
    places = [*roots.usual_roots(), Path(chosen)]
    beside = [path for place in places for path in sorted(_folders(place.parent))]
    found = {os.path.realpath(path): str(path) for path in [*beside, *places] if not roots.missing_part(path)}
    own = (chosen, os.path.realpath(roots.EMULATOR_ROOT))
    return [path for real, path in found.items() if real not in own]


def _variables(report: Report) -> None:
    section = "environment"
    for name in _VARIABLES:
        value = os.environ.get(name)
        if value is None:
            continue
        gone = [p for p in _paths(name, value) if not os.path.exists(p)]
        state, advice = OK, ""
        text = value if name != "LD_LIBRARY_PATH" or len(value) < 300 else f"{value[:300]} ..."
        if gone:
            state = WARNING
            advice = f"not there: {', '.join(gone[:4])}; source set_env.sh of the CANN install in use again"
        report.add(section, name, state, text, advice)
    visible = os.environ.get("ASCEND_RT_VISIBLE_DEVICES")
    if visible is not None and not re.fullmatch(r"\s*\d+(\s*,\s*\d+)*\s*", visible):
        text = f"{visible!r} is no list of numbers such as 0,1"
        report.add(
            section, "ASCEND_RT_VISIBLE_DEVICES", WARNING, text, "within the list ids count from 0 again"
        )


def _paths(name: str, value: str) -> list[str]:
    if name in ("LD_LIBRARY_PATH", "ASCEND_CUSTOM_OPP_PATH"):
        return [p for p in value.split(":") if p.strip()]
    return [value] if name in ("ASCEND_HOME_PATH", "ASCEND_OPP_PATH") and value.strip() else []


def _libraries(report: Report, root: Path) -> bool:
    """The core and operator libraries, and which file each function comes from. Whether the core opens."""
    section = "libraries"
    try:
        libraries.root()
    except LibraryNotFound as problem:
        report.add(section, "core", PROBLEM, str(problem))
        return False
    try:
        opened = libraries.open_operator_libraries()
    except LibraryNotFound as problem:
        report.add(section, "operators", PROBLEM, str(problem))
        opened = []
    for path, why in libraries.unopened().items():
        report.add(section, path.name, WARNING, f"{path} was passed over: {why}")
    for name in abi.FUNCTIONS:
        try:
            report.symbols[name] = str(libraries.which(name).library)
        except LibraryNotFound:
            report.symbols[name] = None
    served: dict[str, int] = {}
    for file in report.symbols.values():
        if file is not None:
            served[file] = served.get(file, 0) + 1
    for file, number in served.items():
        report.add(section, Path(file).name, OK, f"{file}, {number} functions")
    missing = [name for name, file in report.symbols.items() if file is None and not name.startswith("Acl")]
    if missing:
        text = f"not in these libraries: {', '.join(missing)}"
        advice = "this CANN is older than the functions; what needs them says so when it is used"
        report.add(section, "functions", WARNING, text, advice)
    operator_files = [path for path, _ in opened if str(path) not in served]
    for path in operator_files:
        report.add(section, path.name, OK, str(path))
    if not roots.operator_libraries(root) and not roots.custom_libraries(root):
        names = ", ".join(roots.OPERATOR_NAMES[:3])
        text = f"{root}/lib64 has none of {names}, ... and there is no custom package"
        report.add(
            section, "operators", PROBLEM, text, "install the operator package (ops) of the same CANN version"
        )
    return True


def _packages(report: Report, root: Path) -> None:
    for folder in roots.custom_packages(root):
        library = folder / "op_api" / "lib" / roots.CUSTOM_NAME
        if not os.path.isdir(folder):
            what = "is not a folder" if os.path.exists(folder) else "does not exist"
            text, advice = f"{folder} {what}", "take it off ASCEND_CUSTOM_OPP_PATH or config.ini"
            report.add("packages", folder.name, WARNING, text, advice)
        elif not os.path.isfile(library):
            text, advice = (
                f"{folder} has no op_api/lib/{roots.CUSTOM_NAME}",
                "no operator of it can be called",
            )
            report.add("packages", folder.name, WARNING, text, advice)
        else:
            report.add("packages", folder.name, OK, str(folder))


def _search_folders(root: Path) -> list[Path]:
    listed = [Path(p) for p in os.environ.get("LD_LIBRARY_PATH", "").split(":") if p.strip()]
    return [root / "lib64", *listed]


def _duplicates(report: Report, root: Path) -> None:
    section = "duplicates"
    for name in _CHECKED_NAMES:
        places: dict[str, str] = {}  # real file -> path
        for folder in _search_folders(root):
            path = folder / name
            if os.path.isfile(path):
                places.setdefault(os.path.realpath(path), str(path))
        if len(places) > 1:
            report.duplicates[name] = list(places.values())
            text = f"{name} is in {len(places)} places: {', '.join(places.values())}"
            first = next(iter(places.values()))
            advice = (
                f"aclnn_py takes {first}; other programs take the first on LD_LIBRARY_PATH: keep one install "
                "on it"
            )
            report.add(section, name, WARNING, text, advice)
    for folder in _search_folders(root)[1:]:
        if re.search(r"(^|/)(stub|devlib)(/|$)", str(folder)) and any(
            (folder / n).is_file() for n in _CHECKED_NAMES
        ):
            text = f"LD_LIBRARY_PATH holds {folder}, whose libraries are only for linking"
            report.add(section, "stubs", PROBLEM, text, "take it off: calls return 100039 or do nothing")


def _driver(report: Report, root: Path) -> None:
    section = "driver"
    folders = [DRIVER / "lib64", DRIVER / "lib64" / "driver", DRIVER / "lib64" / "common"]
    listed = _search_folders(root)[1:]
    found = [f / _DRIVER_NAME for f in [*listed, *folders] if os.path.isfile(f / _DRIVER_NAME)]
    mount = "install the NPU driver; in a container mount /usr/local/Ascend/driver into it"
    if not found:
        where = f"LD_LIBRARY_PATH or {DRIVER}/lib64"
        report.add(
            section, _DRIVER_NAME, PROBLEM, f"{_DRIVER_NAME} is in none of the folders of {where}", mount
        )
    elif found[0].parent not in listed and not _loads(_DRIVER_NAME):
        text = f"{found[0]} is there, but not where the loader looks"
        advice = f"put {found[0].parent} on LD_LIBRARY_PATH (set_env.sh does)"
        report.add(section, _DRIVER_NAME, WARNING, text, advice)
    else:
        report.add(section, _DRIVER_NAME, OK, str(found[0]))
    nodes = sorted(p for p in DEVICES.glob("davinci[0-9]*"))
    if not nodes:
        text = f"there is no {DEVICES}/davinci0 or the like"
        advice = "the driver is not loaded, or the container was started without --device=/dev/davinci0 ..."
        report.add(section, "devices", PROBLEM, text, advice)
    else:
        report.add(section, "devices", OK, ", ".join(map(str, nodes)))
        shut = [str(p) for p in nodes if not os.access(p, os.R_OK | os.W_OK)]
        if shut:
            text = f"{', '.join(shut)} may not be opened by this user"
            report.add(
                section, "devices", PROBLEM, text, "join the group HwHiAiUser, or start the container so"
            )
        for name in ("davinci_manager", "devmm_svm", "hisi_hdc"):
            if not os.path.exists(DEVICES / name):
                advice = f"start the container with --device=/dev/{name}"
                report.add(section, name, WARNING, f"{DEVICES / name} is not there", advice)


def _loads(name: str) -> bool:
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def _versions(report: Report, root: Path) -> None:
    section = "versions"
    found = versions.components(root)
    driver = versions.driver(DRIVER)
    report.versions = {c.name: c.version for c in found} | ({"driver": driver} if driver else {})
    for component in found:
        report.add(section, component.name, OK, f"{component.version} ({component.file})")
    if driver:
        report.add(section, "driver", OK, driver)
    for text in versions.disagreements(found):
        advice = (
            "install toolkit, operators and kernels of one CANN version (561103 and 561000 come from this)"
        )
        report.add(section, "versions", WARNING, text, advice)
    for text in versions.unmet(found):
        report.add(section, "versions", WARNING, text, "install versions that belong together")


def _probe(report: Report) -> None:
    """Starts ACL and runs one small operator, elsewhere."""
    section = "device"
    command = [sys.executable, "-c", "from aclnn_py.diagnosis.probe import main; main()"]
    where = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, where))}
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=PROBE_SECONDS, env=env, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        text = f"a small computation was not done after {PROBE_SECONDS:g} s"
        advice = "the device hangs or is held by another process: see npu-smi info"
        report.add(section, "start", PROBLEM, text, advice)
        return
    except OSError as problem:
        report.add(section, "start", PROBLEM, f"{sys.executable} could not be started: {problem}")
        return
    report.probe = _last_json(done.stdout.decode("utf-8", "replace"))
    if not report.probe:
        how = f"exit status {done.returncode}"
        if done.returncode < 0:
            how = f"signal {signal.Signals(-done.returncode).name}"
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()[-3:]
        text = f"a process that starts ACL ended with {how}" + (f": {' / '.join(said)}" if said else "")
        report.add(section, "start", PROBLEM, text, "two CANN installs mixed in one process can do this")
        return
    probe = report.probe
    if "soc" in probe:
        number = f"{probe['devices']} device{'s' * (probe['devices'] != 1)}"
        text = f"{probe['soc']}, {number}, ACL {probe['acl']}"
        report.add(section, "SoC", OK if probe["devices"] else PROBLEM, text)
    if "error" in probe:
        report.add(section, "start", PROBLEM, f"failed at {probe['step']}: {probe['error']}")
    else:
        report.add(section, "operator", OK, f"{probe['operator']} ({probe['backend']})")


def _last_json(text: str) -> dict[str, Any]:
    """CANN may write to standard output too: the last line that is JSON counts."""
    for line in reversed(text.splitlines()):
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if isinstance(found, dict):
            return found
    return {}


def _kernels(report: Report, root: Path) -> None:
    """Whether kernels for this SoC are installed: what 561103, 561003 and 561112 are mostly about."""
    section = "packages"
    opp = Path(os.environ.get("ASCEND_OPP_PATH", "").strip() or root / "opp")
    folder = opp / "built-in" / "op_impl" / "ai_core" / "tbe" / "kernel"
    if not os.path.isdir(folder):
        text = f"{folder} does not exist"
        advice = "install the kernel package (ops or kernels) of the same CANN version for this SoC"
        state = WARNING if "error" not in report.probe else PROBLEM
        report.add(section, "kernels", state, text, advice)
        return
    have = sorted(p.name for p in _folders(folder) if p.name.startswith("ascend"))
    soc = str(report.probe.get("soc", "")).lower()
    if soc.startswith("ascend") and have and not any(_covers(name, soc) for name in have):
        text = f"{folder} has kernels for {', '.join(have)}, the device is {report.probe['soc']}"
        advice = "install the kernel package of the same CANN version for this SoC: that is what 561103 means"
        report.add(section, "kernels", PROBLEM, text, advice)
    elif have:
        report.add(section, "kernels", OK, f"{folder}: {', '.join(have)}")


def _logs(report: Report) -> None:
    """Where CANN writes what went wrong, if it wrote anything."""
    work = os.environ.get("ASCEND_WORK_PATH", "").strip()
    named = os.environ.get("ASCEND_PROCESS_LOG_PATH", "").strip()
    home = Path(os.environ.get("HOME") or "/nonexistent")
    folder = Path(named) if named else Path(work) / "log" if work else home / "ascend" / "log"
    if os.path.isdir(folder):
        text, advice = f"CANN's logs are in {folder}", f"aclnn-py explain {folder} finds the causes in them"
        report.add("device", "logs", INFORMATION, text, advice)


def _folders(folder: Path) -> Iterator[Path]:
    try:
        yield from (p for p in folder.iterdir() if p.is_dir())
    except OSError:
        return


def _covers(name: str, soc: str) -> bool:
    """Whether kernels of a folder such as ascend910b, ascend910_93 or ascend950 are for the SoC."""
    if soc.startswith("ascend950"):
        return name in ("ascend950", "ascend910_95")
    if name == "ascend910":  # the first generation, whose names have no b or _93 after the number
        return bool(re.fullmatch(r"ascend910(a|pro[ab]?|proa)?", soc))
    return soc.startswith(name)
