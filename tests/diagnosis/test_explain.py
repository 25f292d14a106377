"""`aclnn-py explain` as a user starts it."""

from __future__ import annotations

import fcntl
import gzip
import json
import re
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import aclnn_py as aclnn
from aclnn_py.diagnosis import explain as say
from aclnn_py.diagnosis.codes import Note, facts, find
from aclnn_py.status import table

pytest.importorskip("click")
Run = Callable[..., Any]
MAIN = "from aclnn_py.__main__ import main; main()"
LOG = """\
(Core pid=300) ERROR 12-10 10:52:09 [a.py:58] call aclnnFoo failed, error code is 561103
(Core pid=300) ERROR 12-10 10:52:09 [a.py:58] RuntimeError: the framework says: error code is 100000
[PID: 301] 2026-01-02-10:00:00.000.000 Error(EZ9999):  wait failed, runtime result = 507010.
"""


class Said(NamedTuple):
    stdout: str
    stderr: str


@pytest.fixture
def explain(capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """aclnn-py explain, in a folder of its own: explain(*arguments, code=exit status)."""
    from aclnn_py.cli import cli

    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, code: int = 0) -> Said:
        with pytest.raises(SystemExit) as ended:
            cli(["explain", *arguments], prog_name="aclnn-py")
        said = Said(*capfd.readouterr())
        assert (ended.value.code or 0) == code, said
        return said

    return run


@pytest.mark.parametrize(
    "text", ["161002", "0x274ea", "-161002", "4294806294", "aclnn_err_param_invalid", "+161002"]
)
def test_spellings_of_a_code(text: str) -> None:
    assert find(text) == aclnn.explain(161002)


def test_every_code_and_name_is_found() -> None:
    for status in table().values():
        assert find(str(status.code)) == status and all(find(name) == status for name in status.names)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("EZ1001", "argument"),
        ("ez1013", "kernel"),
        ("0x31", "vector core exception"),
        ("0x7010006", "507033"),
        ("EL0004", "memory"),
        ("E39999", "AI CPU"),
        ("EI0015", "collective"),
        ("ERR00100", "wrapper"),
        ("ERR01005", "torch_npu itself"),
    ],
)
def test_codes_that_are_no_status(text: str, words: str) -> None:
    found = find(text)
    assert isinstance(found, Note) and words in str(found)


def test_a_pasted_line_is_enough() -> None:
    assert find("call aclnnCast failed, error code is 561103 [ERROR]") == aclnn.explain(561103)


@pytest.mark.parametrize(
    ("text", "near"),
    [("PARAM_INVALD", "ACLNN_ERR_PARAM_INVALID"), ("AICORE_EXEPTION", "ACL_ERROR_RT_AICORE_EXCEPTION")],
)
def test_close_names(text: str, near: str) -> None:
    with pytest.raises(ValueError, match=near):
        find(text)


def test_facts_lead_to_codes_of_the_table() -> None:
    for kind in ("device", "inner"):
        for name, (code, what, why) in facts()[kind].items():
            assert name == f"{int(name, 16):#x}" and code in table() and what and why
    for kind in ("wrappers", "generic", "follow_ups"):
        assert set(facts()[kind]) <= set(table())


@pytest.mark.parametrize("text", ["", " ", "a\0b", "x" * 5000, "/no/such/file.log", "\udc80", "--", "12.5"])
def test_other_text_is_refused_in_one_line(explain: Run, text: str) -> None:
    arguments = ["--", text] if text.startswith("-") else [text]
    assert "neither a status code nor" in explain(*arguments, code=1).stderr


def test_standard_input_that_is_closed(explain: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert "standard input is closed" in explain("-", code=1).stderr


def test_several_codes_as_text(explain: Run) -> None:
    text = explain("161002", "ACL_ERROR_RT_AICORE_EXCEPTION", "0x31", "EZ1001").stdout
    titles = [line for line in text.splitlines() if line[:1].strip()]
    assert titles == [
        "161002 ACLNN_ERR_PARAM_INVALID",
        "507015 ACL_ERROR_RT_AICORE_EXCEPTION",
        "retCode=0x31",
        "EZ1001",
    ]
    assert "\x1b" not in text and max(map(len, text.splitlines())) <= 100
    assert all(word in text for word in ("layer", "meaning", "causes", "to do", "ACLNN_PY_BLOCKING=1"))


def test_a_list_of_codes_in_one_argument(explain: Run) -> None:
    told = explain("161002,ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,-107002", "0x7bc9b").stdout
    assert re.findall(r"^\d{6}", told, re.MULTILINE) == ["161002", "507046", "107002", "507035"]


def test_negative_numbers_need_no_trick(explain: Run) -> None:
    text = explain("161002").stdout
    assert explain("-161002").stdout == text and explain("--", "-161002").stdout == text
    assert "'--nonsense' is neither" in explain("--nonsense", code=1).stderr


def test_usage_and_unknown(explain: Run) -> None:
    assert "give a code, a log file" in explain(code=2).stderr
    assert "close names" in explain("161002", "PARAM_INVALD", code=1).stderr
    assert "not a known code" in explain("999999", code=1).stdout
    assert "there is no file run/x.log" in explain("run/x.log", code=1).stderr
    assert "aclnn-py explain -" in explain("--help").stdout


def test_a_log_file_and_a_folder_of_logs(explain: Run, tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_text(LOG)
    text = explain(str(log)).stdout
    assert f"{log}: 3 lines, 2 processes with errors" in text
    assert "process 300 (Core), the first to fail" in text and "process 301" in text
    assert "CAUSE     561103" in text and "wrapper   100000" in text and "kernel package" in text
    (tmp_path / "plog").mkdir()
    for i, code in enumerate((161002, 507014)):
        (tmp_path / "plog" / f"plog-{i}_1.log").write_text(f"[ERROR] A({i},x):2026 errno[{code}]\n")
    text = explain(str(tmp_path / "plog")).stdout
    assert "CAUSE     161002" in text and "CAUSE     507014" in text
    (tmp_path / "empty").mkdir()
    assert "empty is a folder without *.log files" in explain("empty", code=1).stderr


def test_a_code_and_a_log_together(explain: Run, tmp_path: Path) -> None:
    (tmp_path / "161002").write_text("a file with the name of a code is no log")
    (tmp_path / "x.log").write_text(LOG)
    text = explain("161002", "x.log").stdout
    assert text.startswith("161002 ACLNN_ERR_PARAM_INVALID") and "x.log: 3 lines" in text


def test_files_that_are_not_plain_text(explain: Run, tmp_path: Path) -> None:
    (tmp_path / "utf16.log").write_text(LOG, encoding="utf-16")
    (tmp_path / "no_mark.log").write_text(LOG, encoding="utf-16-le")
    packed = gzip.compress(LOG.encode())
    (tmp_path / "run.log.gz").write_bytes(packed)
    (tmp_path / "both.gz").write_bytes(gzip.compress(LOG.encode("utf-16")))
    for name in ("utf16.log", "no_mark.log", "run.log.gz", "both.gz"):
        text = explain(name).stdout
        assert "CAUSE     561103" in text and "process 300 (Core)" in text, name
    (tmp_path / "cut.gz").write_bytes(packed[:-9])
    done = explain("cut.gz")
    assert "CAUSE     561103" in done.stdout and "cut.gz: damaged gzip data" in done.stderr


def test_what_the_library_said_is_shown(explain: Run, tmp_path: Path) -> None:
    said = "Expected tensor for phi to have same size as [24, 10240], but got [24, 10241]."
    (tmp_path / "plog.log").write_text(
        "[ERROR] OP(7,python):2026-01-01-12:00:01.300.000 [a.cpp:6][NNOP][Check][7] errno[161002] "
        f"OpName:[aclnnMhcPre_3] {said}\n"
        "[ERROR] 2026-01-01-12:00:01 (PID:7, Device:0, RankID:-1) ERR00100 PTA call acl api failed\n"
    )
    text = " ".join(explain("plog.log").stdout.split())
    assert said in text and "wrapper ERR00100 (line 2), torch_npu" in text


def test_without_a_code_the_exit_status_tells(explain: Run, tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text("all is well, 161002 tokens\n")
    assert explain("x.log", code=1).stdout == "x.log: no status code in 1 lines\n"


def test_json(explain: Run, tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text(LOG)
    data = json.loads(explain("--json", "x.log").stdout)
    assert data["schema"] == 1 and data["lines"] == 3
    assert [(p["pid"], p["root"]) for p in data["processes"]] == [("300", 561103), ("301", 507010)]
    assert data["processes"][0]["codes"][1]["role"] == "wrapper"
    both = json.loads(explain("--json", "161002", "561103").stdout)
    assert [row["code"] for row in both] == [161002, 561103] and both[0]["layer"].startswith("aclnn")


def start(*arguments: str, **more: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", MAIN, "explain", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **more,
    )


def test_standard_input() -> None:
    done = start("-", stdin=subprocess.PIPE)
    out, err = done.communicate(LOG.encode() + b"\xff\xfe\x00binary\x1b[2J\n")
    assert done.returncode == 0 and err == b"" and b"standard input: 4 lines" in out and b"\x1b" not in out


def test_ctrl_c_tells_what_came_so_far() -> None:
    done = start(
        "-",
        stdin=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert done.stdin is not None and done.stdout is not None and done.stderr is not None
    done.stdin.write(LOG.encode())
    done.stdin.flush()
    unread, end = bytearray(4), time.monotonic() + 30
    while fcntl.ioctl(done.stdin, termios.FIONREAD, unread) == 0 and any(unread):
        assert time.monotonic() < end
        time.sleep(0.05)
    time.sleep(0.3)
    done.send_signal(signal.SIGINT)
    out, err = done.communicate(timeout=20)
    assert done.returncode == 130 and b"561103" in out and b"Traceback" not in err


def test_a_reader_that_goes_away(tmp_path: Path) -> None:
    codes = [str(code) for code in table() if code] * 2
    done = start(*codes)
    assert done.stdout is not None and done.stderr is not None
    done.stdout.read(10)
    done.stdout.close()
    assert done.wait(timeout=30) in (0, 1) and done.stderr.read() == b""
    done.stderr.close()


def test_an_operator(run_python: Run, emulator: Callable[..., dict[str, str]]) -> None:
    def run(*arguments: str, code: int = 0) -> Any:
        return run_python(MAIN, "explain", *arguments, code=code, env=emulator())

    text = run("--op", "aclnnMhcPreSinkhorn", "161001").stdout
    assert text.startswith("161001 ACLNN_ERR_PARAM_NULLPTR") and "\naclnnMhcPreSinkhorn\n" in text
    assert "hcMult" in text and "int64_t" in text and "const aclTensor*" in text
    assert run("--op", "mhc_pre_sinkhorn").stdout.startswith("aclnnMhcPreSinkhorn\n")
    assert "close names: aclnnMhcPreSinkhorn" in run("--op", "MhcPreSinkhor", code=1).stderr


def test_an_operator_without_libraries(run_python: Run) -> None:
    def explain(*arguments: str, code: int = 0) -> Any:
        return run_python(MAIN, "explain", *arguments, code=code, ASCEND_HOME_PATH="/nowhere")

    text = explain("--op", "aclnnMhcPreSinkhorn").stdout
    assert "rules" in text  # they come with the package
    assert (
        "neither CANN nor the emulator was found" in explain("--op", "Nothing", code=1).stderr
        or aclnn.is_available()
    )


def test_names_of_operators() -> None:
    for name in ("aclnnMhcPreV2", "MhcPreV2", "mhc_pre_v2", "aclnnMhcPreV2GetWorkspaceSize"):
        assert say.full_name(name) == "aclnnMhcPreV2"
