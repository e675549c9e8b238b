"""SQL by name: the statements live in `sql/<noun>.sql`, each under a line `-- name: <statement>`."""

from functools import cache
from pathlib import Path

MARK = "-- name: "


@cache
def query(noun: str, name: str) -> str:
    """The statement `name` of `sql/<noun>.sql`, read once a process. Raises KeyError when there is none."""
    return statements((Path(__file__).parent / "sql" / f"{noun}.sql").read_text(encoding="utf-8"))[name]


def statements(text: str) -> dict[str, str]:
    """The statements of one file by name."""
    sections = (section.partition("\n") for section in ("\n" + text).split("\n" + MARK)[1:])
    return {name.strip(): body.strip() for name, _, body in sections}
