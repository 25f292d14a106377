"""Finding codes in logs: every way they are written, and nothing that only looks like one."""

from __future__ import annotations

import io
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aclnn_py as aclnn
from aclnn_py.diagnosis.logs import Log, Process
from aclnn_py.status import table

SPELLINGS = [
    "errno[{}] OpName:[aclnnFoo_3] refused",
    "call aclnnFoo failed, error code is {}",
    "NPU function error: c10_npu::SetDevice(device_id_), error code is {}",
    "ACL error, the error code is : {}.",
    "aclrtSynchronizeStream(stream) failed: {} (/home/me/main.cpp:92)",
    "aclrtMalloc returned {}",
    "int ret = aclrtFree(nullptr) -> {}",
    "wait for compute device to finish failed, runtime result = {}.[FUNC:ReportCallError]",
    "set default device id failed, ret:{}[FUNC:ReportCallError][FILE:log_inner.cpp][LINE:148]",
    "malloc failed drvRetCode=17, ErrCode={}, desc=[driver error:internal error]",
    "[ERROR]  acl set device 0 failed, errorCode = {}",
    "XxxGetWorkspaceSize failed with aclnnStatus={}",
    "aclError:{}",
    "error_code={}",
    'x {{"op": "aclnnFoo", "status": {}}}',
    "RuntimeError: aclnnFoo (phase 1) returned {} because",
    "acl error {}",
    "\x1b[31mERROR\x1b[0m code \x1b[1m{}\x1b[0m",
    "ret = {}\r",
    "error no is {} & error msg is ERR00100 PTA call acl api failed",
    "Check failed: aclrtFree(p) == ACL_SUCCESS ({} vs. 0) ",
]


def codes(text: str) -> list[int]:
    log = Log()
    log.feed(text)
    return [status.code for status in log.codes()]


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("code", [161002, 507035, 561103, 107002, 100000])
def test_every_way_to_write_a_code(spelling: str, code: int) -> None:
    aware = code != 100000 or any(word in spelling.lower() for word in ("acl", "npu", "errcode", "code"))
    assert codes(spelling.format(code)) == ([code] if aware else [])
    if not spelling.startswith("x "):
        assert codes(spelling.format(hex(code))) == ([code] if aware else [])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("\u9519\u8bef\u7801\uff1a507035", [507035]),
        ("\u8c03\u7528 aclnnAdd \u5931\u8d25\uff0c\u9519\u8bef\u7801\u662f561103\u3002", [561103]),
        ("acl \u63a5\u53e3\u8fd4\u56de507015\uff0c", [507015]),
        ("\u5927\u5c0f507015\u5b57\u8282", []),
    ],
)
def test_chinese_logs(text: str, found: list[int]) -> None:
    assert codes(text) == found


@pytest.mark.parametrize("text", ["error code is -161002", "error code is 4294806294", "errno: 0xfffd8b16"])
def test_negative_and_unsigned(text: str) -> None:
    assert codes(text) == [161002]


def test_every_code_by_number_and_name() -> None:
    for status in table().values():
        if status.code:
            assert codes(f"failed, error code {status.code}") == [status.code]
            for name in status.names:
                assert codes(f"got {name} here") == [status.code]


ORDINARY = [
    "step 507035 of 561103, loss 3.1, 161002 tokens",
    "2025-05-19-15:59:07.507035 [stream.cc:107002] pid 161001",
    "[INFO] RUNTIME(561103,main):2025-05-19-15:59:07.739.753 [a.cc:288]507015 ok",
    "allocation of 207001 bytes failed",
    "failed to allocate 207001 bytes at 0x12c1000507035",
    "error at line 107001",
    "failed: 207001 bytes left",
    "[PID: 507035] [LINE:161002] size=561103 addr=0x7bc9b",
    "took 507014 ms, 507034 us, 107000/161001 done",
    "version 5.507035, 161002.5 s",
    "id 1234161002 and 1610021, x161002, 161002x",
    "failed 300000 requests, error rate 500000",
    "exit status 139, error code is 7, ret = -1, retCode=1, error code = 95",
    "error code = 0x4000000000000000, dump info: pc start: 0x124800000000",
    "#define UNRELATED 561103",
    "hash E123456, commit 1E30006, EZ1001x",
    "Check failed: n == m (161002 vs. 161003)",
    "[E1234 12:00] error number of the day, ERR00100 is not said by a framework",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_numbers_are_none(text: str) -> None:
    log = Log()
    log.feed(text)
    assert log.codes() == [] and log.processes() == []


@given(st.data())
def test_no_number_counts_without_a_word_before_it(data: st.DataObject) -> None:
    code = data.draw(st.sampled_from(sorted(table())))
    word = data.draw(
        st.sampled_from(["pid", "size", "line", "step", "at", "to", "offset", "port", "id", "time"])
    )
    sign = data.draw(st.sampled_from([" ", "=", ":", " = ", ": "]))
    start = data.draw(st.sampled_from(["error: ", "failed to run, ", "E ", "", "aclrtMalloc failed; "]))
    assert codes(f"{start}{word}{sign}{code} and so on") == []


@given(st.binary(max_size=3000), st.integers(1, 200))
def test_any_bytes_are_read(garbage: bytes, size: int) -> None:
    log = Log()
    log.read(io.BytesIO(garbage + b"\nfailed, error code is 507035\n" + garbage[:size]))
    assert 507035 in [status.code for status in log.codes()]
    for process in log.processes():
        for finding in process.findings.values():
            assert finding.text.isprintable()


def test_lines_of_any_length() -> None:
    log = Log()
    for at in (0, 65_500, 65_520, 65_536, 200_000):
        log.read(io.BytesIO(b"x" * at + b" error code is 561103 " + b"y" * 100_000))
    [process] = log.processes()
    assert process.findings[561103].count >= 5 and log.lines == 5


def test_what_is_kept_is_bounded() -> None:
    log = Log()
    numbers = random.Random(1)
    for i in range(3_000):
        log.feed(f"[PID: {i}] EZ9999: failed, error code is {numbers.choice([507035, 561103])} {'z' * 500}")
    processes = log.processes()
    assert len(processes) <= 257
    assert sum(f.count for p in processes for f in p.findings.values()) == 3_000
    assert all(len(f.text) <= 400 for p in processes for f in p.findings.values())


def read(text: str) -> list[Process]:
    log = Log()
    log.read(io.BytesIO(text.encode()))
    return log.processes()


FAULT = """\
[ERROR] aclrtSynchronizeStream(stream) failed: 507035 (/home/me/main.cpp:92)
[ERROR] text: EZ9999: Inner Error!
EZ9999[PID: 4711] 2026-06-12-10:58:06.282 (EZ9999):  The error from device(chipId:2).[FUNC:A][FILE:b][LINE:6]
        TraceBack (most recent call last):
       errcode:(0x4, 0) errorStr: VEC instruction error: the ub address out of bounds. fixp_error0: 6
       Kernel task happen error, retCode=0x31, [vector core exception].[FUNC:B][FILE:c.cc][LINE:1729]
       fault kernel_name=AddCustom_42, hash=1
RuntimeError: NPU error, error code is 100000
"""


def test_a_device_fault_and_its_wrapper() -> None:
    [process] = read(FAULT)
    assert process.pid == "4711" and process.root is not None
    assert process.root.code == 507035 and dict(process.root.calls) == {"aclrtSynchronizeStream": 1}
    assert {f.code: f.role for f in process.findings.values()} == {507035: "root", 100000: "wrapper"}
    assert process.notes == {0x31: 6} and list(process.kernels) == ["AddCustom_42"]
    assert list(process.device_texts) == ["VEC instruction error: the ub address out of bounds"]
    assert process.messages["EZ9999"][1].startswith("The error from device(chipId:2)")
    assert process.under[0] == "Kernel task happen error, retCode=0x31, [vector core exception]."


@pytest.mark.parametrize(
    ("code", "status"),
    [(0x25, 507014), (0x26, 507015), (0x2A, 507018), (0x30, 507034), (0x31, 507035), (0x07150026, 507015)],
)
def test_the_device_code_alone_is_enough(code: int, status: int) -> None:
    [process] = read(f"[PID: 5] Kernel task happen error, retCode={code:#x}, [some text].\n")
    assert process.root is not None and process.root.code == status and process.root.by_device


def test_a_device_that_did_not_open() -> None:
    [process] = read(
        "SetDevice failed, error code is 507033\n"
        "E30006: 2025-11-19-11:14:58.516.606 Failed to verify the package\n"
        "        Possible Cause: it is wrong.\n"
        "        TraceBack (most recent call last):\n"
        "        Start executor failed, retCode=0x7020009 devId=0[FUNC:A][FILE:b.cc][LINE:3]\n"
        "        Check param failed, dev can not be NULL![FUNC:A][FILE:b.cc][LINE:4]\n"
        "        New device failed, retCode=0x7010006[FUNC:A][FILE:b.cc][LINE:5]\n"
        "reset device 0 failed, errorCode = 507007\n"
    )
    assert {f.code: f.role for f in process.findings.values()} == {507033: "root", 507007: "follow-up"}
    assert process.messages == {"E30006": (2, "Failed to verify the package")}
    assert list(process.notes) == [0x7020009, 0x7010006]
    assert process.under[1] == "Check param failed, dev can not be NULL!"


@pytest.mark.parametrize(
    ("text", "name", "sentence"),
    [
        (
            "EZ1001: [PID: 8] 2026-01-02-10:00:00.000.000 aclnnFoo: x is NULL.",
            "EZ1001",
            "aclnnFoo: x is NULL.",
        ),
        (
            "[PID: 8] 2026-01-02-10:00:00.000.000 AclNN_Parameter_Error(EZ1001): aclnnFoo: x is NULL.",
            "EZ1001",
            "aclnnFoo: x is NULL.",
        ),
        ("EZ9999[PID: 8] 2026-01-02-10:00:00.000.000 Error(EZ9999):  it broke.", "EZ9999", "it broke."),
        ("E40021: [PID: 8] 2026-01-02-10:00:00.000.000 compile failed", "E40021", "compile failed"),
        (
            "[PID: 8] EZ9999: Inner Error, Please contact support engineer! EZ9999 it broke.",
            "EZ9999",
            "it broke.",
        ),
        (
            "EH9999  [Init][PID: 8]init failed![FUNC:A][FILE:b.cpp][LINE:1]",
            "EH9999",
            "[Init][PID: 8]init failed!",
        ),
        ("[ERROR] TDT(8,x):2026 [a.cc:1] OpenProcess: report error module_name=E30006", "E30006", ""),
        (
            "EZ9999: [PID: 8] aivec error, core id is 3, dump info: pc start: 0x12, current: 0x13",
            "EZ9999",
            "aivec error, core id is 3",
        ),
    ],
)
def test_both_layouts_of_error_text(text: str, name: str, sentence: str) -> None:
    [process] = read(text + "\n")
    assert process.pid == "8" and process.messages == {name: (1, sentence)}


def test_processes_that_write_at_the_same_time() -> None:
    processes = read(
        "(Core pid=300) ERROR 12-10 10:52:09 [a.py:58] call aclnnFoo failed, error code is 561103\n"
        "(Worker rank=1 pid=301) INFO 12-10 10:52:09 step 107002\n"
        "(Core pid=300) ERROR 12-10 10:52:09 [a.py:58] EZ9999[PID: 300] 2025-12-10-10:52:09 E(EZ9999):  a.\n"
        "(Core pid=300) ERROR 12-10 10:52:09 [a.py:58]         TraceBack (most recent call last):\n"
        "(Worker rank=1 pid=301) ERROR 12-10 10:52:09 [a.py:5]        wait failed, runtime result = 507010.\n"
        "(Core pid=300) ERROR 12-10 10:52:09 [a.py:58]        kernel init failed.\n"
        "[ERROR] NNOP(302,python):2025-12-10-10:54:09.632 [e.cpp:1][Run] errno[361001] OpName:[aclnnAdd_3]\n"
        "[ERROR] RUNTIME(302,python):2025-12-10-10:54:09.632 [a.cc:1]9 ErrCode=107002, InnerCode=0x7070001\n"
    )
    assert [(p.pid, p.label, p.root and p.root.code) for p in processes] == [
        ("300", "Core", 561103),
        ("301", "Worker rank=1", 507010),
        ("302", "python", 107002),
    ]
    first, _, third = processes
    assert first.under == ["kernel init failed."] and dict(first.root.operators) == {"aclnnFoo": 1}  # type: ignore[union-attr]
    assert third.findings[361001].role == "wrapper" and dict(third.findings[361001].operators) == {
        "aclnnAdd": 1
    }


def roles(*lines: str) -> dict[int, str]:
    [process] = read("".join(f"failed, error code is {code}\n" for code in lines))
    return {f.code: f.role for f in process.findings.values()}


@pytest.mark.parametrize(
    ("order", "root"),
    [
        (("561103", "100000"), 561103),
        (("100000", "561103"), 561103),
        (("500002", "500001"), 500002),
        (("361001", "107002"), 107002),
        (("507035", "361001", "107003"), 507035),
        (("161002", "507018", "507011"), 507018),
        (("507011", "507015"), 507015),
        (("561102", "561000", "561002"), 561002),
        (("107027", "507903"), 107027),
        (("507046", "507014"), 507014),
        (("507057",), 507057),
    ],
)
def test_the_cause_among_several_codes(order: tuple[str, ...], root: int) -> None:
    found = roles(*order)
    assert [code for code, role in found.items() if role == "root"] == [root]
    if 100000 in found:
        assert found[100000] == "wrapper"


def test_a_failure_that_was_there_before_the_cause_is_told_apart() -> None:
    assert roles("161002", "507035", "207002") == {161002: "other", 507035: "root", 207002: "follow-up"}


def test_two_operators_that_were_refused_are_two_failures() -> None:
    text = (
        "errno[161002] OpName:[aclnnAdd_1] shapes differ\naclnnAdd failed, error code is 161002\n"
        "errno[561002] OpName:[aclnnMul_2] Tiling failed.\naclnnMul failed, error code is 561002"
    )
    log = Log()
    log.feed(text)
    [process] = log.processes()
    assert {f.code: f.role for f in process.findings.values()} == {161002: "root", 561002: "other"}
    log = Log()
    log.feed(text.replace("aclnnMul", "aclnnAdd"))  # of one operator, the second may well come from the first
    [process] = log.processes()
    assert process.findings[561002].role == "follow-up"
    log = Log()  # and so may anything that comes after work that failed on the device
    log.feed("retCode=0x31\nerrno[561103] OpName:[aclnnMul_2] inner\nerror code is 207001 of aclnnFoo")
    [process] = log.processes()
    assert [f.role for f in process.findings.values()] == ["root", "follow-up", "follow-up"]


RANKS = """\
{0}RuntimeError: npuSynchronizeDevice failed, error code is 507035
{1}RuntimeError: aclnnAdd failed, error code is 161002
{1}EZ1001: [PID: 77] 2026-01-01-10:00:02.000.000 bad x
{0}        TraceBack (most recent call last):
{1}        TraceBack (most recent call last):
{0}        below zero
{1}        below one
{1}RuntimeError: error code is 100000
"""


@pytest.mark.parametrize(
    ("zero", "one"),
    [
        ("[rank0]: ", "[rank1]: "),
        ("[default0]:", "[default1]:"),
        ("[1,0]<stderr>:", "[1,1]<stderr>:"),
        ("worker-1  | ", "worker-2  | "),
        ("[pod/train-0/main] ", "[pod/train-1/main] "),
    ],
)
def test_what_launchers_put_before_a_line_tells_processes_apart(zero: str, one: str) -> None:
    log = Log()
    log.feed(RANKS.format(zero, one))
    first, second = log.processes()
    assert (first.pid, list(first.findings), first.under) == (first.label, [507035], ["below zero"])
    assert (second.pid, list(second.findings), second.under) == ("77", [161002, 100000], ["below one"])
    assert second.label and second.messages == {"EZ1001": (3, "bad x")}


def test_lines_with_and_without_a_prefix_are_one_process_if_there_is_one() -> None:
    log = Log()
    log.feed(
        "[ERROR] RUNTIME(42,python): error code is 507035\n[rank0]: error code is 507035\nerrno[100000] acl"
    )
    for _ in range(2):  # asking twice counts once
        [process] = log.processes()
        assert process.pid == "42"
        assert {f.code: f.count for f in process.findings.values()} == {507035: 2, 100000: 1}


def test_operators_and_calls_beside_a_code() -> None:
    [process] = read(
        "aclnnFooGetWorkspaceSize failed with aclnnStatus=161002, see aclnnBar\naclrtFree: 161002\n"
    )
    assert dict(process.findings[161002].operators) == {"aclnnFoo": 1, "aclnnBar": 1}
    assert dict(process.findings[161002].calls) == {"aclrtFree": 1}


def test_the_text_of_our_own_exceptions_holds_one_code() -> None:
    for status in table().values():
        if status.code:
            error = aclnn.AclnnError(
                status.code, "aclnnFoo", 1, f"EZ1001: [PID: 5] aclnnFoo: bad ({status.code})."
            )
            [process] = read(f"Traceback (most recent call last):\naclnn_py.AclnnError: {error}\n")
            assert list(process.findings) == [status.code], error
            assert (process.notes, list(process.messages), list(process.device_texts)) == ({}, ["EZ1001"], [])
            assert set(process.findings[status.code].operators) == {"aclnnFoo"}


def test_codes_of_later_releases() -> None:
    assert codes("errno[561777] new") == [561777] and codes("failed: 561777") == []
    assert aclnn.explain(561777).layer == "aclnn"
