"""Finding headers in folders, some of which cannot be read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from aclnn_py import catalogue
from aclnn_py.prototype import PrototypeError

GOOD = (
    "aclnnStatus aclnnGoodGetWorkspaceSize(const aclTensor *x, uint64_t *size, aclOpExecutor **executor);\n"
)
KINDS = ("link to nowhere", "link to itself", "folder", "pipe")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A root with one good header, no custom packages, and a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("ASCEND_OPP_PATH", "ASCEND_CUSTOM_OPP_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(catalogue, "_added", [])
    headers = tmp_path / "root" / "include" / "aclnnop"
    headers.mkdir(parents=True)
    (headers / "aclnn_good.h").write_text(GOOD)
    (headers / "aclnn_late.h").write_text("// nothing\n")
    yield tmp_path / "root"


def unreadable(file: Path, kind: str) -> Path:
    if kind == "folder":
        file.mkdir()
    elif kind == "pipe":
        os.mkfifo(file)
    else:
        file.symlink_to(file if kind == "link to itself" else file.with_name("gone"))
    return file


@pytest.mark.parametrize("kind", KINDS)
def test_a_header_that_cannot_be_read_hides_no_other(root: Path, kind: str) -> None:
    file = unreadable(root / "include" / "aclnnop" / "aclnn_bad.h", kind)
    for _ in range(2):  # the second time by way of the cache
        assert list(catalogue.prototypes(root)) == ["aclnnGood"]
        assert catalogue.find("aclnnGood", root) is not None
        assert catalogue.find("aclnnNothere", root) is None
        others, problems = catalogue.report(root)
        assert others == [] and len(problems) == 1 and problems[0].startswith(f"{file}: cannot be read: ")
        catalogue._headers.clear()
        catalogue._complete.clear()


def test_a_folder_whose_name_is_not_utf8(root: Path, tmp_path: Path) -> None:
    odd = root.rename(os.fsdecode(os.fsencode(root) + b"\xff"))
    for _ in range(2):
        assert list(catalogue.prototypes(odd)) == ["aclnnGood"]
        catalogue._headers.clear()
        catalogue._complete.clear()
    assert len(list((tmp_path / "cache" / "aclnn_py").iterdir())) == 1


def test_a_relative_cache_folder_counts_as_unset(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    catalogue.prototypes(root)
    assert not (tmp_path / "cache").exists() and (tmp_path / "home" / ".cache" / "aclnn_py").is_dir()


@pytest.mark.parametrize("kind", KINDS)
def test_the_operator_it_is_named_after_is_told_why(root: Path, kind: str) -> None:
    file = unreadable(root / "include" / "aclnnop" / "aclnn_bad.h", kind)
    with pytest.raises(PrototypeError, match=f"{file}: cannot be read: "):
        catalogue.find("aclnnBad", root)
    assert catalogue.find_header("aclnnBad", root) == file


def test_a_header_that_goes_and_comes_back(root: Path) -> None:
    file = root / "include" / "aclnnop" / "aclnn_good.h"
    assert catalogue.find("aclnnGood", root) is not None
    file.unlink()
    file.symlink_to("gone")
    assert catalogue.prototypes(root) == {}
    file.unlink()
    file.write_text(GOOD)
    assert catalogue.find("aclnnGood", root) is not None


def test_an_added_header_that_went_away(root: Path, tmp_path: Path) -> None:
    added = tmp_path / "mine.h"
    added.write_text(GOOD.replace("Good", "Mine"))
    catalogue.add_headers(added)
    assert catalogue.find("aclnnMine", root) is not None
    added.unlink()
    assert catalogue.find("aclnnMine", root) is None and list(catalogue.prototypes(root)) == ["aclnnGood"]


def test_a_name_longer_than_a_file_name(root: Path) -> None:
    assert catalogue.find("aclnn" + "x" * 5000, root) is None


def test_folders_that_do_not_count(root: Path) -> None:
    assert catalogue.find("aclnnGood", root, [root / "include" / "aclnnop"]) is None
