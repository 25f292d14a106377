"""The part of an operator's page that comes from its rules: the table of arguments, and the checks in order.

    python -m aclnn_py.diagnosis.rules_page docs/ops             # writes the pages of all operators
    python -m aclnn_py.diagnosis.rules_page docs/ops aclnnAdd    # of one
    python -m aclnn_py.diagnosis.rules_page --check docs/ops     # exit status 1 if one is not up to date

Only what stands between the two marker lines is written; the prose around it is the author's. A page that
does not exist is made.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from . import rules as _rules
from .rules import Argument, Attribute, Rules, Tensor, summary
from .rules_call import NOT_GIVEN

BEGIN = "<!-- from the rules: written by `python -m aclnn_py.diagnosis.rules_page docs/ops`, do not edit -->"
END = "<!-- end of what comes from the rules -->"


def section(rules: Rules) -> str:
    """The Markdown between the markers."""
    lines = ["| # | argument | kind | dtype | shape | |", "|---|---|---|---|---|---|"]
    lines += [f"| {i} | {' | '.join(_row(rules, a))} |" for i, a in enumerate(rules.arguments, 1)]
    if rules.partial:
        lines += ["", f"These are the rules of the emulator. {rules.partial}"]
    if rules.axes:
        lines += ["", *(f"`{name}` is {words}." for name, words in rules.axes.items())]
    named = [f"`{n}` is `{d}`" for n, d in rules.symbols.items() if isinstance(d, str)]
    if named:
        lines += ["", f"In shapes and rules, {'; '.join(named)}."]
    lines += [
        "",
        "Phase 1 checks in this order, and the first check that fails decides the status code "
        f'(`aclnn.check("{rules.name}", ...)` reports them all):',
        "",
        "1. `workspaceSize` and `executor` must not be NULL: 161001 ACLNN_ERR_PARAM_NULLPTR",
    ]
    for i, check in enumerate(rules.checks, 2):
        lines.append(f"{i}. {summary(rules, check)}")
    return "\n".join(lines)


def _row(rules: Rules, argument: Argument) -> list[str]:
    dtype, shape, kind = "", "", argument.kind
    if isinstance(argument, Attribute):
        kind = argument.type
    if isinstance(argument, Tensor):
        dtype = argument.dtypes.replace(" ", ", ")
        if argument.like:
            dtype = f"{dtype + ', ' if dtype else ''}that of `{argument.like}`"
        shape = " or ".join(f"`{part.strip()}`" for part in argument.shape.split("|"))
    notes = []
    if argument.default is not NOT_GIVEN and argument.default is not None:
        notes.append(f"usually {argument.default}")
    if argument.used_if:
        notes.append(f"ignored unless `{argument.used_if}`")
    if argument.optional:
        notes.append("may be NULL")
    notes += [argument.note] if argument.note else []
    return [f"`{argument.name}`", kind, dtype, shape, "; ".join(notes)]


def page(rules: Rules, text: str = "") -> str:
    """`text` with its marked section renewed; a new page for ""."""
    made = f"{BEGIN}\n\n{section(rules)}\n\n{END}"
    if not text:
        return f"# {rules.name}\n\n## Arguments and checks\n\n{made}\n"
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        return f"{text.rstrip()}\n\n## Arguments and checks\n\n{made}\n"
    return f"{before}{made}{after}"


def outdated(folder: Path, names: Iterable[str] = ()) -> dict[Path, str]:
    """Pages that are missing or not up to date -> what they should hold."""
    wrong = {}
    for name in names or _rules.known():
        rules = _rules.find(name)
        if rules is None:
            raise LookupError(f"there are no rules for {name}")
        file = folder / f"{name}.md"
        text = file.read_text("utf-8") if file.exists() else ""
        wanted = page(rules, text)
        if wanted != text:
            wrong[file] = wanted
    return wrong


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m aclnn_py.diagnosis.rules_page", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("folder", type=Path, help="where the pages are")
    parser.add_argument("operator", nargs="*", help="default: every operator that has rules")
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 if a page is outdated")
    options = parser.parse_args(arguments)
    wrong = outdated(options.folder, options.operator)
    for file, text in wrong.items():
        print(f"{file}{' is not up to date' if options.check else ''}")
        if not options.check:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
    return 1 if wrong and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
