"""What the command line says to a person or a script: tables, lines, one-line errors, JSON."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from schemas import codec

T = TypeVar("T")

WIDEST = 26  # characters of a column that is not the wide one; longer cells fold
LOG_WIDTH = 120  # a log or a pipe has no width of its own

console = Console(highlight=False, width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else LOG_WIDTH)
errors = Console(stderr=True, highlight=False, soft_wrap=True)


def print_line(text: str) -> None:
    console.print(text, markup=False, soft_wrap=True)


def print_error(text: str) -> None:
    """One line on stderr saying what to do."""
    errors.print(f"memstream: {text}", markup=False)


def print_json(value: Any) -> None:
    """One JSON line on stdout, for scripts."""
    sys.stdout.buffer.write(codec.encode(value) + b"\n")
    sys.stdout.buffer.flush()


def as_it_is(value: Any) -> Any:
    return value


def show_list(
    found: Sequence[T],
    json: bool,
    title: str,
    columns: Sequence[str],
    row: Callable[[T], Sequence[str]],
    *,
    fields: Callable[[T], Any] = as_it_is,
    wide: str = "",
    none: str = "",
) -> None:
    """JSON lines of each one's `fields`, or a table with a `row` for each. Where there are none, the text `none`, if given."""
    if json:
        for each in found:
            print_json(fields(each))
    elif found or not none:
        show_table(title, columns, [row(each) for each in found], wide)
    else:
        print_line(none)


def show_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], wide: str = "") -> None:
    """A table as wide as the terminal: the column named `wide` takes the room that the others leave."""
    show_groups(title, columns, {"": rows}, wide)


def show_groups(
    title: str,
    columns: Sequence[str],
    groups: Mapping[str, Sequence[Sequence[str]]],
    wide: str = "",
    widest: int = WIDEST,
) -> None:
    """One table in parts, each under its name; columns stand under each other throughout. Cells over `widest` characters fold."""
    rows = [row for group in groups.values() for row in group]
    console.print(title, style="bold", markup=False)
    for number, (name, group) in enumerate(groups.items()):
        if name:
            console.print(f"\n{name}", style="cyan", markup=False)
        table = Table(box=box.SIMPLE_HEAD, show_header=number == 0, padding=(0, 1), pad_edge=False, expand=bool(wide))
        for column in columns:
            ratio, width = (1, None) if column == wide else (None, min(widest, longest(rows, columns, column)))
            table.add_column(column, overflow="fold", ratio=ratio, width=width)
        for row in group:
            table.add_row(*(Text(cell) for cell in row))
        console.print(table)


def longest(rows: Sequence[Sequence[str]], columns: Sequence[str], column: str) -> int:
    """Characters of the column's longest cell or its name."""
    return max([len(column), *(len(row[columns.index(column)]) for row in rows)])
