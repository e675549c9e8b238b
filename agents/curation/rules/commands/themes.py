"""Themes that a wish to forget may name ("my health"), and their memories, by tags, attributes and words. The themes are data."""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from agents.curation.rules.attributes.attribute_values import Reading, owners
from agents.curation.rules.attributes.readings import readings
from agents.curation.rules.statements.meaning import meaning
from agents.curation.rules.statements.normalise import normalise
from agents.curation.rules.statements.statement import statement
from agents.models.offline.rules.engine.languages import language_of
from schemas.memories.memories import Memory

OF_OTHERS: Final = frozenset({"family", "relationships"})
DEFAULT_LANGUAGE: Final = "en"
PROFESSION: Final = "profession"
TABLE: Final = Path(__file__).with_suffix(".json")
# "Ada Lovelace's" of "Ada Lovelace's daughter".
NAMED_OWNER: Final = re.compile(r"(?:[^\W\d_a-z][\w.-]{0,30} ){0,3}[^\W\d_][\w.-]{0,30}['’]s ")


class Theme(Struct, frozen=True, forbid_unknown_fields=True):
    """`named` are the words for the theme. A memory is about it by one of its `tags`, by an attribute that it states, or by its
    words: `words`, their `beginnings`, or letters `within` a word, as in German compounds. Words of `only_in` count in one
    language: French "pain" is bread, and Spanish "son" means "are"."""

    named: tuple[str, ...]
    tags: frozenset[str]
    attributes: frozenset[str] = frozenset()
    beginnings: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
    only_in: dict[str, tuple[str, ...]] = {}


def theme_of(topic: str) -> str | None:
    """The theme that these words name; None if they name anything else."""
    return named().get(normalise(topic))


def is_of_theme(memory: Memory, name: str) -> bool:
    """Whether a memory is about the user's own theme: a daughter's illness is not part of "my health"."""
    theme, pattern = table()[name], words_of(name, language_of(memory.text, memory.language) or DEFAULT_LANGUAGE)
    if name not in OF_OTHERS and any(pattern.search(each) is None for each in relatives(memory.text)):
        return False
    labels = {label.casefold() for label in (*memory.tags, memory.kind, *memory.kinds)}
    stated = [each for each in readings(memory.text) if each.owner <= names_in(memory.text)]
    if not labels.isdisjoint(theme.tags) or not theme.attributes.isdisjoint(each.attribute for each in stated):
        return True
    return pattern.search(" ".join(words_without_profession(memory.text, stated, theme))) is not None


def relatives(text: str) -> frozenset[str]:
    """The person's people and animals whom a statement is about, also behind the person's name: "Marta's daughter"."""
    named = NAMED_OWNER.match(text)
    return owners(text) if named is None else owners(text) | owners(text[named.end() :])


def names_in(text: str) -> frozenset[str]:
    """The names of a text, and its first word, which may be the person's name: "Marta moved to Lyon"."""
    return frozenset((*statement(text).names, *map(meaning, normalise(text).split()[:1])))


def words_without_profession(text: str, stated: Iterable[Reading], theme: Theme) -> list[str]:
    """The words of a statement. Those of a profession tell only about work: a dentist's health is another matter."""
    said = normalise(text).split()
    if PROFESSION in theme.attributes:
        return said
    professions = {word for each in stated if each.attribute == PROFESSION for word in each.value}
    return [each for each in said if meaning(each) not in professions]


@cache
def named() -> dict[str, str]:
    return {normalise(each): name for name, theme in table().items() for each in theme.named}


@cache
def words_of(name: str, language: str) -> re.Pattern[str]:
    """The words of a theme's memories in this language."""
    theme = table()[name]
    whole = [rf"\b{re.escape(normalise(each))}\b" for each in (*theme.words, *theme.only_in.get(language, ()))]
    beginnings = [rf"\b{re.escape(normalise(each))}" for each in theme.beginnings]
    return re.compile("|".join((*whole, *beginnings, *(re.escape(normalise(each)) for each in theme.within))))


@cache
def table() -> dict[str, Theme]:
    return msgspec.json.decode(TABLE.read_bytes(), type=dict[str, Theme])
