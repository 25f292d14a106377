"""Versions of the parts of a CANN install, read from the files that its packages leave."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

_FILES = ("version.info", "version.cfg", "ascend_toolkit_install.info", "ascend_ops_install.info")
_DEPTH = 4  # folders below a root that are looked into
_SKIPPED = frozenset(
    {"include", "lib64", "python", "tools", "samples", "op_impl", "built-in", "site-packages"}
)
_MOST = 64  # files


@dataclass
class Component:
    """One part of the install. `values`: all that its file says, keys in lower case."""

    name: str
    version: str
    file: Path
    values: dict[str, str] = field(default_factory=dict)


def read(file: Path) -> dict[str, str]:
    """key=value lines of a file, {} if it cannot be read."""
    try:
        text = file.read_text("utf-8", "replace")[:65536]
    except OSError:
        return {}
    found = {}
    for line in text.splitlines():
        key, equals, value = line.strip().partition("=")
        if equals and not key.startswith("#"):
            found[key.strip().lower()] = value.strip().strip("\"'[]")
    return found


def components(root: Path) -> list[Component]:
    """The parts whose version files lie in or below `root`, sorted by name."""
    found: dict[str, Component] = {}
    top = os.path.realpath(root)
    seen = 0
    for folder, inner, files in os.walk(top, followlinks=True):
        depth = len(Path(folder).relative_to(top).parts)
        inner[:] = (
            sorted(d for d in inner if d not in _SKIPPED and not d.startswith(".")) if depth < _DEPTH else []
        )
        for name in _FILES:
            if name not in files or seen >= _MOST:
                continue
            seen += 1
            file = Path(folder) / name
            values = read(file)
            version = release(values)
            part = "toolkit" if name.startswith("ascend_toolkit") or depth == 0 else Path(folder).name
            if version and part not in found:
                found[part] = Component(part, version, file, values)
    return sorted(found.values(), key=lambda c: c.name)


def release(values: dict[str, str]) -> str:
    """The CANN release of a version file: version_dir ("8.2.RC1") where it is told, else its version."""
    for key in ("version_dir", "version"):
        if values.get(key):
            return values[key].rpartition(":")[2]
    running = next((v for k, v in values.items() if k.endswith("_running_version")), "")
    return running.rpartition(":")[2]


def driver(folder: Path) -> str:
    """The version of the NPU driver, "" if there is none."""
    return read(folder / "version.info").get("version", "")


def train(version: str) -> str:
    """What versions that belong together share: "8.2.rc1.alpha003" -> "8.2"; "" for other text."""
    match = re.match(r"(\d+)\.(\d+)", version)
    return f"{match[1]}.{match[2]}" if match else ""


def disagreements(found: list[Component]) -> list[str]:
    """A sentence for each pair of releases among the parts that tell their release (not an inner number)."""
    trains: dict[str, list[Component]] = {}
    for component in found:
        if train(component.version):
            trains.setdefault(train(component.version), []).append(component)
    if len(trains) < 2:
        return []
    parts = [f"{', '.join(f'{c.name} {c.version}' for c in group)}" for group in trains.values()]
    return ["parts of different releases are installed: " + "; ".join(parts)]


def unmet(found: list[Component]) -> list[str]:
    """Sentences for each `required_package_<part>_version` that the installed part does not meet."""
    have = {c.name.replace("-", "_"): c for c in found}
    problems = []
    for component in found:
        for key, wanted in component.values.items():
            match = re.fullmatch(r"required_package_(\w+)_version", key)
            other = have.get(match[1].replace("-", "_")) if match else None
            inner = other.values.get("version", "") if other is not None else ""
            if other is not None and inner and not meets(inner, wanted):
                problems.append(f"{component.name} wants {other.name} {wanted}, installed is {inner}")
    return problems


def meets(version: str, wanted: str) -> bool:
    """Whether a version is in a list ("7.1,7.2": one is its beginning) or within bounds (">=7.1,<=7.3")."""
    number = _numbers(version)
    parts = [part.strip() for part in wanted.split(",") if part.strip()]
    bounds = [re.match(r"(>=|<=|>|<)\s*(.+)", part) for part in parts]
    if any(bounds):
        for bound in filter(None, bounds):
            limit = _numbers(bound[2])
            have = number[: len(limit)]
            holds = {">=": have >= limit, "<=": have <= limit, ">": have > limit, "<": have < limit}
            if not holds[bound[1]]:
                return False
        return True
    return not parts or any(number[: len(_numbers(part))] == _numbers(part) for part in parts)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", version))
