"""What aclnnBSASelectBlockMask refuses, in which order and with which words, through the raw C ABI.

Nothing of the binding takes part, so what is checked here is what a C program sees.
"""

import copy
import ctypes
import gc
import itertools
import re
from dataclasses import dataclass

import pytest

FLOAT, FLOAT16, INT8, BF16, BOOL = 0, 1, 2, 27, 12
NC1HWC0 = 3
NULLPTR, INVALID, TILING = 161001, 161002, 561002
ARRAYS = (
    "blockShape",
    "postBlockShape",
    "actualSeqLengths",
    "actualSeqLengthsK",
    "actualBlockLenQuery",
    "actualBlockLenKey",
)


@dataclass
class Spec:
    shape: tuple
    dtype: int = FLOAT16
    format: int = 2
    strides: tuple | None = None


class Call:
    """Arguments of one valid call, to be spoiled. Plain BNSD, or TND."""

    def __init__(self, layout="BNSD"):
        tnd = layout == "TND"
        self.query = Spec((300, 2, 128) if tnd else (2, 2, 300, 128))
        self.key = Spec((200, 2, 128) if tnd else (2, 2, 200, 128))
        self.blockShape, self.postBlockShape = [64, 128], None
        self.actualSeqLengths = [100, 200] if tnd else [300, 100]
        self.actualSeqLengthsK = [150, 50] if tnd else None
        self.actualBlockLenQuery = None
        self.actualBlockLenKey = None
        self.queryLayout = self.keyLayout = layout.encode()
        self.numKeyHeads, self.scaleValue, self.sparsity = 2, 0.0, 0.5
        self.blockSparseMaskOut = Spec((2, 2, 4, 2) if tnd else (2, 2, 5, 2), INT8)
        self.workspaceSize = self.executor = True

    def change(self, **changes):
        """`query=None` passes NULL, `query__dtype=...` changes a property."""
        for key, value in changes.items():
            name, _, prop = key.partition("__")
            if not prop:
                setattr(self, name, value)
            elif getattr(self, name) is not None:
                spec = copy.copy(getattr(self, name))
                setattr(spec, prop, value)
                setattr(self, name, spec)
        return self


class Library:
    """The C functions that the tests call. Nothing goes further than phase 1: no device memory is read."""

    def __init__(self, root):
        libraries = [
            ctypes.CDLL(str(root / "lib64" / f"lib{n}.so")) for n in ("ascendcl", "nnopbase", "opapi")
        ]
        p, i32, i64, u64 = ctypes.c_void_p, ctypes.c_int32, ctypes.c_int64, ctypes.c_uint64

        def bind(name, argtypes, restype=i32):
            function = next(getattr(lib, name) for lib in reversed(libraries) if hasattr(lib, name))
            function.argtypes, function.restype = argtypes, restype
            return function

        dims = ctypes.POINTER(i64)
        self.init = bind("aclInit", [ctypes.c_char_p])
        self.set_device = bind("aclrtSetDevice", [i32])
        self.malloc = bind("aclrtMalloc", [p, ctypes.c_size_t, i32])
        self.free = bind("aclrtFree", [p])
        self.error_text = bind("aclGetRecentErrMsg", [], ctypes.c_char_p)
        self.live = bind("aclemuLiveObjects", [ctypes.c_char_p], i64)
        self.create_tensor = bind("aclCreateTensor", [dims, u64, i32, dims, i64, i32, dims, u64, p], p)
        self.destroy_tensor = bind("aclDestroyTensor", [p])
        self.create_array = bind("aclCreateIntArray", [dims, u64], p)
        self.destroy_array = bind("aclDestroyIntArray", [p])
        self.destroy_executor = bind("aclDestroyAclOpExecutor", [p])
        self.plan = bind(
            "aclnnBSASelectBlockMaskGetWorkspaceSize",
            [p] * 8 + [ctypes.c_char_p] * 2 + [i64, ctypes.c_double, ctypes.c_double] + [p] * 3,
        )
        assert self.init(None) in (0, 100002)  # the second: someone in this process was first
        assert self.set_device(0) == 0
        self.memory = ctypes.c_void_p()
        assert self.malloc(ctypes.byref(self.memory), 1 << 20, 0) == 0

    def tensor(self, spec):
        if spec is None:
            return None
        rank = len(spec.shape)
        shape = (ctypes.c_int64 * rank)(*spec.shape)
        strides = None if spec.strides is None else (ctypes.c_int64 * rank)(*spec.strides)
        handle = self.create_tensor(
            shape, rank, spec.dtype, strides, 0, spec.format, shape, rank, self.memory
        )
        assert handle
        return handle

    def array(self, values):
        return (
            None
            if values is None
            else self.create_array((ctypes.c_int64 * len(values))(*values), len(values))
        )

    def phase1(self, call):
        """(status, the first message's text, workspace)"""
        tensors = [self.tensor(spec) for spec in (call.query, call.key, call.blockSparseMaskOut)]
        arrays = [self.array(getattr(call, name)) for name in ARRAYS]
        size, executor = ctypes.c_uint64(), ctypes.c_void_p()
        self.error_text()
        status = self.plan(
            *tensors[:2],
            *arrays,
            call.queryLayout,
            call.keyLayout,
            call.numKeyHeads,
            call.scaleValue,
            call.sparsity,
            tensors[2],
            ctypes.byref(size) if call.workspaceSize else None,
            ctypes.byref(executor) if call.executor else None,
        )
        text = self.error_text()
        assert (status == 0) == bool(executor)
        if executor:
            assert self.destroy_executor(executor) == 0
        for handle in filter(None, tensors):
            assert self.destroy_tensor(handle) == 0
        for handle in filter(None, arrays):
            assert self.destroy_array(handle) == 0
        return status, None if text is None else text.decode(), size.value


@pytest.fixture(scope="module")
def library(emulator_root):
    gc.collect()  # tensors of earlier modules, else they go while a test here counts
    made = Library(emulator_root)
    yield made
    assert made.free(made.memory) == 0


@dataclass
class Fault:
    changes: dict
    status: int
    parameter: str
    texts: tuple  # actual and expected
    stage: int

    @property
    def id(self):
        return f"{self.stage}-" + "-".join(self.changes)


def in_order(layout):
    """Reasons to refuse a call, in the order in which they are looked for."""
    stage = itertools.count()
    tnd = layout == "TND"

    def add(status, parameter, texts, **changes):
        return Fault(changes, status, parameter, texts, next(stage))

    for name in ("workspaceSize", "executor"):
        yield add(NULLPTR, name, ("nullptr",), **{name: False})
    for name in ("query", "key", "blockSparseMaskOut"):
        yield add(NULLPTR, name, ("nullptr",), **{name: None})
    both = ("DT_FLOAT16", "DT_BFLOAT16")
    yield add(INVALID, "query", ("DT_FLOAT", *both), query__dtype=FLOAT)
    yield add(INVALID, "key", ("DT_INT8", *both), key__dtype=INT8)
    yield add(INVALID, "key", both, key__dtype=BF16)
    yield add(INVALID, "blockSparseMaskOut", ("DT_BOOL", "DT_INT8"), blockSparseMaskOut__dtype=BOOL)
    yield add(INVALID, "query", ("NC1HWC0", "ND"), query__format=NC1HWC0)
    yield add(INVALID, "query", ("length", "0"), query__shape=(0, 2, 128) if tnd else (2, 2, 0, 128))
    yield add(INVALID, "key", ("length", "0"), key__shape=(200, 0, 128) if tnd else (2, 0, 200, 128))
    yield add(INVALID, "blockSparseMaskOut", ("length", "0"), blockSparseMaskOut__shape=(2, 2, 0, 2))
    yield add(INVALID, "blockShape", ("[0, 128]", "above 0"), blockShape=[0, 128])
    yield add(INVALID, "blockShape", ("[64]", "two"), blockShape=[64])
    yield add(INVALID, "postBlockShape", ("nullptr", "reserved"), postBlockShape=[1, 1])
    yield add(INVALID, "keyLayout", ("'BSND'", f"'{layout}'"), keyLayout=b"BSND")
    yield add(INVALID, "numKeyHeads", ("1", "2"), numKeyHeads=1)
    if tnd:
        yield add(INVALID, "key", ("[200, 1, 128]", "2"), key__shape=(200, 1, 128))
        yield add(INVALID, "actualSeqLengths", ("nullptr", "TND"), actualSeqLengths=None)
        yield add(INVALID, "actualSeqLengths", ("[]",), actualSeqLengths=[])
        yield add(INVALID, "actualSeqLengths", ("-1", "at least 0"), actualSeqLengths=[-1, 301])
        yield add(INVALID, "actualSeqLengths", ("400", "T=300", "per-sequence"), actualSeqLengths=[100, 300])
        yield add(INVALID, "actualSeqLengths", ("100", "T=300"), actualSeqLengths=[100])
        yield add(INVALID, "actualSeqLengthsK", ("nullptr", "TND"), actualSeqLengthsK=None)
        yield add(INVALID, "actualSeqLengthsK", ("350", "T=200"), actualSeqLengthsK=[150, 200])
        yield add(INVALID, "actualSeqLengthsK", ("1 entries", "2"), actualSeqLengthsK=[200])
        yield add(INVALID, "actualBlockLenQuery", ("5 entries", "6"), actualBlockLenQuery=[1] * 5)
        yield add(INVALID, "actualBlockLenKey", ("4 entries", "3"), actualBlockLenKey=[1] * 4)
    else:
        yield add(INVALID, "actualSeqLengths", ("[300]", "2"), actualSeqLengths=[300])
        yield add(INVALID, "actualSeqLengths", ("[300, 301]", "300"), actualSeqLengths=[300, 301])
        yield add(INVALID, "actualSeqLengths", ("[300, -1]", "0"), actualSeqLengths=[300, -1])
        yield add(INVALID, "actualSeqLengthsK", ("[1, 2, 3]", "2"), actualSeqLengthsK=[1, 2, 3])
        yield add(INVALID, "actualSeqLengthsK", ("[201, 1]", "200"), actualSeqLengthsK=[201, 1])
        yield add(INVALID, "actualBlockLenQuery", ("9 entries", "10"), actualBlockLenQuery=[1] * 9)
        yield add(INVALID, "actualBlockLenQuery", ("65", "64"), actualBlockLenQuery=[65] * 10)
        yield add(INVALID, "actualBlockLenKey", ("5 entries", "4"), actualBlockLenKey=[1] * 5)
        yield add(INVALID, "actualBlockLenKey", ("-1", "0 to 128"), actualBlockLenKey=[-1] * 4)
    good = [2, 2, 4, 2] if tnd else [2, 2, 5, 2]
    yield add(
        INVALID,
        "blockSparseMaskOut",
        ("[2, 2, 300, 200]", str(good)),
        blockSparseMaskOut__shape=(2, 2, 300, 200),
    )
    strides = (16, 8, 1, 4) if tnd else (20, 10, 1, 5)
    yield add(
        INVALID, "blockSparseMaskOut", ("contiguous", str(list(strides))), blockSparseMaskOut__strides=strides
    )
    yield add(TILING, "sparsity", ("0.000000", "above 0"), sparsity=0.0)
    yield add(TILING, "sparsity", ("1.000000", "below 1"), sparsity=1.0)
    yield add(
        TILING, "blockShape", ("[100, 128]", "64"), blockShape=[100, 128],
        blockSparseMaskOut__shape=(2, 2, 2, 2) if tnd else (2, 2, 3, 2),
    )  # fmt: skip
    yield add(TILING, "query", ("127", "128"), query__shape=(300, 2, 127) if tnd else (2, 2, 300, 127))
    yield add(TILING, "key", ("64", "128"), key__shape=(200, 2, 64) if tnd else (2, 2, 200, 64))
    if not tnd:
        yield add(TILING, "key", ("[3, 2, 200, 128]", "[2, 2, 300, 128]"), key__shape=(3, 2, 200, 128))
        yield add(TILING, "key", ("[2, 1, 200, 128]", "[2, 2, 300, 128]"), key__shape=(2, 1, 200, 128))


FAULTS = {layout: list(in_order(layout)) for layout in ("BNSD", "TND")}
CASES = [pytest.param(layout, f, id=f"{layout}-{f.id}") for layout, faults in FAULTS.items() for f in faults]


def expect(answer, fault, texts=True):
    status, text, _ = answer
    assert status == fault.status, text
    assert ("EZ1001" if status < 561000 else "EZ9999") in text
    assert "aclnnBSASelectBlockMask: " in text
    assert re.search(rf"\b{fault.parameter}\b", text), text
    missing = [t for t in fault.texts if texts and t not in text]
    assert not missing, f"{missing} not in: {text}"


@pytest.fixture(autouse=True)
def nothing_is_left_behind(library):
    kinds = (b"tensor", b"executor", b"device_memory")
    before = [library.live(kind) for kind in kinds]
    yield
    assert [library.live(kind) for kind in kinds] == before


@pytest.mark.parametrize("layout", FAULTS)
def test_the_valid_call_is_accepted(library, layout):
    status, text, workspace = library.phase1(Call(layout))
    assert (status, text) == (0, None)
    assert 0 < workspace < 64 << 20


@pytest.mark.parametrize("layout, fault", CASES)
def test_each_fault_alone(library, layout, fault):
    expect(library.phase1(Call(layout).change(**fault.changes)), fault)
    assert library.error_text() is None, "the text must be gone once read"
    assert library.phase1(Call(layout))[0] == 0, "a refusal must not spoil the next call"


@pytest.mark.parametrize("layout", FAULTS)
def test_of_two_faults_the_earlier_is_reported(library, layout):
    tried = 0
    for first, second in itertools.combinations(FAULTS[layout], 2):
        touched = [{name.partition("__")[0] for name in f.changes} for f in (first, second)]
        if touched[0] & touched[1]:
            continue
        # The later fault may change the numbers in the text.
        expect(
            library.phase1(Call(layout).change(**second.changes).change(**first.changes)), first, texts=False
        )
        tried += 1
    assert tried > 300


def test_null_layouts_and_unknown_ones_are_the_tilings_business(library):
    for changes, name in (
        ({"queryLayout": None}, "queryLayout"),
        ({"keyLayout": None}, "keyLayout"),
        ({"queryLayout": b"BSND", "keyLayout": b"BSND"}, "queryLayout"),
        ({"queryLayout": b"", "keyLayout": b""}, "queryLayout"),
    ):
        expect(
            library.phase1(Call().change(**changes)), Fault(changes, TILING, name, ("'BNSD' or 'TND'",), 0)
        )


@pytest.mark.parametrize("name, shape", [("query", (2, 300, 128)), ("key", (200, 2, 1, 1, 128))])
def test_ranks_that_do_not_fit_the_layout(library, name, shape):
    fault = Fault({f"{name}__shape": shape}, TILING, name, (str(list(shape)), "expected 4", "BNSD"), 0)
    expect(library.phase1(Call().change(**fault.changes)), fault)


def test_ranks_are_looked_at_before_layouts(library):
    unknown = {"queryLayout": b"BSH", "keyLayout": b"BSH"}
    text = library.phase1(Call().change(**unknown))[1]
    assert (
        "query has 4 dimensions" in text and "expected 3, one for each letter of queryLayout, 'BSH'" in text
    )
    text = library.phase1(Call().change(key__shape=(200, 2, 128), queryLayout=b"BSND", keyLayout=b"BSND"))[1]
    assert "key has 3 dimensions" in text and "expected 4" in text
    text = library.phase1(
        Call().change(query__shape=(2, 2, 300, 64), queryLayout=b"BSND", keyLayout=b"BSND")
    )[1]
    assert "queryLayout is 'BSND', expected 'BNSD' or 'TND'" in text


@pytest.mark.parametrize(
    "lengths, expected",
    [
        ([1] * 1000, "(1000 entries) with the sum 1000, expected per-sequence lengths (not cumulative)"),
        ([0] * 999 + [-1], "(1000 entries) with -1 at index 999, expected lengths of at least 0"),
    ],
)
def test_long_arrays_leave_room_for_what_is_wrong(library, lengths, expected):
    """The text of a message ends after 1024 bytes."""
    text = library.phase1(Call("TND").change(actualSeqLengths=lengths))[1]
    assert f"actualSeqLengths is [{lengths[0]}, " in text
    assert expected in text and text.rstrip().endswith("T=300." if lengths[0] else "300.")


@pytest.mark.parametrize("sparsity, ok", [(0.5, True), (1e-44, True), (1e-50, False), (1 - 1e-9, False),
                                          (float("nan"), False), (-0.1, False), (2.0, False)])  # fmt: skip
def test_sparsity_counts_as_a_float(library, sparsity, ok):
    assert library.phase1(Call().change(sparsity=sparsity))[0] == (0 if ok else TILING)


def single(layout):
    """A mask of one block."""
    call = Call(layout)
    if layout == "TND":
        return call.change(
            query=Spec((64, 2, 128)), key=Spec((1, 2, 128)), actualSeqLengths=[64], actualSeqLengthsK=[1],
            blockSparseMaskOut=Spec((1, 2, 1, 1), INT8),
        )  # fmt: skip
    return call.change(
        query=Spec((1, 2, 64, 128)), key=Spec((1, 2, 128, 128)), actualSeqLengths=None,
        blockSparseMaskOut=Spec((1, 2, 1, 1), INT8),
    )  # fmt: skip


def test_a_single_block(library):
    """One block is enough in TND and one too few in BNSD; two are enough."""
    assert library.phase1(single("TND"))[0] == 0
    expect(
        library.phase1(single("BNSD")),
        Fault({}, TILING, "query", ("Xblocks * Yblocks", "1 * 1", "above 1"), 0),
    )
    two = single("BNSD").change(key=Spec((1, 2, 129, 128)), blockSparseMaskOut=Spec((1, 2, 1, 2), INT8))
    assert library.phase1(two)[0] == 0


def test_workspace_of_256k_tokens(library):
    """Planned only: what the call needs besides its tensors."""
    shape = (1, 4, 256 * 1024, 128)
    call = Call().change(
        query=Spec(shape), key=Spec(shape), numKeyHeads=4, actualSeqLengths=None, blockShape=None,
        blockSparseMaskOut=Spec((1, 4, 2048, 2048), INT8),
    )  # fmt: skip
    status, text, workspace = library.phase1(call)
    assert status == 0, text
    assert workspace < 100 << 20


def test_default_block_shape(library):
    call = Call().change(blockShape=None, blockSparseMaskOut=Spec((2, 2, 3, 2), INT8))
    assert library.phase1(call)[0] == 0


@pytest.mark.parametrize(
    "shape", [(2**33, 1, 64, 128), (1, 1, 2**33, 128), (-1, 2, 300, 128), (2**62, 4, 2, 128)]
)
def test_absurd_sizes_are_refused_at_once(library, shape):
    call = Call().change(
        query=Spec(shape), key=Spec(shape), numKeyHeads=1, actualSeqLengths=None, blockShape=[64, 64],
        blockSparseMaskOut=Spec((shape[0], shape[1], -(-shape[2] // 64), -(-shape[2] // 64)), INT8),
    )  # fmt: skip
    assert library.phase1(call)[0] in (INVALID, TILING)


def test_arrays_that_are_gone(library):
    array = library.array([64, 64])
    assert library.destroy_array(array) == 0
    tensors = [library.tensor(spec) for spec in (Call().query, Call().key, Call().blockSparseMaskOut)]
    size, executor = ctypes.c_uint64(), ctypes.c_void_p()
    status = library.plan(
        *tensors[:2], array, None, None, None, None, None, b"BNSD", b"BNSD", 2, 0.0, 0.5, tensors[2],
        ctypes.byref(size), ctypes.byref(executor),
    )  # fmt: skip
    for handle in tensors:
        library.destroy_tensor(handle)
    assert status == INVALID
    assert "blockShape is not a live aclIntArray" in library.error_text().decode()
