"""From what a person types or pastes to what it means: status codes in every spelling, message codes such as
EZ1001, the device's return codes and the runtime's inner ones. Needs no library."""

from __future__ import annotations

import difflib
import json
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..status import Status, lookup, table

_NUMBER = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|\d+)")
_MESSAGE = re.compile(r"E[A-Z]\d{4}|E[1-9]\d{4}|ERR\d{5}")


@lru_cache(maxsize=1)
def facts() -> dict[str, Any]:
    """What logs hold besides status codes, from the package's data file."""
    return dict(json.loads(Path(__file__).parents[1].joinpath("data", "log_codes.json").read_text("utf-8")))


@dataclass(frozen=True)
class Note:
    """A code that is no status code: `name` ("retCode=0x31", "EZ1001"), what it means and what to do.

    `code` is the status code that acl reports for it, 0 if there is none.
    """

    name: str
    meaning: str
    advice: str
    code: int = 0

    def __str__(self) -> str:
        known = lookup(self.code)
        also = f"\n  reported as: {self.code} {known.name}" if self.code else ""
        return f"{self.name}\n  meaning: {self.meaning}\n  to do:   {self.advice}{also}"


def device_note(value: int) -> Note | None:
    """The meaning of a kernel's retCode, such as 0x31, or of a runtime's inner code, such as 0x7010006."""
    if value >> 16 == 0x0715:  # the runtime's form of the device's codes
        found = facts()["device"].get(f"{value & 0xFFFF:#x}")
    else:
        found = facts()["device"].get(f"{value:#x}") or facts()["inner"].get(f"{value:#x}")
    if found is None:
        return None
    code, what, why = found
    of = "A kernel on the device" if value < 0x100 or value >> 16 == 0x0715 else "The runtime (inner code)"
    return Note(f"retCode={value:#x}", f"{of}: {what}", f"{why[0].upper()}{why[1:]}.", code)


def message_note(name: str) -> Note | None:
    """The meaning of a message code such as EZ1001."""
    if name.startswith("ERR"):
        return _framework_note(name)
    found = facts()["messages"].get(name)
    if found is not None:
        return Note(name, f"{found[0][0].upper()}{found[0][1:]}.", found[1])
    part = facts()["components"].get(name[:2])
    if part is None:
        return None
    what = "Inner error" if name[2] == "9" else "Error"
    return Note(name, f"{what} of {part}.", "The sentence beside it and the lines below it tell why.")


def _framework_note(name: str) -> Note | None:
    """ERR00100 and its like, which torch_npu prints: two digits for its part, three for the kind."""
    parts, kinds = facts()["torch_npu"]["parts"], facts()["torch_npu"]["kinds"]
    if name[3:5] not in parts or name[5:] not in kinds:
        return None
    below = int(name[5:]) in (100, 200, 300)
    advice = (
        "A wrapper: the status code and the E-code beside it tell what failed below."
        if below
        else "Raised by torch_npu itself: the sentence before it tells why."
    )
    return Note(name, f"torch_npu, {parts[name[3:5]]}: {kinds[name[5:]]}.", advice)


def normal(number: int) -> int:
    """A status code as aclError writes it: from its negative, or from what 32 unsigned bits made of that."""
    known = table()
    for form in (number, -number, number - (1 << 32), (1 << 32) - number):
        if form in known:
            return form
    return number


def find(text: str) -> Status | Note:
    """The meaning of one code: `find("161002")`, also as 0x274ea, -161002, 4294806294, a name, EZ1001,
    retCode=0x31, or a piece of a log that holds a code.

    ValueError, with close names, for anything else.
    """
    text = text.strip()
    if not text:
        raise ValueError("an empty text is neither a status code nor the name of one")
    upper = text.upper()
    for status in table().values():
        if upper in status.names:
            return status
    if _NUMBER.fullmatch(text):
        value = normal(int(text, 0) if "x" in text.lower() else int(text, 10))
        note = device_note(value) if value not in table() else None
        return note or lookup(value)
    if _MESSAGE.fullmatch(upper):
        note = message_note(upper)
        if note is None:
            raise ValueError(f"{upper} is a message code that is not in the table; the text beside it counts")
        return note
    from .logs import Log

    log = Log()
    log.feed(text)
    found = log.codes()
    if found:
        return found[0]
    names = [name for status in table().values() for name in status.names]
    endings = {name.partition("_ERROR_")[2] or name.partition("_ERR_")[2]: name for name in names}
    near = difflib.get_close_matches(upper, names, 3, 0.7)
    near += [endings[e] for e in difflib.get_close_matches(upper, endings, 3, 0.75) if endings[e] not in near]
    hint = f"; close names: {', '.join(near)}" if near else ""
    raise ValueError(f"{text!r} is neither a status code nor the name of one{hint}")
