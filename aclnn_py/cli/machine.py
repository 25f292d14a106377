"""`aclnn-py info` and `doctor`: this machine."""

from __future__ import annotations

import json

import click

from .. import catalogue, libraries, roots
from ..diagnosis.doctor import INFORMATION, OK, PROBLEM, WARNING, examine
from .tables import paragraph

_COLOURS = {OK: "green", WARNING: "yellow", PROBLEM: "red", INFORMATION: "white"}
_MARKS = {OK: "ok", WARNING: "WARNING", PROBLEM: "PROBLEM", INFORMATION: ""}


@click.command(short_help="What is loaded, and from where.")
def info() -> None:
    """What is loaded, from where, and which device it found."""
    from ..info import info as get_info  # not for the doctor, who works without NumPy

    click.echo(get_info())
    root = libraries.root()
    for package in roots.custom_packages(root):
        click.echo(f"package   {package}")
    others, problems = catalogue.report(root)
    click.echo(f"headers   {len(catalogue.prototypes(root))} operators, {len(others)} other functions")
    for problem in problems:
        click.echo(f"unread    {problem}")


@click.command(short_help="Is this machine able to run aclnn?")
@click.option(
    "--json", "as_json", is_flag=True, help="the whole report as JSON, for programs and bug reports"
)
@click.option("--symbols", is_flag=True, help="also list which file each function of acl comes from")
@click.option("--no-device", is_flag=True, help="do not start ACL, so touch no device")
@click.pass_context
def doctor(ctx: click.Context, as_json: bool, symbols: bool, no_device: bool) -> None:
    """Is this machine able to run aclnn? What is there, what is missing, what does not fit.

    Looks at Python and its packages, the choice between CANN and the emulator, the environment, the libraries
    and which file each function comes from, copies that hide each other, driver and devices, versions, custom
    packages; then starts ACL in a process of its own and runs one small operator.

    Exit status 0 if nothing is a PROBLEM (warnings do not count), else 1.
    """
    report = examine(probe=not no_device)
    if as_json:
        click.echo(json.dumps(report.as_json(), indent=1))
        ctx.exit(0 if report.healthy else 1)
    section = ""
    for check in report.checks:
        if check.section != section:
            section = check.section
            click.echo(("\n" if check is not report.checks[0] else "") + click.style(section, bold=True))
        text = "\n".join(paragraph("", line, 2, 35) for line in check.text.splitlines()).lstrip()
        mark = click.style(f"{_MARKS[check.state]:<8}", fg=_COLOURS[check.state])
        click.echo(f"  {check.name:<26} {mark}" + text)
        if check.advice:
            click.echo(paragraph("", ("-> " if check.state != INFORMATION else "") + check.advice, 2, 35))
    if symbols:
        click.echo("\n" + click.style("functions", bold=True))
        for name, file in report.symbols.items():
            click.echo(f"  {name:<36} {file or 'not found'}")
    problems = sum(check.state == PROBLEM for check in report.checks)
    warnings = sum(check.state == WARNING for check in report.checks)
    counted = f"{problems} problem{'s' * (problems != 1)}, {warnings} warning{'s' * (warnings != 1)}"
    verdict = "this machine can run aclnn" if report.healthy else "this machine cannot run aclnn as it is"
    click.echo(f"\n{verdict} ({counted})")
    ctx.exit(0 if report.healthy else 1)
