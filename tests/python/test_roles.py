"""Which parameters an operator writes: what the header says, and what only names and places say."""

from __future__ import annotations

import numpy as np
import pytest

from aclnn_py.conversion import converter
from aclnn_py.prototype import Prototype, parse, read_header
from aclnn_py.stubs import text as stub_text

TAIL = "uint64_t *workspaceSize, aclOpExecutor **executor"
T = "const aclTensor *"


def declared(parameters: str, name: str = "aclnnX", comment: str = "") -> Prototype:
    listed = parameters.replace("T ", T)
    return parse(f"{comment}aclnnStatus {name}GetWorkspaceSize({listed}, {TAIL});")


@pytest.mark.parametrize(
    ("parameters", "outputs"),
    [
        # after the last attribute: the first so called, and all that follow
        ("T query, int64_t n, T attentionOut, T softmaxLse", "attentionOut softmaxLse"),
        (
            "T query, int64_t n, T softmaxMax, T softmaxSumOptional, T other",
            "softmaxMax softmaxSumOptional other",
        ),
        ("T x, T gradOut, T dqOut, bool b, T y, T dx_out, T last", "dx_out last"),
        ("T x, int64_t n, aclTensor *y, T softmaxLse", "y softmaxLse"),
        ("T x, int64_t n, const aclTensorList *out, T scaleOutOptional", "out scaleOutOptional"),
        # statistics before the last attribute are inputs, as the backward pass has them
        ("T softmaxMax, T softmaxSum, int64_t n, T dqOut", "dqOut"),
        ("T softmaxMax, T softmaxSum, aclTensor *dq", "dq"),
        # inputs and outputs in one run
        ("T dst, T dst_size, T dst_out", "dst_out"),
        ("T query, T attentionOut, T softmaxLse", "attentionOut softmaxLse"),
        ("T x, aclTensor *attentionOut, T softmaxLse, T scale", "attentionOut softmaxLse"),
        ("T gradOut, T x, T out", "out"),
        ("T gradOut, aclTensor *gradInput", "gradInput"),
        ("T self, T mat2, T out, int8_t cubeMathType", "out"),
        ("T layout, T timeout, aclTensor *y", "y"),
    ],
)
def test_const_outputs(parameters: str, outputs: str) -> None:
    found = declared(parameters).parameters
    assert [p.name for p in found if p.role == "out"] == outputs.split()
    assert {p.role for p in found} <= {"in", "out", "attr"}


def test_a_comment_wins() -> None:
    comment = "/** @param [in] a, @param [out] b, @param[in] yOut, @param [in,out] c */\n"
    found = declared("T a, T b, T c, double eps, T yOut", comment=comment).parameters
    assert [p.role for p in found] == ["in", "out", "inout", "attr", "in"]
    assert declared("T x, T out", comment="/** @param [in] out */").parameters[1].role == "in"


def test_an_operator_that_seems_to_write_nothing() -> None:
    found = declared("T x, const aclTensorList *parts, int64_t n, T y, T z").parameters
    assert [p.role for p in found] == ["in", "in", "attr", "unknown", "unknown"]
    assert [p.role for p in declared("T x, const aclTensorList *parts").parameters] == ["unknown"] * 2
    assert declared("T x, T y", "aclnnInplaceX").parameters[0].role == "inout"
    assert declared("T xRef, T y").parameters[1].role == "in"
    assert declared("T x, uint64_t *count").parameters[0].role == "in"  # it writes the number
    said = declared("T x", comment="/** @param [in] x */")
    assert said.parameters[0].role == "in"


def test_an_array_for_an_unknown_tensor_is_refused() -> None:
    tensor, parts = declared("int64_t n, T y, const aclTensorList *z").parameters[1:]
    words = (
        r"aclnnX: y \(const aclTensor\*\) must be an aclnn.Tensor .*ndarray.* the header does not say which"
    )
    with pytest.raises(TypeError, match=words):
        converter("aclnnX", tensor)(np.zeros(3))
    with pytest.raises(TypeError, match=r"z .* element 0 must be an aclnn.Tensor .* copy_back=True"):
        converter("aclnnX", parts)([np.zeros(3)])
    with pytest.raises(TypeError, match=r"must be an aclnn\.Tensor or None, got int 3"):
        converter("aclnnX", tensor)(3)


@pytest.mark.parametrize(
    ("third", "words"),
    [
        (
            "const aclTensor *x, int64_t n, int64_t m, aclTensor *out",
            "has 4 parameters and GetWorkspaceSize 3",
        ),
        (
            "const aclTensor *x, int32_t n, aclTensor *out",
            "has int32_t n where GetWorkspaceSize has int64_t n",
        ),
        ("const aclTensor *out, int64_t n, aclTensor *x", "has const aclTensor* out where"),
        ("const aclTensor *a, int64_t b, aclTensor *c", ""),
        ("const aclTensor *x, int64_t n, aclTensor *out", ""),
        ("const aclTensor *x, mystery n", "which is not known"),
    ],
)
def test_the_third_entry_point_has_the_parameters_of_the_first(third: str, words: str) -> None:
    text = f"aclnnStatus aclnnXGetWorkspaceSize(const aclTensor *x, int64_t n, aclTensor *out, {TAIL});\n"
    header = read_header(f"{text}aclnnStatus aclnnXGetMaxWorkspaceSize({third}, {TAIL});", "h")
    assert header.operators["aclnnX"].largest == (not words)
    assert len(header.problems) == bool(words)
    for problem in header.problems:
        assert problem.startswith("h:2: ") and words in problem


def test_a_third_entry_point_alone() -> None:
    header = read_header(f"aclnnStatus aclnnXGetMaxWorkspaceSize(int64_t n, {TAIL});", "h")
    assert "declared without aclnnXGetWorkspaceSize" in header.problems[0] and not header.operators


@pytest.mark.parametrize(
    ("written", "form"),
    [
        (
            "void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream",
            "void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, const aclrtStream stream",
        ),
        (
            "void *, const uint64_t n,aclOpExecutor *\n,aclrtStream",
            "void*, const uint64_t n, aclOpExecutor*, aclrtStream",
        ),
    ],
)
def test_the_form_of_phase_2(written: str, form: str) -> None:
    first = f"aclnnStatus aclnnXGetWorkspaceSize(int64_t n, {TAIL});\n"
    assert parse(first).phase2 == ""
    assert parse(f"{first}aclnnStatus aclnnX({written});").phase2 == form
    assert parse(f"aclnnStatus aclnnX({written});{first}").phase2 == form


def test_stubs_take_arrays_for_outputs_of_calls_only() -> None:
    made = declared("T x, int64_t n, aclTensor *out, aclTensorList *parts")
    call, plan = stub_text([made], "here").split("def plan(")
    assert "out: Tensor | np.ndarray | None," in call and "out: Tensor | None," in plan
    assert "parts: TensorList | Sequence[Tensor | np.ndarray" in call
    assert "parts: TensorList | Sequence[Tensor" in plan and "Sequence[Tensor | np" not in plan
    assert "x: Tensor | np.ndarray | None," in call and "x: Tensor | np.ndarray | None," in plan
