"""What MhcPost, MhcPostBackward and MhcSinkhorn refuse on the SoC of this process, in which order.

Plain ctypes: nothing of the binding takes part. Run by test_mhc_status.py: mhc_status_rows.py EMULATOR_ROOT
"""

import copy
import ctypes
import itertools
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

FLOAT, FLOAT16, DOUBLE, BF16 = 0, 1, 11, 27
ND, NCHW, NC1HWC0 = 2, 0, 3
NULLPTR, INVALID, RUNTIME, INNER, TILING = 161001, 161002, 361001, 561000, 561103
ON_950 = "950" in os.environ.get("ACLEMU_SOC", "")
SIZE = {FLOAT: 4, FLOAT16: 2, DOUBLE: 8, BF16: 2}
p, i64, u64 = ctypes.c_void_p, ctypes.c_int64, ctypes.c_uint64


@dataclass
class Spec:
    shape: tuple
    dtype: int = FLOAT
    format: int = ND
    strides: tuple | None = None


class Abi:
    def __init__(self, root):
        paths = [root / "lib64" / f"lib{name}.so" for name in ("ascendcl", "nnopbase", "opapi")]
        self.libraries = [ctypes.CDLL(str(path)) for path in paths]
        assert self.function("aclInit", [p])(None) == 0
        assert self.function("aclrtSetDevice", [ctypes.c_int32])(0) == 0
        self.memory, self.stream = p(), p()
        assert (
            self.function("aclrtMalloc", [p, u64, ctypes.c_int32])(ctypes.byref(self.memory), 16 << 20, 0)
            == 0
        )
        assert self.function("aclrtCreateStream", [p])(ctypes.byref(self.stream)) == 0
        self.text = self.function("aclGetRecentErrMsg", [], ctypes.c_char_p)
        self.synchronize = self.function("aclrtSynchronizeStream", [p])
        dims = ctypes.POINTER(i64)
        self.create = self.function(
            "aclCreateTensor", [dims, u64, ctypes.c_int32, dims, i64, ctypes.c_int32, dims, u64, p], p
        )
        self.destroy = self.function("aclDestroyTensor", [p])
        self.live = self.function("aclemuLiveObjects", [ctypes.c_char_p], i64)

    def function(self, name, argtypes, restype=ctypes.c_int32):
        found = next(getattr(library, name) for library in reversed(self.libraries) if hasattr(library, name))
        found.argtypes, found.restype = argtypes, restype
        return found

    def tensor(self, spec, offset):
        rank = len(spec.shape)
        shape = (i64 * rank)(*spec.shape)
        handle = self.create(
            shape, rank, spec.dtype, None, 0, spec.format, shape, rank, self.memory.value + offset * (1 << 20)
        )
        assert handle
        return handle


class Call:
    """Arguments of one valid call, to be spoiled."""

    def __init__(self, op, arguments):
        self.op, self.arguments = op, arguments  # in C order
        self.pointers = {"workspaceSize": True, "executor": True}
        self.second = 0  # what the second phase returns

    def change(self, changes):
        """`x: None` passes NULL, `x__dtype: ...` changes a property, `numIters: ...` an attribute."""
        for key, value in changes.items():
            name, _, prop = key.partition("__")
            if name in self.pointers:
                self.pointers[name] = value
            elif not prop:
                self.arguments[name] = value
            elif self.arguments[name] is not None:
                setattr(self.arguments[name], prop, value)
        return self

    def run(self, abi, execute=False):
        """(status, text). With `execute` the second phase runs too."""
        types, values, handles = [], [], []
        for index, (name, value) in enumerate(self.arguments.items()):
            if isinstance(value, Spec):
                handles.append(abi.tensor(value, index))
                value = handles[-1]
            kind = ctypes.c_float if name == "eps" else i64 if name == "numIters" else p
            types.append(kind)
            values.append(value)
        size, executor = u64(1 << 60), p()
        plan = abi.function(f"{self.op}GetWorkspaceSize", [*types, p, p])
        abi.text()
        status = plan(
            *values,
            ctypes.byref(size) if self.pointers["workspaceSize"] else None,
            ctypes.byref(executor) if self.pointers["executor"] else None,
        )
        text = (abi.text() or b"").decode()
        assert (executor.value is not None) == (status == 0), (status, executor)
        if status == 0:
            run = abi.function(self.op, [p, u64, p, p])
            assert size.value == 0  # nothing strided here
            assert run(None, 0, executor, abi.stream) == self.second
            assert not execute or abi.synchronize(abi.stream) == 0, abi.text()
            abi.synchronize(abi.stream)
        for handle in handles:
            assert abi.destroy(handle) == 0
        return status, text


@dataclass
class Row:
    status: int
    parameter: str
    texts: tuple  # actual and expected
    changes: dict


def post_call(lead=(2, 3), n=4, tail=128, dtype=BF16):
    return Call(
        "aclnnMhcPost",
        {
            "x": Spec((*lead, n, tail), dtype),
            "hRes": Spec((*lead, n, n)),
            "hOut": Spec((*lead, tail), dtype),
            "hPost": Spec((*lead, n)),
            "out": Spec((*lead, n, tail), dtype),
        },
    )


def post_rows():
    for name in ("workspaceSize", "executor"):
        yield Row(NULLPTR, name, ("nullptr",), {name: False})
    if not ON_950:
        yield Row(RUNTIME, "hRes", ("nullptr", "950"), {"hRes": None})
    for name in ("x", "hOut", "hPost", "out"):
        yield Row(NULLPTR, name, ("nullptr",), {name: None})
    for name in ("x", "out"):
        yield Row(INVALID, name, ("NC1HWC0", "ND"), {f"{name}__format": NC1HWC0})
    yield Row(INVALID, "x", ("DT_FLOAT", "DT_FLOAT16", "DT_BFLOAT16"), {"x__dtype": FLOAT})
    yield Row(INVALID, "hRes", ("DT_BFLOAT16", "[DT_FLOAT]"), {"hRes__dtype": BF16})
    yield Row(INVALID, "hOut", ("DT_FLOAT16", "DT_BFLOAT16"), {"hOut__dtype": FLOAT16})
    yield Row(INVALID, "hPost", ("DT_DOUBLE", "[DT_FLOAT]"), {"hPost__dtype": DOUBLE})
    yield Row(INVALID, "out", ("DT_FLOAT", "DT_BFLOAT16"), {"out__dtype": FLOAT})
    yield Row(INVALID, "x", ("2", "3 or 4"), {"x__shape": (4, 128)})
    yield Row(INVALID, "x", ("5", "3 or 4"), {"x__shape": (1, 2, 3, 4, 128)})
    yield Row(INVALID, "hRes", ("3", "[2, 3, 16]", "4"), {"hRes__shape": (2, 3, 16)})
    yield Row(INVALID, "hOut", ("4", "3"), {"hOut__shape": (2, 3, 1, 128)})
    yield Row(INVALID, "hPost", ("2", "3"), {"hPost__shape": (6, 4)})
    yield Row(INVALID, "out", ("3", "4"), {"out__shape": (6, 4, 128)})
    yield Row(INVALID, "x", ("negative",), {"x__shape": (-2, 3, 4, 128)})
    yield Row(INVALID, "hRes", ("[2, 3, 4, 5]", "[2, 3, 4, 4]"), {"hRes__shape": (2, 3, 4, 5)})
    yield Row(INVALID, "hOut", ("[2, 3, 127]", "[2, 3, 128]"), {"hOut__shape": (2, 3, 127)})
    yield Row(INVALID, "hPost", ("[2, 3, 5]", "[2, 3, 4]"), {"hPost__shape": (2, 3, 5)})
    yield Row(INVALID, "out", ("[3, 2, 4, 128]", "[2, 3, 4, 128]"), {"out__shape": (3, 2, 4, 128)})


def backward_call(lead=(2, 3), n=4, tail=128, dtype=BF16):
    like_x, like_h = (*lead, n, tail), (*lead, tail)
    return Call(
        "aclnnMhcPostBackward",
        {
            "gradOutput": Spec(like_x, dtype),
            "x": Spec(like_x, dtype),
            "hRes": Spec((*lead, n, n)),
            "hOut": Spec(like_h, dtype),
            "hPost": Spec((*lead, n)),
            "gradX": Spec(like_x, dtype),
            "gradHres": Spec((*lead, n, n)),
            "gradHout": Spec(like_h, dtype),
            "gradHpost": Spec((*lead, n)),
        },
    )


def backward_rows():
    for name in ("workspaceSize", "executor"):
        yield Row(NULLPTR, name, ("nullptr",), {name: False})
    names = list(backward_call().arguments)
    for name in names:
        if not (ON_950 and name == "hRes"):
            yield Row(NULLPTR, name, ("nullptr",), {name: None})
    for name in names[:5]:
        yield Row(INVALID, name, ("0",), {f"{name}__shape": (2, 0, 4, 128)})
    for name in names:
        yield Row(INVALID, name, ("NC1HWC0", "ND"), {f"{name}__format": NC1HWC0})
    half, both = "DT_FLOAT16", ("DT_FLOAT16", "DT_BFLOAT16")
    yield Row(INVALID, "gradOutput", ("DT_FLOAT", *both), {"gradOutput__dtype": FLOAT})
    yield Row(INVALID, "x", ("DT_DOUBLE", *both), {"x__dtype": DOUBLE})
    yield Row(INVALID, "x", both, {"x__dtype": FLOAT16})
    yield Row(INVALID, "hRes", (half, "[DT_FLOAT]"), {"hRes__dtype": FLOAT16})
    yield Row(INVALID, "hOut", ("DT_FLOAT", *both), {"hOut__dtype": FLOAT})
    yield Row(INVALID, "hOut", both, {"hOut__dtype": FLOAT16})
    yield Row(INVALID, "hPost", (half, "[DT_FLOAT]"), {"hPost__dtype": FLOAT16})
    yield Row(INVALID, "gradX", both, {"gradX__dtype": FLOAT16})
    yield Row(INVALID, "gradHres", (half, "[DT_FLOAT]"), {"gradHres__dtype": FLOAT16})
    yield Row(INVALID, "gradHout", both, {"gradHout__dtype": FLOAT16})
    yield Row(INVALID, "gradHpost", ("DT_BFLOAT16", "[DT_FLOAT]"), {"gradHpost__dtype": BF16})
    yield Row(INVALID, "x", ("2", "3 or 4"), {"x__shape": (4, 128)})
    yield Row(INVALID, "x", ("negative",), {"x__shape": (-2, 3, 4, 128)})
    yield Row(INVALID, "x", ("5", "4, 6 or 8" if ON_950 else "4"), {"x__shape": (2, 3, 5, 128)})
    yield Row(INVALID, "x", ("100", "128"), {"x__shape": (2, 3, 4, 100)})
    yield Row(INVALID, "x", ("100096", "100000"), {"x__shape": (2, 3, 4, 100096)})
    yield Row(INVALID, "gradOutput", ("3", "4"), {"gradOutput__shape": (6, 4, 128)})
    yield Row(INVALID, "hRes", ("3", "4"), {"hRes__shape": (2, 3, 16)})
    yield Row(INVALID, "hOut", ("2", "3"), {"hOut__shape": (6, 128)})
    yield Row(INVALID, "hPost", ("2", "3"), {"hPost__shape": (6, 4)})
    yield Row(INVALID, "gradX", ("3", "4"), {"gradX__shape": (6, 4, 128)})
    yield Row(INVALID, "gradHres", ("3", "4"), {"gradHres__shape": (2, 3, 16)})
    yield Row(INVALID, "gradHout", ("4", "3"), {"gradHout__shape": (2, 3, 1, 128)})
    yield Row(INVALID, "gradHpost", ("2", "3"), {"gradHpost__shape": (6, 4)})
    yield Row(INVALID, "gradOutput", ("[2, 3, 5, 128]",), {"gradOutput__shape": (2, 3, 5, 128)})
    yield Row(INVALID, "hRes", ("[2, 3, 4, 5]", "[2, 3, 4, 4]"), {"hRes__shape": (2, 3, 4, 5)})
    yield Row(INVALID, "hOut", ("[2, 3, 127]", "[2, 3, 128]"), {"hOut__shape": (2, 3, 127)})
    yield Row(INVALID, "hPost", ("[2, 3, 5]", "[2, 3, 4]"), {"hPost__shape": (2, 3, 5)})
    yield Row(INVALID, "gradX", ("[3, 2, 4, 128]",), {"gradX__shape": (3, 2, 4, 128)})
    yield Row(INVALID, "gradHres", ("[2, 3, 5, 4]", "[2, 3, 4, 4]"), {"gradHres__shape": (2, 3, 5, 4)})
    yield Row(INVALID, "gradHout", ("[2, 3, 129]", "[2, 3, 128]"), {"gradHout__shape": (2, 3, 129)})
    yield Row(INVALID, "gradHpost", ("[2, 4, 4]", "[2, 3, 4]"), {"gradHpost__shape": (2, 4, 4)})


def sinkhorn_call(lead=(2, 3), n=4, iters=2):
    tokens = lead[0] * (lead[1] if len(lead) == 2 else 1)
    return Call(
        "aclnnMhcSinkhorn",
        {
            "x": Spec((*lead, n, n)),
            "eps": 1e-6,
            "numIters": iters,
            "output": Spec((*lead, n, n)),
            "normOut": Spec((2 * iters * tokens * n * 8,)),
            "sumOut": Spec((2 * iters * tokens * 8,)),
        },
    )


def sinkhorn_rows():
    without = {"normOut": None, "sumOut": None}
    for name in ("workspaceSize", "executor"):
        yield Row(NULLPTR, name, ("nullptr",), {name: False})
    for name in ("x", "output"):
        yield Row(NULLPTR, name, ("nullptr",), {name: None})
    yield Row(INVALID, "x", ("negative",), {"x__shape": (-2, 3, 4, 4)})
    yield Row(INVALID, "normOut", ("sumOut", "both or neither"), {"normOut": None})
    yield Row(INVALID, "sumOut", ("normOut", "both or neither"), {"sumOut": None})
    yield Row(INVALID, "normOut", ("2", "1"), {"normOut__shape": (4, 192)})
    yield Row(INVALID, "sumOut", ("2", "1"), {"sumOut__shape": (4, 48)})
    yield Row(INVALID, "normOut", ("[767]", "[768]"), {"normOut__shape": (767,)})
    yield Row(INVALID, "sumOut", ("[96]", "[192]"), {"sumOut__shape": (96,)})
    for name in ("x", "output", "normOut", "sumOut"):
        yield Row(INVALID, name, ("DT_FLOAT16", "[DT_FLOAT]"), {f"{name}__dtype": FLOAT16})
    yield Row(INVALID, "output", ("[2, 3, 4, 5]", "[2, 3, 4, 4]"), {"output__shape": (2, 3, 4, 5)})
    for value in (0, -1, 101, 2**62):
        yield Row(INVALID, "numIters", (str(value), "100"), without | {"numIters": value})
    for shape in ((4, 4), (1, 2, 3, 4, 4)):
        yield Row(INVALID, "x", ("3 or 4",), without | {"x__shape": shape, "output__shape": shape})
    for shape in ((2, 3, 4, 6), (2, 3, 5, 5), (2, 3, 16, 16)):
        yield Row(INVALID, "x", ("4, 6 or 8",), without | {"x__shape": shape, "output__shape": shape})
    for name in ("x", "output"):
        yield Row(INVALID, name, ("NC1HWC0", "ND"), {f"{name}__format": NC1HWC0})
    yield Row(INVALID, "output", ("NCHW", "ND"), {"output__format": NCHW})
    for name in ("normOut", "sumOut"):
        yield Row(INVALID, name, ("NC1HWC0", "ND"), {f"{name}__format": NC1HWC0})
    yield Row(
        INVALID, "x", ("[0, 3, 4, 4]",), without | {"x__shape": (0, 3, 4, 4), "output__shape": (0, 3, 4, 4)}
    )
    if not ON_950:
        yield Row(INVALID, "x", ("Ascend 950",), {})


def expect(op, status, text, row, what):
    assert status == row.status, f"{what}: {status}, expected {row.status}: {text}"
    match = re.search(r"AclNN_\w+_Error\((?:EZ\d{4})\): (.*)", text)
    assert match, f"{what}: {text}"
    headline = match[1]
    for word in (op, row.parameter, *row.texts):
        assert re.search(rf"(?<!\w){re.escape(word)}(?!\w)", headline), (
            f"{what}: {word!r} is not in: {headline}"
        )


def check_rows(abi, make, rows):
    """Each fault alone, and each pair: the earlier decides. And no refusal spoils what comes after it."""
    rows, op = list(rows), make().op
    refused_anyway = rows[-1].changes == {}
    if not refused_anyway:
        status, text = make().run(abi, execute=True)
        assert (status, text) == (0, ""), f"{op}, valid call: {status} {text}"
    for row in rows:
        expect(op, *make().change(copy.deepcopy(row.changes)).run(abi), row, f"{op} {row.changes}")
    pairs = 0
    for first, second in itertools.combinations(rows, 2):
        if set(first.changes) & set(second.changes):
            continue
        # NULL for what the other one changes hides that, as does a shape that follows from it.
        names = {key.partition("__")[0] for key in first.changes} & {
            key.partition("__")[0] for key in second.changes
        }
        both_left_out = first.changes | second.changes == {"normOut": None, "sumOut": None}
        if both_left_out or any(second.changes.get(name, 1) is None for name in names):
            continue
        call = make().change(copy.deepcopy(second.changes)).change(copy.deepcopy(first.changes))
        expect(op, *call.run(abi), first, f"{op} {first.changes} before {second.changes}")
        pairs += 1
    if not refused_anyway:
        assert make().run(abi, execute=True)[0] == 0
    print(f"{op}: {len(rows)} rows, {pairs} pairs")


def check_other_calls(abi):
    """What the tables say beyond the order: limits, empty tensors, tensors that are none."""
    for n, tail, status in (
        (5, 128, 0 if ON_950 else TILING),
        (4, 100, 0 if ON_950 else TILING),
        (4, 99968, 0),
    ):
        found, text = post_call((1, 1), n, tail).run(abi)
        assert found == status, (n, tail, found, text)
    for lead, tail in (((0, 3), 128), ((2, 0), 100), ((1, 1), 0)):
        assert post_call(lead, 4, tail).run(abi, execute=True) == (0, "")
    assert post_call((1, 1), 0, 128).run(abi, execute=True) == (0, "")
    identity = post_call().change({"hRes": None}).run(abi, execute=ON_950)
    assert identity[0] == (0 if ON_950 else RUNTIME)
    makers = (
        (post_call, "hOut"),
        (post_call, "hRes"),
        (backward_call, "gradHres"),
        (sinkhorn_call, "normOut"),
    )
    for make, name in makers:
        status, text = make().change({name: abi.stream.value}).run(abi)  # an object of another kind
        assert status == INVALID and f"{name} is not a live aclTensor" in text, text


def check_second_phases(abi):
    """MhcPost has one code for whatever fails there, the others that of what failed."""
    for op, null, no_executor in (
        ("aclnnMhcPost", INNER, INNER),
        ("aclnnMhcPostBackward", NULLPTR, TILING),
        ("aclnnMhcSinkhorn", NULLPTR, TILING),
    ):
        run = abi.function(op, [p, u64, p, p])
        assert run(None, 0, None, abi.stream) == null, op
        assert run(None, 0, abi.stream, abi.stream) == no_executor, op  # an object of another kind
        assert f"{op}: executor" in abi.text().decode()
    fail = abi.function("aclemuFailOperator", [ctypes.c_char_p, ctypes.c_int, ctypes.c_int32])
    for code in (507015, 0):
        assert fail(b"aclnnMhcPost", 2, code) == 0
        call = post_call()
        call.second = code  # a fault that was asked for comes out as it is
        assert call.run(abi)[0] == 0


def main():
    abi = Abi(Path(sys.argv[1]))
    before = [abi.live(kind) for kind in (b"tensor", b"executor")]
    check_rows(abi, post_call, post_rows())
    check_rows(abi, backward_call, backward_rows())
    check_rows(abi, sinkhorn_call, sinkhorn_rows())
    check_other_calls(abi)
    check_second_phases(abi)
    assert [abi.live(kind) for kind in (b"tensor", b"executor")] == before


if __name__ == "__main__":
    main()
