"""Call CANN's aclnn operators from Python, on an NPU or on the CPU emulator that comes with the package.

    import aclnn_py as aclnn

Importing opens no library and starts nothing; the first use of a tensor, stream or operator does.
"""

from typing import TYPE_CHECKING, Any

from ._version import __version__

try:
    from numpy import ndarray as _ndarray  # noqa: F401  (a folder that was left behind imports, too)
except Exception as _problem:  # a damaged one raises anything; the doctor and `explain` work all the same
    _no_numpy: Exception | None = _problem
else:
    _no_numpy = None
    from . import emulator, ops
    from .arguments import BoolArray, FloatArray, IntArray, Scalar, ScalarList, TensorList
    from .catalogue import add_headers
    from .creation import empty, from_dlpack, tensor, zeros
    from .dtypes import as_dtype
    from .enums import aclDataType, aclFormat
    from .event import Event
    from .info import Info, info
    from .libraries import Where, is_available, which
    from .operator import Operator, op, operators
    from .plan import Plan
    from .prototype import Parameter, Prototype, PrototypeError
    from .runtime import Device, Runtime
    from .status import (
        AclError,
        AclnnError,
        AclnnInnerError,
        AclnnParameterError,
        AclnnRuntimeError,
        AclRuntimeError,
        DeviceFault,
        LibraryNotFound,
        OutOfDeviceMemory,
        Status,
        StreamTimeout,
        explain,
    )
    from .stream import Stream, current_stream, synchronize
    from .tensor import Tensor

if TYPE_CHECKING:
    from .diagnosis.check import TensorSpec, check
    from .diagnosis.reproducer import reproduce
    from .diagnosis.rules import Violation
    from .diagnosis.trace import trace

_LAZY = {
    "TensorSpec": "check",
    "Violation": "rules",
    "check": "check",
    "reproduce": "reproducer",
    "trace": "trace",
}


def __getattr__(name: str) -> Any:
    """What is for diagnosis is imported when it is first used."""
    if _no_numpy is not None and name in __all__:
        raise ImportError(
            f"aclnn_py.{name} needs NumPy, which cannot be imported: {_no_numpy}. pip install 'numpy>=1.26'"
        ) from _no_numpy
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    found = getattr(importlib.import_module(f"{__name__}.diagnosis.{_LAZY[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *(_LAZY if _no_numpy is None else ())})


__all__ = [
    "AclError",
    "AclRuntimeError",
    "AclnnError",
    "AclnnInnerError",
    "AclnnParameterError",
    "AclnnRuntimeError",
    "BoolArray",
    "Device",
    "DeviceFault",
    "Event",
    "FloatArray",
    "Info",
    "IntArray",
    "LibraryNotFound",
    "Operator",
    "OutOfDeviceMemory",
    "Parameter",
    "Plan",
    "Prototype",
    "PrototypeError",
    "Runtime",
    "Scalar",
    "ScalarList",
    "Status",
    "Stream",
    "StreamTimeout",
    "Tensor",
    "TensorList",
    "TensorSpec",
    "Violation",
    "Where",
    "__version__",
    "aclDataType",
    "aclFormat",
    "add_headers",
    "as_dtype",
    "check",
    "current_stream",
    "empty",
    "emulator",
    "explain",
    "from_dlpack",
    "info",
    "is_available",
    "op",
    "operators",
    "ops",
    "reproduce",
    "synchronize",
    "tensor",
    "trace",
    "which",
    "zeros",
]
