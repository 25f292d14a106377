"""`aclnn-py doctor` on all kinds of machine: the stub dressed as CANN, trees that lack something, nothing."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aclnn_py.diagnosis import versions
from aclnn_py.diagnosis.doctor import _covers

pytest.importorskip("click")
Run = Callable[..., Any]
Compile = Callable[..., Path]
MAIN = """
    import pathlib, sys
    from aclnn_py import roots
    from aclnn_py.diagnosis import doctor
    here = pathlib.Path.cwd()
    roots.SYSTEM_ROOTS = (here / "usual",)
    roots.EMULATOR_ROOT = here / "_emulator"
    doctor.DRIVER, doctor.DEVICES = here / "driver", here / "dev"
    from aclnn_py.__main__ import main
    main()
"""


@pytest.fixture
def root(stub_root: Path, tmp_path: Path) -> Path:
    """A copy of the stub to change."""
    return Path(shutil.copytree(stub_root, tmp_path / "cann"))


@pytest.fixture
def machine(root: Path, compile_library: Compile, tmp_path: Path) -> Path:
    """A machine that has all: CANN, its versions and kernels, a driver, a device."""
    empty = tmp_path / "empty.cpp"
    empty.write_text("")
    compile_library(tmp_path / "driver" / "lib64" / "driver" / "libascend_hal.so", [empty])
    (tmp_path / "driver" / "version.info").write_text("Version=25.0.rc1\nascendhal_version=7.35.23\n")
    (tmp_path / "dev").mkdir()
    for name in ("davinci0", "davinci1", "davinci_manager", "devmm_svm", "hisi_hdc"):
        (tmp_path / "dev" / name).touch()
    for part in ("opp", "runtime", "opp_kernel"):
        (root / part).mkdir()
        (root / part / "version.info").write_text("Version=7.7.0.1\nversion_dir=8.2.RC1\n")
    (root / "opp" / "built-in" / "op_impl" / "ai_core" / "tbe" / "kernel" / "stubsoc").mkdir(parents=True)
    return tmp_path


@pytest.fixture
def doctor(run_python: Run, tmp_path: Path) -> Run:
    """The report as JSON: doctor(*options, code=..., NAME=value)."""

    def run(*options: str, code: int = 0, **variables: object) -> Any:
        given = {"HOME": tmp_path, "LD_LIBRARY_PATH": ""} | variables
        return json.loads(run_python(MAIN, "doctor", "--json", *options, code=code, **given).stdout)

    return run


def states(report: Any, *wanted: str) -> list[tuple[str, str]]:
    return [
        (c["section"], c["name"])
        for c in report["checks"]
        if c["state"] in (wanted or ("problem", "warning"))
    ]


def text(report: Any, name: str) -> str:
    return " | ".join(
        f"{c['text']} -> {c['advice']}" for c in report["checks"] if name in (c["name"], c["section"])
    )


def test_a_machine_that_has_all(doctor: Run, machine: Path, root: Path) -> None:
    report = doctor(ASCEND_HOME_PATH=root, LD_LIBRARY_PATH=machine / "driver" / "lib64" / "driver")
    assert report["schema"] == 1 and report["healthy"]
    assert states(report) == [("libraries", "functions")]  # the stub has no events
    assert "aclrtCreateEvent" in text(report, "functions")
    assert "(ASCEND_HOME_PATH)" in text(report, "root")
    assert report["probe"]["soc"] == "StubSoC" and "no aclnnAdd" in report["probe"]["operator"]
    assert report["symbols"]["aclrtMalloc"] == str(root / "lib64" / "libascendcl.so")
    assert report["symbols"]["aclCreateTensor"] == str(root / "lib64" / "libnnopbase.so")
    assert report["symbols"]["aclrtCreateEvent"] is None
    assert report["versions"] == {
        "driver": "25.0.rc1",
        "opp": "8.2.RC1",
        "opp_kernel": "8.2.RC1",
        "runtime": "8.2.RC1",
    }


def test_the_same_as_text(run_python: Run, machine: Path, root: Path) -> None:
    env = {"ASCEND_HOME_PATH": root, "HOME": machine, "LD_LIBRARY_PATH": ""}
    done = run_python(MAIN, "doctor", **env)
    lines = done.stdout.splitlines()
    assert lines[-1].startswith("this machine can run aclnn (0 problems, ") and done.stderr == ""
    assert [line for line in lines if line[:1].strip()][:5] == [
        "Python",
        "backend",
        "environment",
        "libraries",
        "driver",
    ]
    assert "\x1b" not in done.stdout and "aclrtMalloc" not in done.stdout
    said = " ".join(done.stdout.split())  # the driver is not where the loader looks
    assert f"-> put {machine}/driver/lib64/driver on LD_LIBRARY_PATH" in said
    assert "aclrtMalloc  " in run_python(MAIN, "doctor", "--symbols", "--no-device", **env).stdout


def test_a_machine_without_anything(doctor: Run, tmp_path: Path) -> None:
    report = doctor(code=1)
    assert states(report) == [("backend", "root")] and not report["healthy"]
    found = text(report, "root")
    assert "no CANN found" in found and str(tmp_path / "usual") in found and "pip install ." in found


def test_cann_without_a_driver(doctor: Run, root: Path) -> None:
    report = doctor("--no-device", code=1, ASCEND_HOME_PATH=root)
    assert states(report, "problem") == [("driver", "libascend_hal.so"), ("driver", "devices")]
    assert "mount /usr/local/Ascend/driver" in text(report, "libascend_hal.so") and "davinci0" in text(
        report, "devices"
    )


def test_a_library_that_does_not_open(
    doctor: Run, root: Path, compile_library: Compile, tmp_path: Path
) -> None:
    (tmp_path / "empty.cpp").write_text("")
    compile_library(
        tmp_path / "gone" / "libascend_hal.so", [tmp_path / "empty.cpp"], "-Wl,-soname,libascend_hal.so"
    )
    flags = ["-Wl,--no-as-needed", f"-L{tmp_path / 'gone'}", "-l:libascend_hal.so"]
    library = root / "lib64" / "libascendcl.so"
    library.unlink()
    compile_library(library, [tmp_path / "empty.cpp"], *flags)
    report = doctor(code=1, ASCEND_HOME_PATH=root)
    assert ("libraries", "core") in states(report, "problem")
    assert "libascend_hal.so" in text(report, "core") and "ACLNN_PY_BACKEND=emulator" in text(report, "core")


def test_no_operator_library(doctor: Run, machine: Path, root: Path) -> None:
    (root / "lib64" / "libopapi.so").unlink()
    report = doctor("--no-device", code=1, ASCEND_HOME_PATH=root)
    assert states(report, "problem") == [("libraries", "operators")]
    assert "operator package" in text(report, "operators")


def test_copies_that_hide_each_other(doctor: Run, machine: Path, root: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(root / "lib64", tmp_path / "old" / "lib64"))
    (tmp_path / "link").symlink_to(root / "lib64")
    path = f"{tmp_path / 'link'}:{other}:{tmp_path / 'nowhere'}"
    report = doctor("--no-device", ASCEND_HOME_PATH=root, LD_LIBRARY_PATH=path)
    places = [str(root / "lib64" / "libopapi.so"), str(other / "libopapi.so")]
    assert report["duplicates"]["libopapi.so"] == places
    assert set(report["duplicates"]) == {"libascendcl.so", "libnnopbase.so", "libopapi.so"}
    assert f"aclnn_py takes {places[0]}" in text(report, "libopapi.so")
    assert f"not there: {tmp_path / 'nowhere'}" in text(report, "LD_LIBRARY_PATH")


def test_libraries_for_linking_only(doctor: Run, machine: Path, root: Path) -> None:
    (root / "devlib").mkdir()
    (root / "devlib" / "libascendcl.so").touch()
    report = doctor("--no-device", code=1, ASCEND_HOME_PATH=root, LD_LIBRARY_PATH=root / "devlib")
    assert "100039" in text(report, "stubs")


def test_versions_that_do_not_fit(doctor: Run, machine: Path, root: Path) -> None:
    (root / "opp_kernel" / "version.info").write_text("Version=7.3.0.1\nversion_dir=8.0.0\n")
    (root / "runtime" / "version.info").write_text(
        'Version=7.7.0.1\nversion_dir=8.2.RC1\nrequired_package_opp_version="7.8,7.9"\n'
    )
    report = doctor("--no-device", ASCEND_HOME_PATH=root)
    found = text(report, "versions")
    assert "opp 8.2.RC1, runtime 8.2.RC1" in found and "opp_kernel 8.0.0" in found and "561103" in found
    assert "runtime wants opp 7.8,7.9, installed is 7.7.0.1" in found
    assert report["healthy"]


def test_kernels_of_another_chip(doctor: Run, machine: Path, root: Path) -> None:
    kernels = root / "opp" / "built-in" / "op_impl" / "ai_core" / "tbe" / "kernel"
    (kernels / "ascend310p").mkdir()
    assert doctor(ASCEND_HOME_PATH=root)["healthy"]  # a SoC that is none of Ascend's is not judged
    shutil.rmtree(kernels)
    report = doctor(ASCEND_HOME_PATH=root)
    assert ("packages", "kernels") in states(report, "warning") and "kernel package" in text(
        report, "kernels"
    )


@pytest.mark.parametrize(
    ("folder", "soc", "fits"),
    [
        ("ascend910b", "Ascend910B3", True),
        ("ascend910_93", "Ascend910_9391", True),
        ("ascend950", "Ascend950PR_9599", True),
        ("ascend910_95", "Ascend950DT_9591", True),
        ("ascend310p", "Ascend310P3", True),
        ("ascend910", "Ascend910B3", False),
        ("ascend910", "Ascend910_9391", False),
        ("ascend910", "Ascend910A", True),
        ("ascend910b", "Ascend910_9391", False),
        ("ascend310p", "Ascend910B3", False),
        ("ascend910b", "Ascend950PR_9599", False),
    ],
)
def test_which_kernels_are_for_which_chip(folder: str, soc: str, fits: bool) -> None:
    assert _covers(folder, soc.lower()) is fits


def test_custom_packages(doctor: Run, machine: Path, root: Path, tmp_path: Path) -> None:
    good, bad = tmp_path / "good" / "op_api" / "lib", tmp_path / "bad" / "op_api" / "lib"
    for folder in (good, bad):
        folder.mkdir(parents=True)
    shutil.copy(root / "lib64" / "libopapi.so", good / "libcust_opapi.so")
    (bad / "libcust_opapi.so").write_text("not a library")
    (tmp_path / "hollow").mkdir()
    path = ":".join(str(tmp_path / name) for name in ("good", "bad", "hollow", "gone"))
    report = doctor("--no-device", ASCEND_HOME_PATH=root, ASCEND_CUSTOM_OPP_PATH=path)
    assert ("packages", "good") in states(report, "ok")
    assert {("packages", "hollow"), ("packages", "gone"), ("libraries", "libcust_opapi.so")} <= set(
        states(report)
    )
    assert "damaged or no library" in text(report, "libcust_opapi.so")


def test_a_wrong_home_falls_back_with_a_warning(
    doctor: Run, machine: Path, root: Path, tmp_path: Path
) -> None:
    root.rename(tmp_path / "usual")
    report = doctor("--no-device", ASCEND_HOME_PATH="/nowhere")
    assert {("backend", "root"), ("environment", "ASCEND_HOME_PATH")} <= set(states(report, "warning"))
    assert str(tmp_path / "usual") in text(report, "root")
    report = doctor(code=1, ASCEND_HOME_PATH="/nowhere", ACLNN_PY_BACKEND="cann")
    assert states(report, "problem") == [("backend", "root")]


def test_several_versions_side_by_side(doctor: Run, stub_root: Path, tmp_path: Path) -> None:
    """Which one is in use, and which others there are."""
    toolkit = tmp_path / "Ascend" / "ascend-toolkit"
    for version in ("8.0.0", "8.3.RC2"):
        shutil.copytree(stub_root, toolkit / version)
        (toolkit / version / "version.info").write_text(f"version_dir={version}\n")
    (toolkit / "latest").symlink_to("8.3.RC2")
    shutil.copytree(stub_root, tmp_path / "Ascend" / "cann-9.1.0")
    for home, version, others in (
        (None, "8.3.RC2", ["8.0.0", "cann-9.1.0"]),
        ("latest", "8.3.RC2", ["8.0.0", "cann-9.1.0"]),
        ("8.0.0", "8.0.0", ["latest", "cann-9.1.0"]),
    ):
        given = {} if home is None else {"ASCEND_HOME_PATH": toolkit / home}
        report = doctor("--no-device", code=1, **given)
        assert report["versions"] == {"toolkit": version}
        assert f"{toolkit / (home or 'latest')} (" in text(report, "root")
        assert ("that is" in text(report, "root")) == (home != "8.0.0")
        listed = text(report, "other roots").split(" -> ")[0].split(", ")
        assert {Path(path).name for path in listed} == set(others)


def test_a_device_that_fails(doctor: Run, machine: Path, root: Path) -> None:
    report = doctor(code=1, ASCEND_HOME_PATH=root, STUB_MEMORY=1)
    assert states(report, "problem") == [("device", "start")]
    found = text(report, "start")
    assert "failed at copying to the device and back" in found and "207001" in found
    assert report["probe"]["code"] == 207001


@pytest.mark.parametrize(
    ("body", "words"),
    [("abort();", "signal SIGABRT"), ("_exit(7);", "exit status 7")],
)
def test_a_process_that_dies(
    doctor: Run, machine: Path, root: Path, compile_library: Compile, tmp_path: Path, body: str, words: str
) -> None:
    source = tmp_path / "dies.cpp"
    source.write_text(
        "#include <cstdlib>\n#include <unistd.h>\n"
        f'extern "C" int aclInit(const char *) {{ {body} return 0; }}'
    )
    compile_library(root / "lib64" / "libacl_rt.so", [source])
    report = doctor(code=1, ASCEND_HOME_PATH=root)
    assert words in text(report, "start")
    assert doctor("--no-device", ASCEND_HOME_PATH=root)["healthy"]


def test_a_process_that_hangs(run_python: Run, machine: Path, root: Path, compile_library: Compile) -> None:
    source = machine / "hangs.cpp"
    source.write_text('#include <unistd.h>\nextern "C" int aclInit(const char *) { sleep(60); return 0; }')
    compile_library(root / "lib64" / "libacl_rt.so", [source])
    code = MAIN.replace("    main()", "    doctor.PROBE_SECONDS = 3.0\n    main()")
    done = run_python(code, "doctor", code=1, ASCEND_HOME_PATH=root, HOME=machine)
    assert "was not done after 3 s" in done.stdout


def test_a_backend_that_does_not_exist(doctor: Run) -> None:
    report = doctor(code=1, ACLNN_PY_BACKEND="gpu")
    assert "'gpu'; it must be one of auto, cann, emulator" in text(report, "root")


def test_the_visible_devices(doctor: Run, machine: Path, root: Path) -> None:
    report = doctor("--no-device", ASCEND_HOME_PATH=root, ASCEND_RT_VISIBLE_DEVICES="0;1")
    assert "is no list of numbers" in text(report, "ASCEND_RT_VISIBLE_DEVICES")


def test_where_the_logs_are(doctor: Run, machine: Path, root: Path, tmp_path: Path) -> None:
    assert text(doctor("--no-device", ASCEND_HOME_PATH=root), "logs") == ""
    (tmp_path / "ascend" / "log").mkdir(parents=True)
    (tmp_path / "own").mkdir()
    assert f"explain {tmp_path}/ascend/log" in text(doctor("--no-device", ASCEND_HOME_PATH=root), "logs")
    own = doctor("--no-device", ASCEND_HOME_PATH=root, ASCEND_PROCESS_LOG_PATH=tmp_path / "own")
    assert f"explain {tmp_path}/own" in text(own, "logs")


def test_no_secrets(doctor: Run, machine: Path, root: Path) -> None:
    assert "hunter2" not in json.dumps(doctor("--no-device", ASCEND_HOME_PATH=root, MY_TOKEN="hunter2"))


def test_version_files(tmp_path: Path) -> None:
    file = tmp_path / "version.info"
    file.write_bytes(b'# c\nVersion=7.6:8.1.RC1\nbroken\n key = "v" \n\xff=\xfe\n')
    assert versions.read(file)["version"] == "7.6:8.1.RC1" and versions.read(file)["key"] == "v"
    assert versions.release(versions.read(file)) == "8.1.RC1"
    assert versions.release({"runtime_running_version": "7.5.0.1:8.0.0"}) == "8.0.0"
    assert versions.read(tmp_path / "none") == {} and versions.release({}) == ""
    (tmp_path / "loop").symlink_to(tmp_path)  # a tree that never ends
    assert {c.name for c in versions.components(tmp_path)} <= {"loop", "toolkit"}


@pytest.mark.parametrize(
    ("version", "wanted", "expected"),
    [
        ("7.7.0.1", "7.7", True),
        ("7.7.0.1", "7.6,7.7", True),
        ("7.7.0.1", "7.8", False),
        ("7.7.0.1", ">=7.7,<=7.8", True),
        ("7.7.0.1", ">7.7", False),
        ("7.7.0.1", "<7.7", False),
        ("7.70", "7.7", False),
        ("7.7", "", True),
    ],
)
def test_requirements(version: str, wanted: str, expected: bool) -> None:
    assert versions.meets(version, wanted) is expected
