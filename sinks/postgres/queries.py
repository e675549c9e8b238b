"""SQL by name: statements are in `<noun>.sql` beside the module that runs them, each under a line `-- name: <statement>`."""

from functools import cache
from pathlib import Path

ROOMS = Path(__file__).parents[1]
MARK = "-- name: "


@cache
def query(noun: str, name: str) -> str:
    """The statement `name` of `sinks/*/<noun>.sql`, read once per process. Raises KeyError if there is none."""
    return statements(file_of(noun).read_text(encoding="utf-8"))[name]


def file_of(noun: str) -> Path:
    """The file of that name in any room. Raises KeyError unless there is exactly one."""
    found = list(ROOMS.glob(f"*/{noun}.sql"))
    if len(found) != 1:
        raise KeyError(f"sinks/*/{noun}.sql: {len(found)} files, expected one")
    return found[0]


def statements(text: str) -> dict[str, str]:
    """The statements of one file by name."""
    sections = (section.partition("\n") for section in ("\n" + text).split("\n" + MARK)[1:])
    return {name.strip(): body.strip() for name, _, body in sections}
