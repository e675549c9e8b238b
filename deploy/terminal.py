"""What the command line says to a person or a script: tables, lines, one-line errors, JSON."""

import sys
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from schemas import codec

console = Console(highlight=False, soft_wrap=False)
errors = Console(stderr=True, highlight=False, soft_wrap=True)


def say(text: str) -> None:
    console.print(text, markup=False)


def complain(text: str) -> None:
    """One line on stderr saying what to do."""
    errors.print(f"memstream: {text}", markup=False)


def emit(value: Any) -> None:
    """One JSON line on stdout, for scripts."""
    sys.stdout.buffer.write(codec.encode(value) + b"\n")
    sys.stdout.buffer.flush()


def show_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], wide: str = "") -> None:
    """A table that fits the terminal; the column named `wide` keeps at least half of it, the others fold."""
    table = Table(title=title, title_justify="left", title_style="bold", padding=(0, 1), pad_edge=False)
    room = console.width // 2
    for column in columns:
        table.add_column(
            column, overflow="fold", min_width=min(room, longest(rows, columns, wide)) if column == wide else None
        )
    for row in rows:
        table.add_row(*(cell.replace("[", "\\[") for cell in row))
    console.print(table)


def longest(rows: Sequence[Sequence[str]], columns: Sequence[str], column: str) -> int:
    """Characters of the column's longest cell."""
    return max((len(row[columns.index(column)]) for row in rows), default=0)
