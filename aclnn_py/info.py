"""What was loaded, from where, and which device it found."""

from __future__ import annotations

import ctypes
import platform
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from . import dtypes, libraries, runtime
from ._version import __version__
from .abi import acl
from .status import check


@dataclass(frozen=True)
class Info:
    """What `aclnn.info()` found; `str()` is a small table."""

    backend: str
    root: Path
    libraries: tuple[Path, ...]
    soc: str
    device_count: int
    versions: dict[str, str]

    def __str__(self) -> str:
        rows = [
            ("backend", self.backend),
            ("root", str(self.root)),
            *(("library", str(path)) for path in self.libraries),
            ("SoC", self.soc),
            ("devices", str(self.device_count)),
            ("versions", ", ".join(f"{name} {version}" for name, version in self.versions.items())),
        ]
        shown, last = [], ""
        for name, value in rows:
            shown.append(f"{name if name != last else '':<9} {value}")
            last = name
        return "\n".join(shown)

    __repr__ = __str__


def _acl_version() -> str:
    if not acl.has("aclrtGetVersion"):
        return "unknown"
    parts = [ctypes.c_int32() for _ in range(3)]
    check(acl.aclrtGetVersion(*map(ctypes.byref, parts)), "aclrtGetVersion")
    return ".".join(str(p.value) for p in parts)


def info() -> Info:
    """Loads the libraries and asks them: root, library files, SoC, devices, versions. Sets no device.

    Errors: LibraryNotFound; AclRuntimeError if ACL does not start.
    """
    root = libraries.root()
    libraries.open_operator_libraries()
    devices = runtime.Device.count()
    soc = acl.aclrtGetSocName()
    versions = {
        "aclnn_py": __version__,
        "ACL": _acl_version(),
        "Python": platform.python_version(),
        "numpy": np.__version__,
        "ml_dtypes": getattr(dtypes.ml_dtypes, "__version__", "not installed"),
    }
    backend = "emulator" if libraries.is_emulator(root) else "cann"
    return Info(
        backend, root, tuple(libraries.opened()), soc.decode() if soc else "unknown", devices, versions
    )
