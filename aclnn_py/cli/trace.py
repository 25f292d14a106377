"""`aclnn-py trace`: what a traced program called."""

from __future__ import annotations

import time

import click

from ..diagnosis import trace_reading
from .tables import table


@click.group(short_help="show the calls of a traced program")
def trace() -> None:
    """Files of aclnn.trace, or of a program run with ACLNN_PY_TRACE=run.jsonl."""


@trace.command(short_help="the calls, and totals by operator")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option("--errors", is_flag=True, help="only calls that failed")
@click.option("--op", "pattern", default="", metavar="PATTERN", help="only these operators, such as 'Mhc*'")
@click.option("--summary", is_flag=True, help="only the totals by operator")
@click.option("--limit", type=click.IntRange(0), default=0, metavar="N", help="only the last N of them")
@click.option("--arguments/--no-arguments", default=True, help="whether to show them", show_default=True)
def show(file: str, errors: bool, pattern: str, summary: bool, limit: int, arguments: bool) -> None:
    """Shows the calls of a trace, and the totals by operator.

    \b
      aclnn-py trace show run.jsonl
      aclnn-py trace show --errors run.jsonl
      aclnn-py trace show --op 'MhcPre*' --summary run.jsonl

    Times are those of the host: until the work is on the stream, not until it is done. Exit status 1 if the
    file is no trace.
    """
    try:
        found = trace_reading.read(file)
    except trace_reading.NotATrace as problem:
        raise click.ClickException(str(problem)) from None
    calls = list(trace_reading.chosen(found.calls, pattern, errors))
    start = min((head["time"] for head in found.heads), default=0.0)
    if not summary and calls:
        rows = [_row(call, start, arguments) for call in calls[-limit:]]
        headers = ["n", "at s", "op", "kind", "status", "us", "thread", "stream"]
        table(rows, [*headers, "arguments"] if arguments else headers)
        _failures(calls[-limit:])
        click.echo()
    totals = trace_reading.totals(calls)
    if totals:
        lines = [
            [name, str(t.calls), str(t.failed), _us(t.seconds), _us(t.seconds / t.calls), _us(t.longest)]
            for name, t in totals.items()
        ]
        table(lines, ["op", "calls", "failed", "us in all", "us each", "us most"])
    head = found.heads[0]
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(head["time"]))
    processes = f"{len({str(h.get('pid')) for h in found.heads})} process(es)"
    click.echo(f"{len(calls)} of {len(found.calls)} calls, {processes}, begun {when}: {head.get('program')}")
    if found.damaged:
        click.echo(f"{found.damaged} line(s) could not be read: cut off, or not written by aclnn.trace")


def _row(call: dict[str, object], start: float, arguments: bool) -> list[str]:
    status = call.get("status")
    row = [
        str(call.get("n")),
        f"{float(call.get('time') or 0) - start:.6f}",  # type: ignore[arg-type]
        str(call.get("op")),
        str(call.get("kind")),
        str(call.get("name")) if status is None else str(status),
        _us(float(call.get("seconds") or 0)),  # type: ignore[arg-type]
        str(call.get("thread_name")),
        str(call.get("stream")),
    ]
    if arguments:
        given = call.get("arguments")
        row.append("; ".join(map(trace_reading.shown, given)) if isinstance(given, list) else "?")
    return row


def _failures(calls: list[dict[str, object]]) -> None:
    for call in calls:
        if call.get("status") != 0:
            known = f"{call.get('status') or ''} {call.get('name')}".strip()
            first = str(call.get("error") or "").split("\n", 1)[0]
            click.echo(f"call {call.get('n')}, {call.get('op')}: {known}: {first}")


def _us(seconds: float) -> str:
    return f"{seconds * 1e6:.1f}"
