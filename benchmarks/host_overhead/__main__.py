"""What a call costs on the host, against C and against ctypes by hand: `python benchmarks/host_overhead`.

An operator that does nothing (null_op.c) is called with four kept handles on the default stream:

    C           both phases in a C loop
    by hand     the leanest ctypes with declared argument types, as one writes it for one operator
    untyped     the same without argument types, on c_void_p objects made beforehand
    Operator    ours, on kept tensors, with its checks, lifetimes and errors
    second      one bare ctypes call of phase 2, by hand
    Plan        ours

All in one process pinned to one CPU, in turns, medians. If the libraries in use have aclnnAdd, the same again
on it with 1024 elements, where the C loop holds what the operator itself costs the caller.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aclnn_py as aclnn
from aclnn_py import libraries, operator, prototype, runtime

DECLARATION = (
    "aclnnStatus {}GetWorkspaceSize(const aclTensor *self, const aclTensor *other, const aclScalar *alpha, "
    "aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);"
)
POINTER, SIZE = ctypes.c_void_p, ctypes.c_uint64


def compile_null(folder: Path) -> ctypes.CDLL:
    compiler = shutil.which(os.environ.get("CC", "cc")) or shutil.which("gcc")
    if compiler is None:
        sys.exit("needs a C compiler")
    source, target = Path(__file__).with_name("null_op.c"), folder / "null_op.so"
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", str(target), str(source)], check=True)
    return ctypes.CDLL(str(target))


def by_hand(phase1: Any, phase2: Any) -> Callable[..., None]:
    phase1.argtypes = [POINTER] * 4 + [ctypes.POINTER(SIZE), ctypes.POINTER(POINTER)]
    phase2.argtypes = [POINTER, SIZE, POINTER, POINTER]
    size, executor = SIZE(), POINTER()
    size_ref, executor_ref = ctypes.byref(size), ctypes.byref(executor)

    def call(self: int, other: int, alpha: int, out: int, workspace: int | None, stream: int) -> None:
        if phase1(self, other, alpha, out, size_ref, executor_ref):
            raise RuntimeError
        if phase2(workspace, size.value, executor.value, stream):
            raise RuntimeError

    return call


def untyped(phase1: Any, phase2: Any) -> Callable[..., None]:
    size, executor = SIZE(), POINTER()
    size_ref, executor_ref = ctypes.byref(size), ctypes.byref(executor)

    def call(self: Any, other: Any, alpha: Any, out: Any, workspace: Any, stream: Any) -> None:
        if phase1(self, other, alpha, out, size_ref, executor_ref):
            raise RuntimeError
        if phase2(workspace, size, executor, stream):
            raise RuntimeError

    return call


def value(argument: Any) -> int:
    """The number in what we pass to C."""
    return int(ctypes.cast(argument, POINTER).value or 0)


class Subject:
    """One operator, its arguments, and every way of calling it."""

    def __init__(self, library: ctypes.CDLL, loops: ctypes.CDLL, call: aclnn.Operator) -> None:
        name = call.name
        tensors = [aclnn.zeros(1024), aclnn.zeros(1024), aclnn.Scalar(1.0), aclnn.empty(1024)]
        x, y, alpha, out = tensors
        self.stream = aclnn.current_stream()
        handles = [value(h) for h in (x._aclTensor, y._aclTensor, alpha._aclScalar, out._aclTensor)]
        stream = value(self.stream._handle)
        plan = call.plan(*tensors)
        workspace = plan._memory and plan._memory.address
        executor = value(plan._executor) if plan.repeatable else 0

        def fresh(symbol: str) -> Any:
            return library[symbol]

        hand = by_hand(fresh(name + "GetWorkspaceSize"), fresh(name))
        bare = untyped(fresh(name + "GetWorkspaceSize"), fresh(name))
        objects = [POINTER(h) for h in handles] + [POINTER(workspace), POINTER(stream)]
        second = fresh(name)
        second.argtypes = [POINTER, SIZE, POINTER, POINTER]
        both, only = loops.TwoPhases, loops.SecondPhase
        both.restype = only.restype = ctypes.c_double
        both.argtypes = [POINTER] * 8 + [ctypes.c_int]
        only.argtypes = [POINTER, POINTER, SIZE, POINTER, POINTER, ctypes.c_int]
        first_address = ctypes.cast(fresh(name + "GetWorkspaceSize"), POINTER)
        second_address = ctypes.cast(fresh(name), POINTER)
        size = plan._workspace_size

        def python(function: Any, *arguments: Any) -> Callable[[int], None]:
            def run(calls: int) -> None:
                for _ in range(calls):
                    function(*arguments)

            return run

        self.ways: dict[str, Callable[[int], Any]] = {
            "C": lambda calls: both(first_address, second_address, *handles, workspace, stream, calls),
            "by hand": python(hand, *handles, workspace, stream),
            "untyped": python(bare, *objects),
            "Operator": python(call, *tensors),
            "C second": lambda calls: only(second_address, workspace, size, executor, stream, calls),
            "second": python(second, workspace, size, executor, stream),
            "Plan": python(plan),
        }
        self.keep = tensors, plan

    def seconds(self, calls: int, rounds: int) -> dict[str, float]:
        """Median seconds per call of each way, in turns. The stream is waited for outside the timing."""
        samples: dict[str, list[float]] = {name: [] for name in self.ways}
        for i in range(rounds + 2):
            for name, way in self.ways.items():
                start = time.perf_counter()
                way(calls)
                took = (time.perf_counter() - start) / calls
                self.stream.synchronize()
                if i >= 2:  # the first rounds warm up
                    samples[name].append(took)
        return {name: statistics.median(values) for name, values in samples.items()}


def null_subject(null: ctypes.CDLL) -> Subject:
    """aclnnNull as an Operator: the null operator is in no library that the binding searches."""
    record = prototype.parse(DECLARATION.format("aclnnNull"), "aclnnNull")
    found = libraries.operator_functions
    libraries.operator_functions = lambda name: (null[name + "GetWorkspaceSize"], null[name])
    try:
        made = operator._build(record)
    finally:
        libraries.operator_functions = found
    repeatable = runtime.acl.aclSetAclOpExecutorRepeatable
    destroy = runtime.acl.aclDestroyAclOpExecutor
    # its executor is nothing that the libraries know
    runtime.acl.aclSetAclOpExecutorRepeatable = runtime.acl.aclDestroyAclOpExecutor = lambda executor: 0
    try:
        return Subject(null, null, made)
    finally:
        runtime.acl.aclSetAclOpExecutorRepeatable = repeatable
        runtime.acl.aclDestroyAclOpExecutor = destroy


def show(title: str, times: dict[str, float]) -> None:
    own = {name: t - times["C second" if name in ("second", "Plan") else "C"] for name, t in times.items()}
    print(f"\n{title}\n{'':10} {'ns per call':>12} {'less C':>8} {'ratio':>7}")
    for name, reference in (
        ("C", ""), ("by hand", ""), ("untyped", "by hand"), ("Operator", "by hand"),
        ("C second", ""), ("second", ""), ("Plan", "second"),
    ):  # fmt: skip
        ratio = f"{own[name] / own[reference]:7.2f} x {reference}" if reference else ""
        less = f"{own[name] * 1e9:8.0f}" if not name.startswith("C") else f"{'':8}"
        print(f"{name:10} {times[name] * 1e9:12.0f} {less} {ratio}")
    print(f"Operator / untyped {own['Operator'] / own['untyped']:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="benchmarks/host_overhead", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--calls", type=int, default=400, help="calls per measurement (default 400)")
    parser.add_argument("--rounds", type=int, default=301, help="measurements of each (default 301)")
    parser.add_argument("--cpu", type=int, help="the CPU to pin to (default: the last one allowed)")
    options = parser.parse_args()
    cpu = max(os.sched_getaffinity(0)) if options.cpu is None else options.cpu
    aclnn.Device.current()  # the emulator's workers start before the pinning, so they keep to other CPUs
    aclnn.current_stream()
    os.sched_setaffinity(0, {cpu})
    with tempfile.TemporaryDirectory() as folder:
        null = compile_null(Path(folder))
        print(
            f"Python {sys.version.split()[0]}, CPU {cpu}, medians of {options.rounds} x {options.calls} calls"
        )
        show("an operator that does nothing", null_subject(null).seconds(options.calls, options.rounds))
        try:
            add = aclnn.op("aclnnAdd")
        except aclnn.LibraryNotFound:
            print("\nthe libraries in use have no aclnnAdd")
            return
        library = ctypes.CDLL(str(aclnn.which("aclnnAdd").library))
        times = Subject(library, null, add).seconds(options.calls, options.rounds)
        show("aclnnAdd on 1024 float32", times)


if __name__ == "__main__":
    main()
