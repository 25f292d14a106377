"""Reading logs: plog files, standard output of programs, pasted error text. Finds status codes, message codes
and what the device said, per process, and tells the cause from what only passes it on.

A number counts as a code only where the text says so ("error code is 507035", "errno[561103]",
"aclrtMalloc failed: 207001", "retCode=0x31"), so times, sizes, process ids and line numbers do not. Text
comes in pieces of any size and is not kept: what is kept is bounded by the number of different codes.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import BinaryIO

from ..status import FAULTS, Status, lookup, table
from .codes import device_note, facts, normal

_ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_LONGEST = 1 << 16  # characters of a line that are looked at in one piece
_OVERLAP = 256  # characters of a longer line that are looked at twice
_MOST_PROCESSES = 256  # with findings; what further ones say is counted as one
_MOST_UNDER = 6  # lines under a TraceBack
_SAMPLE = 400  # characters of a sentence that are kept

_PLOG = re.compile(r"^\[(?:ERROR|WARNING|INFO|EVENT|DEBUG|TRACE|OPLOG)\]\s*\w+\((\d+),([^)]*)\)")
_PIDS = (re.compile(r"\[PID: ?(\d+)\]"), re.compile(r"\(PID: ?(\d+)"), re.compile(r"\bpid[= ](\d+)"))
_PREFIX = re.compile(r"^\(([^()]*?)\s*\bpid=\d+\)\s?(?:[A-Z]+ [\d-]+ [\d:.]+ \[[^\]]*\] ?)?")
# What launchers put before each line of a process: torchrun "[rank0]:" and "[default1]:", mpirun
# "[1,0]<stderr>:", docker compose "worker-1  | ", kubectl "[pod/name/container] "
_LANE = re.compile(
    r"\[((?:rank|default)\d+)\]: ?|\[(\d+,\d+)\]<std(?:out|err|diag)>: ?|([A-Za-z][\w.-]*-\d+) +\| |"
    r"\[(pod/[^\]\s]+)\] "
)
_TIME = re.compile(r"\d{4}-\d\d-\d\d[- T]\d\d:\d\d:\d\d(?:[.,]\d{3})?|\b\d\d-\d\d \d\d:\d\d:\d\d\b")

# Numbers that look like status codes: by their digits, hexadecimal, or a negative one in 32 unsigned bits
_CANDIDATE = re.compile(
    r"(?<![A-Za-z0-9_.])(?:-?[1235](?:0[07]|4[58]|61)\d{3}|0[xX][0-9a-fA-F]{5,8}|4294\d{6})"
    r"(?![A-Za-z0-9_])(?!\.\d)"
)
# Words right before a code, with nothing but these signs and filler words between
_SIGNS = " \t\"'`:=,([{<>-_\\*|\uff1a\uff0c\uff08\u3010"
_FILLERS = frozenset({"is", "was", "with", "of", "value", "the", "code", "error", "status"})
_STRONG = frozenset(
    {"errno", "errcode", "errorcode", "errorno", "errnum", "retcode", "returncode", "aclerror", "aclret",
     "aclstatus", "aclnnstatus", "aclnnerror", "aclnnret", "rterror", "rtret", "npuerror", "gestatus"}
)  # fmt: skip
_WORDS = _STRONG | {
    "error", "errors", "err", "fail", "failed", "fails", "failure", "ret", "retval", "return", "returned",
    "returns", "result", "results", "status", "code", "exception", "rc", "statuscode",
}  # fmt: skip
_CODE_OF = frozenset({"error", "err", "ret", "return", "status"})  # "... code"
_MOST_WORDS = 8
_ERROR_NO = re.compile(r"\berr(?:or)?[ _](?:no|num|number)\b\.?(?=(?: is)?[\s:=]*$)")
# The same in Chinese logs: "error code", "return code", "status code" | "failed", "returned", "error"
_CHINESE_STRONG = (
    "\u9519\u8bef\u7801",
    "\u9519\u8bef\u4ee3\u7801",
    "\u8fd4\u56de\u7801",
    "\u72b6\u6001\u7801",
)
_CHINESE_WEAK = ("\u5931\u8d25", "\u8fd4\u56de", "\u8fd4\u56de\u503c", "\u62a5\u9519", "\u9519\u8bef")
_CHINESE_IS = "\u662f\u4e3a"
_CALL = re.compile(
    r"\b(acl\w+|rt[A-Z]\w+)\s*(?:\([^()]*\))?\s*(?:->|=>|==?|:|returns?|returned|gave|failed[,:]?)\s*$"
)
_BEFORE = 120  # characters before a number that are looked at
_UNIT = re.compile(
    r"\s*(?:bytes?|[kKMGT]i?[Bb]\b|B\b|[mun]?s\b|sec|min|tokens?|elements?|lines?|times|steps?|rows?|items?|"
    r"samples?|files?|requests?|iterations?|entries|records?|attempts?|%|/\s*\d)"
)
_NAME = re.compile(r"\bACL(?:NN)?_(?:ERROR|ERR)_\w+")
_COMPARED = re.compile(r"\s+vs\.?\s+0\)")  # CHECK_EQ of glog: "Check failed: ret == 0 (507035 vs. 0)"
_SMALL = re.compile(r"(?<!\w)(?:ret[cC]ode|InnerCode)\s*[:=]?\s*(0[xX][0-9a-fA-F]{2,8})\b")
_MESSAGE = re.compile(
    r"(?<![A-Za-z0-9])(E[A-Z]\d{4}(?=[\[:)(])|E[1-9]\d{4}(?=[\[:)])|(?<=module_name=)E[A-Z1-9]\d{4}\b)"
    r"|^\s*(E[A-Z1-9]\d{4})(?=\s+\S)"  # older releases, the line after "EZ9999: Inner Error!"
)
_NEAR_MESSAGE = re.compile(r"E[A-Z1-9]\d{4}")  # quick, and true of every line that _MESSAGE finds
_FRAMEWORK = re.compile(r"\b(ERR\d{5})(?= (?:PTA|OPS|DIST|GRAPH|PROF)\b)")  # torch_npu
# What stands between a message code and its sentence
_HEAD = re.compile(
    r"[\])]?[:\s]*(?:\[PID: ?\d+\])?\s*(?:\d{4}-\d\d-\d\d[-0-9:.]+)?\s*(?:\w*\(E\w\d{4}\))?[:\s]*"
    r"(?:Inn?er(?:nal)? [Ee]rror(?:, [Pp]lease contact support engineer)?!?(?: E[A-Z1-9]\d{4}(?=\s))?)?\s*"
)
_TAIL = re.compile(r"(?:\s*\[FUNC:[^\]]*\]\[FILE:[^\]]*\]\[LINE:\d+\]|, dump info: ).*")
_DEVICE_TEXT = re.compile(r"errorStr:\s*(.+?)\.?\s*(?:fixp_error|subErrType|fsmId|\[FUNC|$)")
_KERNEL = re.compile(r"kernel_name\s*[:=]\s*([A-Za-z_]\w*)")
_OPERATOR = re.compile(r"OpName:\[(aclnn[A-Z]\w*?)(?:_\d+)?\]|\b(aclnn(?!Status\b)[A-Z]\w*)")
_FUNCTION = re.compile(r"\b(aclrt\w+|acl[A-Z]\w+|rt[A-Z]\w+)\b")
_NO_DEVICE = frozenset({507008, 507033, 507899})  # it did not open, or the driver failed
_ADVICE = re.compile(r"\s+(?:usual cause|to do|first to check|all rules): ")  # of exceptions of this package
_ROUND = frozenset({100000, 200000, 300000, 500000})  # codes that are also round numbers
_REFUSED = frozenset(
    {561001, 561002}
)  # besides 161xxx: the operator refused this call, for its own arguments


def _clean(text: str) -> str:
    """Text that may go to a terminal."""
    return "".join(c if c.isprintable() else " " for c in text).strip()[:_SAMPLE]


def _worth(line: str) -> bool:
    """Whether a line may hold anything of interest; only to be fast on large logs."""
    return (
        _CANDIDATE.search(line) is not None
        or _NEAR_MESSAGE.search(line) is not None
        or ("ode" in line and _SMALL.search(line) is not None)
        or ("ACL" in line and _NAME.search(line) is not None)
        or "TraceBack" in line
        or "errorStr" in line
        or "kernel_name" in line
        or "ERR0" in line
    )


def _said(before: str) -> int:
    """How plainly the words right before a number call it a code: 0 not, 1 "failed: ", 2 "error code "."""
    words: list[str] = []
    text = _ERROR_NO.sub("errno", before.lower())
    while len(words) < _MOST_WORDS:
        text = text.rstrip(_SIGNS)
        at = len(text)
        while at and text[at - 1].isalpha():
            at -= 1
        words.append(text[at:])
        if words[-1] not in _FILLERS:
            break
        text = text[:at]
    if words and not words[-1].isascii():
        word = words[-1].rstrip(_CHINESE_IS)
        return 2 if word.endswith(_CHINESE_STRONG) else int(word.endswith(_CHINESE_WEAK))
    if _STRONG.intersection(words) or ("code" in words and _CODE_OF.intersection(words)):
        return 2
    return int(not _WORDS.isdisjoint(words))


def _is_code(value: int, text: str, strong: bool, line: str) -> bool:
    """Whether a number of the right form, at the right place, is a status code."""
    if value in table():
        return strong or value not in _ROUND or re.search(r"acl|npu|ascend", line, re.IGNORECASE) is not None
    return strong and text.lstrip("-").isdigit() and len(str(value)) == 6  # a code of a later release


@dataclass
class Finding:
    """One status code of one process: where it was and what stood beside it. `role`: see Log.processes."""

    code: int
    line: int
    count: int = 0
    last_line: int = 0
    time: str = ""
    text: str = ""  # the first line that had it
    operators: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)
    by_device: bool = False  # known only from a retCode
    role: str = ""

    @property
    def status(self) -> Status:
        return lookup(self.code)


@dataclass
class Process:
    """What one process said. `messages`: message code -> (line, sentence); `notes`: retCode -> line."""

    pid: str
    label: str = ""
    findings: dict[int, Finding] = field(default_factory=dict)
    messages: dict[str, tuple[int, str]] = field(default_factory=dict)
    notes: dict[int, int] = field(default_factory=dict)  # retCode -> line
    device_texts: dict[str, int] = field(default_factory=dict)
    kernels: dict[str, int] = field(default_factory=dict)
    under: list[str] = field(default_factory=list)  # the first lines under the first TraceBack
    frameworks: dict[str, int] = field(default_factory=dict)  # ERR00100 of torch_npu -> line

    @property
    def root(self) -> Finding | None:
        """The finding with the role "root"."""
        return next((f for f in self.findings.values() if f.role == "root"), None)

    @property
    def first_line(self) -> int:
        return min(
            [f.line for f in self.findings.values()]
            + [n for n, _ in self.messages.values()]
            + list(self.frameworks.values()),
            default=0,
        )


@dataclass
class _Lane:
    """The lines with one launcher's prefix, or those without any: they are in order among themselves."""

    pid: str = ""  # of the line before, for continuation lines
    named: str = ""  # the last process that a line named
    open: str | None = None  # the process whose TraceBack goes on


class Log:
    """Reads text piece by piece: `feed`, `read`; then `processes()` and `codes()`."""

    def __init__(self) -> None:
        self.lines = 0
        self._processes: dict[str, Process] = {}
        self._lanes: dict[str, _Lane] = {}
        self._names = {name: code for code, status in table().items() for name in status.names if code}

    def feed(self, text: str) -> None:
        """Whole lines of text."""
        for line in text.splitlines():
            self.lines += 1
            self._line(line)

    def read(self, stream: BinaryIO) -> None:
        """All of a binary stream, to its end. Bytes that are no UTF-8 are passed over."""
        rest = ""
        while raw := stream.readline(_LONGEST):
            whole = raw.endswith(b"\n")
            text = rest + raw.decode("utf-8", "replace")
            if not rest:
                self.lines += 1
            for part in text.replace("\0", "").split("\r"):  # UTF-16 without its mark, too
                self._line(part.rstrip("\n"))
            rest = "" if whole else text[-_OVERLAP:]

    def _line(self, line: str) -> None:
        if "\x1b" in line:
            line = _ANSI.sub("", line)
        if _ADVICE.match(line):
            return
        prefix = _LANE.match(line)
        name = next(filter(None, prefix.groups())) if prefix else ""
        if prefix:
            line = line[prefix.end() :]
        lane = self._lanes.get(name)
        if lane is None:
            if len(self._lanes) > _MOST_PROCESSES:
                name = ""
            lane = self._lanes.setdefault(name, _Lane())
        continued = line[:1] in (" ", "\t") or (line[:1] == "(" and lane.open is not None)
        if not (lane.open is not None and continued) and not _worth(line):
            lane.open = None
            return
        pid, label = self._process_of(line)
        if pid and name and pid != lane.named:
            lane.named = pid
            self._rename(name, pid)
        elif not pid and name:
            pid = lane.named or name
        elif not pid and continued:
            pid = lane.pid
        lane.pid = pid
        label = name or label
        body = _PREFIX.sub("", line)
        self._tracebacks(lane, label, body)
        self._statuses(pid, label, line)
        for match in _SMALL.finditer(line):
            value = int(match[1], 16)
            note = device_note(value)
            if note is not None:
                process = self._of(pid, label)
                process.notes.setdefault(value, self.lines)
                if note.code in FAULTS and value not in facts()["inner"]:
                    self._found(process, note.code, line, by_device=True)
        self._texts(pid, label, line, body)

    def _process_of(self, line: str) -> tuple[str, str]:
        plog = _PLOG.match(line)
        if plog:
            return plog[1], plog[2]
        prefix = _PREFIX.match(line)
        for pattern in _PIDS:
            match = pattern.search(line)
            if match:
                return match[1], prefix[1].strip() if prefix else ""
        return "", ""

    def _of(self, pid: str, label: str = "") -> Process:
        process = self._processes.get(pid)
        if process is None:
            if len(self._processes) >= _MOST_PROCESSES:
                pid, label = "others", "further processes"
            process = self._processes.setdefault(pid, Process(pid))
        if label and not process.label:
            process.label = _clean(label)
        return process

    def _rename(self, name: str, pid: str) -> None:
        """What a launcher's prefix was all that was known of gets its process id."""
        nameless = self._processes.pop(name, None)
        if nameless is not None:
            nameless.pid = pid
            known = self._processes.get(pid)
            self._processes[pid] = nameless if known is None else _together(nameless, known)

    def _statuses(self, pid: str, label: str, line: str) -> None:
        seen: dict[int, str] = {}  # code -> the call beside it
        for match in _NAME.finditer(line):
            if match[0] in self._names:
                seen.setdefault(self._names[match[0]], "")
        for match in _CANDIDATE.finditer(line):
            value = normal(int(match[0], 16 if "x" in match[0].lower() else 10))
            before = line[max(0, match.start() - _BEFORE) : match.start()]
            call = _CALL.search(before) if "acl" in before or "rt" in before else None
            said = _said(before)
            compared = "heck failed" in before and _COMPARED.match(line, match.end()) is not None
            strong = call is not None or said > 1
            if (
                (call or said or compared)
                and not _UNIT.match(line, match.end())
                and _is_code(value, match[0], strong, line)
            ):
                seen[value] = call[1] if call else seen.get(value, "")
        for code, function in seen.items():
            found = self._found(self._of(pid, label), code, line)
            functions = [function, *_FUNCTION.findall(line)]
            near = next((name for name in functions if name and not name.startswith("aclnn")), "")
            if near:
                found.calls[near] += 1
            for operator in _OPERATOR.finditer(line):
                found.operators[(operator[1] or operator[2]).removesuffix("GetWorkspaceSize")] += 1

    def _found(self, process: Process, code: int, line: str, by_device: bool = False) -> Finding:
        finding = process.findings.get(code)
        if finding is None:
            time = _TIME.search(line)
            finding = Finding(code, self.lines, time=time[0] if time else "", text=_clean(line))
            finding.by_device = by_device
            process.findings[code] = finding
        finding.by_device &= by_device
        finding.count += finding.last_line != self.lines
        finding.last_line = self.lines
        return finding

    def _tracebacks(self, lane: _Lane, label: str, body: str) -> None:
        """Keeps the first lines under the first TraceBack of a process: its deepest messages."""
        pid = lane.pid
        if "TraceBack (most recent call last)" in body:
            lane.open = pid
            return
        if lane.open != pid:
            return
        if body[:1] not in (" ", "\t") or not body.strip():
            lane.open = None
            return
        process = self._of(pid, label)
        if len(process.under) < _MOST_UNDER and "errorStr:" not in body:  # that one is told apart
            process.under.append(_clean(_TAIL.sub("", body)))

    def _texts(self, pid: str, label: str, line: str, body: str) -> None:
        for match in _MESSAGE.finditer(body) if _NEAR_MESSAGE.search(body) else ():
            name = match[1] or match[2]
            sentence = _clean(_TAIL.sub("", _HEAD.sub("", body[match.end() :], count=1)))
            messages = self._of(pid, label).messages
            if name not in messages or (sentence and not messages[name][1]):
                messages[name] = (messages.get(name, (self.lines,))[0], sentence)
        for match in _FRAMEWORK.finditer(body):
            self._of(pid, label).frameworks.setdefault(match[1], self.lines)
        said = _DEVICE_TEXT.search(line)
        if said:
            self._of(pid, label).device_texts.setdefault(_clean(said[1]), self.lines)
        kernel = _KERNEL.search(line)
        if kernel:
            self._of(pid, label).kernels.setdefault(kernel[1], self.lines)

    def codes(self) -> list[Status]:
        """The status codes found, in order of appearance."""
        found = sorted(
            (f for p in self._processes.values() for f in p.findings.values()), key=lambda f: f.line
        )
        return list(dict.fromkeys(f.status for f in found))

    def processes(self) -> list[Process]:
        """What was found, per process, the first one to fail first, and with roles for the codes:

        "root" (the deepest, one per process), "wrapper" (passes another failure on), "follow-up" (comes after
        the root and from it), "other" (a failure of its own: before the root, or the refusal of another
        operator's call).
        """
        merged = dict(self._processes)
        named = [pid for pid in merged if pid not in self._lanes]
        loose = [name for name in merged if name and name not in named]  # launcher's names, no process id
        elsewhere = {lane.named for lane in self._lanes.values()}.intersection(named) if loose else set()
        if len(named) <= 1 and len(loose) <= 1 and not elsewhere:  # one process, not named by all its lines
            loose = [name for name in (*loose, "") if name in merged]
            if loose:
                own = merged.pop(named[0]) if named else merged.pop(loose.pop(0))
                for name in loose:
                    own = _together(own, merged.pop(name))
                merged[own.pid] = own
        for process in merged.values():
            _give_roles(process)
        told = [p for p in merged.values() if p.findings or p.messages or p.notes or p.frameworks]
        return sorted(told, key=lambda p: p.first_line)


def _together(one: Process, other: Process) -> Process:
    joined = Process(one.pid, one.label)
    for part in sorted((one, other), key=lambda p: p.first_line):
        for code, finding in part.findings.items():
            known = joined.findings.get(code)
            if known is None:
                operators, calls = finding.operators.copy(), finding.calls.copy()
                joined.findings[code] = replace(finding, operators=operators, calls=calls)
            else:
                known.count += finding.count
                known.last_line = max(known.last_line, finding.last_line)
                known.by_device &= finding.by_device
                known.operators += finding.operators
                known.calls += finding.calls
        for name, told in part.messages.items():
            if not joined.messages.get(name, (0, ""))[1]:
                joined.messages[name] = (joined.messages.get(name, told)[0], told[1])
        joined.notes = part.notes | joined.notes
        joined.device_texts = part.device_texts | joined.device_texts
        joined.kernels = part.kernels | joined.kernels
        joined.frameworks = part.frameworks | joined.frameworks
        joined.under += part.under[: _MOST_UNDER - len(joined.under)]
    return joined


def depth(code: int) -> int:
    """How near to the cause a code is: 0 wrappers, 1 such as say little, 2 specific ones, 3 device faults."""
    if code in facts()["wrappers"] or code in facts()["follow_ups"]:
        return 0
    if code in facts()["generic"]:
        return 1
    return 3 if code in FAULTS or code in _NO_DEVICE else 2


def _give_roles(process: Process) -> None:
    if not process.findings:
        return
    root = min(process.findings.values(), key=lambda f: (-depth(f.code), f.line))
    for finding in process.findings.values():
        if finding is root:
            finding.role = "root"
        elif finding.code in facts()["wrappers"]:
            finding.role = "wrapper"
        elif _is_separate(finding, root):
            finding.role = "other"
        elif finding.code in facts()["follow_ups"] or finding.line > root.line:
            finding.role = "follow-up"
        elif depth(finding.code) < 2:
            finding.role = "wrapper"
        else:
            finding.role = "other"


def _is_separate(finding: Finding, root: Finding) -> bool:
    """Whether neither failure can come from the other: they are of different operators, and one of the two
    calls was refused for its own arguments, before anything ran."""
    if not finding.operators or not root.operators or finding.operators.keys() & root.operators.keys():
        return False
    refused = any(f.code // 1000 == 161 or f.code in _REFUSED for f in (finding, root))
    return refused and depth(finding.code) > 1
