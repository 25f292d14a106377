"""What MhcPre and MhcPreV2 refuse on the SoC of this process, in which order and with which words.

Plain ctypes: nothing of the binding takes part. Run by test_mhc_pre_status.py, which passes EMULATOR_ROOT.
"""

import ctypes
import sys
from pathlib import Path

import mhc_status_rows as rows
from mhc_status_rows import (
    BF16,
    DOUBLE,
    FLOAT,
    FLOAT16,
    INVALID,
    NC1HWC0,
    NULLPTR,
    ON_950,
    Row,
    Spec,
    i64,
    p,
    u64,
)

GROUP = ("invRmsOptional", "hMixOptional", "hPreOptional")
INPUTS = ("x", "phi", "alpha", "bias", "gammaOptional")


class Call(rows.Call):
    """Arguments of one valid call, to be spoiled."""

    def run(self, abi, execute=False):
        """(status, text). With `execute` the second phase runs too."""
        types, values, handles = [], [], []
        for index, (name, value) in enumerate(self.arguments.items()):
            if isinstance(value, Spec):
                handles.append(abi.tensor(value, index))
                value = handles[-1]
            types.append(ctypes.c_double if name.endswith("Eps") else i64 if name == "opImplMode" else p)
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
            workspace = p()
            assert size.value > 0
            assert (
                abi.function("aclrtMalloc", [p, u64, ctypes.c_int32])(ctypes.byref(workspace), size, 0) == 0
            )
            run = abi.function(self.op, [p, u64, p, p])
            assert run(workspace, size, executor, abi.stream) == 0
            done = abi.synchronize(abi.stream)
            assert not execute or done == 0, abi.text()
            assert abi.function("aclrtFree", [p])(workspace) == 0
            assert run(workspace, size, executor, abi.stream) == 561103  # an executor serves once
            abi.text()
        for handle in handles:
            assert abi.destroy(handle) == 0
        return status, text


def call(op, lead=(2, 3), n=4, tail=128, dtype=BF16, scales=3, mode=0):
    rows_of_phi = 2 * n + (n * n if scales == 3 else 0)
    arguments = {
        "x": Spec((*lead, n, tail), dtype),
        "phi": Spec((rows_of_phi, n * tail)),
        "alpha": Spec((scales,)),
        "bias": Spec((rows_of_phi,)),
        "gammaOptional": Spec((n, tail)),
        "normEps": 1e-6,
        "hcEps": 1e-6,
        "opImplMode": mode,
        "hIn": Spec((*lead, tail), dtype),
        "hPost": Spec((*lead, n)),
        "hRes": Spec((*lead, n, n)),
        "invRmsOptional": Spec(lead),
        "hMixOptional": Spec((*lead, rows_of_phi)),
        "hPreOptional": Spec((*lead, n)),
    }
    if op == "aclnnMhcPre":
        del arguments["opImplMode"]
    return Call(op, arguments)


def refusals(op):
    """Every reason to refuse, in the order in which they are looked for."""
    for name in ("workspaceSize", "executor"):
        yield Row(NULLPTR, name, ("nullptr",), {name: False})
    for name in ("x", "phi", "alpha", "bias", "hIn", "hPost"):
        yield Row(NULLPTR, name, ("nullptr",), {name: None})
    empty = {"x": (2, 0, 4, 128), "phi": (24, 0), "alpha": (0,), "bias": (0,)}
    for name, shape in empty.items():
        yield Row(INVALID, name, (str(list(shape)), "length 0"), {f"{name}__shape": shape})
    yield Row(INVALID, "x", ("2", "[4, 128]", "3 or 4"), {"x__shape": (4, 128)})
    yield Row(INVALID, "x", ("5", "3 or 4"), {"x__shape": (1, 2, 3, 4, 128)})
    yield Row(INVALID, "x", ("negative",), {"x__shape": (-2, 3, 4, 128)})
    yield Row(INVALID, "phi", ("3", "2"), {"phi__shape": (1, 24, 512)})
    yield Row(INVALID, "alpha", ("2", "[1, 3]", "1"), {"alpha__shape": (1, 3)})
    yield Row(INVALID, "bias", ("2", "[24, 1]", "1"), {"bias__shape": (24, 1)})
    yield Row(INVALID, "gammaOptional", ("1", "[512]", "2"), {"gammaOptional__shape": (512,)})
    for count in (1, 4):
        yield Row(INVALID, "alpha", (f"[{count}]", "[3]", "[2]"), {"alpha__shape": (count,)})
    yield Row(NULLPTR, "hRes", ("nullptr",), {"hRes": None})
    yield Row(INVALID, "hIn", ("2", "[6, 128]", "3"), {"hIn__shape": (6, 128)})
    yield Row(INVALID, "hPost", ("4", "3"), {"hPost__shape": (2, 3, 4, 1)})
    yield Row(INVALID, "hRes", ("3", "[2, 3, 16]", "4"), {"hRes__shape": (2, 3, 16)})
    for name in GROUP:
        yield Row(INVALID, name, ("all", "nullptr"), {name: None})
    yield Row(INVALID, "invRmsOptional", ("3", "2"), {"invRmsOptional__shape": (2, 3, 1)})
    yield Row(INVALID, "hMixOptional", ("2", "3"), {"hMixOptional__shape": (6, 24)})
    yield Row(INVALID, "hPreOptional", ("1", "3"), {"hPreOptional__shape": (24,)})
    yield Row(INVALID, "x", ("5", "4, 6 or 8" if ON_950 else "4"), {"x__shape": (2, 3, 5, 128)})
    yield Row(INVALID, "x", ("100", "16" if ON_950 else "128"), {"x__shape": (2, 3, 4, 100)})
    yield Row(INVALID, "phi", ("[24, 511]", "[24, 512]"), {"phi__shape": (24, 511)})
    yield Row(INVALID, "bias", ("[23]", "[24]"), {"bias__shape": (23,)})
    yield Row(INVALID, "gammaOptional", ("[128, 4]", "[4, 128]"), {"gammaOptional__shape": (128, 4)})
    yield Row(INVALID, "hIn", ("[2, 3, 127]", "[2, 3, 128]"), {"hIn__shape": (2, 3, 127)})
    yield Row(INVALID, "hPost", ("[3, 2, 4]", "[2, 3, 4]"), {"hPost__shape": (3, 2, 4)})
    yield Row(INVALID, "hRes", ("[2, 3, 4, 5]", "[2, 3, 4, 4]"), {"hRes__shape": (2, 3, 4, 5)})
    yield Row(INVALID, "invRmsOptional", ("[3, 2]", "[2, 3]"), {"invRmsOptional__shape": (3, 2)})
    yield Row(INVALID, "hMixOptional", ("[2, 3, 8]", "[2, 3, 24]"), {"hMixOptional__shape": (2, 3, 8)})
    yield Row(INVALID, "hPreOptional", ("[2, 3, 5]", "[2, 3, 4]"), {"hPreOptional__shape": (2, 3, 5)})
    half, both = "DT_FLOAT16", ("DT_FLOAT16", "DT_BFLOAT16")
    yield Row(INVALID, "x", ("DT_FLOAT", *both), {"x__dtype": FLOAT})
    for name in INPUTS[1:]:
        yield Row(INVALID, name, (half, "[DT_FLOAT]"), {f"{name}__dtype": FLOAT16})
    yield Row(INVALID, "hIn", both, {"hIn__dtype": FLOAT16})
    for name in ("hPost", "hRes", *GROUP):
        yield Row(INVALID, name, ("DT_DOUBLE", "[DT_FLOAT]"), {f"{name}__dtype": DOUBLE})
    for name in (*INPUTS, "hIn", "hPost", "hRes", *GROUP):
        yield Row(INVALID, name, ("NC1HWC0", "ND"), {f"{name}__format": NC1HWC0})
    if op == "aclnnMhcPreV2":
        for value in (2, -1, 2**32):
            yield Row(INVALID, "opImplMode", (str(value), "0", "1"), {"opImplMode": value})
        if not ON_950:
            yield Row(INVALID, "opImplMode", ("1", "0", "950"), {"opImplMode": 1})


def check_rows_in_order(abi):
    for op in ("aclnnMhcPre", "aclnnMhcPreV2"):
        rows.check_rows(abi, lambda op=op: call(op), refusals(op))


def check_tail_comes_last(abi):
    """The largest D is looked for behind all else, opImplMode included."""
    n, tail = 4, 16400 if ON_950 else 100_096
    for op in ("aclnnMhcPre", "aclnnMhcPreV2"):
        limit = Row(INVALID, "x", (str(tail), "16384" if ON_950 else "100000"), {})
        rows.expect(op, *call(op, (1, 1), n, tail).run(abi), limit, op)
        late = {"gammaOptional__format": NC1HWC0}
        earlier = Row(INVALID, "gammaOptional", ("NC1HWC0",), late)
        rows.expect(op, *call(op, (1, 1), n, tail).change(late).run(abi), earlier, op)
    mode = Row(INVALID, "opImplMode", ("7",), {"opImplMode": 7})
    rows.expect("aclnnMhcPreV2", *call("aclnnMhcPreV2", (1, 1), n, tail, mode=7).run(abi), mode, "mode")


def check_accepted_forms(abi):
    for op in ("aclnnMhcPre", "aclnnMhcPreV2"):
        for lead, dtype, scales in (((5,), FLOAT16, 3), ((2, 3), BF16, 2), ((1, 1), FLOAT16, 2)):
            assert call(op, lead, 4, 128, dtype, scales).run(abi, execute=True) == (0, "")
        nothing = dict.fromkeys(GROUP)
        assert call(op).change(nothing | {"gammaOptional": None}).run(abi, execute=True) == (0, "")
        for n in (6, 8) if ON_950 else ():
            for scales in (3, 2):
                assert call(op, (2, 3), n, 48, scales=scales).run(abi, execute=True) == (0, "")
    if ON_950:
        assert call("aclnnMhcPreV2", mode=1).run(abi, execute=True) == (0, "")


def check_h_res_is_not_looked_at_with_an_alpha_of_2(abi):
    for spoiled in (None, Spec((7,), DOUBLE, NC1HWC0), Spec((2, 3, 4, 4), FLOAT16)):
        for op in ("aclnnMhcPre", "aclnnMhcPreV2"):
            assert call(op, scales=2).change({"hRes": spoiled}).run(abi, execute=True) == (0, "")


def check_what_is_no_tensor(abi):
    """A stream in the place of each tensor."""
    for name in (*INPUTS, "hIn", "hPost", "hRes", *GROUP):
        status, text = call("aclnnMhcPreV2").change({name: abi.stream}).run(abi)
        assert status == INVALID and f"{name} is not a live aclTensor" in text, text


def check_executor_of_the_other_function(abi):
    """MhcPreV2 does not run what MhcPre planned."""
    planned, size, executor = call("aclnnMhcPre"), u64(), p()
    handles = [
        abi.tensor(v, i) if isinstance(v, Spec) else v for i, v in enumerate(planned.arguments.values())
    ]
    types = [ctypes.c_double if n.endswith("Eps") else p for n in planned.arguments]
    plan = abi.function("aclnnMhcPreGetWorkspaceSize", [*types, p, p])
    assert plan(*handles, ctypes.byref(size), ctypes.byref(executor)) == 0
    assert abi.function("aclnnMhcPreV2", [p, u64, p, p])(abi.memory, size, executor, abi.stream) == 561103
    assert b"aclnnMhcPreGetWorkspaceSize" in abi.text()
    assert abi.function("aclDestroyAclOpExecutor", [p])(executor) == 0
    for handle in handles:
        assert isinstance(handle, float) or abi.destroy(handle) == 0


def main():
    abi = rows.Abi(Path(sys.argv[1]))
    before = [abi.live(kind) for kind in (b"tensor", b"executor", b"device_memory")]
    for name, check in list(globals().items()):
        if name.startswith("check_"):
            check(abi)
            assert [abi.live(kind) for kind in (b"tensor", b"executor", b"device_memory")] == before, name


if __name__ == "__main__":
    main()
