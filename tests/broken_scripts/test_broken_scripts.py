"""Mistakes that people made: the exception alone must lead to the fix.

Each script beside this file fails. Its last words must hold the facts that the fix needs and blame nothing
else; with the fix, which uses nothing but those facts, the script runs.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import aclnn_py as aclnn

os.environ.setdefault("ACLNN_PY_BACKEND", "emulator")
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Mistake:
    """`error`: the exception's type; `facts`: patterns that its text must hold; `fix`: old line -> new lines.

    `blamed`: the arguments whose rules are told to be broken, in order. `operator`: which one it takes.
    """

    script: str
    error: str
    facts: tuple[str, ...]
    fix: dict[str, str]
    blamed: tuple[str, ...] = ()
    operator: str = "aclnnMhcPreSinkhorn"
    environment: dict[str, str] = field(default_factory=dict)


MISTAKES = [
    Mistake(
        "float64_alpha",
        "aclnn_py.status.AclnnParameterError",
        (
            r"aclnnMhcPreSinkhorn \(phase 1, GetWorkspaceSize\) returned 161002 ACLNN_ERR_PARAM_INVALID",
            r"alpha: dtype DOUBLE \(float64\), must be FLOAT \(float32\)",
            r"CANN says: EZ1001: .*alpha has dtype DT_DOUBLE",
            r"> alpha +DOUBLE +\[3\]",
        ),
        {"np.array([0.5, 0.5, 0.5])": "np.array([0.5, 0.5, 0.5], np.float32)"},
        ("alpha",),
    ),
    Mistake(
        "phi_off_by_one",
        "aclnn_py.status.AclnnParameterError",
        (
            r"phi: shape \[24, 2561\], expected \[24, 2560\] = \[n\*n \+ 2n, n\*c\] with n = 4, c = 640",
            r"> phi +FLOAT +\[24, 2561\]",
        ),
        {"n * d + 1)": "n * d)"},
        ("phi",),
    ),
    Mistake(
        "attributes_in_the_wrong_order",
        "TypeError",
        (r"aclnnMhcPreSinkhorn: hcMult \(int64_t\) must be an int, got float 1e-06",),
        {"hc_eps, norm_eps, hc_mult, num_iters, False": "hc_mult, num_iters, hc_eps, norm_eps, False"},
    ),
    Mistake(
        "thread_without_a_device",
        "aclnn_py.status.AclRuntimeError",
        (
            r"aclrtMalloc returned 107002 ACL_ERROR_RT_CONTEXT_NULL",
            r"(?s)aclrtSetDevice.*this thread|this thread.*aclrtSetDevice",
        ),
        {"    address = ctypes.c_void_p()": "    aclnn.Device(0).use()\n    address = ctypes.c_void_p()"},
    ),
    Mistake(
        "no_residual",
        "aclnn_py.status.AclnnParameterError",
        (
            r"returned 161001 ACLNN_ERR_PARAM_NULLPTR",
            r"hRes: NULL \(None\), must be given if alpha\.shape\[0\] == 3",
            r"> hRes +NULL",
        ),
        {
            "np.ones((24, 1024), np.float32), np.zeros(24,": "np.ones((8, 1024), np.float32), np.zeros(8,",
            "alpha = np.ones(3,": "alpha = np.ones(2,",
        },
        ("hRes",),
        "aclnnMhcPre",
    ),
    Mistake(
        "float32_attention",
        "aclnn_py.status.AclnnParameterError",
        (
            r"161002",
            r"query: dtype FLOAT \(float32\), must be FLOAT16 or BFLOAT16",
            r"key: dtype FLOAT \(float32\), must be FLOAT16 or BFLOAT16",
        ),
        {".astype(np.float32)": ".astype(np.float16)"},
        ("query", "key"),
        "aclnnBSASelectBlockMask",
    ),
    Mistake(
        "streams_before_tokens",
        "aclnn_py.status.AclnnParameterError",
        (r"x: shape \[2, 4, 16, 512\], axis 2 must be hcMult = 4",),
        {".transpose(1, 0, 2, 3)": ".transpose(1, 2, 0, 3)"},
        ("x",),
    ),
    Mistake(
        "number_for_a_tensor",
        "TypeError",
        (r"aclnnAdd: other \(const aclTensor\*\) must be an aclnn\.Tensor, a NumPy array .*, got int 2",),
        {"other = 2": "other = np.full((2, 3), 2, np.float32)"},
        operator="aclnnAdd",
    ),
    Mistake(
        "closed_tensor",
        "ValueError",
        (r"aclnnAdd: self \(const aclTensor\*\) was closed: Tensor\(shape=\(4,\), dtype=float32",),
        {"\nadd(weights, out": "\n    add(weights, out"},
        operator="aclnnAdd",
    ),
    Mistake(
        "output_of_the_wrong_shape",
        "aclnn_py.status.AclnnParameterError",
        (
            r"hPost: shape \[2, 8, 256\], expected \[2, 8, 4\] = \[\*tokens, n\] with .* n = 4",
            r"> hPost +FLOAT +\[2, 8, 256\]",
        ),
        {"h_post = aclnn.empty((b, s, d))": "h_post = aclnn.empty((b, s, n))"},
        ("hPost",),
        "aclnnMhcPre",
    ),
    Mistake(
        "result_in_an_array",
        "TypeError",
        (r"aclnnAdd: out .*its result is lost unless the call has copy_back=True",),
        {"1.0, out)": "1.0, out, copy_back=True)"},
        operator="aclnnAdd",
    ),
    Mistake(
        "cumulative_lengths",
        "aclnn_py.status.AclnnParameterError",
        (r"actualSeqLengths: .*\[128, 256, 384\].* must be per-sequence lengths, not cumulative, .* 384",),
        {
            "lengths = [128, 256, 384]": "lengths = [128, 128, 128]",
            "tokens = lengths[-1]": "tokens = sum(lengths)",
        },
        ("actualSeqLengths", "actualSeqLengthsK"),
        "aclnnBSASelectBlockMask",
    ),
    Mistake(
        "strided_output",
        "aclnn_py.status.AclnnParameterError",
        (
            r"hin: shape \[1, 8, 256\] with strides \[4096, 512, 1\], must be contiguous",
            r"> hin +FLOAT16 +\[1, 8, 256\] +strides \[4096, 512, 1\]",
        ),
        {"hin, h_post, h_res = hidden[:, :, 0]": 'hin, h_post, h_res = aclnn.empty((1, 8, 256), "float16")'},
        ("hin",),
    ),
]


def environment(mistake: Mistake) -> dict[str, str]:
    own = ("ACLEMU_", "ACLNN_PY_")
    clean = {k: v for k, v in os.environ.items() if not k.startswith(own)}
    root = os.environ.get("ACLNN_PY_TEST_ROOT")
    chosen = (
        {"ACLNN_PY_BACKEND": "cann", "ASCEND_HOME_PATH": root} if root else {"ACLNN_PY_BACKEND": "emulator"}
    )
    return clean | chosen | mistake.environment


def run(source: str, mistake: Mistake, folder: Path) -> subprocess.CompletedProcess[str]:
    file = folder / f"{mistake.script}.py"
    file.write_text(source)
    return subprocess.run(
        [sys.executable, str(file)], capture_output=True, text=True, env=environment(mistake), timeout=120
    )


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda m: m.script)
def test_from_the_exception_to_the_fix(mistake: Mistake, tmp_path: Path) -> None:
    try:
        aclnn.op(mistake.operator)
    except aclnn.LibraryNotFound:
        pytest.skip(f"the libraries in use lack {mistake.operator}")
    source = (HERE / f"{mistake.script}.py").read_text()

    broken = run(source, mistake, tmp_path)
    assert broken.returncode == 1, broken.stdout + broken.stderr
    assert f"\n{mistake.error}: " in broken.stderr, broken.stderr
    text = broken.stderr[broken.stderr.rindex(f"\n{mistake.error}: ") :]
    for fact in mistake.facts:
        assert re.search(fact, text), f"{fact} not in{text}"
    blamed = re.findall(r"^  (\w+): ", text.partition("CANN says")[0], re.M)
    assert tuple(blamed) == mistake.blamed, text

    for old, new in mistake.fix.items():
        assert old in source
        source = source.replace(old, new)
    fixed = run(source, mistake, tmp_path)
    assert fixed.returncode == 0 and fixed.stdout and not fixed.stderr, fixed.stderr


def test_every_script_is_tried() -> None:
    scripts = {file.stem for file in HERE.glob("*.py")} - {Path(__file__).stem}
    assert scripts == {mistake.script for mistake in MISTAKES} and len(scripts) >= 10
