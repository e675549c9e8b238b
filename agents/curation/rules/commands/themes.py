"""Themes that a wish to forget may name ("my health"), and their memories, by tags and words. The themes are data."""

import re
from functools import cache
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from agents.curation.rules.attributes.attribute_values import owners
from agents.curation.rules.statements.normalise import normalise
from schemas.memories.memories import Memory

OF_OTHERS: Final = frozenset({"family", "relationships"})
MAX_WHOLE_WORD_LETTERS: Final = 3  # letters
TABLE: Final = Path(__file__).with_suffix(".json")


class Theme(Struct, frozen=True, forbid_unknown_fields=True):
    """`named` are the words for the theme, `tags` those of its memories, and `words` the beginnings of words in memories
    about it."""

    named: tuple[str, ...]
    tags: frozenset[str]
    words: tuple[str, ...]


def theme_of(topic: str) -> str | None:
    """The theme that these words name; None if they name anything else."""
    return named().get(normalise(topic))


def is_of_theme(memory: Memory, name: str) -> bool:
    """Whether a memory is about the user's own theme: a daughter's illness is not part of "my health"."""
    if name not in OF_OTHERS and owners(memory.text):
        return False
    labels = {label.casefold() for label in (*memory.tags, memory.kind, *memory.kinds)}
    return not labels.isdisjoint(table()[name].tags) or words_of(name).search(f" {normalise(memory.text)} ") is not None


@cache
def named() -> dict[str, str]:
    return {normalise(each): name for name, theme in table().items() for each in theme.named}


@cache
def words_of(name: str) -> re.Pattern[str]:
    """Patterns of the words: up to three letters match a whole word, longer ones a beginning."""
    listed = (normalise(each) for each in table()[name].words)
    return re.compile(
        "|".join(
            rf"\b{re.escape(each)}\b" if len(each) <= MAX_WHOLE_WORD_LETTERS else rf"\b{re.escape(each)}"
            for each in listed
        )
    )


@cache
def table() -> dict[str, Theme]:
    return msgspec.json.decode(TABLE.read_bytes(), type=dict[str, Theme])
