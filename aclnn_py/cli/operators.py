"""`aclnn-py ops`, `show` and `stubs`: the operators of the install."""

from __future__ import annotations

from pathlib import Path

import click

from .. import catalogue, libraries
from .. import stubs as typing_stubs
from ..operator import op, operators


@click.command(short_help="List the operators of the install.")
@click.argument("pattern", default="*")
def ops(pattern: str) -> None:
    """The operators that the headers declare, e.g. "Mhc*"."""
    names = operators(pattern)
    if not names:
        raise click.ClickException(f"no header declares an operator {pattern}")
    click.echo("\n".join(names))


@click.command(short_help="Parameters of an operator, its header, its library.")
@click.argument("name")
def show(name: str) -> None:
    """Parameters of an operator, its header and its library."""
    found = op(name)
    click.echo(found.__doc__)
    click.echo(libraries.which(name))


@click.command(short_help="Types of the operators, for editors.")
@click.argument("pattern", default="*")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="the file to write, raw.pyi")
@click.option("--install", is_flag=True, help="write it beside aclnn_py/raw.py, where type checkers look")
def stubs(pattern: str, output: Path | None, install: bool) -> None:
    """Types of `aclnn_py.raw` for editors and type checkers: to a file, else to standard output."""
    root = libraries.root()
    known = catalogue.prototypes(root)
    content = typing_stubs.text([known[name] for name in operators(pattern)], str(root))
    if install:
        output = Path(typing_stubs.__file__).with_name("raw.pyi")
    if output is None:
        click.echo(content, nl=False)
        return
    output.write_text(content, "utf-8", "replace")
    click.echo(f"wrote {output}")
