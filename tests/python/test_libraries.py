"""Opening libraries and finding symbols, in fresh interpreters with small libraries built for it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Compile = Callable[..., Path]
Run = Callable[..., Any]

OPERATOR = """
extern "C" int {name}GetWorkspaceSize(unsigned long *size, void **executor) {{ *size = 0; return {code}; }}
extern "C" int {name}(void *, unsigned long, void *, void *) {{ return 0; }}
"""
HEADER = "aclnnStatus {name}GetWorkspaceSize(uint64_t *workspaceSize, aclOpExecutor **executor);\n"
CALL = """
        import sys
        import aclnn_py as aclnn
        try:
            aclnn.op(sys.argv[1])()
        except (aclnn.AclError, aclnn.LibraryNotFound) as error:
            print(type(error).__name__, getattr(error, "code", ""), error)
"""


@pytest.fixture
def root(stub_root: Path, tmp_path: Path) -> Path:
    """A copy of the stub to change."""
    return Path(shutil.copytree(stub_root, tmp_path / "root"))


def add_operator(compile_library: Compile, library: Path, headers: Path, name: str, code: int = 0) -> None:
    source = library.with_suffix(".cpp")
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(OPERATOR.format(name=name, code=code))
    compile_library(library, [source])
    headers.mkdir(parents=True, exist_ok=True)
    (headers / f"{name}.h").write_text(HEADER.format(name=name))


def custom(compile_library: Compile, folder: Path, name: str, code: int = 0) -> None:
    api = folder / "op_api"
    add_operator(compile_library, api / "lib" / "libcust_opapi.so", api / "include", name, code)


def test_symbol_that_is_nowhere(run_python: Run, stub_root: Path) -> None:
    text = run_python(CALL, "aclnnStubCopi", ASCEND_HOME_PATH=stub_root).stdout
    assert "LibraryNotFound" in text and "libopapi.so" in text
    assert "newer CANN or a custom package" in text and "close names: aclnnStubCopy" in text


def test_only_one_phase(run_python: Run, stub_root: Path) -> None:
    text = run_python(CALL, "aclnnStubHalf", ASCEND_HOME_PATH=stub_root).stdout
    assert "has aclnnStubHalfGetWorkspaceSize but not aclnnStubHalf" in text


def test_operator_without_a_header_asks_for_one(run_python: Run, stub_root: Path) -> None:
    text = run_python(CALL, "aclnnStubNoHeader", ASCEND_HOME_PATH=stub_root).stdout
    assert 'prototype="aclnnStatus aclnnStubNoHeaderGetWorkspaceSize(' in text


def test_custom_package_set_after_import(
    run_python: Run, stub_root: Path, compile_library: Compile, tmp_path: Path
) -> None:
    custom(compile_library, tmp_path / "one", "aclnnOther")
    custom(compile_library, tmp_path / "two", "aclnnMine", 561000)
    source = """
        import os, sys
        import aclnn_py as aclnn
        try:
            aclnn.op("aclnnMine")
        except aclnn.LibraryNotFound:
            pass
        else:
            raise AssertionError
        os.environ["ASCEND_CUSTOM_OPP_PATH"] = sys.argv[1]
        try:
            aclnn.op("aclnnMine")()
        except aclnn.AclnnInnerError as error:
            print(error)
        print(aclnn.which("aclnnMine"))
    """
    path = f"{tmp_path / 'one'}:{tmp_path / 'two'}"
    text = run_python(source, path, ASCEND_HOME_PATH=stub_root).stdout
    assert "returned 561000 ACLNN_ERR_INNER" in text
    assert f"served by {tmp_path / 'two'}/op_api/lib/libcust_opapi.so" in text
    assert f"declared in {tmp_path / 'two'}/op_api/include/aclnnMine.h" in text


def test_a_custom_library_comes_before_the_built_in_ones(
    run_python: Run, root: Path, compile_library: Compile, tmp_path: Path
) -> None:
    headers = root / "include" / "aclnnop"
    add_operator(compile_library, root / "lib64" / "libopapi_nn.so", headers, "aclnnTwice", 561001)
    add_operator(compile_library, root / "lib64" / "libopapi_math.so", headers, "aclnnTwice", 561002)
    assert "561002" in run_python(CALL, "aclnnTwice", ASCEND_HOME_PATH=root).stdout
    custom(compile_library, tmp_path / "mine", "aclnnTwice", 561103)
    env = {"ASCEND_HOME_PATH": root, "ASCEND_CUSTOM_OPP_PATH": tmp_path / "mine"}
    text = run_python(CALL, "aclnnTwice", **env).stdout
    assert "AclnnInnerError 561103" in text and "libcust_opapi.so" in text


def test_a_library_of_the_same_name_on_the_search_path_hides_nothing(
    run_python: Run, stub_root: Path, compile_library: Compile, tmp_path: Path
) -> None:
    add_operator(compile_library, tmp_path / "shadow" / "libopapi.so", tmp_path / "h", "aclnnShadow")
    source = "import aclnn_py as aclnn; print(aclnn.which('aclnnStubCopy').library)"
    env = {"ASCEND_HOME_PATH": stub_root, "LD_LIBRARY_PATH": tmp_path / "shadow"}
    assert run_python(source, **env).stdout.strip() == str(stub_root / "lib64" / "libopapi.so")


def needs(compile_library: Compile, library: Path, missing: str, tmp_path: Path) -> None:
    """Rebuilds `library` so that it needs a library that is not there."""
    empty = tmp_path / "empty.cpp"
    empty.write_text("")
    compile_library(tmp_path / "gone" / missing, [empty], f"-Wl,-soname,{missing}")
    library.unlink()
    flags = ["-Wl,--no-as-needed", f"-L{tmp_path / 'gone'}", f"-l:{missing}"]
    compile_library(library, [empty], *flags)


START = """
        import aclnn_py as aclnn
        try:
            aclnn.zeros(1)
        except aclnn.LibraryNotFound as error:
            print(error)
        else:
            print("started", aclnn.info().root)
"""


def test_missing_driver_library(
    run_python: Run, root: Path, compile_library: Compile, tmp_path: Path
) -> None:
    needs(compile_library, root / "lib64" / "libascendcl.so", "libascend_hal.so", tmp_path)
    text = run_python(START, ASCEND_HOME_PATH=root).stdout
    assert "libascend_hal.so" in text and "driver" in text and "LD_LIBRARY_PATH" in text
    assert "/usr/local/Ascend/driver/lib64/driver" in text and "ACLNN_PY_BACKEND=emulator" in text
    assert text.count("\n") == 1


def test_another_missing_library(
    run_python: Run, root: Path, compile_library: Compile, tmp_path: Path
) -> None:
    needs(compile_library, root / "lib64" / "libnnopbase.so", "libge_runner.so", tmp_path)
    (root / "set_env.sh").touch()
    text = run_python(START, ASCEND_HOME_PATH=root).stdout
    assert "libnnopbase.so needs libge_runner.so" in text and f"source {root}/set_env.sh" in text


def test_a_usual_root_that_cannot_be_opened_is_passed_over_with_a_warning(
    run_python: Run, root: Path, stub_root: Path, compile_library: Compile, tmp_path: Path
) -> None:
    needs(compile_library, root / "lib64" / "libascendcl.so", "libascend_hal.so", tmp_path)
    home = tmp_path / "home" / "Ascend"
    home.mkdir(parents=True)
    (home / "cann").symlink_to(root)
    (home / "ascend-toolkit").mkdir()
    (home / "ascend-toolkit" / "latest").symlink_to(stub_root)
    patch = "import pathlib; from aclnn_py import roots; roots.SYSTEM_ROOTS = ()"
    done = run_python(f"        {patch}" + START, HOME=tmp_path / "home", ACLNN_PY_BACKEND="cann")
    assert "started" in done.stdout and "ascend-toolkit/latest" in done.stdout
    assert "libascend_hal.so" in done.stderr and done.stderr.endswith("ascend-toolkit/latest instead\n")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("kind", ["garbage", "cut off", "missing dependency"])
def test_a_broken_custom_library_keeps_nobody_from_the_others(
    run_python: Run, stub_root: Path, compile_library: Compile, tmp_path: Path, kind: str
) -> None:
    custom(compile_library, tmp_path / "bad", "aclnnBad")
    custom(compile_library, tmp_path / "good", "aclnnGood", 561000)
    library = tmp_path / "bad" / "op_api" / "lib" / "libcust_opapi.so"
    if kind == "garbage":
        library.write_text("not an ELF file" * 100)
        cause = "invalid ELF header"
    elif kind == "cut off":  # the loader would die of it
        library.write_bytes(library.read_bytes()[:4096])
        cause = "4096 bytes are there"
    else:
        needs(compile_library, library, "libvendor.so", tmp_path)
        cause = "needs libvendor.so, which was not found"
    # Headers of a library that does not open say nothing about the operator that another one serves
    wrong = "aclnnStatus aclnnStubCopyGetWorkspaceSize(double a, uint64_t *size, aclOpExecutor **executor);"
    (tmp_path / "bad" / "op_api" / "include" / "aclnn_stub_copy.h").write_text(wrong)
    source = """
        import numpy as np, aclnn_py as aclnn
        out = aclnn.zeros(2)
        aclnn.op("aclnnStubCopy")(np.ones(2, np.float32), 0, out)
        print(out.numpy().tolist(), aclnn.which("aclnnStubCopy").library.name)
        try:
            aclnn.op("aclnnGood")()
        except aclnn.AclnnInnerError as error:
            print(error.code)
        for look in (aclnn.op, aclnn.which):
            try:
                look("aclnnBad")
            except aclnn.LibraryNotFound as error:
                print(error)
    """
    path = f"{tmp_path / 'bad'}:{tmp_path / 'good'}"
    done = run_python(source, ASCEND_HOME_PATH=stub_root, ASCEND_CUSTOM_OPP_PATH=path)
    copied, good, *refused = done.stdout.splitlines()
    assert copied == "[1.0, 1.0] libopapi.so" and good == "561000" and len(refused) == 2
    for text in refused:
        assert "libopapi.so" in text and str(library) in text and cause in text
        assert "off ASCEND_CUSTOM_OPP_PATH" in text and "ACLNN_PY_BACKEND" not in text
    [warning] = done.stderr.splitlines()
    assert str(library) in warning and cause in warning


def test_a_header_counts_with_the_library_beside_it(
    run_python: Run, stub_root: Path, compile_library: Compile, tmp_path: Path
) -> None:
    """Not the one of a package further in front, which declares the operator but does not have it."""
    wrong = "aclnnStatus {}GetWorkspaceSize(double a, uint64_t *size, aclOpExecutor **executor);"
    for name in ("hollow", "other"):
        headers = tmp_path / name / "op_api" / "include"
        headers.mkdir(parents=True)
        for operator in ("aclnnStubCopy", "aclnnMine"):
            (headers / f"{operator}.h").write_text(wrong.format(operator))
    custom(compile_library, tmp_path / "other", "aclnnOther")
    custom(compile_library, tmp_path / "mine", "aclnnMine", 561000)
    source = """
        import aclnn_py as aclnn
        for name in ("aclnnMine", "aclnnStubCopy"):
            header = aclnn.op(name).prototype.header
            assert header.startswith(str(aclnn.which(name).header)), header
            print(header)
    """
    path = ":".join(str(tmp_path / name) for name in ("hollow", "other", "mine"))
    done = run_python(source, ASCEND_HOME_PATH=stub_root, ASCEND_CUSTOM_OPP_PATH=path)
    mine, copy = done.stdout.splitlines()
    assert mine.startswith(f"{tmp_path / 'mine'}/") and copy.startswith(f"{stub_root}/")


def test_a_custom_library_that_is_mended_counts_again(
    run_python: Run, stub_root: Path, compile_library: Compile, tmp_path: Path
) -> None:
    custom(compile_library, tmp_path / "pkg", "aclnnMine", 561000)
    library = tmp_path / "pkg" / "op_api" / "lib" / "libcust_opapi.so"
    library.rename(tmp_path / "kept.so")
    library.write_text("not an ELF file")
    source = """
        import os, sys, aclnn_py as aclnn
        try:
            aclnn.op("aclnnMine")
        except aclnn.LibraryNotFound:
            os.replace(sys.argv[1], sys.argv[2])
        print(aclnn.op("aclnnMine").prototype.header)
    """
    env = {"ASCEND_HOME_PATH": stub_root, "ASCEND_CUSTOM_OPP_PATH": tmp_path / "pkg"}
    text = run_python(source, str(tmp_path / "kept.so"), str(library), **env).stdout
    assert "pkg/op_api/include/aclnnMine.h" in text


def test_the_environment_counts_until_the_first_use(run_python: Run, stub_root: Path) -> None:
    source = f"""
        import os
        import aclnn_py as aclnn
        os.environ["ASCEND_HOME_PATH"] = {str(stub_root)!r}
        print(aclnn.info().root)
    """
    assert run_python(source, ASCEND_HOME_PATH="/nonexistent").stdout.strip() == str(stub_root)


def test_the_choice_is_said_once_through_logging(run_python: Run, stub_root: Path) -> None:
    source = """
        import logging
        import aclnn_py as aclnn
        logging.basicConfig(level=logging.INFO)
        aclnn.zeros(1), aclnn.zeros(1), aclnn.info()
    """
    assert run_python(source, ASCEND_HOME_PATH=stub_root).stderr.count("using the") == 1
    quiet = run_python("import aclnn_py as a; a.zeros(1); a.info()", ASCEND_HOME_PATH=stub_root)
    assert quiet.stdout == quiet.stderr == ""


def test_undefined_symbol_names_its_holder_and_the_way_out(
    run_python: Run, root: Path, compile_library: Compile, tmp_path: Path
) -> None:
    source = tmp_path / "deep.cpp"
    source.write_text('extern "C" int deepHelper() { return 561000; }')
    compile_library(root / "lib64" / "libopapi_math.so", [source])
    user = tmp_path / "user.cpp"
    user.write_text('extern "C" int deepHelper();\n' + OPERATOR.format(name="aclnnDeep", code="deepHelper()"))
    api = tmp_path / "pkg" / "op_api"
    compile_library(api / "lib" / "libcust_opapi.so", [user])
    (api / "include").mkdir()
    (api / "include" / "aclnn_deep.h").write_text(HEADER.format(name="aclnnDeep"))
    env = {"ASCEND_HOME_PATH": root, "ASCEND_CUSTOM_OPP_PATH": tmp_path / "pkg"}
    text = run_python(CALL, "aclnnDeep", **env).stdout
    assert "deepHelper" in text and "libopapi_math.so has it" in text and "ACLNN_PY_RTLD_GLOBAL=1" in text
    assert "561000" in run_python(CALL, "aclnnDeep", ACLNN_PY_RTLD_GLOBAL=1, **env).stdout


def test_equal_names_in_two_libraries_do_not_mix(
    run_python: Run, root: Path, compile_library: Compile, tmp_path: Path
) -> None:
    """Two libraries with a C++ object of one name, whose destructor frees memory: no double free at exit."""
    both = """
        #include <cstdlib>
        struct Registry {{ char *p = (char *)malloc(64); ~Registry() {{ free(p); }} }};
        Registry registry;
        extern "C" int which{0}() {{ return registry.p != nullptr ? {0} : 0; }}
    """
    paths = [root / "lib64" / "libopapi_math.so", tmp_path / "pkg" / "op_api" / "lib" / "libcust_opapi.so"]
    for i, path in enumerate(paths):
        source = tmp_path / f"registry{i}.cpp"
        source.write_text(both.format(i + 1))
        compile_library(path, [source])
    source = "import aclnn_py as a; print(a.which('which1').library.name, a.which('which2').library.name)"
    env = {"ASCEND_HOME_PATH": root, "ASCEND_CUSTOM_OPP_PATH": tmp_path / "pkg"}
    assert run_python(source, **env).stdout.split() == ["libopapi_math.so", "libcust_opapi.so"]


def test_no_library_is_ever_closed() -> None:
    import aclnn_py

    for file in Path(aclnn_py.__file__).parent.glob("*.py"):
        assert "dlclose" not in file.read_text()


def test_which_of_a_runtime_function(run_python: Run, root: Path) -> None:
    header = root / "include" / "acl" / "acl_rt.h"
    header.parent.mkdir()
    header.touch()
    source = "import aclnn_py as aclnn; print(aclnn.which('aclrtMalloc'))"
    text = run_python(source, ASCEND_HOME_PATH=root).stdout
    assert f"{root}/lib64/libascendcl.so, declared in {header}" in text
