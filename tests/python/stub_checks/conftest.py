"""The checks of this folder run in interpreters of their own, with the stub as CANN (test_stub.py)."""

from __future__ import annotations

import ctypes
import json
import os
from pathlib import Path
from typing import Any

import pytest

import aclnn_py as aclnn


class Stub:
    """What the stub saw."""

    def __init__(self) -> None:
        root = Path(os.environ["ASCEND_HOME_PATH"]) / "lib64"
        self._runtime = ctypes.CDLL(str(root / "libascendcl.so"))
        self._runtime.stubLive.argtypes, self._runtime.stubLive.restype = [ctypes.c_char_p], ctypes.c_long
        self._operators = ctypes.CDLL(str(root / "libopapi.so"))
        self._operators.stubRecord.restype = ctypes.c_char_p

        self._nnopbase = ctypes.CDLL(str(root / "libnnopbase.so"))
        self._nnopbase.stubLastIndex.restype = ctypes.c_long

    def last_index(self) -> int:
        """The index that aclSet*TensorAddr got last."""
        return int(self._nnopbase.stubLastIndex())

    def live(self, kind: str) -> int:
        """Objects of a kind made and not yet destroyed."""
        return int(self._runtime.stubLive(kind.encode()))

    def record(self) -> Any:
        """The arguments of the last aclnnStubRecord, as C received them."""
        return json.loads(self._operators.stubRecord())


@pytest.fixture(scope="session")
def stub() -> Stub:
    aclnn.Device.current()
    return Stub()
