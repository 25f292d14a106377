"""The libraries' error text as records. Both layouts are read: that of release 9, and that of 8 and before.

Newer:  [PID: 7] 2026-01-02-03:04:05.678.901 AclNN_Parameter_Error(EZ1001): the sentence
                Possible Cause: ...
                Solution: ...
        TraceBack (most recent call last):
                what else was reported, one per line
Older:  EZ1001: [PID: 7] 2026-01-02-03:04:05.678.901 the sentence
                TraceBack (most recent call last):
                ...
Internal ones (EZ9999) begin with the line `EZ9999: Internal error!` of their own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_TRACE = "TraceBack (most recent call last):"
_STAMP = r"\[PID: ?(?P<pid>\d+)\] ?(?P<time>\d[\d:.T-]+)? ?"
_NEWER = re.compile(
    rf"(?:E[A-Z]\w\d{{3}}:? ?)?{_STAMP}(?P<title>[A-Za-z][\w ]*)\((?P<code>E[A-Z]\w\d{{3}})\):\s*(?P<text>.*)"
)
_OLDER = re.compile(rf"(?P<code>E[A-Z]\w\d{{3}}):\s*(?:{_STAMP})?(?P<text>.*)")
_INTERNAL = re.compile(r"E[A-Z]\w\d{3}: (?:Internal|Inner) [Ee]rror!?")
_ADVICE = re.compile(r"(?P<kind>Possible Cause|Solution): ?(?P<text>.*)")
_DEVICE = re.compile(r"DEVICE\[(?P<device>\d+)\] PID ?\[(?P<pid>\d+)\]: ?(?P<text>.*)")
_CODE = re.compile(r"\bE[A-Z]\d{4}\b")


@dataclass(frozen=True)
class Message:
    """One report. `code` such as EZ1001 and `title` are "" where the text has none; `pid` is 0 then.

    `trace` tells that it stood below TraceBack: reported besides the first one, not necessarily about the
    same call. `device` is the number of the device that said it, None for the host.
    """

    text: str
    code: str = ""
    title: str = ""
    pid: int = 0
    time: str = ""
    cause: str = ""
    solution: str = ""
    trace: bool = False
    device: int | None = None

    def __str__(self) -> str:
        return f"{self.code}: {self.text}" if self.code else self.text


@lru_cache(maxsize=64)
def parse(text: str) -> tuple[Message, ...]:
    """The reports in an error text, in its order; () for an empty one. No word of the text is left out."""
    found: list[dict[str, object]] = []
    trace = False
    for line in text.splitlines():
        stripped = line.strip()
        if not stripped or _INTERNAL.fullmatch(stripped):
            continue
        if stripped.startswith(_TRACE):
            trace = True
            stripped = stripped.removeprefix(_TRACE).strip()
            if not stripped:
                continue
        advice = _ADVICE.match(stripped)
        if advice and found:
            found[-1]["cause" if advice["kind"] == "Possible Cause" else "solution"] = advice["text"]
            continue
        device = _DEVICE.match(stripped)
        own = _NEWER.match(stripped) or _OLDER.match(stripped)
        if own:
            fields: dict[str, object] = {k: v for k, v in own.groupdict().items() if v is not None}
            fields["pid"] = int(own["pid"] or 0)
            found.append(fields | {"trace": trace})
        elif device:
            numbers = {"pid": int(device["pid"]), "device": int(device["device"])}
            found.append({"text": device["text"], "trace": trace, **numbers})
        elif not found or (trace and "device" not in found[-1]):
            code = _CODE.search(stripped)
            found.append({"text": stripped, "code": code[0] if code else "", "trace": trace})
        else:  # a sentence of several lines; what a device says always is
            found[-1]["text"] = f"{found[-1]['text']}\n{stripped}".strip()
    return tuple(Message(**fields) for fields in found)  # type: ignore[arg-type]
