"""The texts of the status table, and the page made from it. Its codes and names: tests/python/test_abi.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from aclnn_py.diagnosis.status_page import page
from aclnn_py.status import FAULTS, exception_class, lookup, table

PAGE = Path(__file__).parents[2] / "docs" / "status_codes.md"


def test_every_code_says_what_it_means_why_and_what_to_do() -> None:
    for status in table().values():
        if status.code:
            for text in (status.meaning, status.causes, status.remedy):
                assert text.endswith("."), status
                assert text[0].isupper() or text.startswith(
                    ('"', "acl", "npu-smi", "dmesg", "max_", "set_env.sh")
                ), status
                assert text.isascii() and "  " not in text


def test_codes_that_people_meet_have_texts_of_their_own() -> None:
    met = [
        100000, 100001, 100002, 100039, 107000, 107001, 107002, 107003, 107027, 107030, 145000, 161001,
        161002, 207001, 207004, 207008, 361001, 500000, 500001, 500002, 507001, 507007, 507008, 507010,
        507011, 507014, 507015, 507018, 507033, 507034, 507035, 507046, 507048, 507057, 507899, 507903,
        561000, 561002, 561003, 561102, 561103, 561107, 561112,
    ]  # fmt: skip
    texts = {(lookup(code).meaning, lookup(code).causes) for code in met}
    assert len(texts) == len(met)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (561103, ["kernel package", "SoC", "CANN"]),
        (100000, ["wrapper", "earlier code"]),
        (107002, ["per thread", "aclrtSetDevice", "THIS thread"]),
        (107001, ["ASCEND_RT_VISIBLE_DEVICES", "from 0"]),
        (507033, ["E30006", "EL0004", "container", "visible"]),
        (507015, ["EARLIER", "out of range", "retCode=0x26"]),
        (507035, ["EARLIER", "retCode=0x31", "freed"]),
        (507014, ["EARLIER", "retCode=0x25"]),
        (507034, ["retCode=0x30"]),
        (507018, ["index", "retCode=0x2a"]),
        (107030, ["captur", "synchronous"]),
        (100002, ["Accept"]),
        (161002, ["float64", "8 dimensions"]),
        (561002, ["ASCEND_CUSTOM_OPP_PATH", "stand-alone"]),
        (507046, ["work goes on"]),
        (107000, ["kind", "destination"]),
    ],
)
def test_what_the_public_threads_teach(code: int, words: list[str]) -> None:
    text = str(lookup(code))
    assert [word for word in words if word not in text] == []


def test_every_fault_of_a_launch_says_that_it_comes_late() -> None:
    for code in FAULTS & {507014, 507015, 507016, 507017, 507018, 507034, 507035, 507036, 507048, 507049}:
        assert "EARLIER" in lookup(code).causes and exception_class(code).__name__ == "DeviceFault"


@pytest.mark.skipif(not PAGE.is_file(), reason="needs the source tree")
def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), "run python -m aclnn_py.diagnosis.status_page > docs/status_codes.md"
