"""Headers that are not tidy: each declaration is read, or reported with its line."""

from __future__ import annotations

import signal

import pytest

from aclnn_py.declarations import split_top
from aclnn_py.prototype import read_header

TAIL = "uint64_t *workspaceSize, aclOpExecutor **executor)"


def first(name: str, parameters: str = "const aclTensor *x, aclTensor *out") -> str:
    return f"aclnnStatus aclnn{name}GetWorkspaceSize({parameters}, {TAIL}"


@pytest.mark.parametrize(
    ("text", "places"),
    [
        (f"{first('A')}\n{first('B')};", "h:1 h:2"),
        (f"{first('A')}, aclnnBGetWorkspaceSize(bool b, {TAIL};", "h:1 h:1"),
        (f'{first("A")} ACL_SINCE(8) noexcept(true)\nACL_OLD("a (b") {first("B")};', "h:1 h:2"),
        (f"#if 0\n(\n#elif 1\n{first('A')};\n#else\n{first('B')};\n#endif", "h:4 h:6"),
        (f"#if 0\n#if X\n(\n#else\n(\n#endif\n(\n#endif\n{first('A')};\n{first('B')};", "h:9 h:10"),
        (f"#if X\n{first('A')};\n#elif 0\n(\n#endif\n{first('B')};", "h:2 h:6"),
        (f"\ufeff{first('A')};\r\n#define X \\\r\n (\r\n{first('B')};", "h:1 h:4"),
        (f"{first('A', 'int64_t n = (1 << 3), bool b = 1 < 2')};{first('B', 'std::int64_t n')};", "h:1 h:1"),
    ],
)
def test_is_read(text: str, places: str) -> None:
    header = read_header(text, "h")
    assert not header.problems
    assert [header.operators[f"aclnn{name}"].header for name in "AB"] == places.split()


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        (f"typedef int foo\n{first('B')};", "h:2: ", "a ; is missing before this"),
        (f"int x = 3\n{first('B')};", "h:2: ", "a ; is missing before this"),
        (f"struct S {{ int a; }}\n{first('B')};", "h:2: ", "a ; is missing before this"),
        (f"\n/* text\n{first('B')};", "h:2: ", "a comment is not closed: /* text"),
        (f"\n/*/ {first('B')};", "h:2: ", "a comment is not closed: /*/"),
        (f"int f(int a,\n{first('B')};\n", "h:2: ", "after a bracket that is not closed: aclnnBGet"),
        (f"int f() {{ if {{ }}\n{first('B')};\n", "h:2: ", "after a brace that is not closed: aclnnBGet"),
    ],
)
def test_what_is_lost_is_reported(text: str, place: str, words: str) -> None:
    header = read_header(text, "h")
    assert not header.operators
    assert any(p.startswith(place) and words in p for p in header.problems), header.problems


@pytest.mark.parametrize("macro", ["DECLARE_OP(Foo)", "DECL(aclnnFoo)", "declare(aclnnFoo)", "OP(aclnnFoo)"])
def test_a_macro_without_a_semicolon(macro: str) -> None:
    for text in (f"{macro}\n{first('B')};", f"int f(int);\n{macro}\n{first('B')};\n"):
        header = read_header(text, "h")
        line = text[: text.index(macro)].count("\n") + 1
        assert header.problems == (f"h:{line}: cannot tell what this declares: {macro}",)
        assert header.operators["aclnnB"].header == f"h:{line + 1}"


def test_splitting_at_commas() -> None:
    assert split_top("a<b, c> d, int e = (f, g), int h = 1 << 2, i") == [
        "a<b, c> d",
        "int e = (f, g)",
        "int h = 1 << 2",
        "i",
    ]


SIZE = 1_000_000
JUNK = ["(", "{", "f(", "f(a) ", "F(a) ", "int f(a) g(b) ", "#if 0\n", "#elif 0\n", "int f() {", "/*", '"',
        "typedef ", "a=<,", "#\\\n", "GetWorkspaceSize (", "__attribute__((x)) ", first("A")]  # fmt: skip


@pytest.mark.parametrize("piece", JUNK)
def test_the_time_is_linear(piece: str) -> None:
    """A second at most on any machine; what grows with the square takes hours, and is ended."""

    def give_up(*_: object) -> None:
        raise AssertionError("not linear in the size of the text")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(60)
    try:
        read_header(piece * (SIZE // len(piece)), "h")
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
