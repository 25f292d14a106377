"""What aclnnMhcPreSinkhorn refuses, in which order and with which words, through the raw C ABI.

Nothing of the binding takes part, so what is checked here is what a C program sees.
"""

import copy
import ctypes
import itertools
import re
from dataclasses import dataclass

import pytest

FLOAT, FLOAT16, DOUBLE, BF16 = 0, 1, 11, 27
NC1HWC0, FRACTAL_NZ = 3, 29
NULLPTR, INVALID, RUNTIME, INNER_NULLPTR = 161001, 161002, 361001, 561103

INPUTS = ("x", "phi", "alpha", "bias")
MAIN = ("hin", "hPost", "hRes")
GROUP = ("hPre", "hcBeforeNorm", "invRms", "sumOut", "normOut")
TENSORS = INPUTS + MAIN + GROUP


@dataclass
class Spec:
    shape: tuple
    dtype: int = FLOAT
    format: int = 2
    strides: tuple | None = None


class Call:
    """Arguments of one valid call, to be spoiled."""

    def __init__(self, lead=(2, 3), c=128, n=4, iters=20, dtype=BF16, backward=True):
        mix = n * n + 2 * n
        self.tensors = {
            "x": Spec((*lead, n, c), dtype),
            "phi": Spec((mix, n * c)),
            "alpha": Spec((3,)),
            "bias": Spec((mix,)),
            "hin": Spec((*lead, c), dtype),
            "hPost": Spec((*lead, n)),
            "hRes": Spec((*lead, n * n)),
            "hPre": Spec((*lead, n)),
            "hcBeforeNorm": Spec((*lead, mix)),
            "invRms": Spec((*lead, 1)),
            "sumOut": Spec((2 * iters, *lead, n)),
            "normOut": Spec((2 * iters, *lead, n, n)),
        }
        self.attrs = {
            "hcMult": n,
            "numIters": iters,
            "hcEps": 1e-6,
            "normEps": 1e-6,
            "needBackward": backward,
        }
        self.out_pointers = {"workspaceSize": True, "executor": True}

    def change(self, **changes):
        """`x=None` passes NULL, `x__dtype=...` changes a property, `hcMult=...` an attribute."""
        for key, value in changes.items():
            name, _, prop = key.partition("__")
            if name in self.out_pointers:
                self.out_pointers[name] = value
            elif name in self.attrs:
                self.attrs[name] = value
            elif not prop:
                self.tensors[name] = value
            elif self.tensors[name] is not None:
                setattr(self.tensors[name], prop, value)
        return self

    def phase1(self, abi):
        return abi.phase1(copy.deepcopy(self.tensors), self.attrs, self.out_pointers)


@dataclass
class Fault:
    changes: dict
    status: int
    parameter: str
    texts: tuple  # actual and expected
    stage: float  # faults of one stage have no order among themselves

    @property
    def id(self):
        return "-".join(self.changes) + "-" + str(self.stage)


def in_order():
    """Every reason to refuse a 4-D call on a 910B, in the order in which they are looked for."""
    stage = itertools.count()

    def add(status, parameter, texts, **changes):
        return Fault(changes, status, parameter, texts, next(stage))

    yield add(NULLPTR, "workspaceSize", ("nullptr",), workspaceSize=False)
    yield add(NULLPTR, "executor", ("nullptr",), executor=False)
    for name in TENSORS:
        yield add(NULLPTR, name, ("nullptr",), **{name: None})
    both = ("DT_FLOAT16", "DT_BFLOAT16")
    yield add(INVALID, "x", ("DT_FLOAT", *both), x__dtype=FLOAT)
    for name in ("phi", "alpha", "bias"):
        yield add(INVALID, name, ("DT_FLOAT16", "[DT_FLOAT]"), **{f"{name}__dtype": FLOAT16})
    yield add(INVALID, "hin", ("DT_DOUBLE", *both), hin__dtype=DOUBLE)
    yield add(INVALID, "hin", both, hin__dtype=FLOAT16)
    for name in ("hPost", "hRes", *GROUP):
        yield add(INVALID, name, ("DT_BFLOAT16", "[DT_FLOAT]"), **{f"{name}__dtype": BF16})
    yield add(INVALID, "x", ("3", "[6, 4, 128]", "4"), x__shape=(6, 4, 128))
    yield add(INVALID, "x", ("5", "[1, 2, 3, 4, 128]", "4"), x__shape=(1, 2, 3, 4, 128))
    yield add(INVALID, "x", ("2", "[4, 128]", "4"), x__shape=(4, 128))
    yield add(INVALID, "hcMult", ("3", "4"), hcMult=3)
    yield add(INVALID, "x", ("[2, 3, 5, 128]", "4"), x__shape=(2, 3, 5, 128))
    yield add(INVALID, "numIters", ("19", "20"), numIters=19)
    yield add(INVALID, "hin", ("[2, 3, 127]", "[2, 3, 128]"), hin__shape=(2, 3, 127))
    yield add(INVALID, "phi", ("3", "2"), phi__shape=(1, 24, 512))
    yield add(INVALID, "phi", ("[24, 511]", "[24, 512]"), phi__shape=(24, 511))
    yield add(INVALID, "alpha", ("[4]", "[3]"), alpha__shape=(4,))
    yield add(INVALID, "bias", ("[1, 24]", "[24]"), bias__shape=(1, 24))
    yield add(INVALID, "hPost", ("[2, 4, 3]", "[2, 3, 4]"), hPost__shape=(2, 4, 3))
    yield add(INVALID, "hRes", ("[2, 3, 4, 4]", "[2, 3, 16]"), hRes__shape=(2, 3, 4, 4))
    yield add(INVALID, "hPre", ("[6, 4]", "[2, 3, 4]"), hPre__shape=(6, 4))
    yield add(INVALID, "hcBeforeNorm", ("[2, 3, 16]", "[2, 3, 24]"), hcBeforeNorm__shape=(2, 3, 16))
    yield add(INVALID, "invRms", ("[2, 3]", "[2, 3, 1]"), invRms__shape=(2, 3))
    yield add(INVALID, "sumOut", ("[39, 2, 3, 4]", "[40, 2, 3, 4]"), sumOut__shape=(39, 2, 3, 4))
    yield add(INVALID, "normOut", ("[40, 2, 3, 16]", "[40, 2, 3, 4, 4]"), normOut__shape=(40, 2, 3, 16))
    # Strided outputs and private formats are both looked for after the shapes; which first is not laid down.
    last = next(stage)
    strided = {"hin": (384, 1, 3), "hPost": (24, 8, 2), "hRes": (96, 32, 2), "hPre": (4, 8, 1)}
    strided |= {"hcBeforeNorm": (24, 48, 1), "invRms": (3, 2, 1), "sumOut": (48, 24, 8, 2)}
    strided |= {"normOut": (96, 48, 16, 1, 4)}
    for name, strides in strided.items():
        yield Fault({f"{name}__strides": strides}, INVALID, name, ("contiguous", str(list(strides))), last)
    for name in TENSORS:
        yield Fault({f"{name}__format": NC1HWC0}, INVALID, name, ("NC1HWC0", "ND"), last)


FAULTS = list(in_order())


def headline(message):
    """The text of the first message, without time and process."""
    match = re.search(r"AclNN_Parameter_Error\((EZ\d{4})\): (.*)", message)
    assert match, message
    return match.group(1), match.group(2)


def expect(answer, fault):
    assert answer.status == fault.status
    assert answer.executor is None
    code, text = headline(answer.message)
    assert code == "EZ1001"
    assert "aclnnMhcPreSinkhorn" in text
    assert re.search(rf"\b{fault.parameter}\b", text), text
    missing = [t for t in fault.texts if not re.search(rf"(?<!\w){re.escape(t)}(?!\w)", text)]
    assert not missing, f"{missing} not in: {text}"


@pytest.fixture(autouse=True)
def nothing_is_left_behind(abi):
    before = abi.live()
    yield
    assert abi.live() == before


def test_the_valid_call_is_accepted(abi):
    call = Call()
    answer = call.phase1(abi)
    assert answer.status == 0, answer.message
    assert answer.message is None
    assert answer.executor
    assert abi.phase2(answer) == 0


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.id)
def test_each_fault_alone(abi, fault):
    expect(Call().change(**fault.changes).phase1(abi), fault)
    assert abi.message() is None, "the text must be gone once read"
    after = Call().phase1(abi)
    assert after.status == 0 and after.message is None, "a refusal must not spoil the next call"
    assert abi.phase2(after) == 0


def test_of_two_faults_the_earlier_is_reported(abi):
    tried = 0
    for first, second in itertools.combinations(FAULTS, 2):
        if first.stage == second.stage or set(first.changes) & set(second.changes):
            continue
        expect(Call().change(**second.changes).change(**first.changes).phase1(abi), first)
        tried += 1
    assert tried > 1000


@pytest.mark.parametrize("backward", [True, False])
def test_all_faults_at_once(abi, backward):
    """Repairing the first fault again and again brings up each status in the order of the table."""
    seen = []
    relevant = [f for f in FAULTS if backward or f.parameter not in GROUP]
    for start in range(len(relevant)):
        call = Call(backward=backward)
        for fault in reversed(relevant[start:]):
            call.change(**fault.changes)
        answer = call.phase1(abi)
        if relevant[start].stage < FAULTS[-1].stage:
            expect(answer, relevant[start])
        seen.append(answer.status)
    assert seen == sorted(seen) and set(seen) == {NULLPTR, INVALID}


@pytest.mark.parametrize("name", GROUP)
@pytest.mark.parametrize(
    "spoil",
    [
        {"": None},
        {"__dtype": DOUBLE},
        {"__shape": (7, 1)},
        {"__format": FRACTAL_NZ},
        {"__strides": (5, 1), "__shape": (2, 2)},
    ],
    ids=lambda spoil: "+".join(spoil) or "null",
)
def test_backward_group_is_ignored_without_backward(abi, name, spoil):
    call = Call(backward=False).change(**{name + key: value for key, value in spoil.items()})
    answer = call.phase1(abi)
    assert answer.status == 0, answer.message
    assert abi.phase2(answer) == 0


def test_backward_group_all_null_or_all_garbage(abi):
    for value in (None, Spec((3, 1, 1, 5), DOUBLE, FRACTAL_NZ, (9, 9, 9, 1))):
        answer = Call(backward=False).change(**dict.fromkeys(GROUP, value)).phase1(abi)
        assert answer.status == 0, answer.message
        assert abi.phase2(answer) == 0


def test_nothing_is_written_to_the_group_without_backward(abi):
    call = Call(backward=False)
    size = 1 << 20
    abi.fill(0xA5, size)
    answer = call.phase1(abi)
    group = abi.offsets[TENSORS.index("hPre")]
    assert abi.phase2(answer) == 0
    after = abi.read(size)
    assert after[:group] != b"\xa5" * group
    assert after[group:] == b"\xa5" * (size - group)


@pytest.mark.parametrize(
    "c, ok",
    [(c, True) for c in (128, 384, 99968)] + [(c, False) for c in (1, 100, 127, 100000, 100096)],
)
@pytest.mark.parametrize("dtype", [FLOAT16, BF16])
def test_tail_axis(abi, c, ok, dtype):
    answer = Call((1, 1), c, dtype=dtype).phase1(abi)
    if ok:
        assert answer.status == 0, answer.message
        assert abi.phase2(answer) == 0
    else:
        expect(answer, Fault({}, INVALID, "x", (str(c), "128"), 0))


WITHOUT_TAIL = [f for f in FAULTS if not f.changes.keys() & {"x__shape", "phi__shape", "hin__shape"}]


@pytest.mark.parametrize("fault", WITHOUT_TAIL, ids=lambda f: f.id)
def test_tail_axis_comes_last(abi, fault):
    expect(Call(c=100).change(**fault.changes).phase1(abi), fault)


@pytest.mark.parametrize(
    "lead, c", [((0, 3), 128), ((2, 0), 128), ((0, 0), 128), ((0, 3), 100), ((2, 3), 0), ((0, 0), 0)]
)
@pytest.mark.parametrize("backward", [True, False])
def test_empty_tensors_need_nothing_and_write_nothing(abi, lead, c, backward):
    """Also with a tail axis that the rule for it would refuse: the short cut comes before it."""
    size = 1 << 16
    abi.fill(0x5A, size)
    answer = Call(lead, c, backward=backward).phase1(abi)
    assert answer.status == 0, answer.message
    assert answer.workspace_size == 0
    assert answer.executor
    assert abi.phase2(answer) == 0
    assert abi.read(size) == b"\x5a" * size


@pytest.mark.parametrize(
    "changes, parameter",
    [
        ({"alpha__shape": (0,)}, "alpha"),
        ({"bias__shape": (0,)}, "bias"),
        ({"phi__shape": (24, 0)}, "phi"),
        ({"hPost__shape": (0, 3, 5)}, "hPost"),
        ({"x__format": NC1HWC0}, "x"),
        ({"numIters": 0}, "numIters"),
    ],
)
def test_empty_tensors_do_not_excuse_other_faults(abi, changes, parameter):
    answer = Call((0, 3)).change(**changes).phase1(abi)
    assert answer.status == INVALID
    assert re.search(rf"\b{parameter}\b", headline(answer.message)[1])


@pytest.mark.parametrize("value", [-(2**63), -1, 0, 5, 2**32 + 4, 2**63 - 1])
def test_hc_mult_takes_no_other_value(abi, value):
    expect(Call().change(hcMult=value).phase1(abi), Fault({}, INVALID, "hcMult", (str(value), "4"), 0))


@pytest.mark.parametrize("value", [-(2**63), -1, 0, 1, 21, 2**32 + 20, 2**63 - 1])
def test_num_iters_takes_no_other_value(abi, value):
    expect(Call().change(numIters=value).phase1(abi), Fault({}, INVALID, "numIters", (str(value), "20"), 0))


@pytest.mark.parametrize("hc_mult, streams", [(4, 1), (4, 6), (6, 6)])
def test_other_stream_counts(abi, hc_mult, streams):
    answer = Call(n=streams).change(hcMult=hc_mult).phase1(abi)
    assert answer.status == INVALID
    name = "x" if hc_mult == 4 else "hcMult"
    assert re.search(rf"\b{name}\b", headline(answer.message)[1])


@pytest.mark.parametrize("lead", [(-1, -3), (-1, 3), (2, -(2**62)), (2**62, 4), (2**31, 2**31)])
def test_impossible_axes(abi, lead):
    """aclCreateTensor takes any shape, so it is for the operator to refuse it."""
    call = Call()
    call.change(
        x__shape=(*lead, 4, 128), hin__shape=(*lead, 128), hPost__shape=(*lead, 4), hRes__shape=(*lead, 16)
    )
    call.change(hPre__shape=(*lead, 4), hcBeforeNorm__shape=(*lead, 24), invRms__shape=(*lead, 1))
    call.change(sumOut__shape=(40, *lead, 4), normOut__shape=(40, *lead, 4, 4))
    expect(call.phase1(abi), Fault({}, INVALID, "x", (str([*lead, 4, 128]), "negative"), 0))


def test_descriptor_larger_than_its_buffer(abi):
    """x of a million tokens, outputs to match, all in a buffer of 64 MiB. A fault spoils its context only."""
    with abi.other_context() as stream:
        answer = Call((1, 1_000_000), backward=False).phase1(abi)
        assert answer.status == 0, answer.message
        assert abi.phase2(answer, stream) == 507015
        text = abi.message()
        assert re.search(r"\bx needs 1024000000 bytes", text), text
    assert abi.phase2(Call().phase1(abi)) == 0


def test_strided_inputs_are_accepted(abi):
    call = Call()
    call.change(x__strides=(12288, 4096, 1, 8), phi__strides=(1, 24), alpha__strides=(7,), bias__strides=(2,))
    answer = call.phase1(abi)
    assert answer.status == 0, answer.message
    assert abi.phase2(answer) == 0


def test_second_phase_without_executor(abi):
    assert abi.run(None, 0, None, abi.stream) == NULLPTR
    assert "executor" in abi.message()


def test_second_phase_without_its_workspace(abi):
    answer = Call(backward=False).phase1(abi)
    assert answer.status == 0 and answer.workspace_size > 0
    assert abi.run(None, answer.workspace_size, answer.executor, abi.stream) == NULLPTR
    assert "workspace" in abi.message()
    assert abi.run(None, answer.workspace_size, answer.executor, abi.stream) == INNER_NULLPTR
    abi.finish(answer)


def test_executor_serves_once(abi):
    answer = Call().phase1(abi)
    executor, size = answer.executor, answer.workspace_size
    assert abi.phase2(answer) == 0
    workspace = abi.new_buffer(max(size, 32))
    assert abi.run(workspace, size, executor, abi.stream) == INNER_NULLPTR
    assert "executor" in abi.message()
    assert abi.free(workspace) == 0


def test_stream_of_another_context(abi):
    with abi.other_context():
        answer = Call().phase1(abi)
        assert abi.phase2(answer, abi.stream) == RUNTIME
        assert "107003" in abi.message()
    assert abi.phase2(Call().phase1(abi)) == 0


def test_what_is_no_live_tensor_is_refused(abi):
    """A destroyed tensor, and an object of another kind, in the place of x."""
    call = Call()
    answer = call.phase1(abi)
    assert answer.status == 0
    handles = list(answer.tensors)
    assert abi.phase2(answer) == 0  # destroys the tensors
    size, executor = ctypes.c_uint64(), ctypes.c_void_p()
    attrs = [call.attrs[name] for name in abi.ATTRS]
    for stranger in (handles[0], abi.stream):
        status = abi.plan(
            stranger, *handles[1:4], *attrs, *handles[4:], ctypes.byref(size), ctypes.byref(executor)
        )
        assert status == INVALID
        assert re.search(r"\bx is not a live aclTensor", abi.message())
