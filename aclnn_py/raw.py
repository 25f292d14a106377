"""Operators as attributes: `raw.aclnnAdd(a, b, 1.0, out)` is `aclnn.op("aclnnAdd")(a, b, 1.0, out)`.

`aclnn-py stubs` writes the types of this module for the operators of the install.
"""

from __future__ import annotations

from .operator import Operator, op, operators


def __getattr__(name: str) -> Operator:
    if not name.startswith("acl"):
        raise AttributeError(name)
    return op(name)


def __dir__() -> list[str]:
    return operators()
