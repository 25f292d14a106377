"""Provokes each row of each operator's status table: each check, for each argument that it is made for.

    python tests/diagnosis/rows.py [aclnnMhcPreSinkhorn ...]

A call that breaks just this rule first is looked for at random, then made through the binding: the exception
must have the code, name the argument in CANN's sentence and lead with the rule. Calls that no Tensor can
express (negative or huge axes) go through phase 1 alone. Prints, as JSON, the rows that could be provoked on
this SoC and what was wrong with them.
"""

from __future__ import annotations

import json
import math
import re
import sys
from dataclasses import replace
from typing import Any

import agreement

import aclnn_py as aclnn
from aclnn_py.diagnosis import rules as engine
from aclnn_py.diagnosis.check import current_soc
from aclnn_py.diagnosis.replay import tensor
from aclnn_py.diagnosis.rules_call import Call, ScalarInfo, TensorInfo

_TRIES = 4000
# Symbols of calls that random changes of the rules' samples do not reach
_TND = {"queryLayout": "TND", "keyLayout": "TND", "numKeyHeads": 1, "sparsity": 0.5, "D": 128, "N": 1}
_BNSD = {"numKeyHeads": 1, "sparsity": 0.5, "D": 128, "B": 1, "N": 1}
_MANY = (1,) * 65537
_FAR = {
    "aclnnBSASelectBlockMask": (
        {"queryAxes": (1, 1, 100), "keyAxes": (1, 1, 128), "Xblocks": 1, "Yblocks": 1, **_BNSD},
        {
            "queryAxes": (1, 1, 1 << 22), "keyAxes": (1, 1, 1 << 21), "Xblocks": 1 << 16, "Yblocks": 1 << 15,
            "blockShape": (64, 64), **_BNSD,
        },
        {
            "queryAxes": (len(_MANY), 1), "keyAxes": (len(_MANY), 1), "B": len(_MANY), "Xblocks": 1,
            "Yblocks": 1, "actualSeqLengths": _MANY, "actualSeqLengthsK": _MANY, **_TND,
        },
    ),
    "aclnnHcPost": ({"tokens": (1,), "d": (1 << 30) + 1},),
}  # fmt: skip
_MOST_ELEMENTS = 1 << 21


def row(rules: engine.Rules, index: int, name: str) -> str:
    check = rules.checks[index]
    return f"{rules.name} {index} {type(check).__name__} {name} {check.code}"


def rows(rules: engine.Rules) -> list[tuple[int, str]]:
    """(check, argument) of each row; an AllOrNone has one."""
    return [
        (i, name)
        for i, check in enumerate(rules.checks)
        for name in check.names
        if not isinstance(check, engine.Accept)
    ]


def provoking(
    rules: engine.Rules, index: int, name: str, soc: str, rnd: agreement.Random
) -> dict[str, Any] | None:
    """Arguments of a call of which this row is the first fault."""
    family = engine.family(soc)
    check = rules.checks[index]
    if check.when in (engine.ON_950, engine.OFF_950) and not Call(rules, {}, soc, family).holds(check.when):
        return None
    if isinstance(check, engine.OnlyOn) and family in check.families:
        return None
    far = [replace(rules, samples=(sample,)) for sample in _FAR.get(rules.name, ())]
    for attempt in (*range(_TRIES // 10), *range(-len(far), 0), *range(_TRIES // 10, _TRIES)):
        if attempt < 0:
            made = agreement.base(far[attempt], family, agreement._Steady(0))
        elif attempt % 3 == 2:
            made = agreement.random_call(rules, family, rnd)
        else:
            made = agreement.base(rules, family, rnd)
            target = getattr(check, "what", name)
            target = target if target in rules.by_name else name
            if target in rules.by_name and attempt >= 0 and attempt % 3 == 0:
                made[target] = agreement.spoiled(rules.argument(target), made[target], rnd)
        first = next(rules.judged(Call(rules, made, soc, family)), None)
        if first and first[0] is check and (first[1].argument == name or isinstance(check, engine.AllOrNone)):
            return made
    return None


def on_device(info: TensorInfo) -> Any:
    """A tensor as described, or None if the binding cannot make it."""
    strides = info.strides or ()
    span = 1 + sum((n - 1) * s for n, s in zip(info.shape, strides))
    if min(info.shape, default=0) < 0 or max(math.prod(info.shape), span) > _MOST_ELEMENTS:
        return None
    return tensor(info.shape, info.dtype, strides=info.strides, format=info.format)


def raised(rules: engine.Rules, arguments: dict[str, Any]) -> aclnn.AclError | None:
    """The exception of the call through the binding; None if the binding cannot make it."""
    values = []
    for parameter, value in zip(aclnn.op(rules.name).prototype.parameters, arguments.values()):
        if isinstance(value, TensorInfo):
            made = on_device(value)
            if made is None:
                return None
            values.append(made)
        elif isinstance(value, ScalarInfo):
            values.append(aclnn.Scalar(value.value))
        elif parameter.kind == "dtype":
            values.append(agreement.ACL_TYPES[value])
        else:
            values.append(value)
    try:
        aclnn.op(rules.name)(*values)
    except aclnn.AclError as error:
        return error
    except OverflowError:  # an attribute that its C type does not hold
        return None
    raise AssertionError("the call was accepted")


def wrong(rules: engine.Rules, index: int, arguments: dict[str, Any], soc: str, raw: agreement.Raw) -> str:
    """What is wrong with the answer to the call, "" if nothing is."""
    check, first = next(rules.judged(Call(rules, arguments, soc, engine.family(soc))))
    assert check is rules.checks[index]
    try:
        error = raised(rules, arguments)
    except AssertionError as problem:
        return str(problem)
    if error is None:
        code, text = raw.phase1(arguments)
        said = text
    else:
        code, said = error.code, error.headline
        if error.violations[:1] != (first,):
            return f"the exception leads with {error.violations[:1]}, not {first}"
        if f"\n  {first}\n" not in str(error):
            return f"the text lacks the rule: {error}"
    if code != first.code:
        return f"{code}, not {first.code}"
    if not re.search(rf"\b{re.escape(first.argument)}\b", said) or rules.name not in said:
        return f"CANN's sentence does not name {first.argument}: {said}"
    return ""


def main(names: list[str]) -> int:
    soc, seen, problems = current_soc() or str(aclnn.info().soc), [], {}
    for name in names or agreement.served():
        rules = engine.find(name)
        assert rules is not None
        raw = agreement.Raw(name)
        for index, argument in rows(rules):
            rnd = agreement.Random(1000 * index + len(argument))
            made = provoking(rules, index, argument, soc, rnd)
            if made is None:
                continue
            problem = wrong(rules, index, made, soc, raw)
            seen.append(row(rules, index, argument))
            if problem:
                problems[row(rules, index, argument)] = problem
    print(json.dumps({"soc": soc, "provoked": seen, "problems": problems}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
