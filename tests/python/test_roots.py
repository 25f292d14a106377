"""Which root is chosen, judged by fake trees; nothing is opened here."""

from __future__ import annotations

from pathlib import Path

import pytest

from aclnn_py import roots
from aclnn_py.status import LibraryNotFound

Env = pytest.MonkeyPatch


def fake_root(path: Path, *, runtime: str = "libascendcl.so", nnopbase: bool = True) -> Path:
    lib64 = path / "lib64"
    lib64.mkdir(parents=True)
    (lib64 / runtime).touch()
    if nnopbase:
        (lib64 / "libnnopbase.so").touch()
    return path


@pytest.fixture
def env(monkeypatch: Env, tmp_path: Path) -> Env:
    """No CANN anywhere: an empty HOME, no system roots, no emulator, no variables."""
    for name in ("ASCEND_HOME_PATH", "ASCEND_OPP_PATH", "ASCEND_CUSTOM_OPP_PATH", "ACLNN_PY_BACKEND"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(roots, "SYSTEM_ROOTS", (tmp_path / "system",))
    monkeypatch.setattr(roots, "EMULATOR_ROOT", tmp_path / "_emulator")
    return monkeypatch


def test_nothing_anywhere_is_one_clear_sentence(env: Env, tmp_path: Path) -> None:
    with pytest.raises(LibraryNotFound) as caught:
        roots.candidates()
    text = str(caught.value)
    assert "no CANN found" in text and str(tmp_path / "system") in text
    assert "emulator is not built" in text and "pip install ." in text and "g++" in text
    assert "\n" not in text


def test_auto_falls_back_to_the_emulator(env: Env, tmp_path: Path) -> None:
    emulator = fake_root(tmp_path / "_emulator")
    assert roots.candidates() == [emulator]


def test_usual_roots_come_before_the_emulator_in_order(env: Env, tmp_path: Path) -> None:
    emulator = fake_root(tmp_path / "_emulator")
    latest = fake_root(tmp_path / "home" / "Ascend" / "ascend-toolkit" / "latest")
    assert roots.candidates() == [latest, emulator]
    system = fake_root(tmp_path / "system", runtime="libacl_rt.so")
    assert roots.candidates() == [system, latest, emulator]
    env.setenv("ACLNN_PY_BACKEND", "cann")
    assert roots.candidates() == [system, latest]
    env.setenv("ACLNN_PY_BACKEND", "emulator")
    assert roots.candidates() == [emulator]


@pytest.mark.parametrize("suffix", ["", "/"])
@pytest.mark.parametrize("folder", ["8.0.0", "with space"])
def test_the_environment_comes_first(env: Env, tmp_path: Path, folder: str, suffix: str) -> None:
    fake_root(tmp_path / "system")
    fake_root(tmp_path / "_emulator")
    chosen = fake_root(tmp_path / folder)
    env.setenv("ASCEND_HOME_PATH", str(chosen) + suffix)
    assert roots.candidates() == [chosen]
    env.setenv("ACLNN_PY_BACKEND", "emulator")
    assert roots.candidates() == [tmp_path / "_emulator"]


def test_an_empty_variable_counts_as_unset(env: Env, tmp_path: Path) -> None:
    emulator = fake_root(tmp_path / "_emulator")
    env.setenv("ASCEND_HOME_PATH", "")
    env.setenv("ACLNN_PY_BACKEND", "")
    assert roots.candidates() == [emulator]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("missing", "does not exist"),
        ("file", "is a file"),
        ("empty", "has no lib64"),
        ("half", "libnnopbase.so"),
    ],
)
def test_a_wrong_home_path_is_named_and_replaced_only_by_auto(
    env: Env, tmp_path: Path, kind: str, words: str
) -> None:
    path = tmp_path / kind
    if kind == "file":
        path.touch()
    elif kind == "empty":
        path.mkdir()
    elif kind == "half":
        fake_root(path, nnopbase=False)
    env.setenv("ASCEND_HOME_PATH", str(path))
    with pytest.raises(LibraryNotFound, match=r"no CANN found: ASCEND_HOME_PATH is .*" + words):
        roots.candidates()
    emulator, latest = fake_root(tmp_path / "_emulator"), fake_root(tmp_path / "home" / "Ascend" / "cann")
    assert roots.candidates() == [latest, emulator]
    problem = roots.home_problem()
    assert "ASCEND_HOME_PATH" in problem and str(path) in problem and words in problem
    env.setenv("ACLNN_PY_BACKEND", "cann")
    with pytest.raises(LibraryNotFound) as caught:
        roots.candidates()
    text = str(caught.value)
    assert text.startswith(problem) and "ACLNN_PY_BACKEND=emulator" in text and "\n" not in text
    env.setenv("ACLNN_PY_BACKEND", "emulator")
    assert roots.candidates() == [emulator] and roots.home_problem() == ""


def test_a_home_path_that_no_file_system_takes(env: Env, tmp_path: Path) -> None:
    emulator = fake_root(tmp_path / "_emulator")
    env.setenv("ASCEND_HOME_PATH", "/" + "x" * 5000)
    env.setenv("ASCEND_CUSTOM_OPP_PATH", "/" + "x" * 5000)
    assert roots.candidates() == [emulator] and "does not exist" in roots.home_problem()
    assert roots.custom_libraries() == []


def test_a_wrong_home_path_points_to_the_script_that_exists(env: Env, tmp_path: Path) -> None:
    script = fake_root(tmp_path / "system") / "set_env.sh"
    script.touch()
    env.setenv("ASCEND_HOME_PATH", "/nonexistent")
    env.setenv("ACLNN_PY_BACKEND", "cann")
    with pytest.raises(LibraryNotFound, match=f"source {script}"):
        roots.candidates()


def test_backend_cann_without_cann(env: Env, tmp_path: Path) -> None:
    fake_root(tmp_path / "_emulator")
    env.setenv("ACLNN_PY_BACKEND", "cann")
    with pytest.raises(LibraryNotFound, match=r"no CANN found.*ACLNN_PY_BACKEND=emulator"):
        roots.candidates()


def test_backend_emulator_that_is_not_built(env: Env, tmp_path: Path) -> None:
    fake_root(tmp_path / "system")
    env.setenv("ACLNN_PY_BACKEND", "emulator")
    with pytest.raises(LibraryNotFound, match=r"_emulator is not there.*pip install \."):
        roots.candidates()


def test_an_unknown_backend(env: Env) -> None:
    env.setenv("ACLNN_PY_BACKEND", "gpu")
    with pytest.raises(LibraryNotFound, match="'gpu'; it must be one of auto, cann, emulator"):
        roots.candidates()


def test_order_of_operator_libraries(tmp_path: Path) -> None:
    root = fake_root(tmp_path / "root")
    for name in ("libopapi.so", "libopapi_nn.so", "libaclnn_math.so", "libopapi_math.so", "libopapi_zzz.so"):
        (root / "lib64" / name).touch()
    names = [p.name for p in roots.operator_libraries(root)]
    assert names == ["libopapi_math.so", "libopapi_nn.so", "libopapi.so", "libaclnn_math.so"]


def custom(folder: Path) -> Path:
    library = folder / "op_api" / "lib" / "libcust_opapi.so"
    library.parent.mkdir(parents=True)
    library.touch()
    return library


def test_custom_packages_in_their_order(env: Env, tmp_path: Path) -> None:
    first, second = custom(tmp_path / "b"), custom(tmp_path / "a")
    vendors = tmp_path / "opp" / "vendors"
    vendor_x, vendor_y = custom(vendors / "x"), custom(vendors / "y")
    (vendors / "config.ini").write_text("# load_priority=nobody\nload_priority=y, x,gone\n")
    env.setenv("ASCEND_OPP_PATH", str(tmp_path / "opp"))
    assert roots.custom_libraries() == [vendor_y, vendor_x]
    env.setenv("ASCEND_CUSTOM_OPP_PATH", f"{tmp_path / 'b'}:{tmp_path / 'none'}:{tmp_path / 'a'}:")
    assert roots.custom_libraries() == [first, second, vendor_y, vendor_x]


def test_no_custom_packages(env: Env, tmp_path: Path) -> None:
    env.setenv("ASCEND_OPP_PATH", str(tmp_path))
    assert roots.custom_libraries() == []


def test_the_roots_own_packages_come_last(env: Env, tmp_path: Path) -> None:
    """As in a shell that sourced set_env.sh: ASCEND_OPP_PATH is then the opp folder of the install."""
    root, other = tmp_path / "root", tmp_path / "other"
    own, theirs = (custom(place / "opp" / "vendors" / "v") for place in (root, other))
    mine = custom(tmp_path / "mine")
    for place in (root, other):
        (place / "opp" / "vendors" / "config.ini").write_text("load_priority=v\n")
    assert roots.custom_libraries(root) == [own]
    assert roots.header_folders(root)[0] == own.parent.parent / "include"
    env.setenv("ASCEND_OPP_PATH", str(other / "opp"))
    env.setenv("ASCEND_CUSTOM_OPP_PATH", str(tmp_path / "mine"))
    assert roots.custom_libraries(root) == [mine, theirs, own]
    assert roots.custom_libraries() == [mine, theirs]
    (tmp_path / "latest").symlink_to(root)
    env.setenv("ASCEND_OPP_PATH", str(tmp_path / "latest" / "opp"))
    env.setenv("ASCEND_CUSTOM_OPP_PATH", "")
    assert [library.resolve() for library in roots.custom_libraries(root)] == [own]
