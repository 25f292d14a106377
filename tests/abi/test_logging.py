"""Where log lines go, which ones, and whose error texts are read."""

import pathlib
import re
import subprocess
from collections.abc import Callable

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]

ON = {"ASCEND_SLOG_PRINT_TO_STDOUT": "1"}


def _lines(run: Run, **environment: str) -> list[str]:
    out = run("errors.cpp", "levels", **{**ON, **environment}).stdout
    return [
        re.sub(r"\(.*?\):\S+ ", " ", line) for line in out.splitlines() if re.match(r"\[(INFO|ERROR)\]", line)
    ]


APP_INFO = "[INFO] APP [file.cpp:7] f: information 5"
APP_ERROR = "[ERROR] APP [file.cpp:8] f: trouble"


@pytest.mark.parametrize("level", ["3", "", "5", "x", "33"])
def test_errors_by_default(run: Run, level: str) -> None:
    app, op = _lines(run, ASCEND_GLOBAL_LOG_LEVEL=level)
    assert app == APP_ERROR
    assert re.fullmatch(r"\[ERROR\] OP \[NNOP\]\[\d+\] errno\[161002\] OpName:\[aclnnX_0\] refused\.", op)


def test_levels(run: Run) -> None:
    assert _lines(run, ASCEND_GLOBAL_LOG_LEVEL="1")[:2] == [APP_INFO, APP_ERROR]
    assert _lines(run, ASCEND_GLOBAL_LOG_LEVEL="4") == []


def test_levels_of_modules(run: Run) -> None:
    assert _lines(run, ASCEND_GLOBAL_LOG_LEVEL="4", ASCEND_MODULE_LOG_LEVEL="APP=0:nonsense:OP=9") == [
        APP_INFO,
        APP_ERROR,
    ]
    assert len(_lines(run, ASCEND_MODULE_LOG_LEVEL="APP=4")) == 1


def _files(folder: pathlib.Path) -> list[pathlib.Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("variable", "below"),
    [("ASCEND_PROCESS_LOG_PATH", "debug/plog"), ("ASCEND_WORK_PATH", "log/debug/plog")],
)
def test_files(run: Run, tmp_path: pathlib.Path, variable: str, below: str) -> None:
    folder = tmp_path / "new" / "folder"
    out = run("errors.cpp", "levels", **{variable: str(folder)}).stdout
    assert "trouble" not in out
    (path,) = _files(folder)
    assert path.parent == folder / below and re.fullmatch(r"plog-\d+_\d{20}\.log", path.name)
    assert len(path.read_text().splitlines()) == 2


def test_home_is_used_only_when_a_level_is_set(run: Run, tmp_path: pathlib.Path) -> None:
    run("errors.cpp", "levels", HOME=str(tmp_path))
    assert _files(tmp_path) == []
    run("errors.cpp", "levels", HOME=str(tmp_path), ASCEND_GLOBAL_LOG_LEVEL="3")
    (path,) = _files(tmp_path)
    assert path.parent == tmp_path / "ascend" / "log" / "debug" / "plog"


def test_no_file_without_a_line(run: Run, tmp_path: pathlib.Path) -> None:
    run("errors.cpp", "threads", ASCEND_PROCESS_LOG_PATH=str(tmp_path), ASCEND_GLOBAL_LOG_LEVEL="4")
    assert _files(tmp_path) == []


def test_a_folder_that_cannot_be_made(run: Run, tmp_path: pathlib.Path) -> None:
    (tmp_path / "file").write_text("")
    assert (
        "refused." in run("errors.cpp", "levels", ASCEND_PROCESS_LOG_PATH=str(tmp_path / "file" / "x")).stdout
    )


def test_full_files_make_way(run: Run, tmp_path: pathlib.Path) -> None:
    run("errors.cpp", "long log", ASCEND_PROCESS_LOG_PATH=str(tmp_path), ASCEND_HOST_LOG_FILE_NUM="2")
    files = _files(tmp_path)
    assert len(files) == 2
    assert (20 << 20) - 2000 < files[0].stat().st_size <= 20 << 20


def test_error_texts_of_the_process(run: Run, tmp_path: pathlib.Path) -> None:
    config = tmp_path / "acl.json"
    config.write_text('{"err_msg_mode": "1"}')
    lines = run("errors.cpp", "shared", str(config)).stdout.splitlines()
    first = re.search(r"its own\.\[THREAD:(\d+)\]$", lines[0])
    second = re.search(r"^ +mine\.\[THREAD:(\d+)\]$", lines[2])
    assert first and second and first[1] != second[1]
    config.write_text('{"err_msg_mode": "0", "other": {"err_msg_mode": "1"}}')
    out = run("errors.cpp", "shared", str(config)).stdout
    assert "mine.\n" in out and "its own" not in out
