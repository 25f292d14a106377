"""Writes the custom operators as an operator project for CANN's own build.

The sources are those the emulator is built from: kernels and tiling functions as they are, and the definition
files that only CANN compiles. The project's folders are flat, so include lines are rewritten to file names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ._version import __version__

OPERATORS = ("hc_pre", "hc_pre_v2", "hc_pre_inv_rms", "hc_pre_sinkhorn", "hc_post")
_TYPES = {name: "".join(part.capitalize() for part in name.split("_")) for name in OPERATORS}
_TEMPLATES = Path(__file__).with_name("data") / "opp"
_FAMILIES = ("ascend910b", "ascend910_93", "ascend950")  # what the definitions are for, as CANN spells them
_CHIP = re.compile(rf"({'|'.join(_FAMILIES)})(?:\d[\w-]*|(?:pr|dt)(?:_\w+)?)?", re.ASCII)
_INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def sources() -> Path:
    """The folder with the operators' sources: beside the package's data, or in the source tree around it.

    FileNotFoundError if there is neither.
    """
    package = Path(__file__).resolve().parent
    for place in (package / "data" / "ops", package.parent / "native" / "ops"):
        if (place / "hc_pre" / "op_kernel").is_dir():
            return place
    raise FileNotFoundError(
        f"the operators' sources are not installed ({package / 'data' / 'ops'}); install aclnn-py again"
    )


def _resolve(include: str, file: Path, ops: Path) -> Path | None:
    """The file an include line means, or None for one of CANN's own headers."""
    beside = (file.parent / include).resolve()
    if beside.is_file():
        return beside
    named = ops / include.removeprefix("ops/")
    return named.resolve() if include.startswith("ops/") and named.is_file() else None


def _reached(ops: Path) -> Iterator[Path]:
    """Every file the operators need: what their own files include, and the sources of included headers."""
    waiting = [
        file.resolve()
        for operator in OPERATORS
        for part in ("op_host", "op_kernel")
        for file in sorted((ops / operator / part).glob("*.*"))
    ]
    seen: set[Path] = set()
    while waiting:
        file = waiting.pop()
        if file in seen:
            continue
        seen.add(file)
        yield file
        for include in _INCLUDE.findall(file.read_text("utf-8")):
            found = _resolve(include, file, ops)
            if found is not None:
                waiting.append(found)
                source = found.with_suffix(".cpp")
                if source.is_file():
                    waiting.append(source)


def _folder(file: Path) -> str:
    return "op_kernel" if file.parent.name == "op_kernel" else "op_host"


def _flattened(file: Path, ops: Path) -> str:
    """The file's text with include lines that fit the flat folders."""

    def renamed(match: re.Match[str]) -> str:
        found = _resolve(match[1], file, ops)
        if found is None:
            return match[0]
        same = _folder(found) == _folder(file)
        return f'#include "{found.name}"' if same else f'#include "../{_folder(found)}/{found.name}"'

    return _INCLUDE.sub(renamed, file.read_text("utf-8"))


def _families(chips: str) -> str:
    """The families of the chips, with ; between them: CANN wants the names that the definitions have."""
    found: list[str] = []
    for chip in chips.split(";"):
        match = _CHIP.fullmatch(chip.strip().lower())
        if match is None:
            raise ValueError(
                f"the compute unit is {chip!r}, it must be a chip of {', '.join(_FAMILIES)}, e.g. Ascend910B3"
            )
        if match[1] not in found:
            found.append(match[1])
    return ";".join(found)


def export(folder: Path, *, vendor: str = "aclnn_py", compute_unit: str = "ascend910b") -> list[Path]:
    """Writes the project to `folder`, which must not exist or be empty, and returns its files.

    `vendor` names the package (letters, digits and _), `compute_unit` the chip that CANN compiles for, e.g.
    Ascend910B3, or its family, ascend910b, or several with ; between them. ValueError for another vendor or a
    chip that the operators have no kernels for, FileExistsError for a folder with files.
    """
    if not re.fullmatch(r"[A-Za-z]\w*", vendor, re.ASCII):
        raise ValueError(
            f"the vendor name is {vendor!r}, it must be letters, digits and _, starting with a letter"
        )
    units = _families(compute_unit)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(f"{folder} exists and is not an empty folder")
    ops = sources()
    made: dict[Path, str] = {}
    for file in _reached(ops):
        target = folder / _folder(file) / file.name
        if target in made:
            raise RuntimeError(f"two sources are called {file.name}")
        made[target] = _flattened(file, ops)
    names = ", ".join(f"aclnn{_TYPES[name]}" for name in OPERATORS)
    values = {
        "VENDOR": vendor, "COMPUTE_UNIT": units, "VERSION": __version__, "OPERATORS": names,
    }  # fmt: skip
    for template in sorted(path for path in _TEMPLATES.rglob("*") if path.is_file()):
        text = template.read_text("utf-8")
        for name, value in values.items():
            text = text.replace(f"@{name}@", value)
        made[folder / template.relative_to(_TEMPLATES)] = text
    for target, text in made.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
    (folder / "build.sh").chmod(0o755)
    return sorted(made)
