"""docs/status_codes.md from the table: `python -m aclnn_py.diagnosis.status_page > docs/status_codes.md`."""

from __future__ import annotations

import sys

from ..status import Status, table
from .codes import facts

_GROUPS = (
    (161000, 161999, "aclnn: refused arguments"),
    (361000, 361999, "aclnn: a runtime call inside the operator failed"),
    (561000, 561999, "aclnn: inside the operator, or its package"),
    (107000, 107999, "Runtime: caller or environment"),
    (207000, 207999, "Runtime: resource or support limit"),
    (507000, 507999, "Runtime, device and driver: internal"),
    (100000, 100999, "acl: caller or environment"),
    (148000, 148999, "acl: caller or environment, later additions"),
    (200000, 200999, "acl: resource or support limit"),
    (300000, 300999, "acl: state"),
    (500000, 500999, "acl: internal, mostly wrappers"),
    (145000, 145999, "Graph engine: caller or environment"),
    (245000, 245999, "Graph engine: resource limit"),
    (345000, 345999, "Graph engine: state"),
    (545000, 545999, "Graph engine: internal"),
)
_INTRODUCTION = """\
# Status codes

What acl, the CANN runtime and aclnn operators return: {count} codes, 0 for success among them.
`aclnn-py explain CODE` prints a row, `aclnn.explain(code)` returns it, every exception of aclnn_py holds it.
This page is made from `aclnn_py/data/status_codes.json`.

The first digit tells who can help: 1 the caller or the environment, 2 a resource or product limit, 3 a state
of the work, 5 an internal error. Digits two and three tell the layer: 00 and 48 acl, 07 runtime, 45 graph
engine, 61 aclnn.

Three things to know before reading a number:

* **Faults of the device come late.** Launching is asynchronous, so 507xxx at a synchronise belongs to an
  operator launched before. `ACLNN_PY_BLOCKING=1` makes each call wait and report at once.
* **Wrappers** often only pass on that something else failed: {wrappers}.
  An earlier code in the log is the cause; `aclnn-py explain LOGFILE` tells them apart.
* **561103 is mostly no bug of the operator** but a kernel package that does not fit the SoC or the CANN
  version.
"""


def page() -> str:
    """The page as Markdown."""
    codes = [status for status in table().values() if status.code]
    wrappers = ", ".join(str(code) for code in sorted(facts()["wrappers"]))
    parts = [_INTRODUCTION.format(count=len(codes) + 1, wrappers=wrappers)]
    for low, high, title in _GROUPS:
        rows = [_row(status) for status in codes if low <= status.code <= high]
        head = f"## {title}\n\n| code | meaning | usual causes | what to do |\n|---|---|---|---|\n"
        parts.append(head + "\n".join(rows))
    parts.append(_device_part())
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _row(status: Status) -> str:
    names = "<br>".join(f"`{name}`" for name in status.names)
    cells = [f"**{status.code}**<br>{names}", status.meaning, status.causes, status.remedy]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _device_part() -> str:
    lines = [
        "## What the device says",
        "",
        "In the text after a fault (`Kernel task happen error, retCode=0x31`):",
        "",
        "| retCode | code | meaning |",
        "|---|---|---|",
    ]
    lines += [f"| {name} | {code} | {what}: {why} |" for name, (code, what, why) in facts()["device"].items()]
    lines += [
        "",
        "## Message codes",
        "",
        "At the head of the library's own sentences:",
        "",
        "| code | meaning | what to do |",
        "|---|---|---|",
    ]
    lines += [f"| {name} | {what} | {advice} |" for name, (what, advice) in facts()["messages"].items()]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(page())
