"""Random calls of an operator, judged by its rules and by phase 1 of the libraries in use.

    python tests/diagnosis/agreement.py aclnnMhcPreSinkhorn --count 5000 --seed 1

Starts from the valid calls that the rules give as samples, changes symbols (so that all shapes follow) and
single properties, and demands the same status code, and an argument that phase 1's text names. Prints each
disagreement and exits with 1 if there was one. The SoC is the one of the libraries (ACLEMU_SOC).
"""

from __future__ import annotations

import argparse
import ctypes
import random
import re
import sys
from dataclasses import replace
from typing import Any

import aclnn_py as aclnn
from aclnn_py import callcode, dtypes, runtime
from aclnn_py.abi import acl
from aclnn_py.arguments import IntArray, Scalar
from aclnn_py.conversion import SLOTS
from aclnn_py.diagnosis import rules as engine
from aclnn_py.diagnosis.check import current_soc
from aclnn_py.diagnosis.rules_call import NOT_GIVEN, Call, ScalarInfo, TensorInfo, Unknown, shapes
from aclnn_py.enums import aclDataType, aclFormat
from aclnn_py.memory import DeviceBuffer
from aclnn_py.status import recent_message

ACL_TYPES = {dtypes.spelled(t): t for t in aclDataType}
DTYPES = ["FLOAT", "FLOAT16", "BFLOAT16", "DOUBLE", "INT32", "INT64", "INT8", "UINT8", "BOOL"]
FORMATS = ["NCHW", "NC1HWC0", "FRACTAL_NZ", "FRACTAL_Z", "NDHWC"]
LENGTHS = [
    0,
    1,
    2,
    3,
    4,
    6,
    8,
    15,
    16,
    64,
    100,
    127,
    128,
    256,
    384,
    4096,
    5120,
    7168,
    16384,
    16400,
    99968,
    100000,
]
INTEGERS = [0, 1, -1, 2, 3, 4, 5, 6, 8, 19, 20, 21, 100, 101, 2**32 + 4, 2**32 + 20, 2**63 - 1, -(2**63)]
NUMBERS = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    0.25,
    1e-6,
    1e-300,
    1e300,
    float("nan"),
    float("inf"),
    float("-inf"),
    2.0,
]


WAYS = (
    "null", "dtype", "dtype", "length", "length", "drop", "add", "swap", "strides", "pad", "format", "flat",
    "big", "negative",
)  # fmt: skip


class Random(random.Random):
    def chance(self, p: float) -> bool:
        return self.random() < p

    def length(self, near: int) -> int:
        return self.choice([near + 1, max(near - 1, 0), near * 2, *self.sample(LENGTHS, 2)])


def base(rules: engine.Rules, family: str, rnd: Random) -> dict[str, Any]:
    """A valid call, with some symbols changed now and then."""
    here = [s for s in rules.samples if family in s.get("soc", (family,))]
    sample = dict(
        rnd.choice(here or list(rules.samples))
    )  # an operator of another SoC refuses everything here
    sample.pop("soc", None)
    wanted = dict(sample.pop("dtypes", {}))
    for name, value in list(sample.items()):
        if name in rules.by_name or not rnd.chance(0.15):
            continue
        if isinstance(value, tuple):
            sample[name] = tuple(rnd.choice([0, 1, 2, 3]) for _ in range(rnd.choice([0, 1, 1, 2, 2, 3, 4])))
        elif isinstance(value, int):
            sample[name] = rnd.length(value)
    call = Call(rules, {n: v for n, v in sample.items() if n in rules.by_name}, family=family)
    call.assumed = dict(sample)
    made: dict[str, Any] = {}
    for argument in rules.arguments:
        if isinstance(argument, engine.Tensor) and argument.name not in sample:
            axes = rnd.choice(shapes(argument.shape))
            dtype = wanted.get(argument.name) or (
                made[argument.like].dtype if argument.like else rnd.choice(argument.dtypes.split())
            )
            try:
                made[argument.name] = TensorInfo(call.expected(axes), dtype)
            except Unknown:
                raise AssertionError(f"{rules.name}: a sample does not determine {argument.name}") from None
        elif isinstance(argument, engine.Scalar):
            value = sample.get(argument.name, 1)
            made[argument.name] = ScalarInfo({int: "INT64", float: "DOUBLE"}[type(value)], value)
        else:
            value = sample.get(argument.name, argument.default)
            made[argument.name] = None if value is NOT_GIVEN else value
    return made


def spoiled_tensor(tensor: TensorInfo, rnd: Random) -> TensorInfo | None:
    shape = list(tensor.shape)
    at = rnd.randrange(len(shape)) if shape else 0
    way = rnd.choice(WAYS)
    if way == "null":
        return None
    if way == "dtype":
        return replace(tensor, dtype=rnd.choice(DTYPES))
    if way == "format":
        return replace(tensor, format=rnd.choice(FORMATS))
    if way == "add":
        shape.insert(rnd.randint(0, len(shape)), rnd.choice([1, 1, 2, 0]))
    elif not shape:
        return tensor
    elif way == "length":
        shape[at] = rnd.length(shape[at])
    elif way == "big":
        shape[at] = rnd.choice([2**31, 2**32, 2**40, 2**62])
    elif way == "negative":
        shape[at] = rnd.choice([-1, -shape[at], -(2**62)])
    elif way == "drop":
        del shape[at]
    elif way == "swap":
        other = rnd.randrange(len(shape))
        shape[at], shape[other] = shape[other], shape[at]
    elif way == "flat":
        shape = [max(min(tensor.size, 2**62), -(2**62))]  # another change may have made an axis huge
    elif way == "pad":  # rows further apart, and for a vector its elements
        steps, step = [], 2 if len(shape) == 1 else 1
        for n in reversed(shape):
            steps.append(step)
            step *= n + 1
        return replace(tensor, strides=tuple(reversed(steps)))
    else:  # the axes lie in memory in the opposite order
        steps, step = [], 1
        for n in shape:
            steps.append(step)
            step *= max(n, 1)
        return replace(tensor, strides=tuple(steps))
    return replace(tensor, shape=tuple(shape), strides=None)


def spoiled_array(array: tuple[int, ...] | None, rnd: Random) -> tuple[int, ...] | None:
    items = list(array or ())
    way = rnd.choice(["null", "empty", "shorter", "longer", "value", "value", "cumulative", "reversed"])
    if way == "null":
        return None if array is not None else (128, 128)
    if way == "empty":
        return ()
    if way == "shorter":
        return tuple(items[:-1])
    if way == "longer":
        return (*items, rnd.choice([0, 1, 64, 128]))
    if way == "reversed":
        return tuple(reversed(items))
    if way == "cumulative":
        return tuple(sum(items[: i + 1]) for i in range(len(items)))
    if items:
        at = rnd.randrange(len(items))
        items[at] = rnd.choice(
            [0, -1, 1, items[at] + 1, items[at] - 1, 63, 64, 100, 128, 256, 2**40, -(2**63)]
        )
    return tuple(items)


def spoiled(argument: engine.Argument, value: Any, rnd: Random) -> Any:
    if isinstance(argument, engine.Tensor):
        valid = value or TensorInfo((2, 3), rnd.choice(argument.dtypes.split() or DTYPES))
        return spoiled_tensor(valid, rnd)
    if isinstance(argument, engine.IntArray):
        return spoiled_array(value, rnd)
    if isinstance(argument, engine.Scalar):
        return rnd.choice([None, ScalarInfo("INT64", 2), ScalarInfo("DOUBLE", 1.5), ScalarInfo("BOOL", True)])
    assert isinstance(argument, engine.Attribute)
    if argument.type == "int":
        return rnd.choice([*INTEGERS, value + 1, value - 1] if isinstance(value, int) else INTEGERS)
    if argument.type == "float":
        return rnd.choice(NUMBERS)
    if argument.type == "bool":
        return not value
    if argument.type == "dtype":
        return rnd.choice(DTYPES)
    return rnd.choice(["BNSD", "TND", "BSND", "BSH", "", "bnsd", "N" * 300, None])


def random_call(rules: engine.Rules, family: str, rnd: Random) -> dict[str, Any]:
    made = base(rules, family, rnd)
    for _ in range(rnd.choice([0, 1, 1, 1, 2, 2, 3])):
        argument = rnd.choice(rules.arguments)
        made[argument.name] = spoiled(argument, made[argument.name], rnd)
        if getattr(argument, "type", "") == "str" and rnd.chance(0.3):  # two layouts that agree
            made |= {a.name: made[argument.name] for a in rules.arguments if getattr(a, "type", "") == "str"}
    return made


class Raw:
    """Phase 1 with described arguments, whatever they are. All tensors share some device memory."""

    def __init__(self, name: str) -> None:
        self.op = aclnn.op(name)
        self.memory = DeviceBuffer(1 << 16)
        self.limits = {p.name: (p.kind, p) for p in self.op.prototype.parameters}

    def tensor(self, info: TensorInfo) -> int:
        rank = len(info.shape)
        shape = (ctypes.c_int64 * rank)(*info.shape)
        strides = None if info.strides is None else (ctypes.c_int64 * rank)(*info.strides)
        storage, storage_rank = shape, rank
        if strides is not None:
            span = 1 + sum((max(n, 1) - 1) * s for n, s in zip(info.shape, info.strides or ()))
            storage, storage_rank = (ctypes.c_int64 * 1)(min(span, 2**62)), 1
        handle = acl.aclCreateTensor(
            shape, rank, ACL_TYPES[info.dtype], strides, 0, aclFormat["ACL_FORMAT_" + info.format],
            storage, storage_rank, self.memory.address,
        )  # fmt: skip
        assert handle
        return int(handle)

    def can_pass(self, arguments: dict[str, Any]) -> bool:
        """Whether every narrow integer, such as an int8_t, can hold its value."""
        return not any(
            parameter.ctype == "int8_t" and isinstance(value, int) and not -128 <= value < 128
            for parameter, value in zip(self.op.prototype.parameters, arguments.values(), strict=True)
        )

    def phase1(self, arguments: dict[str, Any]) -> tuple[int, str]:
        runtime.enter()
        passed, tensors, kept = [], [], []
        for parameter, value in zip(self.op.prototype.parameters, arguments.values(), strict=True):
            made: Any = value
            if value is None:
                made = ctypes.c_void_p()
            elif isinstance(value, TensorInfo):
                tensors.append(self.tensor(value))
                made = ctypes.c_void_p(tensors[-1])
            elif isinstance(value, (ScalarInfo, tuple)):
                own: Any = IntArray(value) if isinstance(value, tuple) else Scalar(value.value)
                kept.append(own)
                made = getattr(own, SLOTS[parameter.kind])
            else:
                if parameter.kind == "dtype":
                    value = int(ACL_TYPES[value])
                made = callcode.to_c(parameter)(value.encode() if isinstance(value, str) else value)
            passed.append(made)
        size, executor = ctypes.c_uint64(), ctypes.c_void_p()
        recent_message()
        code = self.op._phase1(*passed, ctypes.byref(size), ctypes.byref(executor))
        text = recent_message()
        if executor:
            assert acl.aclDestroyAclOpExecutor(executor) == 0
        for handle in tensors:
            acl.aclDestroyTensor(ctypes.c_void_p(handle))
        return code, text


def judge(rules: engine.Rules, raw: Raw, arguments: dict[str, Any], soc: str) -> str:
    """What rules and phase 1 do not agree on, "" if they do."""
    found = list(rules.violations(Call(rules, arguments, soc, engine.family(soc))))
    if not raw.can_pass(arguments):
        return ""
    code, text = raw.phase1(arguments)
    first = found[0] if found else None
    expected = first.code if first else 0
    if code != expected:
        return f"rules {expected} ({first}), phase 1 {code}: {text.strip()[:300]}"
    if first and not re.search(rf"\b{re.escape(first.argument)}\b", text):
        return f"rules blame {first}, phase 1 says: {text.strip()[:300]}"
    return ""


def disagreements(name: str, count: int, seed: int, most: int = 10) -> tuple[list[str], int]:
    """(what was found, how many of the calls were accepted)."""
    rules = engine.find(name)
    assert rules is not None, f"{name} has no rules"
    raw, rnd, soc = Raw(name), Random(seed), current_soc()
    problems, accepted = [], 0
    for i in range(count):
        arguments = random_call(rules, engine.family(soc), rnd)
        accepted += not list(rules.violations(Call(rules, arguments, soc, engine.family(soc))))
        problem = judge(rules, raw, arguments, soc)
        if problem:
            shown = "\n".join(f"      {n} = {v}" for n, v in arguments.items())
            problems.append(f"{name} on {soc}, seed {seed}, call {i}: {problem}\n{shown}")
            if len(problems) == most:
                break
    return problems, accepted


def samples_refused(name: str) -> list[str]:
    """The samples for this SoC that the rules or phase 1 refuse."""
    rules = engine.find(name)
    assert rules is not None
    raw, soc, wrong = Raw(name), current_soc(), []
    for sample in rules.samples:
        if engine.family(soc) in sample.get("soc", (engine.family(soc),)):
            alone = replace(rules, samples=(sample,))
            made = base(alone, engine.family(soc), _Steady(0))
            problem = judge(rules, raw, made, soc)
            broken = list(rules.violations(Call(rules, made, soc, engine.family(soc))))
            if problem or broken:
                wrong.append(f"{name} on {soc}, sample {sample}: {problem or broken[0]}")
    return wrong


def served() -> list[str]:
    """The operators with rules that the libraries in use have. A build may be limited to some."""
    found = []
    for name in engine.known():
        try:
            aclnn.op(name)
        except aclnn.LibraryNotFound:
            continue
        found.append(name)
    return found


class _Steady(Random):
    def chance(self, p: float) -> bool:
        return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("operators", nargs="*", help="default: all that have rules and are in the libraries")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    wrong = []
    for name in options.operators or served():
        refused = samples_refused(name)
        found, accepted = disagreements(name, options.count, options.seed)
        wrong += refused + found
        print(f"{name} on {current_soc()}: {options.count} calls, {accepted} accepted, {len(found)} disagree")
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
