"""Checks that the functions of this folder share: what Python must know before it can allocate outputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..creation import empty
from ..dtypes import as_dtype, host_array
from ..operator import op as operator
from ..stream import Stream
from ..tensor import Tensor
from ..values import shown


def require(op: str, name: str, value: Any, dtypes: tuple[str, ...]) -> None:
    """TypeError unless `value` is a Tensor or a NumPy array of one of `dtypes`. Nothing is cast."""
    what = f"{op}: {name}"
    allowed = " or ".join(dtypes)
    if not isinstance(value, Tensor):
        if not isinstance(value, (np.ndarray, np.generic)):
            raise TypeError(
                f"{what} must be an aclnn.Tensor or a NumPy array of {allowed}, got {shown(value)}"
            )
        host_array(value, what)
    if value.dtype not in [as_dtype(d) for d in dtypes]:
        raise TypeError(
            f"{what} is {value.dtype}, it must be {allowed}: convert it, e.g. {name}.astype({dtypes[-1]!r})"
        )


def require_rank(op: str, name: str, value: Any, ranks: tuple[int, ...], form: str) -> None:
    """ValueError unless `value` has one of `ranks` dimensions; `form` says what they are."""
    if len(value.shape) not in ranks:
        raise ValueError(f"{op}: {name} has shape {tuple(value.shape)}, it must be {form}")


def require_shape(op: str, name: str, value: Any, *shapes: tuple[int, ...]) -> None:
    """ValueError unless `value` has one of `shapes`."""
    if tuple(value.shape) not in shapes:
        allowed = " or ".join(str(list(shape)) for shape in shapes)
        raise ValueError(f"{op}: {name} has shape {list(value.shape)}, it must be {allowed}")


def contiguous(value: Any, stream: Stream | None) -> Any:
    """`value`, or a dense copy that the device makes of a strided Tensor, for operators without strides."""
    if not isinstance(value, Tensor) or value.is_contiguous:
        return value  # the upload of an array makes it dense
    dense = empty(value.shape, value.dtype)
    operator("aclnnCast")(value, dense.data_type, dense, stream=stream)
    return dense
