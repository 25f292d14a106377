"""`aclnn-py explain`: what status codes and logs mean."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from ..diagnosis import explain as say
from ..diagnosis import logfiles
from ..diagnosis.codes import Note, find
from ..diagnosis.logs import Log
from ..status import Status
from .tables import paragraph


@click.command(
    short_help="What a status code or a log means.",
    context_settings={"ignore_unknown_options": True},  # -161002 is a code
)
@click.argument("what", nargs=-1, type=click.UNPROCESSED, metavar="[CODE | LOG | -]...")
@click.option("--op", "operator", metavar="NAME", help="add this operator's parameters and rules")
@click.option("--json", "as_json", is_flag=True, help="the same as JSON")
@click.pass_context
def explain(ctx: click.Context, what: tuple[str, ...], operator: str | None, as_json: bool) -> None:
    """What a status code means and what to do, or what went wrong in a log.

    CODE is a number (161002, 0x274ea, -161002), a name (ACLNN_ERR_PARAM_INVALID), a message code (EZ1001), a
    device code (retCode=0x31), or a quoted piece of text that holds one. LOG is a file, a folder of logs such
    as ~/ascend/log, or - for standard input.

    \b
      aclnn-py explain 161002 507035
      aclnn-py explain --op aclnnMhcPreSinkhorn 161002
      python train.py 2>&1 | aclnn-py explain -

    In a log the deepest failure of each process is marked as its cause; codes that only pass it on are called
    wrappers, what came after it follow-ups. Needs no library and no device.

    Exit status 1 if a code is not known by number or name, or a log has none.
    """
    if not what and operator is None:
        raise click.UsageError("give a code, a log file, or - for standard input; see --help")
    logs = [item for item in what if is_log(item)]
    codes = [code for item in what if item not in logs for code in several(item)]
    meanings: list[Status | Note] = []
    for text in codes:
        try:
            meanings.append(find(text))
        except ValueError as problem:
            missing = f"; there is no file {text}" if logfiles.looks_like_a_path(text) else ""
            raise click.ClickException(f"{problem}{missing}") from None
    data: list[Any] = []
    parts: list[str] = []
    for meaning in meanings:
        parts.append(block(say.title(meaning), say.rows(meaning)))
        code = meaning.code
        layer = {"layer": meaning.layer} if isinstance(meaning, Status) else {}
        data.append({"code": code, "title": say.title(meaning), **layer, **dict(say.rows(meaning))})
    if operator is not None:
        name = say.full_name(operator)
        wanted = [m.code for m in meanings if isinstance(m, Status)]
        try:
            rows = say.operator_rows(name, wanted[0] if len(wanted) == 1 else None)
        except say.UnknownOperator as problem:
            raise click.ClickException(str(problem)) from None
        parts.append(block(name, rows))
        data.append({"operator": name, "rows": [text for _, text in rows]})
    if parts and not as_json:
        click.echo("\n\n".join(parts))
    found, interrupted = not logs, False
    known = all(m.name for m in meanings)
    for i, item in enumerate(logs):
        log = Log()
        interrupted = read(log, item)
        if as_json:
            data.append({"log": item, **say.as_json(log)})
        else:
            click.echo(("\n" if parts or i else "") + report(item, log))
        found |= bool(log.processes())
    if as_json:
        click.echo(json.dumps(data if len(data) != 1 else data[0], indent=1))
    ctx.exit(130 if interrupted else 0 if found and known else 1)


def several(item: str) -> list[str]:
    """The codes of an argument such as 161002,507035."""
    return item.split(",") if re.fullmatch(r"-?\w+(,-?\w+)+", item) else [item]


def is_log(item: str) -> bool:
    """Whether an argument is a log: "-", or something with the look of a path that exists."""
    if item == "-":
        return True
    return bool(item.strip()) and not item.isdigit() and os.path.exists(os.path.expanduser(item))


def read(log: Log, item: str) -> bool:
    """Reads a log, a folder of them or standard input. True if Ctrl-C ended it: what came is told anyway."""
    try:
        if item == "-" and sys.stdin is None:
            raise click.ClickException("standard input is closed")
        if item == "-":
            problems = [logfiles.read(log, sys.stdin.buffer, "standard input")]
        else:
            problems = [read_file(log, path, item) for path in files(Path(item).expanduser())]
        for problem in filter(None, problems):
            click.echo(problem, err=True)
    except KeyboardInterrupt:
        return True
    return False


def files(path: Path) -> Iterator[Path]:
    """The log files of a folder, the oldest first, or the file itself."""
    found = list(logfiles.in_folder(path)) if path.is_dir() else [path]
    if not found:
        raise click.ClickException(f"{path} is a folder without *.log files")
    yield from found


def read_file(log: Log, path: Path, item: str) -> str:
    """Reads one file. What was wrong with it, "" if nothing was. OSError if it is all that was asked for."""
    try:
        with path.open("rb") as stream:
            return logfiles.read(log, stream, str(path))
    except OSError as problem:
        if path == Path(item).expanduser():
            raise
        return str(problem)


def block(title: str, rows: list[say.Row], indent: int = 2) -> str:
    return "\n".join([" " * (indent - 2) + title, *(paragraph(k, v, indent) for k, v in rows)])


def report(name: str, log: Log) -> str:
    """What a log says, as text."""
    processes = log.processes()
    source = "standard input" if name == "-" else name
    if not processes:
        return f"{source}: no status code in {log.lines} lines"
    several = len(processes) > 1
    parts = [
        f"{source}: {log.lines} lines" + (f", {len(processes)} processes with errors" if several else "")
    ]
    for i, process in enumerate(processes):
        lines = []
        title = say.process_title(process, several)
        if title:
            lines.append(title + (", the first to fail" if several and i == 0 else ""))
        root = process.root
        ordered = sorted(process.findings.values(), key=lambda f: (f is not root, f.line))
        for finding in ordered:
            text = say.headline(finding)
            lines.append("  " + (click.style(text, bold=True, fg="red") if finding is root else text))
            if finding is root:
                lines += [paragraph(k, v, 4) for k, v in say.cause_rows(process, finding)]
            else:
                lines.append(paragraph("", say.short(finding, root), 2))
        lines += [paragraph(k, v, 2) for k, v in say.framework_rows(process)]
        if root is None:
            lines += [paragraph(k, v, 2) for k, v in say.without_code_rows(process)]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)
