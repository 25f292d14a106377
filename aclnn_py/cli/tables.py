"""Output of the commands: tables and paragraphs, plain text where it goes to a file or a pipe."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Sequence
from importlib.util import find_spec

import click


def width() -> int:
    """Columns to write in: the terminal's, 100 otherwise."""
    return max(60, min(shutil.get_terminal_size((100, 24)).columns, 120)) if _on_terminal() else 100


def _on_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()  # None: it was closed when Python started


def table(rows: Sequence[Sequence[str]], headers: Sequence[str]) -> None:
    """Writes rows under headers: by rich on a terminal if it is installed, else in columns of plain text."""
    if _on_terminal() and find_spec("rich") is not None:
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        made = Table(box=None, pad_edge=False, header_style="bold")
        for header in headers:
            made.add_column(header, overflow="fold")
        for row in rows:
            made.add_row(*(Text(cell) for cell in row))
        Console().print(made)
        return
    cells = [list(headers), *map(list, rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(headers))]
    for row in cells:
        click.echo("  ".join(f"{cell:<{size}}" for cell, size in zip(row, widths)).rstrip())


def paragraph(label: str, text: str, indent: int = 4, column: int = 10) -> str:
    """ "    label     text", wrapped with the text in its own column."""
    first = " " * indent + f"{label:<{column}}"
    return textwrap.fill(
        text,
        width(),
        initial_indent=first,
        subsequent_indent=" " * len(first),
        break_long_words=False,
        break_on_hyphens=False,
    )
