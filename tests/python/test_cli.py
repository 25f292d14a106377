"""The command aclnn-py, as a user starts it."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import aclnn_py as aclnn

pytest.importorskip("click")
Run = Callable[..., Any]
MAIN = "from aclnn_py.__main__ import main; main()"


@pytest.fixture
def command(run_python: Run, stub_root: Path) -> Run:
    """aclnn-py with the stub as CANN: command("explain", "161002")."""

    def run(*arguments: str, code: int = 0, **env: object) -> Any:
        return run_python(MAIN, *arguments, code=code, **({"ASCEND_HOME_PATH": stub_root} | env))

    return run


def test_explain(command: Run) -> None:
    text = command("explain", "161002", "0x2b67f", code=1, ASCEND_HOME_PATH="/nowhere").stdout
    assert "161002 ACLNN_ERR_PARAM_INVALID" in text and "177791" in text
    assert "neither a status code nor" in command("explain", "nonsense", code=1).stderr
    assert command("explain", code=2).stderr


def test_info_lists_what_was_loaded(command: Run, stub_root: Path) -> None:
    text = command("info").stdout
    assert f"root      {stub_root}" in text and "StubSoC" in text and "headers   6 operators" in text


def test_ops_and_show(command: Run) -> None:
    assert command("ops", "stubcopy*").stdout.split() == ["aclnnStubCopy", "aclnnStubCopyList"]
    assert "no header declares an operator zz" in command("ops", "zz", code=1).stderr
    text = command("show", "aclnnStubCopy").stdout
    assert "workspace  int64_t" in text and "libopapi.so, declared in" in text


def test_errors_are_one_line(command: Run) -> None:
    for arguments in (["show", "aclnnNone"], ["info"]):
        home = {} if arguments[0] == "show" else {"ASCEND_HOME_PATH": "/nowhere", "ACLNN_PY_BACKEND": "cann"}
        done = command(*arguments, code=1, **home)
        assert done.stderr.startswith("Error: ") and "Traceback" not in done.stderr


def test_the_sentence_without_click(run_python: Run) -> None:
    done = run_python(f"import sys; sys.modules['click'] = None; {MAIN}", "explain", "0", code=1)
    assert done.stderr == "aclnn-py needs the package click: pip install 'click>=8.1'\n"


def test_stubs_are_python_that_names_the_parameters(command: Run, tmp_path: Path) -> None:
    text = command("stubs", "Stub*").stdout
    compile(text, "raw.pyi", "exec")
    assert "aclnnStubRecord: _aclnnStubRecord" in text
    assert "mask: BoolArray | Sequence[bool] | np.ndarray | None," in text
    command("stubs", "-o", str(tmp_path / "raw.pyi"))
    assert "class _aclnnStubFail(Operator):" in (tmp_path / "raw.pyi").read_text()


def test_a_root_whose_name_is_not_utf8(
    command: Run, run_python: Run, stub_root: Path, tmp_path: Path
) -> None:
    odd = tmp_path / os.fsdecode(b"root \xff")
    odd.symlink_to(stub_root)
    command("stubs", "-o", str(tmp_path / "raw.pyi"), ASCEND_HOME_PATH=odd)
    compile((tmp_path / "raw.pyi").read_text("utf-8"), "raw.pyi", "exec")
    run_python(
        """
        import numpy as np
        import aclnn_py as aclnn
        x = np.ones(4, np.float32)
        out = aclnn.empty(4)
        aclnn.op("aclnnStubCopy")(x, 0, out)
        assert out.numpy().sum() == 4
        with aclnn.reproduce("failures") as saved:
            try:
                aclnn.op("aclnnStubFail")(None, 161002, 1)
            except aclnn.AclnnParameterError:
                assert len(saved.written) == 1
        for name in ("aclnnNone", "aclnn\\udcff"):
            try:
                aclnn.op(name)
            except aclnn.LibraryNotFound:
                continue
            raise AssertionError(name)
        """,
        ASCEND_HOME_PATH=odd,
    )


def test_stubs_pass_the_type_checker(command: Run, run_python: Run, tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    source = Path(aclnn.__file__).parent
    types = tmp_path / "types"
    shutil.copytree(source, types / "aclnn_py", ignore=shutil.ignore_patterns("_emulator", "__pycache__"))
    command("stubs", "-o", str(types / "aclnn_py" / "raw.pyi"))
    (tmp_path / "user.py").write_text(
        "from aclnn_py import raw, tensor\n"
        "x = tensor([1.0])\n"
        "raw.aclnnStubCopy(x, 0, x)\n"
        "raw.aclnnStubCopy.plan(x, 0, out=x).rebind(x=x)\n"
        "raw.aclnnStubCopy(x, '0', x)\n"
        "raw.aclnnStubCopy(x)\n"
        "raw.aclnnNoSuch(x)\n"
    )
    done = run_python(
        "import sys; from mypy.main import main; main(args=sys.argv[1:])",
        "--follow-imports=silent",
        "--cache-dir",
        str(tmp_path / "mypy"),
        str(tmp_path / "user.py"),
        code=1,
        MYPYPATH=types,
    )
    lines = [
        row.split(": error")[0].rsplit(":", 1)[1] for row in done.stdout.splitlines() if ": error" in row
    ]
    assert lines == ["5", "6", "7"], done.stdout


def test_raw_attributes_are_operators(run_python: Run, stub_root: Path) -> None:
    run_python(
        """
        import aclnn_py as aclnn
        from aclnn_py import raw
        assert raw.aclnnStubCopy is aclnn.op("aclnnStubCopy") and "aclnnStubFail" in dir(raw)
        try:
            raw.something
        except AttributeError:
            pass
        else:
            raise AssertionError
        """,
        ASCEND_HOME_PATH=stub_root,
    )


PROGRAM = """
#include <cstdio>
#include "acl/acl.h"
#include "aclnnop/aclnn_mhc_pre_sinkhorn.h"
int main() {
    uint64_t size = 7;
    aclOpExecutor *executor = nullptr;
    if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) return 3;
    int code = aclnnMhcPreSinkhornGetWorkspaceSize(nullptr, nullptr, nullptr, nullptr, 4, 20, 1e-6, 1e-6,
        false, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &size, &executor);
    std::printf("%d\\n", code);
    return EXIT;
}
"""


@pytest.fixture
def built(run_python: Run, any_root: None) -> Run:
    """aclnn-py with the real libraries, if they come with headers."""
    from aclnn_py import roots

    root = roots.candidates()[0]
    if not (root / "include" / "aclnnop" / "aclnn_mhc_pre_sinkhorn.h").is_file() or not shutil.which("g++"):
        pytest.skip("needs the headers of CANN or the emulator, and g++")
    home = os.environ.get("ASCEND_HOME_PATH")
    return lambda *a, **k: run_python(MAIN, *a, **(({"ASCEND_HOME_PATH": home} if home else {}) | k))


def test_cc_compiles_links_and_runs(built: Run, tmp_path: Path) -> None:
    source, program = tmp_path / "try it.cpp", tmp_path / "program"
    source.write_text(PROGRAM)
    done = built("cc", "--run", str(source), "-o", str(program), "-DEXIT=0", "-Wall")
    assert done.stdout == "161001\n" and program.is_file()
    assert built("cc", "--run", "-DEXIT=5", str(source), code=5).stdout == "161001\n"
    assert "-rpath" in built("cc", "--show", str(source)).stdout
    built("cc", "-c", "-DEXIT=0", str(source), "-o", str(tmp_path / "program.o"))
    assert "error" in built("cc", str(source), code=1).stderr  # EXIT is not defined
    built("cc", str(tmp_path / "absent.cpp"), code=1)


FLAGS = [
    "-pthread",
    "-lpthread",
    "-Wshadow",
    "-shared",
    "-march=native",
    "-Wl,-rpath,/x",
    "-lhccl",
    "-h",
    "-O2",
]


def test_cc_hands_the_compiler_its_flags(built: Run) -> None:
    """Letters that are options elsewhere (-h) are none here."""
    shown = built("cc", "--show", "a.cpp", *FLAGS).stdout.split()
    assert shown[shown.index("a.cpp") + 1 :][: len(FLAGS)] == FLAGS


def test_cc_hands_the_program_its_arguments(built: Run, tmp_path: Path) -> None:
    source = tmp_path / "echo.cpp"
    source.write_text(
        "#include <cstdio>\nint main(int n, char **v) { for (int i = 1; i < n; ++i) std::puts(v[i]); }"
    )
    done = built("cc", "--run", str(source), "-pthread", "--", "-x", "two words")
    assert done.stdout == "-x\ntwo words\n"
    for flag in ("-c", "-M", "--version"):
        assert "before linking" in built("cc", "--run", flag, str(source), code=2).stderr


def test_cc_with_a_root_of_an_odd_name(built: Run, tmp_path: Path) -> None:
    from aclnn_py import roots

    source, root = tmp_path / "program.cpp", tmp_path / "a root, with a comma"
    source.write_text(PROGRAM)
    root.symlink_to(roots.candidates()[0])
    done = built("cc", "--run", "-DEXIT=0", str(source), ASCEND_HOME_PATH=str(root))
    assert done.stdout == "161001\n"


@pytest.mark.parametrize("language", [["-x", "c++"], ["-xc++"]])
def test_cc_compiles_a_source_of_another_name(built: Run, tmp_path: Path, language: list[str]) -> None:
    """-x is about the sources, not about the libraries behind them."""
    source = tmp_path / "program.txt"
    source.write_text(PROGRAM)
    assert built("cc", "--run", *language, "-DEXIT=0", str(source)).stdout == "161001\n"


def test_cc_without_a_compiler(built: Run) -> None:
    assert (
        "no C++ compiler: nothing-cc was not found" in built("cc", "a.cpp", code=1, CXX="nothing-cc").stderr
    )


TABLE = """
    from aclnn_py.cli.tables import table
    table([["aclnnAdd", "161002"], ["aclnnMhcPreSinkhorn", "0"]], ["operator", "status"])
"""


def test_tables_are_plain_when_piped(run_python: Run) -> None:
    lines = run_python(TABLE).stdout.splitlines()
    assert lines == ["operator             status", "aclnnAdd             161002", "aclnnMhcPreSinkhorn  0"]


def on_a_terminal(*arguments: str, **env: str) -> tuple[int, bytes]:
    """Exit status and output of a Python whose standard output is a terminal."""
    here, there = pty.openpty()
    with subprocess.Popen(
        [sys.executable, *arguments], stdout=there, env=os.environ | {"TERM": "xterm"} | env
    ) as done:
        os.close(there)
        text = b""
        while True:
            try:
                piece = os.read(here, 4096)
            except OSError:  # the other end was closed
                break
            if not piece:
                break
            text += piece
    os.close(here)
    return done.returncode, text


@pytest.mark.parametrize(
    ("env", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_colours_on_a_terminal(env: dict[str, str], coloured: bool, tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text("error code is 507035\n")
    code, text = on_a_terminal("-c", MAIN, "explain", str(tmp_path / "run.log"), **({"NO_COLOR": ""} | env))
    assert code == 0 and b"CAUSE" in text and (b"\x1b[" in text) == coloured


@pytest.mark.parametrize("arguments", [("explain", "161002"), ("ops",)])
def test_with_standard_output_closed(command: Run, run_python: Run, stub_root: Path, arguments: Any) -> None:
    source = "import os, sys; os.close(1); os.execv(sys.executable, [sys.executable, '-c', *sys.argv[1:]])"
    done = run_python(source, MAIN, *arguments, ASCEND_HOME_PATH=stub_root)
    assert done.stderr == ""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("explain", "161002")])
def test_on_a_full_disk(run_python: Run, arguments: Any, unbuffered: str) -> None:
    source = f"import os; os.dup2(os.open('/dev/full', os.O_WRONLY), 1); {MAIN}"
    done = run_python(source, *arguments, code=1, PYTHONUNBUFFERED=unbuffered)
    assert done.stderr == "Error: [Errno 28] No space left on device\n"


@pytest.mark.parametrize("with_rich", [True, False])
def test_tables_on_a_terminal(with_rich: bool) -> None:
    """By rich if it is installed; without it the same text, plain."""
    if with_rich:
        pytest.importorskip("rich")
    hide = "" if with_rich else "import aclnn_py.cli.tables as t; t.find_spec = lambda name: None\n"
    code, text = on_a_terminal("-c", hide + textwrap.dedent(TABLE), COLUMNS="80")
    assert code == 0 and b"aclnnMhcPreSinkhorn" in text
    assert (b"\x1b[" in text) == with_rich


def test_help_names_every_command(command: Run) -> None:
    from aclnn_py.cli import COMMANDS

    lines = command("--help").stdout.split("Commands:")[1].split("\n")
    assert [line.split()[0] for line in lines if line.strip()] == list(COMMANDS)
    assert "No such command" in command("nonsense", code=2).stderr
