"""The command `aclnn-py`. Imported only by it: click is needed for nothing else."""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import click

from . import __version__, catalogue, compiling, libraries, roots, stubs
from .info import info as get_info
from .operator import op, operators
from .prototype import PrototypeError
from .status import AclError, LibraryNotFound
from .status import explain as get_status


class _Commands(click.Group):
    """Errors of this package as one line and exit status 1, without a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise  # a reader that went away, such as `head`; click ends quietly
        except (LibraryNotFound, AclError, PrototypeError, OSError) as problem:
            raise click.ClickException(str(problem)) from problem


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="aclnn-py")
def cli() -> None:
    """Call CANN's aclnn operators, on an NPU or on the CPU emulator."""


@cli.command()
def info() -> None:
    """What is loaded, from where, and which device it found."""
    click.echo(get_info())
    root = libraries.root()
    for package in roots.custom_packages():
        click.echo(f"package   {package}")
    others, problems = catalogue.report(root)
    click.echo(f"headers   {len(catalogue.prototypes(root))} operators, {len(others)} other functions")
    for problem in problems:
        click.echo(f"unread    {problem}")


@cli.command()
@click.argument("codes", nargs=-1, required=True, metavar="CODE...")
def explain(codes: tuple[str, ...]) -> None:
    """What status codes mean: numbers (161002, 0x274ea) or names. Needs no library and no device."""
    try:
        found = [get_status(code) for code in codes]
    except ValueError as problem:
        raise click.ClickException(str(problem)) from None
    click.echo("\n\n".join(map(str, found)))


@cli.command()
@click.argument("pattern", default="*")
def ops(pattern: str) -> None:
    """The operators that the headers declare, e.g. "Mhc*"."""
    names = operators(pattern)
    if not names:
        raise click.ClickException(f"no header declares an operator {pattern}")
    click.echo("\n".join(names))


@cli.command()
@click.argument("name")
def show(name: str) -> None:
    """Parameters of an operator, its header and its library."""
    found = op(name)
    click.echo(found.__doc__)
    click.echo(libraries.which(name))


@cli.command(name="stubs")
@click.argument("pattern", default="*")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="the file to write, raw.pyi")
@click.option("--install", is_flag=True, help="write it beside aclnn_py/raw.py, where type checkers look")
def write_stubs(pattern: str, output: Path | None, install: bool) -> None:
    """Types of `aclnn_py.raw` for editors and type checkers: to a file, else to standard output."""
    root = libraries.root()
    known = catalogue.prototypes(root)
    content = stubs.text([known[name] for name in operators(pattern)], str(root))
    if install:
        output = Path(__file__).with_name("raw.pyi")
    if output is None:
        click.echo(content, nl=False)
        return
    output.write_text(content)
    click.echo(f"wrote {output}")


class _Compiler(click.Command):
    """A command whose arguments are another program's: no short option of ours, and what follows -- kept."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        split = args.index("--") if "--" in args else len(args)
        ctx.meta["program"] = args[split + 1 :]
        return super().parse_args(ctx, args[:split])


@cli.command(
    cls=_Compiler, context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]}
)
@click.option("--run", is_flag=True, help="run the program afterwards; without -o it is not kept")
@click.option("--show", "only_show", is_flag=True, help="print the compiler's command line and do nothing")
@click.argument(
    "arguments",
    nargs=-1,
    required=True,
    type=click.UNPROCESSED,
    metavar="SOURCE... [COMPILER ARGUMENTS] [-- PROGRAM ARGUMENTS]",
)
@click.pass_context
def cc(ctx: click.Context, run: bool, only_show: bool, arguments: tuple[str, ...]) -> None:
    """Compile and link a C or C++ program against CANN or the emulator.

    All arguments but --run and --show go to the compiler: aclnn-py cc --run sample.cpp -o sample -O2
    """
    given = list(arguments)
    if run and compiling.only_compiles(given):
        raise click.UsageError(
            "--run needs a program, and one of the compiler arguments stops before linking"
        )
    with tempfile.TemporaryDirectory() as folder:
        program = compiling.output(given)
        if program is None and run:
            program = Path(folder) / "program"
            given += ["-o", str(program)]
        line = compiling.command(given)
        if only_show:
            click.echo(shlex.join(line))
            return
        try:
            status = subprocess.run(line).returncode
            if status == 0 and run and program is not None:
                status = subprocess.run([str(program.resolve()), *ctx.meta["program"]]).returncode
        except KeyboardInterrupt:
            status = -signal.SIGINT
    sys.exit(status if status >= 0 else 128 - status)
