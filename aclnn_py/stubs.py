"""Type stubs for the operators of the install, made from their prototypes."""

from __future__ import annotations

from collections.abc import Iterable

from .callcode import identifiers
from .prototype import Parameter, Prototype

_HEAD = '''\
"""Operators of {where}, written by aclnn-py stubs."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from aclnn_py import (
    BoolArray,
    FloatArray,
    IntArray,
    Operator,
    Plan,
    Scalar,
    ScalarList,
    Stream,
    Tensor,
    TensorList,
    aclDataType,
    aclFormat,
)
'''
_TYPES = {
    "tensor": "Tensor | np.ndarray | None",
    "tensor_list": "TensorList | Sequence[Tensor | np.ndarray | None] | None",
    "scalar": "Scalar | complex | np.generic | np.ndarray | None",
    "scalar_list": "ScalarList | Sequence[Scalar | complex | np.generic] | None",
    "int_array": "IntArray | Sequence[int] | np.ndarray | None",
    "float_array": "FloatArray | Sequence[float] | np.ndarray | None",
    "bool_array": "BoolArray | Sequence[bool] | np.ndarray | None",
    "string": "str | bytes | None",
    "dtype": "aclDataType | np.dtype[Any] | type | str",
    "format": "aclFormat",
    "bool": "bool | np.bool_",
    "int": "int | np.integer[Any]",
    "float": "float | np.floating[Any]",
    "pointer": "np.ndarray | None",
}


def python_type(parameter: Parameter, copy_back: bool = True) -> str:
    """What a call takes for the parameter, as an annotation; what a plan takes, without `copy_back`: an array
    for an input only."""
    taken = _TYPES[parameter.kind]
    is_array = parameter.role in ("in", "attr") or parameter.kind == "pointer"
    return taken if copy_back or is_array else taken.replace("Tensor | np.ndarray", "Tensor")


def _operator(prototype: Prototype) -> str:
    names = identifiers(prototype)
    called, planned = (
        "".join(
            f"        {name}: {python_type(p, copy_back)},\n"
            for name, p in zip(names, prototype.parameters, strict=True)
        )
        for copy_back in (True, False)
    )
    kind = f"_{prototype.name}"
    return (
        f"\nclass {kind}(Operator):\n"
        f"    def __call__(  # type: ignore[override]\n        _operator,\n{called}        *,\n"
        f"        stream: Stream | None = None,\n        copy_back: bool = False,\n    ) -> None: ...\n"
        f"    def plan(  # type: ignore[override]\n        _operator,\n{planned}        *,\n"
        f"        stream: Stream | None = None,\n    ) -> Plan: ...\n"
        f"\n{prototype.name}: {kind}\n"
    )


def text(prototypes: Iterable[Prototype], where: str) -> str:
    """The text of raw.pyi."""
    return _HEAD.format(where=where) + "".join(map(_operator, prototypes))
