"""Reading C prototypes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclnn_py.callcode import call_source
from aclnn_py.catalogue import _file_name
from aclnn_py.prototype import PrototypeError, parse

STUB = Path(__file__).with_name("stub")
TAIL = "uint64_t *workspaceSize, aclOpExecutor **executor"


def test_a_header_in_all_the_styles() -> None:
    text = (STUB / "aclnn_stub_record.h").read_text()
    prototype = parse(text, "aclnnStubRecord", "record.h")
    assert prototype.header == "record.h:14"
    assert [(p.ctype, p.name, p.kind, p.role) for p in prototype.parameters] == [
        ("const aclTensor*", "self", "tensor", "in"),
        ("const aclTensor*", "weightOptional", "tensor", "in"),
        ("const aclScalar*", "alpha", "scalar", "attr"),
        ("int64_t", "big", "int", "attr"),
        ("int8_t", "cubeMathType", "int", "attr"),
        ("int32_t", "small", "int", "attr"),
        ("uint32_t", "count", "int", "attr"),
        ("uint64_t", "huge", "int", "attr"),
        ("double", "eps", "float", "attr"),
        ("float", "scale", "float", "attr"),
        ("bool", "flag", "bool", "attr"),
        ("char*", "layout", "string", "attr"),
        ("const char*", "mode", "string", "attr"),
        ("aclDataType", "dtype", "dtype", "attr"),
        ("const aclIntArray*", "dims", "int_array", "attr"),
        ("const aclFloatArray*", "factors", "float_array", "attr"),
        ("const aclBoolArray*", "mask", "bool_array", "attr"),
        ("const aclTensorList*", "parts", "tensor_list", "in"),
        ("const aclScalarList*", "weights", "scalar_list", "attr"),
        ("aclTensor*", "out", "tensor", "out"),
    ]
    assert [p.name for p in prototype.parameters if p.optional] == ["weightOptional"]


def test_one_of_several_operators() -> None:
    text = (STUB / "aclnn_stub.h").read_text()
    assert [p.name for p in parse(text, "aclnnStubFail").parameters] == ["x", "code", "phase"]
    with pytest.raises(PrototypeError, match="several operators"):
        parse(text)
    with pytest.raises(PrototypeError, match="no declaration of aclnnNone"):
        parse(text, "aclnnNone")


def test_trailing_const_outputs_by_name() -> None:
    text = f"""aclnnStatus aclnnGenGetWorkspaceSize(const aclTensor *gradOut, const aclTensor *x, double eps,
               const aclTensor *kRopeOut, const aclTensor *out, {TAIL});"""
    assert [p.role for p in parse(text).parameters] == ["in", "in", "attr", "out", "out"]


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ("const aclTensor *x", "must end with"),
        (f"const mystery *x, {TAIL}", "parameter x of aclnnA has the type const mystery*"),
        (f"void (*callback)(int), {TAIL}", "cannot read parameter 1"),
        (f"const aclTensor *x, {TAIL.replace('**', '*')}", "must end with"),
    ],
)
def test_text_that_cannot_be_read_names_its_line(parameters: str, words: str) -> None:
    with pytest.raises(PrototypeError, match=r"some\.h:3: ") as caught:
        parse(f"\n\naclnnStatus aclnnAGetWorkspaceSize({parameters});", "aclnnA", "some.h")
    assert words in str(caught.value)


def test_a_list_that_is_not_closed() -> None:
    with pytest.raises(PrototypeError, match="not closed"):
        parse("aclnnStatus aclnnAGetWorkspaceSize(const aclTensor *x, ")


@pytest.mark.parametrize(
    ("operator", "file"),
    [
        ("aclnnMhcPreSinkhorn", "aclnn_mhc_pre_sinkhorn.h"),
        ("aclnnBSASelectBlockMask", "aclnn_bsa_select_block_mask.h"),
        ("aclnnAdd", "aclnn_add.h"),
    ],
)
def test_conventional_header_name(operator: str, file: str) -> None:
    assert _file_name(operator) == file


TYPES = [
    "const aclTensor *",
    "aclTensor*",
    "aclTensor const*",
    "int64_t ",
    "const int8_t ",
    "double ",
    "bool ",
    "char * ",
    "const char*",
    "const aclIntArray *",
    "aclTensorList *",
    "aclDataType ",
]
SPACE = st.sampled_from([" ", "\n", "\t", " /* , */ ", " // int x,\n", "  "])


@given(st.lists(st.tuples(st.sampled_from(TYPES), SPACE, SPACE), min_size=0, max_size=50), SPACE)
def test_any_layout_reads_the_same(parts: list[tuple[str, str, str]], gap: str) -> None:
    names = [f"p{i}" for i in range(len(parts))]
    plain = ", ".join([*(f"{ctype} {name}" for (ctype, _, _), name in zip(parts, names, strict=True)), TAIL])
    spaced = f"{gap},".join(
        [*(f"{a}{ctype}{b}{name}" for (ctype, a, b), name in zip(parts, names, strict=True)), TAIL]
    )
    left = parse(f"aclnnStatus aclnnXGetWorkspaceSize({plain});")
    right = parse(
        f"ACL_FUNC __attribute__((x)) aclnnStatus{gap}aclnnXGetWorkspaceSize{gap}({gap}{spaced}{gap});"
    )
    assert left.parameters == right.parameters
    assert [p.name for p in left.parameters] == names
    compile(call_source(left), "generated", "exec")


def test_generated_source_copes_with_awkward_names() -> None:
    text = f"aclnnStatus aclnnXGetWorkspaceSize(const aclTensor *self, int64_t lambda, bool from, {TAIL});"
    source = call_source(parse(text))
    compile(source, "generated", "exec")
    assert "self, lambda_, from_, *, stream=None" in source
