"""`aclnn-py cc`: C and C++ programs against CANN or the emulator."""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import click

from .. import compiling


class _Compiler(click.Command):
    """A command whose arguments are another program's: no short option of ours, and what follows -- kept."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        split = args.index("--") if "--" in args else len(args)
        ctx.meta["program"] = args[split + 1 :]
        return super().parse_args(ctx, args[:split])


@click.command(
    cls=_Compiler,
    short_help="Compile a C or C++ program.",
    context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]},
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
