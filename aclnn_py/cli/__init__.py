"""The command `aclnn-py`: one module per group of commands, imported when one of them is asked for.

Imported only by `aclnn_py.__main__`: click, and rich where it is installed, are needed for nothing else.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

import click

from .. import _no_numpy
from .._version import __version__
from ..prototype import PrototypeError
from ..status import AclError, LibraryNotFound

# Command -> the module of this package that holds it, in the order of the help text; a command `x-y` is the
# attribute x_y.
COMMANDS = {
    "explain": "explain",
    "trace": "trace",
    "replay": "replay",
    "doctor": "machine",
    "info": "machine",
    "ops": "operators",
    "show": "operators",
    "stubs": "operators",
    "cc": "compiler",
    "export-opp": "export_opp",
}


WITHOUT_NUMPY = ("doctor", "explain")  # for a machine where things are missing


def _unusable(name: str, problem: str) -> click.Command:
    """A command that only says why it cannot run."""

    @click.command(name, short_help="(needs NumPy)", context_settings={"ignore_unknown_options": True})
    @click.argument("rest", nargs=-1, type=click.UNPROCESSED)
    def command(rest: tuple[str, ...]) -> None:
        raise click.ClickException(
            f"{name} needs NumPy, which cannot be imported: {problem}; see aclnn-py doctor"
        )

    return command


def discard_output() -> None:
    """What is still buffered goes nowhere, so that the interpreter does not complain about it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Commands(click.Group):
    """Errors of this package as one line and exit status 1, without a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        if cmd_name not in WITHOUT_NUMPY and _no_numpy is not None:
            return _unusable(cmd_name, str(_no_numpy))
        module = importlib.import_module(f"{__name__}.{COMMANDS[cmd_name]}")
        command: click.Command = getattr(module, cmd_name.replace("-", "_"))
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            discard_output()  # a reader that went away, such as `head`
            ctx.exit(0)
        except (LibraryNotFound, AclError, PrototypeError, OSError) as problem:
            raise click.ClickException(str(problem)) from problem


@click.group(
    cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, prog_name="aclnn-py")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Call CANN's aclnn operators, on an NPU or on the CPU emulator.

    \b
    Something failed?   aclnn-py explain 161002        what a status code means and what to do
                        program 2>&1 | aclnn-py explain -        find the cause in a log
    Nothing works yet?  aclnn-py doctor                what this machine has, what is missing

    Exit status: 0 fine, 1 an error, 2 wrong usage. Output is plain text when it goes to a file or a pipe,
    and without colours where NO_COLOR is set.
    """
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        ctx.color = False
