"""What MhcPreSinkhornBackward refuses on the SoC of this process, in which order, through plain ctypes.

Run by test_mhc_pre_sinkhorn_backward.py: mhc_backward_status_rows.py EMULATOR_ROOT
"""

import ctypes
import sys
from pathlib import Path

from mhc_status_rows import (
    BF16,
    DOUBLE,
    FLOAT,
    FLOAT16,
    INVALID,
    NC1HWC0,
    NULLPTR,
    ON_950,
    Abi,
    Call,
    Row,
    Spec,
    check_rows,
    expect,
    i64,
    p,
    u64,
)

OP = "aclnnMhcPreSinkhornBackward"


class BackwardCall(Call):
    """As Call, for an operator with a workspace and an attribute of type double."""

    workspace_size = None

    def run(self, abi, execute=False):
        types, values, handles = [], [], []
        for index, (name, value) in enumerate(self.arguments.items()):
            if isinstance(value, Spec):
                handles.append(self.tensor(abi, value, index))
                value = handles[-1]
            types.append(ctypes.c_double if name == "hcEps" else p)
            values.append(value)
        size, executor = u64(1 << 60), p()
        plan = abi.function(f"{OP}GetWorkspaceSize", [*types, p, p])
        abi.text()
        status = plan(
            *values,
            ctypes.byref(size) if self.pointers["workspaceSize"] else None,
            ctypes.byref(executor) if self.pointers["executor"] else None,
        )
        text = (abi.text() or b"").decode()
        assert (executor.value is not None) == (status == 0), (status, executor)
        if status == 0:
            self.workspace_size = size.value
        if status == 0 and not execute:
            assert abi.function("aclDestroyAclOpExecutor", [p])(executor) == 0
        elif status == 0:
            workspace = p()
            if size.value:
                malloc = abi.function("aclrtMalloc", [p, u64, ctypes.c_int32])
                assert malloc(ctypes.byref(workspace), size.value, 0) == 0
            run = abi.function(OP, [p, u64, p, p])
            assert run(workspace, size.value, executor, abi.stream) == 0
            assert abi.synchronize(abi.stream) == 0, abi.text()
            if size.value:
                assert abi.function("aclrtFree", [p])(workspace) == 0
        for handle in handles:
            assert abi.destroy(handle) == 0
        return status, text

    @staticmethod
    def tensor(abi, spec, index):
        if spec.strides is None:
            return abi.tensor(spec, index)
        rank = len(spec.shape)
        shape, strides, storage = (i64 * rank)(*spec.shape), (i64 * rank)(*spec.strides), (i64 * 1)(1 << 17)
        address = abi.memory.value + index * (1 << 20)
        return abi.create(shape, rank, spec.dtype, strides, 0, spec.format, storage, 1, address)


def call(lead=(2, 3), n=4, tail=128, dtype=BF16, slots=40):
    mix = n * n + 2 * n
    return BackwardCall(
        OP,
        {
            "gradHin": Spec((*lead, tail), dtype),
            "gradHPost": Spec((*lead, n)),
            "gradHRes": Spec((*lead, n * n)),
            "x": Spec((*lead, n, tail), dtype),
            "phi": Spec((mix, n * tail)),
            "alpha": Spec((3,)),
            "bias": Spec((mix,)),
            "hPre": Spec((*lead, n)),
            "hcBeforeNorm": Spec((*lead, mix)),
            "invRms": Spec((*lead, 1)),
            "sumOut": Spec((slots, *lead, n)),
            "normOut": Spec((slots, *lead, n, n)),
            "hcEps": 1e-6,
            "gradX": Spec((*lead, n, tail), dtype),
            "gradPhi": Spec((mix, n * tail)),
            "gradAlpha": Spec((3,)),
            "gradBias": Spec((mix,)),
        },
    )


TENSORS = [name for name in call().arguments if name != "hcEps"]
OF_TOKENS = ("gradHin", "gradHPost", "gradHRes", "x", "hPre", "hcBeforeNorm", "invRms", "sumOut", "normOut")


def pointer_rows():
    for name in ("workspaceSize", "executor"):
        yield Row(NULLPTR, name, ("nullptr",), {name: False})
    for name in TENSORS:
        yield Row(NULLPTR, name, ("nullptr",), {name: None})


def shape_rows():
    if not ON_950:
        yield Row(INVALID, "x", ("3", "[6, 4, 128]", "4"), {"x__shape": (6, 4, 128)})
    yield Row(INVALID, "x", ("5", "[1, 2, 3, 4, 128]"), {"x__shape": (1, 2, 3, 4, 128)})
    yield Row(INVALID, "gradHin", ("4", "3"), {"gradHin__shape": (2, 3, 1, 128)})
    yield Row(INVALID, "gradHPost", ("2", "3"), {"gradHPost__shape": (6, 4)})
    yield Row(INVALID, "gradHRes", ("2", "3 or 4"), {"gradHRes__shape": (6, 16)})
    yield Row(INVALID, "phi", ("3", "2"), {"phi__shape": (1, 24, 512)})
    yield Row(INVALID, "alpha", ("2", "1"), {"alpha__shape": (1, 3)})
    yield Row(INVALID, "bias", ("2", "1"), {"bias__shape": (1, 24)})
    yield Row(INVALID, "hPre", ("2", "3"), {"hPre__shape": (6, 4)})
    yield Row(INVALID, "hcBeforeNorm", ("2", "3"), {"hcBeforeNorm__shape": (6, 24)})
    yield Row(INVALID, "invRms", ("2", "3"), {"invRms__shape": (2, 3)})
    yield Row(INVALID, "sumOut", ("3", "4"), {"sumOut__shape": (40, 6, 4)})
    yield Row(INVALID, "normOut", ("4", "5"), {"normOut__shape": (40, 2, 3, 16)})
    yield Row(INVALID, "gradX", ("3", "4"), {"gradX__shape": (6, 4, 128)})
    yield Row(INVALID, "gradPhi", ("1", "2"), {"gradPhi__shape": (12288,)})
    yield Row(INVALID, "gradAlpha", ("2", "1"), {"gradAlpha__shape": (1, 3)})
    yield Row(INVALID, "gradBias", ("2", "1"), {"gradBias__shape": (1, 24)})
    yield Row(INVALID, "x", ("negative",), {"x__shape": (-2, 3, 4, 128)})
    yield Row(INVALID, "gradHin", ("[2, 3, 127]", "[2, 3, 128]"), {"gradHin__shape": (2, 3, 127)})
    yield Row(INVALID, "gradHPost", ("[2, 3, 5]", "[2, 3, 4]"), {"gradHPost__shape": (2, 3, 5)})
    yield Row(INVALID, "gradHRes", ("[2, 3, 15]", "[2, 3, 16]"), {"gradHRes__shape": (2, 3, 15)})
    yield Row(INVALID, "gradHRes", ("[2, 3, 4, 5]", "[2, 3, 4, 4]"), {"gradHRes__shape": (2, 3, 4, 5)})
    yield Row(INVALID, "phi", ("[24, 511]", "[24, 512]"), {"phi__shape": (24, 511)})
    yield Row(INVALID, "alpha", ("[2]", "[3]"), {"alpha__shape": (2,)})
    yield Row(INVALID, "bias", ("[23]", "[24]"), {"bias__shape": (23,)})
    yield Row(INVALID, "hPre", ("[3, 2, 4]", "[2, 3, 4]"), {"hPre__shape": (3, 2, 4)})
    yield Row(INVALID, "hcBeforeNorm", ("[2, 3, 16]", "[2, 3, 24]"), {"hcBeforeNorm__shape": (2, 3, 16)})
    yield Row(INVALID, "invRms", ("[2, 3, 2]", "[2, 3, 1]"), {"invRms__shape": (2, 3, 2)})
    yield Row(INVALID, "sumOut", ("[39, 2, 3, 4]", "39"), {"sumOut__shape": (39, 2, 3, 4)})
    yield Row(INVALID, "sumOut", ("[40, 3, 2, 4]", "[40, 2, 3, 4]"), {"sumOut__shape": (40, 3, 2, 4)})
    yield Row(
        INVALID, "normOut", ("[38, 2, 3, 4, 4]", "[40, 2, 3, 4, 4]"), {"normOut__shape": (38, 2, 3, 4, 4)}
    )
    yield Row(INVALID, "gradX", ("[3, 2, 4, 128]", "[2, 3, 4, 128]"), {"gradX__shape": (3, 2, 4, 128)})
    yield Row(INVALID, "gradPhi", ("[512, 24]", "[24, 512]"), {"gradPhi__shape": (512, 24)})
    yield Row(INVALID, "gradAlpha", ("[4]", "[3]"), {"gradAlpha__shape": (4,)})
    yield Row(INVALID, "gradBias", ("[25]", "[24]"), {"gradBias__shape": (25,)})


def later_rows():
    both = ("DT_FLOAT16", "DT_BFLOAT16")
    for name in TENSORS:
        if name in ("gradHin", "x", "gradX"):
            yield Row(INVALID, name, ("DT_FLOAT", *both), {f"{name}__dtype": FLOAT})
            if name != "gradHin":  # which x follows
                yield Row(INVALID, name, both, {f"{name}__dtype": FLOAT16})
        else:
            wrong, text = ((DOUBLE, "DT_DOUBLE"), (FLOAT16, "DT_FLOAT16"), (BF16, "DT_BFLOAT16"))[
                len(name) % 3
            ]
            yield Row(INVALID, name, (text, "[DT_FLOAT]"), {f"{name}__dtype": wrong})
    for name in TENSORS:
        yield Row(INVALID, name, ("NC1HWC0", "ND"), {f"{name}__format": NC1HWC0})


def check_limits(abi):
    """n and c last; an empty tensor of tokens before everything but null pointers."""
    streams = {1: ON_950, 3: ON_950, 4: True, 5: ON_950, 8: ON_950, 9: False, 40: False}
    for n, ok in streams.items():
        made = call((1, 2), n)
        status, text = made.run(abi, execute=ok)
        if ok:
            assert status == 0 and made.workspace_size > 0, text
        else:
            expected = ("1 to 8" if ON_950 else "4").split()
            expect(OP, status, text, Row(INVALID, "x", (str(n), *expected), {}), f"n {n}")
    for tail, ok in ((128, True), (384, True), (99968, None), (64, False), (100, False), (100096, False)):
        status, text = call((1, 1), 4, tail, FLOAT16, 2).run(abi, execute=ok is True)
        if ok is False:
            expect(OP, status, text, Row(INVALID, "x", (str(tail), "128"), {}), f"c {tail}")
        else:
            assert status == 0, text
    for row in later_rows():
        made = call((1, 1), 4, 100).change(dict(row.changes))
        expect(OP, *made.run(abi), row, f"{row.changes} before the limits")

    for name in OF_TOKENS:
        shape = call().arguments[name].shape
        for axis in range(len(shape)):
            empty = tuple(0 if i == axis else length for i, length in enumerate(shape))
            made = call().change({f"{name}__shape": empty, "phi__shape": (7,), "gradBias__dtype": DOUBLE})
            assert made.run(abi, execute=True) == (0, "") and made.workspace_size == 0
            status, text = made.change({"gradAlpha": None}).run(abi)
            expect(OP, status, text, Row(NULLPTR, "gradAlpha", ("nullptr",), {}), "null before empty")
    for name in ("phi", "alpha", "gradX", "gradPhi"):
        status, text = call().change({f"{name}__shape": (0,)}).run(abi)
        assert status == INVALID and name in text, text


def check_other_calls(abi):
    square = call().change({"gradHRes__shape": (2, 3, 4, 4)})
    assert square.run(abi, execute=True) == (0, "")
    if ON_950:
        assert call((5,)).run(abi, execute=True) == (0, "")
    dense = call()
    dense.run(abi)
    strided = call().change({"x__strides": (3072, 1024, 256, 2), "gradBias__strides": (3,)})
    assert strided.run(abi, execute=True) == (0, "")
    assert strided.workspace_size > dense.workspace_size  # room for the dense copies
    status, text = call().change({"sumOut": abi.stream.value}).run(abi)  # an object of another kind
    assert status == INVALID and "sumOut is not a live aclTensor" in text, text
    huge = 2**34
    status, text = call().change({"x__shape": (1, 1, huge, 1), "gradHin__shape": (1, 1, 1)}).run(abi)
    assert status == INVALID and "gradHPost" in text, text


def main():
    abi = Abi(Path(sys.argv[1]))
    before = [abi.live(kind) for kind in (b"tensor", b"executor", b"device_memory")]
    check_rows(abi, call, [*pointer_rows(), *shape_rows(), *later_rows()])
    check_limits(abi)
    check_other_calls(abi)
    assert [abi.live(kind) for kind in (b"tensor", b"executor", b"device_memory")] == before


if __name__ == "__main__":
    main()
