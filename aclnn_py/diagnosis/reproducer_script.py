"""The program in a reproducer's folder."""

from __future__ import annotations

import keyword
import math
from typing import Any

_HEAD = '''"""{title}

{text}

Made by aclnn.reproduce. Run it in its folder's environment (environment.json): `python reproduce.py`.
"""

from pathlib import Path

import numpy as np

import aclnn_py as aclnn
from aclnn_py.diagnosis.replay import tensor

elements = np.load(Path(__file__).with_name("arguments.npz"), allow_pickle=False)
'''


def program(record: dict[str, Any]) -> str:
    """Python source that makes the call: a line per argument, in C order."""
    quoted = record["text"].replace("\\", "\\\\").replace('"""', "'''")
    title = f"{record['op']} returned {record['status']} {record['name']}.".rstrip()
    lines = [_HEAD.format(title=title, text=quoted)]
    names: list[str] = []
    for argument in record["arguments"]:
        name = _identifier(argument["name"], names)
        names.append(name)
        lines.append(f"{name} = {_source(argument)}")
    lines += [
        "",
        f"op = aclnn.op({record['op']!r})",
        f"op({', '.join(names)})",
        "aclnn.synchronize()",
        f'print("no error this time; it was {record["status"]}")',
    ]
    return "\n".join(lines) + "\n"


def _identifier(name: str, used: list[str]) -> str:
    taken = {*used, "aclnn", "np", "op", "tensor", "elements", "Path"}
    while name in taken or keyword.iskeyword(name) or not name.isidentifier():
        name += "_"
    return name


def _source(made: dict[str, Any]) -> str:
    if "shape" in made:
        return _tensor(made)
    if "tensors" in made:
        return f"[{', '.join('None' if item is None else _tensor(item) for item in made['tensors'])}]"
    for kind in ("ints", "floats", "bools"):
        if kind in made:
            return f"[{', '.join(map(_number, made[kind]))}]"
    if "scalars" in made:
        return f"[{', '.join(map(_scalar, made['scalars']))}]"
    if "scalar" in made:
        return _scalar(made)
    if "unsupported" in made:
        return f"None  # was a {made['unsupported']}, which is not saved"
    return _number(made["value"])


def _tensor(made: dict[str, Any]) -> str:
    parts = [str(tuple(made["shape"])), repr(made["dtype"])]
    if "elements" in made:
        parts.append(f"elements[{made['elements']!r}]")
    for name in ("strides", "storage_shape"):
        if name in made:
            parts.append(f"{name}={tuple(made[name])}")
    if "offset" in made:
        parts.append(f"offset={made['offset']}")
    if made.get("format", "ND") != "ND":
        parts.append(f"format={made['format']!r}")
    remark = f"  # zeros: {made['left_out']}" if "left_out" in made else ""
    return f"tensor({', '.join(parts)}){remark}"


def _scalar(made: dict[str, Any]) -> str:
    value = made["value"]
    shown = f"complex({value[0]!r}, {value[1]!r})" if isinstance(value, list) else _number(value)
    return f"aclnn.Scalar({shown}, {_numpy(made['scalar'])!r})"


def _numpy(name: str) -> str:
    return {"FLOAT": "float32", "DOUBLE": "float64"}.get(name, name.lower())


def _number(value: Any) -> str:
    if isinstance(value, str) and value in ("inf", "-inf", "nan"):
        return f'float("{value}")'
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return repr(value)
