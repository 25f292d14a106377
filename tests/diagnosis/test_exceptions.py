"""What an exception of a real call holds and says, on the emulator."""

from __future__ import annotations

import pickle
import subprocess
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import aclnn_py as aclnn
from aclnn_py.status import FAULTS

pytestmark = pytest.mark.usefixtures("emulator")
SINKHORN = "aclnnMhcPreSinkhorn"


def sinkhorn(**changes: Any) -> None:
    """A call that keeps every rule, but for the changes."""
    arguments: dict[str, Any] = {
        "x": np.ones((2, 3, 4, 128), np.float16),
        "phi": np.ones((24, 512), np.float32),
        "alpha": np.ones(3, np.float32),
        "bias": np.ones(24, np.float32),
        "hcMult": 4,
        "numIters": 20,
        "hcEps": 1e-6,
        "normEps": 1e-6,
        "needBackward": False,
        "hin": aclnn.empty((2, 3, 128), "float16"),
        "hPost": aclnn.empty((2, 3, 4)),
        "hRes": aclnn.empty((2, 3, 16)),
        **dict.fromkeys(("hPre", "hcBeforeNorm", "invRms", "sumOut", "normOut")),
    }
    aclnn.op(SINKHORN)(**(arguments | changes))


def caught(**changes: Any) -> aclnn.AclnnParameterError:
    with pytest.raises(aclnn.AclnnParameterError) as info:
        sinkhorn(**changes)
    return info.value


def test_the_text_for_a_person() -> None:
    text = str(caught(phi=np.ones((24, 513), np.float32)))
    lines = text.splitlines()
    assert lines[0].startswith(
        "aclnnMhcPreSinkhorn (phase 1, GetWorkspaceSize) returned 161002 ACLNN_ERR_PARAM_INVALID"
    )
    assert lines[1] == ("  phi: shape [24, 513], expected [24, 512] = [n*n + 2n, n*c] with n = 4, c = 128")
    assert lines[2].startswith("  CANN says: EZ1001: aclnnMhcPreSinkhorn: phi has shape [24, 513]")
    assert lines[3] == "  arguments:"
    assert lines[4] == "    x             FLOAT16  [2, 3, 4, 128]  contiguous  ND"
    assert lines[5] == "  > phi           FLOAT    [24, 513]       contiguous  ND"
    assert "    hcMult        int 4  (int64_t)" in lines and "    hPre          NULL" in lines
    assert "  first to check: phi (rule: phi shape must be [n*n + 2n, n*c])" in lines
    assert f"aclnn-py explain --op {SINKHORN} 161002" in lines[-1]
    assert "libopapi" in lines[-2]


def test_the_attributes_for_a_program() -> None:
    error = caught(phi=np.ones((24, 513), np.float32), hRes=None)
    assert (error.code, error.name, error.op, error.phase) == (161001, "ACLNN_ERR_PARAM_NULLPTR", SINKHORN, 1)
    assert [v.argument for v in error.violations] == ["hRes", "phi"]
    assert [v.code for v in error.violations] == [161001, 161002]
    assert error.causes[0] == str(error.violations[0])
    (said,) = error.parsed
    assert (said.code, said.text) == ("EZ1001", error.headline) and error.headline in error.message
    x = error.arguments[0]
    assert (x.name, x.dtype, x.shape, x.strides, x.format) == ("x", "FLOAT16", (2, 3, 4, 128), None, "ND")
    assert error.arguments[4].shape is None and "libopapi" in error.library


def test_other_kinds_of_arguments_are_told() -> None:
    query = aclnn.zeros((1, 1, 256, 128), "float16")
    arguments = (query, query, [128, 128], None, None, None, None, None, "BNSD", "TND", 1, 0.0, 0.5, None)
    try:
        op = aclnn.op("aclnnBSASelectBlockMask")
    except aclnn.LibraryNotFound:
        pytest.skip("the libraries in use lack the operator")
    with pytest.raises(aclnn.AclnnParameterError) as info:
        op(*arguments)
    told = {a.name: a.text for a in info.value.arguments}
    assert told["blockShape"] == "IntArray([128, 128])" and told["queryLayout"] == '"BNSD"  (char*)'
    assert [v.argument for v in info.value.violations][:2] == ["blockSparseMaskOut", "keyLayout"]


def test_strides_are_told() -> None:
    error = caught(hin=aclnn.empty((3, 2, 128), "float16").transpose(1, 0, 2))
    hin = next(a for a in error.arguments if a.name == "hin")
    assert hin.strides == (128, 256, 1)
    assert (
        "  > hin           FLOAT16  [2, 3, 128]     strides [128, 256, 1] offset 0  ND"
        in str(error).splitlines()
    )
    assert [v.argument for v in error.violations] == ["hin"]


def test_it_crosses_processes(
    run_python: Callable[..., Any], emulator: Callable[..., dict[str, str]]
) -> None:
    run_python(
        """
        import multiprocessing
        import numpy as np
        import aclnn_py as aclnn

        def work(length):
            aclnn.op("aclnnAdd")(aclnn.zeros(4), aclnn.zeros(length), 1.0, aclnn.empty(4))

        with multiprocessing.get_context("fork").Pool(1) as pool:
            try:
                pool.apply(work, (5,))
            except aclnn.AclnnParameterError as error:
                assert "other: shape [5], expected [4]" in str(error), error
                assert error.violations[0].argument == "other" and error.code == 161002
            else:
                raise AssertionError
        """,
        env=emulator(),
    )


def test_it_pickles_whole() -> None:
    error = caught(numIters=3)
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error) and str(copy) == str(error) and copy.args == error.args
    assert vars(copy) == vars(error)


def test_each_error_has_its_own_text() -> None:
    """Also in threads at once; and a text is gone once it was shown."""
    found: dict[int, list[str]] = {}

    def work(number: int) -> None:
        found[number] = [caught(numIters=number).message for _ in range(20)]

    threads = [threading.Thread(target=work, args=(n,)) for n in (3, 5, 7, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, messages in found.items():
        assert all(f"numIters is {number}," in m and m.count("numIters") == 1 for m in messages)
    assert len(caught(hcMult=3).parsed) == 1


def test_an_operator_without_rules_has_no_violations() -> None:
    error = aclnn.AclnnParameterError(161002, "aclnnFoo", 1, "EZ1001: aclnnFoo: x is wrong")
    assert error.violations == () and "breaks no rule" not in str(error)
    assert error.causes


def test_what_breaks_no_known_rule_says_so() -> None:
    """A library that refuses what this package knows no rule against."""
    with (
        aclnn.emulator.failing_operator(SINKHORN, 1, 161002) as works,
        pytest.raises(aclnn.AclnnParameterError) as info,
    ):
        assert works
        sinkhorn()
    assert "breaks no rule that this package knows" in str(info.value) and info.value.violations == ()


def test_tiling_and_kernel_errors_name_the_library() -> None:
    for code in (561002, 561003, 561103, 561112):
        with (
            aclnn.emulator.failing_operator("aclnnAdd", 1, code),
            pytest.raises(aclnn.AclnnInnerError) as info,
        ):
            aclnn.op("aclnnAdd")(aclnn.zeros(2), aclnn.zeros(2), 1.0, aclnn.zeros(2))
        text = str(info.value)
        assert info.value.code == code and f"served by {info.value.library}" in text
        assert "self   FLOAT  [2]  contiguous  ND" in text and "usual cause:" in text


def test_rules_of_a_part_of_an_operator_explain_nothing_on_cann(monkeypatch: pytest.MonkeyPatch) -> None:
    """CANN's aclnnAdd broadcasts, the emulator's does not; what is no fault there must not be called one."""
    from aclnn_py import libraries

    def refused() -> aclnn.AclError:
        with pytest.raises(aclnn.AclnnParameterError) as info:
            aclnn.op("aclnnAdd")(aclnn.zeros((2, 3)), aclnn.zeros(3), 1.0, None)
        return info.value

    assert [v.argument for v in refused().violations] == ["out", "other"]
    monkeypatch.setattr(libraries, "is_emulator", lambda root: False)
    assert refused().violations == () and "breaks no rule" not in str(refused())
    assert caught(numIters=3).violations


def test_a_broken_rule_never_hides_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from aclnn_py.diagnosis import rules

    def fails(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(rules.Rules, "violations", fails)
    assert caught(numIters=3).violations == ()


def test_a_step_that_was_taken_is_not_advised() -> None:
    fault = aclnn.DeviceFault(507035, "Stream.synchronize")
    assert "to do: Run with ACLNN_PY_BLOCKING=1" in str(fault)
    hint = "calls are waited for one by one (ACLNN_PY_BLOCKING), so the fault is of the last one"
    fault = aclnn.DeviceFault(507035, "Stream.synchronize", hint=hint)
    assert "ACLNN_PY_BLOCKING=1" not in str(fault) and "to do: Compare byte sizes" in str(fault)
    assert "EARLIER" not in str(fault) and not any("EARLIER" in cause for cause in fault.causes)
    assert "out-of-bounds access" in str(fault)


@pytest.mark.parametrize("code", sorted(FAULTS))
def test_waiting_for_each_call_settles_whose_fault_it_is(code: int) -> None:
    hint = "calls are waited for one by one (ACLNN_PY_BLOCKING), so the fault is of the last one"
    told = str(aclnn.DeviceFault(code, "Stream.synchronize", hint=hint))
    assert "EARLIER" not in told and "ACLNN_PY_BLOCKING=1" not in told
    assert "to do: \n" not in told and not told.endswith("to do: ")


def test_what_follows_from_a_fault_blames_no_later_call(
    run_python: Callable[..., subprocess.CompletedProcess[str]], emulator: Callable[..., dict[str, str]]
) -> None:
    run_python(
        """
        import numpy as np
        import aclnn_py as aclnn
        x, out, add = aclnn.tensor(np.ones(4, np.float32)), aclnn.empty(4), aclnn.op("aclnnAdd")
        aclnn.emulator.fail_synchronize(507035)
        told = []
        for _ in range(2):
            try:
                add(x, x, 1.0, out)
            except aclnn.DeviceFault as fault:
                told.append(fault.hint)
        first, second = told
        assert "so the fault is of the last one" in first
        assert "is in fault since" in second and "the last one" not in second, second
        """,
        env=emulator(ACLNN_PY_BLOCKING="1"),
    )
