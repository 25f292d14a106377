"""Makes the call of a reproducer's folder again, on whatever libraries are in use."""

from __future__ import annotations

import json
import math
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .. import dtypes, runtime
from ..arguments import Scalar
from ..creation import zeros
from ..enums import aclDataType, aclFormat
from ..memory import DeviceBuffer, upload
from ..operator import Operator, op
from ..prototype import Parameter, PrototypeError
from ..status import LibraryNotFound
from ..stream import synchronize
from ..tensor import Tensor
from ..views import View, contiguous
from .reproducer import SCHEMA

_TYPES = {dtypes.spelled(t): t for t in aclDataType}
_SPECIAL = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


class NotAReproducer(ValueError):
    """A folder that `aclnn.reproduce` did not write, or that is damaged. The text says what is wrong."""


class Replay:
    """A reproducer's folder, read and checked: `status` it failed with, the `operator`, the `record`.

    NotAReproducer if it is none; nothing in it is run or unpickled. LibraryNotFound if the libraries in use
    do not have the operator.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.record = _read(self.folder)
        self.status: int = self.record["status"]
        self._arrays = _arrays(self.folder, _places(self.record["arguments"]))

    @property
    def operator(self) -> Operator:
        name = self.record["op"]
        try:
            return op(name)
        except LibraryNotFound:
            try:
                return op(name, prototype=self.record["declaration"])
            except PrototypeError as problem:
                raise NotAReproducer(f"{self.folder}: the declaration cannot be read: {problem}") from None

    def arguments(self) -> list[Any]:
        """The arguments, newly made: tensors on the device, and Python values."""
        operator = self.operator
        given = self.record["arguments"]
        names = [p.name for p in operator.prototype.parameters]
        if len(given) != len(names):
            raise NotAReproducer(
                f"{self.folder}: the call has {len(given)} arguments, {operator} here takes "
                f"{', '.join(names)}"
            )
        return [self._argument(p, made) for p, made in zip(operator.prototype.parameters, given)]

    def run(self) -> None:
        """Makes the call and waits for it: raises what it raises."""
        operator = self.operator
        operator(*self.arguments())
        synchronize()

    def _argument(self, parameter: Parameter, made: dict[str, Any]) -> Any:
        label = f"{self.folder}: argument {made.get('name')}"
        try:
            if "shape" in made:
                return self._tensor(made)
            if "tensors" in made:
                return [None if item is None else self._tensor(item) for item in made["tensors"]]
            if "scalars" in made:
                return [_scalar(item) for item in made["scalars"]]
            if "scalar" in made:
                return _scalar(made)
            for kind in ("ints", "floats", "bools"):
                if kind in made:
                    return [_number(v) for v in made[kind]]
            if "unsupported" in made:
                raise NotAReproducer(f"{label} was a {made['unsupported']}, which is not saved")
            return _plain(parameter.kind, made["value"])
        except (KeyError, TypeError, ValueError, OverflowError) as problem:
            if isinstance(problem, NotAReproducer):
                raise
            raise NotAReproducer(f"{label} cannot be read: {problem}") from None

    def _tensor(self, made: dict[str, Any]) -> Tensor:
        place = made.get("elements")
        if place is not None and place not in self._arrays:
            raise NotAReproducer(f"{self.folder}: arguments.npz has no elements {place!r}")
        options = {k: made[k] for k in ("strides", "offset", "format", "storage_shape") if k in made}
        return tensor(made["shape"], made["dtype"], None if place is None else self._arrays[place], **options)


def tensor(
    shape: Sequence[int],
    dtype: str,
    elements: np.ndarray | None = None,
    *,
    strides: Sequence[int] | None = None,
    offset: int = 0,
    format: str = "ND",
    storage_shape: Sequence[int] | None = None,
) -> Tensor:
    """A device tensor with these strides, offset and format; `elements` are the bits in memory from its first
    to its last one, zeros without."""
    element = dtypes.element(_TYPES[dtype])
    view = contiguous(_lengths(shape), int(offset))
    if strides is not None:
        view = View(view.shape, _lengths(strides), int(offset))
        if len(view.strides) != len(view.shape):
            raise ValueError(f"{len(view.strides)} strides for {len(view.shape)} axes")
    storage = view.shape if storage_shape is None else _lengths(storage_shape)
    runtime.enter()
    count = max(view.offset + view.extent, math.prod(storage))
    buffer: DeviceBuffer = zeros((count,), element)._live_buffer()
    if elements is not None and elements.size:
        if elements.size != view.extent:
            raise ValueError(f"{elements.size} elements saved, {view.extent} needed")
        bits = np.zeros(count, element.dtype)
        bits[view.offset : view.offset + view.extent] = np.ascontiguousarray(elements).view(element.dtype)
        upload(buffer, 0, element.pack(bits))
    return Tensor(buffer, view, element, storage, aclFormat[f"ACL_FORMAT_{format}"])


def _plain(kind: str, value: Any) -> Any:
    if kind == "dtype":
        return _TYPES[value]
    if kind == "format":
        return aclFormat[f"ACL_FORMAT_{value}"]
    return _SPECIAL.get(value, value) if kind == "float" else value


def _lengths(values: Sequence[int]) -> tuple[int, ...]:
    if not all(isinstance(v, int) and not isinstance(v, bool) and v >= 0 for v in values):
        raise ValueError(f"{list(values)} are not lengths")
    return tuple(values)


def _number(value: Any) -> Any:
    return _SPECIAL.get(value, value) if isinstance(value, str) else value


def _scalar(made: dict[str, Any]) -> Scalar:
    value = complex(*made["value"]) if isinstance(made["value"], list) else _number(made["value"])
    return Scalar(value, dtypes.element(_TYPES[made["scalar"]]).dtype)


def _read(folder: Path) -> dict[str, Any]:
    file = folder / "call.json"
    if not folder.is_dir():
        raise NotAReproducer(
            f"{folder} is no folder; give one that aclnn.reproduce wrote, such as failure-0001"
        )
    try:
        record = json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        raise NotAReproducer(f"{folder} is no reproducer: it has no call.json") from None
    except (OSError, ValueError, RecursionError) as problem:
        raise NotAReproducer(f"{file} cannot be read: {problem}") from None
    if not isinstance(record, dict) or not isinstance(record.get("schema"), int):
        raise NotAReproducer(f"{file} was not written by aclnn.reproduce: it has no schema number")
    if record["schema"] != SCHEMA:
        raise NotAReproducer(
            f"{file} has schema {record['schema']}, this version of aclnn_py reads {SCHEMA}: use the version "
            "named in environment.json"
        )
    wanted = {"op": str, "declaration": str, "arguments": list, "status": int}
    for name, kind in wanted.items():
        if not isinstance(record.get(name), kind):
            raise NotAReproducer(f"{file}: {name} is missing or no {kind.__name__}")
    if not all(isinstance(made, dict) for made in record["arguments"]):
        raise NotAReproducer(f"{file}: arguments must be objects")
    return record


def _places(arguments: list[dict[str, Any]]) -> set[str]:
    """The names under which the record says that elements are stored."""
    items = list(arguments)
    for made in arguments:
        if isinstance(made.get("tensors"), list):
            items += [item for item in made["tensors"] if isinstance(item, dict)]
    return {item["elements"] for item in items if isinstance(item.get("elements"), str)}


def _arrays(folder: Path, places: set[str]) -> dict[str, np.ndarray]:
    file = folder / "arguments.npz"
    try:
        with open(file, "rb") as raw:
            stored = np.load(raw, allow_pickle=False)
            if isinstance(stored, np.ndarray):
                raise ValueError("it is a single array, no archive")
            with stored:
                found = {name: stored[name] for name in stored.files if name in places}
        return {name: array for name, array in found.items() if isinstance(array, np.ndarray)}
    except FileNotFoundError:
        raise NotAReproducer(f"{folder} is no reproducer: it has no arguments.npz") from None
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as problem:
        raise NotAReproducer(f"{file} cannot be read: {problem}") from None
    except (MemoryError, RuntimeError) as problem:  # a size that nothing has; an encrypted archive
        raise NotAReproducer(f"{file} cannot be read: {problem}") from None
