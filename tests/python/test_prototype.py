"""Reading C prototypes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclnn_py.callcode import call_source, identifiers, signature
from aclnn_py.catalogue import _file_name
from aclnn_py.prototype import PrototypeError, parse, read_header

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
    names = [
        "self",
        "lambda",
        "from",
        "stream",
        "stream_",
        "copy_back",
        "_len",
        "len",
        "_0",
        "AttributeError",
    ]
    declared = ", ".join(f"int64_t {name}" for name in names)
    prototype = parse(f"aclnnStatus aclnnXGetWorkspaceSize({declared}, {TAIL});")
    compile(call_source(prototype), "generated", "exec")
    python = "self, lambda_, from_, stream__, stream_, copy_back_, _len_, len, _0_, AttributeError"
    assert str(signature(prototype)) == f"(_operator, /, {python}, *, stream=None, copy_back=False)"
    assert ", ".join(identifiers(prototype)) == python


@pytest.mark.parametrize(
    ("text", "ctype", "name", "kind"),
    [
        ("const aclTensor *", "const aclTensor*", "arg0", "tensor"),
        ("aclTensor const*const x", "const aclTensor*", "x", "tensor"),
        ("unsigned long long n", "uint64_t", "n", "int"),
        ("unsigned n", "uint32_t", "n", "int"),
        ("long int n", "int64_t", "n", "int"),
        ("const unsigned char n", "uint8_t", "n", "int"),
        ("signed char n", "int8_t", "n", "int"),
        ("const int64_t dims[]", "const int64_t*", "dims", "pointer"),
        ("int64_t dims[8]", "int64_t*", "dims", "pointer"),
        ("uint64_t &size", "uint64_t*", "size", "pointer"),
        ("struct aclTensor *x", "aclTensor*", "x", "tensor"),
        ("enum aclDataType t", "aclDataType", "t", "dtype"),
        ("OUT aclTensor *x", "aclTensor*", "x", "tensor"),
        ("char x[]", "char*", "x", "string"),
        ("int64_t n = 5", "int64_t", "n", "int"),
        ("void *p", "void*", "p", "pointer"),
    ],
)
def test_one_parameter(text: str, ctype: str, name: str, kind: str) -> None:
    (found,) = parse(f"aclnnStatus aclnnXGetWorkspaceSize({text}, {TAIL});").parameters
    assert (found.ctype, found.name, found.kind) == (ctype, name, kind)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("FOO aclnnStatus aclnnXGetWorkspaceSize(const aclTensor *a b, {});", "cannot read parameter 1"),
        ("aclnnStatus aclnnXGetWorkspaceSize(std::vector<int> a, {});", "cannot read parameter 1"),
        ("void *aclnnXGetWorkspaceSize({});", "not aclnnStatus"),
        ("aclnnStatus aclnnXGetWorkspaceSize(int64_t n, bool n, {});", "two parameters n"),
        ("DECLARE(aclnnX);", "cannot tell what this declares: DECLARE(aclnnX)"),
    ],
)
def test_unreadable_declarations_are_reported(text: str, words: str) -> None:
    header = read_header("\n" + text.format(TAIL), "some.h")
    assert not header.operators and len(header.problems) == 1
    assert header.problems[0].startswith("some.h:2: ") and words in header.problems[0]


def test_two_declarations_that_differ() -> None:
    first = f"aclnnStatus aclnnXGetWorkspaceSize(int64_t n, {TAIL});\n"
    again = f"aclnnStatus aclnnXGetWorkspaceSize(bool n, {TAIL});\n"
    assert not read_header(first + first, "h").problems
    header = read_header(first + again, "h")
    assert header.operators["aclnnX"].parameters[0].kind == "int"
    assert header.problems == ("h:2: aclnnX is declared otherwise at h:1; that one counts",)
    odd = first + "aclnnStatus aclnnX(void *workspace, aclrtStream stream);"
    assert "aclnnX takes (void*, aclrtStream), not (void*, uint64_t" in read_header(odd, "h").problems[0]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                [t.strip() for t in TYPES] + ["aclScalar *", "uint32_t", "const aclScalarList *"]
            ),
            st.from_regex(r"[a-z][A-Za-z0-9]{0,8}(Optional)?", fullmatch=True),
        ),
        max_size=50,
        unique_by=lambda pair: pair[1],
    )
)
def test_a_record_written_as_c_reads_as_itself(parameters: list[tuple[str, str]]) -> None:
    listed = ", ".join([*(f"{ctype} {name}" for ctype, name in parameters), TAIL])
    try:
        made = parse(f"aclnnStatus aclnnXGetWorkspaceSize({listed});")
    except PrototypeError:
        # a parameter with the name of a C word has no name
        assert {name for _, name in parameters} & {"char", "int", "long", "short", "const", "enum", "signed"}
        return
    written = ", ".join([*map(str, made.parameters), TAIL])
    assert parse(f"aclnnStatus aclnnXGetWorkspaceSize({written});").parameters == made.parameters
