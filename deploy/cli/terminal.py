"""Output of the command line, for people and scripts: tables, lines, one-line errors, JSON."""

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from schemas import codec

T = TypeVar("T")

MAX_COLUMN_CHARACTERS = 26  # characters per column other than the wide one; longer cells fold
UUID: Final = re.compile(r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", re.MULTILINE)
UUID_CHARACTERS: Final = 36
LOG_WIDTH = 120  # logs and pipes have no width

console = Console(highlight=False, width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else LOG_WIDTH)
errors = Console(stderr=True, highlight=False, soft_wrap=True)


def print_line(text: str) -> None:
    console.print(text, markup=False, soft_wrap=True)


def print_error(text: str) -> None:
    """Prints one line on stderr."""
    errors.print(f"memstream: {text}", markup=False)


def print_json(value: Any) -> None:
    """Prints a value as one JSON line on stdout, for scripts."""
    sys.stdout.buffer.write(codec.encode(value) + b"\n")
    sys.stdout.buffer.flush()


def unchanged(value: Any) -> Any:
    return value


def show_list(
    found: Sequence[T],
    json: bool,
    title: str,
    columns: Sequence[str],
    row: Callable[[T], Sequence[str]],
    *,
    fields: Callable[[T], Any] = unchanged,
    wide: str = "",
    empty_text: str = "",
) -> None:
    """Prints the `fields` of each item as a JSON line, or all items as a table of `row`s. An empty table is replaced by the
    text `empty_text`, if given."""
    if json:
        for each in found:
            print_json(fields(each))
    elif found or not empty_text:
        show_table(title, columns, [row(each) for each in found], wide)
    else:
        print_line(empty_text)


def show_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], wide: str = "") -> None:
    """Prints a table as wide as the terminal. The column named `wide` takes the remaining width."""
    show_groups(title, columns, {"": rows}, wide)


def show_groups(
    title: str,
    columns: Sequence[str],
    groups: Mapping[str, Sequence[Sequence[str]]],
    wide: str = "",
    max_characters: int = MAX_COLUMN_CHARACTERS,
) -> None:
    """Prints one table per group with a heading and shared column widths. Cells longer than `max_characters` characters fold,
    except UUIDs, which are there to be copied, and cells of the column `wide`."""
    rows = [row for group in groups.values() for row in group]
    console.print(title, style="bold", markup=False)
    for number, (name, group) in enumerate(groups.items()):
        if name:
            console.print(f"\n{name}", style="cyan", markup=False)
        table = Table(box=box.SIMPLE_HEAD, show_header=number == 0, padding=(0, 1), pad_edge=False, expand=bool(wide))
        for column in columns:
            ratio, width = (1, None) if column == wide else (None, column_width(rows, columns, column, max_characters))
            table.add_column(column, overflow="fold", ratio=ratio, width=width)
        for row in group:
            table.add_row(*(Text(cell) for cell in row))
        console.print(table)


def column_width(rows: Sequence[Sequence[str]], columns: Sequence[str], column: str, max_characters: int) -> int:
    """Returns the length in characters of the column's longest cell or its name, at most `max_characters`, or as much as a
    UUID in it needs."""
    cells = [row[columns.index(column)] for row in rows]
    most = max(max_characters, UUID_CHARACTERS) if any(map(UUID.search, cells)) else max_characters
    return min(most, max([len(column), *map(len, cells)]))
