"""What aclnnHcPreInvRms, aclnnHcPreSinkhorn and aclnnHcPost refuse, in which order, through the raw C ABI.

Their front ends are of the generated kind: null pointers 161001, dtypes and formats without a kernel 561003,
all else 561002.
"""

import copy
import ctypes
import itertools
import re
from dataclasses import dataclass

import pytest

FLOAT, FLOAT16, DOUBLE, BF16 = 0, 1, 11, 27
FRACTAL_NZ = 29
NULLPTR, INVALID, TILING, NO_KERNEL = 161001, 161002, 561002, 561003


@dataclass
class Spec:
    shape: tuple
    dtype: int = FLOAT
    format: int = 2
    strides: tuple | None = None


def inv_rms():
    return {"x": Spec((2, 3, 4, 64), BF16), "epsilon": 1e-6, "out": Spec((2, 3, 1))}


def sinkhorn():
    return {
        "mixes": Spec((2, 3, 24)),
        "rsqrt": Spec((2, 3, 1)),
        "hcScale": Spec((3,)),
        "hcBase": Spec((24,)),
        "x": Spec((2, 3, 4, 64), BF16),
        "hcMult": 4,
        "hcSinkhornIters": 20,
        "hcEps": 1e-6,
        "yOut": Spec((2, 3, 64), BF16),
        "postOut": Spec((2, 3, 4)),
        "combFragOut": Spec((2, 3, 4, 4)),
    }


def post():
    return {
        "x": Spec((2, 3, 64), FLOAT16),
        "residual": Spec((2, 3, 4, 64), FLOAT16),
        "post": Spec((2, 3, 4), BF16),
        "comb": Spec((2, 3, 4, 4), BF16),
        "out": Spec((2, 3, 4, 64), FLOAT16),
    }


VALID = {"aclnnHcPreInvRms": inv_rms, "aclnnHcPreSinkhorn": sinkhorn, "aclnnHcPost": post}


class Custom:
    """The operators of the custom package, with the tensors of `abi`."""

    def __init__(self, abi, root):
        self.abi = abi
        self.library = ctypes.CDLL(str(root / "opp/vendors/aclnn_py/op_api/lib/libcust_opapi.so"))

    def phase1(self, op, call, pointers=("workspaceSize", "executor")):
        abi = self.abi
        abi._next, abi.offsets = 0, []
        handles, values, types = [], [], []
        for value in call.values():
            if value is None or isinstance(value, Spec):
                handles.append(abi.make(value))
                values.append(handles[-1])
                types.append(ctypes.c_void_p)
            else:
                values.append(value)
                types.append(ctypes.c_int64 if isinstance(value, int) else ctypes.c_double)
        size, executor = ctypes.c_uint64(2**64 - 1), ctypes.c_void_p()
        outs = {"workspaceSize": size, "executor": executor}
        function = getattr(self.library, f"{op}GetWorkspaceSize")
        function.argtypes, function.restype = [*types, ctypes.c_void_p, ctypes.c_void_p], ctypes.c_int32
        abi.error_text()
        given = [ctypes.byref(out) if name in pointers else None for name, out in outs.items()]
        status = function(*values, *given)
        self.handles = [handle for handle in handles if handle]
        text = abi.message()
        if status:
            self.finish()
        return status, text, size.value, executor.value

    def finish(self):
        for handle in self.handles:
            assert self.abi.destroy_tensor(handle) == 0

    def phase2(self, op, size, executor):
        function = getattr(self.library, op)
        function.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p]
        function.restype = ctypes.c_int32
        workspace = self.abi.new_buffer(size) if size else None
        status = function(workspace, size, executor, self.abi.stream)
        status = status or self.abi.synchronize(self.abi.stream)
        if workspace:
            assert self.abi.free(workspace) == 0
        self.finish()
        return status


@pytest.fixture(scope="module")
def custom(abi, emulator_root):
    return Custom(abi, emulator_root)


@pytest.fixture(autouse=True)
def nothing_is_left_behind(abi):
    before = abi.live()
    yield
    assert abi.live() == before


@dataclass
class Fault:
    op: str
    changes: dict  # `x=None` is NULL, `x__dtype=...` changes a property, `epsilon=...` an attribute
    status: int
    parameter: str
    texts: tuple  # actual and expected
    stage: int

    @property
    def id(self):
        return f"{self.op}-{'-'.join(self.changes)}-{self.stage}"


def faults(op):
    """Every reason to refuse, in the order in which they are looked for."""
    stage = itertools.count()
    tensors = {name: value for name, value in VALID[op]().items() if isinstance(value, Spec)}

    def fault(status, parameter, texts, **changes):
        return Fault(op, changes, status, parameter, texts, next(stage))

    for name in tensors:
        yield fault(NULLPTR, name, ("nullptr",), **{name: None})
    for name in tensors:
        yield fault(NO_KERNEL, name, ("DT_DOUBLE",), **{f"{name}__dtype": DOUBLE})
    for name in tensors:
        yield fault(NO_KERNEL, name, ("FRACTAL_NZ", "ND"), **{f"{name}__format": FRACTAL_NZ})
    shapes = {
        "aclnnHcPreInvRms": [
            ("x", (2, 3, 2, 2, 64), ("5", "2 or 3 or 4")),
            ("x", (2, -3, 4, 64), ("[2, -3, 4, 64]", "negative")),
            ("x", (2, 0, 4, 64), ("[2, 0, 4, 64]", "length 0")),
            ("epsilon", 0.0, ("0.000000", "greater than 0")),
            ("out", (2, 3), ("[2, 3]", "[2, 3, 1]")),
        ],
        "aclnnHcPreSinkhorn": [
            ("mixes", (2, 3, 1, 24), ("4", "2 or 3")),
            ("mixes", (0, 3, 24), ("[0, 3, 24]", "length 0")),
            ("mixes", (2, 3, 23), ("[2, 3, 23]", "[2, 3, 24]")),
            ("rsqrt", (2, 1), ("[2, 1]", "[2, 3, 1]")),
            ("hcScale", (1, 3), ("[1, 3]", "[3]")),
            ("hcBase", (25,), ("[25]", "[24]")),
            ("x", (6, 4, 64), ("3", "4")),
            ("x", (2, 3, 4, 0), ("[2, 3, 4, 0]", "length 0")),
            ("x", (2, 3, 5, 64), ("[2, 3, 5, 64]", "[2, 3, 4, 64]")),
            ("hcMult", 8, ("8", "4")),
            ("hcSinkhornIters", 0, ("0", "1 to 100")),
            ("yOut", (2, 3, 63), ("[2, 3, 63]", "[2, 3, 64]")),
            ("postOut", (2, 3, 8), ("[2, 3, 8]", "[2, 3, 4]")),
            ("combFragOut", (2, 3, 16), ("[2, 3, 16]", "[2, 3, 4, 4]")),
        ],
        "aclnnHcPost": [
            ("x", (2, 1, 3, 64), ("4", "2 or 3")),
            ("x", (2, 3, 0), ("[2, 3, 0]", "length 0")),
            ("residual", (2, 3, 5, 64), ("[2, 3, 5, 64]", "[2, 3, 4, 64]")),
            ("post", (2, 4, 3), ("[2, 4, 3]", "[2, 3, 4]")),
            ("comb", (2, 3, 16), ("[2, 3, 16]", "[2, 3, 4, 4]")),
            ("out", (2, 3, 64, 4), ("[2, 3, 64, 4]", "[2, 3, 4, 64]")),
        ],
    }
    for name, value, texts in shapes[op]:
        yield fault(TILING, name, texts, **{f"{name}__shape" if name in tensors else name: value})


ALL = [fault for op in VALID for fault in faults(op)]


def changed(op, *changes):
    call = VALID[op]()
    for key, value in [item for change in changes for item in change.items()]:
        name, _, prop = key.partition("__")
        if not prop:
            call[name] = value
        elif call[name] is not None:
            setattr(call[name], prop, value)
    return copy.deepcopy(call)


def expect(answer, fault):
    status, text, _, executor = answer
    assert (status, executor) == (fault.status, None), text
    code, said = re.search(r"\((E[ZE]\d{4})\): (.*)", text).groups()
    assert code == ("EZ1001" if status < 200000 else "EZ9999")
    assert said.lstrip().startswith(f"{fault.op}: ")
    assert re.search(rf"\b{fault.parameter}\b", said), said
    missing = [t for t in fault.texts if not re.search(rf"(?<!\w){re.escape(t)}(?!\w)", said)]
    assert not missing, f"{missing} not in: {said}"


@pytest.mark.parametrize("op", VALID)
def test_the_valid_call_is_accepted_and_runs(custom, op):
    status, text, size, executor = custom.phase1(op, VALID[op]())
    assert (status, text) == (0, None)
    assert custom.phase2(op, size, executor) == 0


@pytest.mark.parametrize("fault", ALL, ids=lambda fault: fault.id)
def test_each_fault_alone(custom, fault):
    expect(custom.phase1(fault.op, changed(fault.op, fault.changes)), fault)


@pytest.mark.parametrize("op", VALID)
def test_of_two_faults_the_earlier_is_reported(custom, op):
    tried = 0
    for first, second in itertools.combinations([fault for fault in ALL if fault.op == op], 2):
        if set(first.changes) & set(second.changes):
            continue
        expect(custom.phase1(op, changed(op, second.changes, first.changes)), first)
        tried += 1
    assert tried > 20


@pytest.mark.parametrize("op", VALID)
@pytest.mark.parametrize("pointer", ["workspaceSize", "executor"])
def test_out_pointers_come_before_all_else(custom, op, pointer):
    call = changed(op, {name: None for name, value in VALID[op]().items() if isinstance(value, Spec)})
    status, text, _, executor = custom.phase1(op, call, {"workspaceSize", "executor"} - {pointer})
    assert (status, executor) == (NULLPTR, None)
    assert f"{pointer} is nullptr" in text


def strided(op):
    for name, value in VALID[op]().items():
        if isinstance(value, Spec):
            steps, step = [], 2
            for length in reversed(value.shape):
                steps.insert(0, step)
                step *= length
            yield name, tuple(steps)


@pytest.mark.parametrize(("op", "name", "steps"), [(op, *s) for op in VALID for s in strided(op)])
def test_strided_tensors_are_refused(custom, op, name, steps):
    """Input or output: the device would take them as dense."""
    fault = Fault(op, {}, TILING, name, ("contiguous", str(list(steps))), 0)
    expect(custom.phase1(op, changed(op, {f"{name}__strides": steps})), fault)


@pytest.mark.parametrize("value", [-1.0, 0.0, 1e-60, float("nan"), float("-inf")])
def test_epsilon_must_be_above_zero(custom, value):
    status, text, _, _ = custom.phase1("aclnnHcPreInvRms", changed("aclnnHcPreInvRms", {"epsilon": value}))
    assert status == TILING and "epsilon" in text


@pytest.mark.parametrize("value", [-(2**63), -1, 0, 101, 2**32 + 20, 2**63 - 1])
def test_iterations_must_be_1_to_100(custom, value):
    op = "aclnnHcPreSinkhorn"
    status, text, _, _ = custom.phase1(op, changed(op, {"hcSinkhornIters": value}))
    assert status == TILING and f"hcSinkhornIters is {value}, expected 1 to 100" in text


@pytest.mark.parametrize(
    ("x", "out", "right"),
    [
        ((2, 3, 256), (2, 3, 1), True),  # [b, s, n*d]
        ((6, 4, 64), (6, 1), True),  # [T, n, d]
        ((6, 256), (6, 1), True),  # [T, n*d]
        ((2, 3, 4, 64), (2, 3, 4, 1), False),
        ((6, 256), (6,), False),
        ((256,), (1,), False),
    ],
)
def test_inv_rms_of_a_flat_tail(custom, x, out, right):
    """Three axes are read one way or the other, as out has two or three."""
    op = "aclnnHcPreInvRms"
    status, text, size, executor = custom.phase1(op, changed(op, {"x__shape": x, "out__shape": out}))
    assert status == (0 if right else TILING), text
    if right:
        assert custom.phase2(op, size, executor) == 0


def test_rsqrt_may_lack_its_last_axis(custom):
    op = "aclnnHcPreSinkhorn"
    status, text, size, executor = custom.phase1(op, changed(op, {"rsqrt__shape": (2, 3)}))
    assert status == 0, text
    assert custom.phase2(op, size, executor) == 0


@pytest.mark.parametrize(("x", "post_type"), list(itertools.product((FLOAT, FLOAT16, BF16), repeat=2)))
def test_post_takes_nine_combinations_of_dtypes(custom, x, post_type):
    op = "aclnnHcPost"
    types = {f"{n}__dtype": x for n in ("x", "residual", "out")} | {
        f"{n}__dtype": post_type for n in ("post", "comb")
    }
    status, text, size, executor = custom.phase1(op, changed(op, types))
    assert status == 0, text
    assert custom.phase2(op, size, executor) == 0


@pytest.mark.parametrize(
    ("op", "changes", "parameter"),
    [
        ("aclnnHcPost", {"residual__dtype": BF16}, "residual"),
        ("aclnnHcPost", {"comb__dtype": FLOAT}, "comb"),
        ("aclnnHcPost", {"out__dtype": FLOAT}, "out"),
        ("aclnnHcPreInvRms", {"x__dtype": DOUBLE}, "x"),
        ("aclnnHcPreInvRms", {"out__dtype": BF16}, "out"),
        ("aclnnHcPreSinkhorn", {"x__dtype": FLOAT16, "yOut__dtype": FLOAT16}, "x"),
        ("aclnnHcPreSinkhorn", {"yOut__dtype": FLOAT}, "yOut"),
    ],
)
def test_mixes_of_dtypes_without_a_kernel(custom, op, changes, parameter):
    status, text, _, _ = custom.phase1(op, changed(op, changes))
    assert status == NO_KERNEL and f"{op}: {parameter} has dtype" in text


@pytest.mark.parametrize("op", VALID)
def test_what_is_no_live_tensor_is_refused(custom, abi, op):
    call = VALID[op]()
    name = next(iter(call))
    call[name] = abi.stream  # an address, passed as a number
    status, text, _, _ = custom.phase1(op, call)
    assert status == INVALID and f"{name} is not a live aclTensor" in text


@pytest.mark.parametrize("op", VALID)
def test_executor_serves_once_and_must_be_given(custom, abi, op):
    status, _, size, executor = custom.phase1(op, VALID[op]())
    assert status == 0
    assert custom.phase2(op, size, executor) == 0
    custom.handles = []
    assert custom.phase2(op, size, executor) == 561103
    assert custom.phase2(op, 0, None) == NULLPTR
    abi.message()
