"""aclnn.check without libraries, the words of violations, and declarations that fit the headers."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import aclnn_py as aclnn
from aclnn_py import prototype
from aclnn_py.diagnosis import rules, rules_page
from aclnn_py.diagnosis.rules_call import Call, TensorInfo, Unknown, shapes

SINKHORN = "aclnnMhcPreSinkhorn"
NATIVE = Path(__file__).parents[2] / "native"
HEADERS = [*NATIVE.glob("include/aclnnop/aclnn_*.h"), *NATIVE.glob("opp/vendors/*/op_api/include/aclnn_*.h")]
PAGES = Path(__file__).parents[2] / "docs" / "ops"
KNOWN = rules.known()


def inputs(**changes: Any) -> dict[str, Any]:
    """Inputs of a call that keeps every rule on 910B."""
    given: dict[str, Any] = {
        "x": ((2, 128, 4, 2560), "float16"),
        "phi": ((24, 10240), "float32"),
        "alpha": np.ones(3, np.float32),
        "bias": aclnn.TensorSpec((24,), "float32"),
    }
    return given | changes


def lines(operator: str = SINKHORN, soc: str = "Ascend910B3", **arguments: Any) -> list[str]:
    return [f"{v.code} {v}" for v in aclnn.check(operator, soc=soc, **arguments)]


def test_nothing_is_wrong() -> None:
    assert lines(**inputs()) == []
    outputs = {"hin": ((2, 128, 2560), "float16"), "hPost": ((2, 128, 4), "float32")}
    assert lines(**inputs(), **outputs, hRes=((2, 128, 16), "float32"), needBackward=False) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"phi": ((24, 10241), "float32")},
            "161002 phi: shape [24, 10241], expected [24, 10240] = [n*n + 2n, n*c] with n = 4, c = 2560",
        ),
        (
            {"alpha": np.ones(3)},
            "161002 alpha: dtype DOUBLE (float64), must be FLOAT (float32)",
        ),
        ({"hin": None}, "161001 hin: NULL (None), must be given"),
        ({"hcMult": 6}, "161002 hcMult: is 6, must be 4"),
        (
            {"x": ((256, 4, 2560), "float16")},
            "161002 x: 3 dimensions, shape [256, 4, 2560], must have 4: [*tokens, n, c] on A2 and A3",
        ),
        (
            {"x": ((2, 128, 4, 100), "float16"), "phi": ((24, 400), "float32")},
            "161002 x: shape [2, 128, 4, 100], c = 100, c must be a multiple of 128, from 1 to 100000 on A2 "
            "and A3",
        ),
        (
            {"hin": aclnn.TensorSpec((2, 128, 2560), "float16", strides=(327680, 1, 128))},
            "161002 hin: shape [2, 128, 2560] with strides [327680, 1, 128], must be contiguous: the "
            "operator writes it as if dense",
        ),
        (
            {"bias": aclnn.TensorSpec((24,), format=aclnn.aclFormat.ACL_FORMAT_FRACTAL_NZ)},
            "161002 bias: private format FRACTAL_NZ, must be ND",
        ),
        ({"x": 5}, "None x: is int 5, must be a tensor or None"),
        ({"numIters": "20"}, "None numIters: is str '20', must be an int"),
        ({"alpha": [1.0, 1.0, 1.0]}, "None alpha: is list [1.0, 1.0, 1.0], must be a tensor or None"),
        ({"needBackward": 1}, "None needBackward: is int 1, must be True or False"),
    ],
)
def test_one_fault(changes: dict[str, Any], expected: str) -> None:
    assert lines(**inputs(**changes)) == [expected]


def test_all_faults_are_told_and_none_twice() -> None:
    """A wrong hcMult makes no shape wrong, and a wrong rank of x says nothing about the other shapes."""
    broken = lines(
        **inputs(hcMult=6, numIters=10, phi=((24, 7), "float32"), hin=None, alpha=((2,), "float64"))
    )
    assert [line.split(":")[0] for line in broken] == [
        "161001 hin",
        "161002 alpha",
        "161002 hcMult",
        "161002 numIters",
        "161002 phi",
        "161002 alpha",
    ]
    broken = lines(**inputs(x=((2, 4, 2560), "float16"), hin=((9, 9), "float16")))
    assert [line.split(":")[0] for line in broken] == ["161002 x"]


def test_the_soc_decides() -> None:
    token_first = inputs(x=((7, 4, 4096), "bfloat16"), phi=((24, 16384), "float32"))
    assert lines(soc="Ascend950PR_9579", **token_first) == []
    assert lines(soc="950", **token_first) == []
    assert len(lines(soc="Ascend910_9391", **token_first)) == 1
    with pytest.raises(ValueError, match=r"soc must begin with Ascend910B, .* got 'Ascend310'"):
        aclnn.check(SINKHORN, soc="Ascend310")


def test_violations_are_records() -> None:
    found = aclnn.check(SINKHORN, **inputs(phi=((24, 1), "float32")), soc="A2")
    assert len(found) == 1
    assert (found[0].argument, found[0].code, found[0].was) == ("phi", 161002, "shape [24, 1]")
    assert found[0].rule == "phi shape must be [n*n + 2n, n*c]"


def test_names_as_in_aclnn_ops() -> None:
    found = aclnn.check("mhc_pre_sinkhorn", **inputs(), hc_mult=5, need_backward=False, soc="A2")
    assert [str(v) for v in found] == ["hcMult: is 5, must be 4"]


class Odd:
    shape, dtype = (2, "x"), object()


@pytest.mark.parametrize(
    "value",
    [object(), b"", [[1]], np.array([object()]), 10**400, Odd(), aclnn.TensorSpec((2, 3), format=99)],  # type: ignore[arg-type]
)
def test_values_of_any_kind_are_judged(value: Any) -> None:
    """Each is a violation or a rule's business, never a failure of check itself."""
    for name in KNOWN:
        for argument in rules.find(name).arguments:  # type: ignore[union-attr]
            found = aclnn.check(name, soc="A2", **{argument.name: value})
            assert all(str(violation) for violation in found)
    assert aclnn.check(SINKHORN, soc="A2", bias=value)


def test_what_was_closed_is_told() -> None:
    x = aclnn.tensor(np.ones((8, 4, 128), np.float16))
    rest = {"phi": ((24, 512), "float32"), "soc": "Ascend910B3"}
    assert aclnn.check("aclnnMhcPreV2", x=x, **rest) == []
    x.close()
    (found,) = aclnn.check("aclnnMhcPreV2", x=x, **rest)
    assert (found.argument, found.code, str(found)) == ("x", None, "x: is closed, must be open")
    with pytest.raises(ValueError, match="closed"):  # as the call itself
        aclnn.op("aclnnMhcSinkhorn").plan(x, 1e-6, 20, x, None, None)


def test_misuse_of_check() -> None:
    with pytest.raises(TypeError, match="operator must be a name such as 'aclnnAdd', got None"):
        aclnn.check(None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="shape must be a tuple of ints, got 'float16'"):
        aclnn.TensorSpec("float16", (2, 3))  # type: ignore[arg-type]
    with pytest.raises(LookupError, match=r"no rules for aclnnNoSuch; there are for aclnnAdd, .*aclnnCast"):
        aclnn.check("aclnnNoSuch", soc="A2")
    with pytest.raises(TypeError, match="has no argument gamma; it has x, phi"):
        aclnn.check(SINKHORN, gamma=1, soc="A2")
    with pytest.raises(TypeError, match="x is given twice"):
        aclnn.check(SINKHORN, None, x=None, soc="A2")
    with pytest.raises(TypeError, match="has 4 arguments, got 5"):
        aclnn.check("aclnnAdd", 1, 2, 3, 4, 5, soc="A2")


def test_check_needs_no_library(run_python: Callable[..., Any]) -> None:
    """Not even one to find: and then it must be told the SoC."""
    run_python(
        """
        import aclnn_py as aclnn
        from aclnn_py import libraries
        a, b = ((2, 3), "float16"), ((2, 4), "float16")
        found = aclnn.check("aclnnAdd", a, b, 1.0, None, soc="Ascend910B3")
        assert [(v.argument, v.code) for v in found] == [("out", 161001), ("other", 161002)], found
        assert not libraries.opened()
        try:
            aclnn.check("aclnnAdd", a, b)
        except ValueError as problem:
            assert "soc='Ascend910B3'" in str(problem)
        else:
            raise AssertionError
        """,
        ACLNN_PY_BACKEND="cann",
        ASCEND_HOME_PATH="/nowhere",
    )


def test_importing_the_package_loads_no_rules(run_python: Callable[..., Any]) -> None:
    run_python(
        """
        import sys
        import aclnn_py
        names = ("rules", "constraints", "check", "trace", "calls", "reproducer", "report")
        assert not [m for m in sys.modules if "aclnn_py" in m and m.rpartition(".")[2].startswith(names)]
        """
    )


@pytest.mark.parametrize("name", KNOWN)
def test_declarations_fit_the_header(name: str) -> None:
    """Names, order, kinds and roles of the arguments are those of the C prototype."""
    kinds = {"int_array": "int array", "string": "str"}
    header = next((h for h in HEADERS if re.search(rf"\b{name}GetWorkspaceSize\b", h.read_text())), None)
    assert header is not None, f"no header declares {name}"
    declared = prototype.parse(header.read_text(), name)
    found = [
        (a.name, getattr(a, "type", a.kind) if a.kind == "attribute" else a.kind)
        for a in rules.find(name).arguments  # type: ignore[union-attr]
    ]
    assert found == [(p.name, kinds.get(p.kind, p.kind)) for p in declared.parameters]


@pytest.mark.parametrize("name", KNOWN)
def test_every_name_in_the_rules_means_something(name: str) -> None:
    """Each check can be judged on some sample, or its condition rules it out: no misspelt name hides."""
    own = rules.find(name)
    assert own is not None
    for check in own.checks:
        for argument in check.names:
            assert argument in own.by_name or argument == "soc", f"{argument} of {type(check).__name__}"
            assert check.described(own, argument)
    for argument in own.arguments:
        for axes in shapes(getattr(argument, "shape", "")) if getattr(argument, "shape", "") else ():
            assert axes or argument.shape == "[]"


@pytest.mark.parametrize("name", KNOWN)
def test_pages_are_up_to_date(name: str) -> None:
    if not PAGES.parent.is_dir():
        pytest.skip("needs the sources")
    renew = "python -m aclnn_py.diagnosis.rules_page docs/ops"
    assert rules_page.outdated(PAGES, [name]) == {}, f"run {renew}"


def test_a_page_keeps_the_prose_around_the_rules() -> None:
    own = rules.find("aclnnAdd")
    assert own is not None
    first = rules_page.page(own)
    edited = first.replace("# aclnnAdd", "# aclnnAdd\n\nAdds.") + "\nExample.\n"
    spoiled = edited.replace("FLOAT16", "FLOAT17")
    assert rules_page.page(own, spoiled) == edited
    assert rules_page.page(own, "# aclnnAdd\n\nProse.\n").startswith("# aclnnAdd\n\nProse.\n\n## Arguments")


# The language of the rules


def made(*arguments: rules.Argument, checks: tuple[rules.Check, ...] = (), **more: Any) -> rules.Rules:
    return rules.Rules("aclnnFoo", arguments, checks, **more)


def test_symbols_are_read_off_the_first_tensor_that_has_them() -> None:
    own = made(rules.Tensor("x", "FLOAT", "[*t, n, c]"), rules.Tensor("y", "FLOAT", "[c, *t]"))
    x, y = TensorInfo((2, 3, 4, 5), "FLOAT"), TensorInfo((7, 8), "FLOAT")
    call = Call(own, {"x": x, "y": y})
    assert (call.value("t"), call.value("n"), call.value("c")) == ((2, 3), 4, 5)
    assert Call(own, {"y": y}).value("c") == 7, "x was left out"
    with pytest.raises(Unknown):
        Call(own, {"x": None, "y": y}).value("c")
    with pytest.raises(Unknown):
        Call(own, {"x": y}).value("soc")
    with pytest.raises(NameError):
        call.value("nonsense")


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("ceil(5, 2)", 3),
        ("sum(v + n for v in lengths)", 11),
        ("n if given('x') else nonsense", 3),
        ("given('y')", False),
        ("all(v <= n * 2 for v in lengths) and len(lengths) == 2", True),
        ("(x.rank, x.size, x.dtype, x.is_empty)", (2, 6, "FLOAT", False)),
    ],
)
def test_expressions(expression: str, value: Any) -> None:
    own = made(
        rules.Tensor("x", "FLOAT", "[m, n]"), rules.Tensor("y", "FLOAT", "[m]"), rules.IntArray("lengths")
    )
    call = Call(own, {"x": TensorInfo((2, 3), "FLOAT"), "y": None, "lengths": (1, 4)})
    assert call.evaluate(expression) == value


def test_expressions_reach_nothing_else() -> None:
    call = Call(made(rules.Tensor("x")), {})
    for expression in ("open('x')", "__import__('os')"):
        with pytest.raises(NameError):
            call.evaluate(expression)


def test_alternatives_and_implied_products() -> None:
    own = made(
        rules.Tensor("x", "FLOAT", "[*t, n]"),
        rules.Tensor("y", "FLOAT", "[*t, n, n] | [*t, n*n + 2n]"),
        checks=(rules.Shape("y"),),
    )
    x = TensorInfo((2, 3), "FLOAT")
    for shape in ((2, 3, 3), (2, 15)):
        assert not list(own.violations(Call(own, {"x": x, "y": TensorInfo(shape, "FLOAT")})))
    (found,) = own.violations(Call(own, {"x": x, "y": TensorInfo((2, 9), "FLOAT")}))
    assert str(found) == (
        "y: shape [2, 9], expected [2, 3, 3] or [2, 15] = [*t, n, n] or [*t, n*n + 2n] with t = [2], n = 3"
    )


def test_groups_of_all_or_none() -> None:
    own = made(*(rules.Tensor(n) for n in "abc"), checks=(rules.AllOrNone("a", "b", "c"),))
    info = TensorInfo((1,), "FLOAT")
    for given in range(8):
        call = Call(own, {n: info if given >> i & 1 else None for i, n in enumerate("abc")})
        found = list(own.violations(call))
        assert bool(found) == (given not in (0, 7))
    (found_one,) = own.violations(Call(own, {"a": info, "b": None, "c": None}))
    told = "b: NULL (None) like c while a is given, must be given together or not at all"
    assert str(found_one) == told


def test_a_not_a_number_keeps_no_limit() -> None:
    own = made(rules.Attribute("p", "float"), checks=(rules.Value("p", above=0, below=1),))
    assert not list(own.violations(Call(own, {"p": 0.5})))
    for value in (0, 1, float("nan"), float("inf")):
        assert len(list(own.violations(Call(own, {"p": value})))) == 1


def test_accepting_ends_the_checks() -> None:
    checks = (rules.NotNull("y"), rules.Accept("x.is_empty", "nothing to do"), rules.Rank("x", be=1))
    own = made(rules.Tensor("x"), rules.Tensor("y"), checks=checks)
    empty, info = TensorInfo((0, 2), "FLOAT"), TensorInfo((1, 2), "FLOAT")
    assert not list(own.violations(Call(own, {"x": empty, "y": info})))
    assert [v.argument for v in own.violations(Call(own, {"x": empty, "y": None}))] == ["y"]
    assert [v.argument for v in own.violations(Call(own, {"x": info, "y": info}))] == ["x"]
