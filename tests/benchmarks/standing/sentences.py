"""Labelled sentences, written for training and testing the classifier of limits and standing wishes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal, NamedTuple

FOLDER: Final = Path(__file__).with_name("labelled")
Label = Literal["limit", "wish", "self", "unreal", "none"]
PLACES: Final = {"limit": 1, "wish": 2}  # of the others: 0
OF_MEMORIES: Final = ("User", "Der Nutzer", "L'utilisat", "El usuario", "La usuaria", "Al usuario")


class Sentence(NamedTuple):
    """`self` is another statement about oneself, `unreal` one about others, made up, supposed or quoted."""

    language: str
    topic: str
    label: Label
    text: str

    @property
    def place(self) -> int:
        return PLACES.get(self.label, 0)

    @property
    def is_memory(self) -> bool:
        """Whether it is worded as a memory, in the third person."""
        return self.text.startswith(OF_MEMORIES)


def files(folder: Path = FOLDER) -> list[Path]:
    return sorted(folder.glob("*.txt"))


def sentences(folder: Path = FOLDER) -> Iterator[Sentence]:
    """A line each, behind a heading `== topic label`, in a file a language."""
    for path in files(folder):
        topic, label = "", "none"
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("== "):
                _, topic, label = line.split()
            elif line:
                yield Sentence(path.stem, topic, label, line)  # type: ignore[arg-type]
