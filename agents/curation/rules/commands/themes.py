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
from agents.curation.rules.commands.occupations import without_occupations
from agents.curation.rules.statements.meaning import meaning
from agents.curation.rules.statements.normalise import normalise
from agents.curation.rules.statements.statement import statement
from agents.curation.rules.statements.words import RELATIONS
from agents.models.offline.rules.engine.languages import language_of
from schemas.memories.memories import Memory

OF_OTHERS: Final = frozenset({"family", "relationships"})
DEFAULT_LANGUAGE: Final = "en"
PROFESSION: Final = "profession"
HEALTH: Final = "health"
TABLE: Final = Path(__file__).with_suffix(".json")
# "Ada Lovelace's" of "Ada Lovelace's daughter".
NAMED_OWNER: Final = re.compile(r"(?:[^\W\d_a-z][\w.-]{0,30} ){0,3}[^\W\d_][\w.-]{0,30}['’]s ")
# What stands around the words of a theme that count with an owner only: "User's older brother", "hat eine Frau".
OWNER: Final = (
    r"(?:users|his|her|their|(?:has|have|had|got|with|expecting)(?: an?| no)?|seine?[mnrs]?|ihre?[mnrs]?|sa|son|ses|leurs?|sus?"
    r"|tiene|(?:hat|a)(?= (?:k?eine?n?|zwei|drei|vier|une?|deux|trois|quatre) ))"
)
WHICH: Final = (
    r"(?: (?:older|younger|elder|eldest|oldest|youngest|late|little|big|twin|half|adult|new|old|first|one|two|three|four|five|0"
    r"|k?eine?n?|zwei|drei|vier|ältere[nrm]?|jüngere[nrm]?|une?|deux|trois|quatre|grande?|una?|dos|tres))*"
)
OWNER_BEHIND: Final = "(?:des nutzers|der nutzerin|de l utilisateur|de l utilisatrice|del usuario|de la usuaria)"
NUMBER: Final = re.compile(r"\b\d+(?:\.\d+)?\b")
ALONE: Final = r"\b(?! (?:plant|tongue)\b)"  # no first word of "house plant", "mother tongue"
RELATIVES: Final = RELATIONS - {"team"}
# Those that mean something else in the other languages.
RELATIVES_IN: Final = {"son": "en", "kind": "de", "chat": "fr"}


class Theme(Struct, frozen=True, forbid_unknown_fields=True):
    """`named` are the words for the theme. A memory is about it by one of its `tags`, by an attribute that it states, or by its
    words: `words`, their `beginnings`, or letters `within` a word, as in German compounds. Words that are `owned` count with an
    owner: "User's mother" and "die Frau des Nutzers", not "Mother Teresa" and "Frau Weber". Words of `only_in` count in one
    language: French "pain" is bread, and Spanish "son" means "are". Every number is 0: "weighs 0 kg"."""

    named: tuple[str, ...]
    tags: frozenset[str]
    attributes: frozenset[str] = frozenset()
    beginnings: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    owned: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
    only_in: dict[str, tuple[str, ...]] = {}


def theme_of(topic: str) -> str | None:
    """The theme that these words name; None if they name anything else."""
    return named().get(normalise(topic))


def is_of_theme(memory: Memory, name: str) -> bool:
    """Whether a memory is about the user's own theme: a daughter's illness is not part of "my health"."""
    language = language_of(memory.text, memory.language) or DEFAULT_LANGUAGE
    theme, pattern = table()[name], words_of(name, language)
    if name not in OF_OTHERS and any(pattern.search(f"users {each}") is None for each in relatives(memory.text)):
        return False
    labels = {label.casefold() for label in (*memory.tags, memory.kind, *memory.kinds)}
    stated = [each for each in readings(memory.text) if each.owner <= names_in(memory.text)]
    if not labels.isdisjoint(theme.tags) or not theme.attributes.isdisjoint(each.attribute for each in stated):
        return True
    keeps_occupations = name in OF_OTHERS or PROFESSION in theme.attributes
    said = searched_words(memory.text if keeps_occupations else without_occupations(memory.text), stated, theme)
    found = pattern.finditer(said)
    return any(name != HEALTH or not is_behind_relation(said[: each.start()], language) for each in found)


def is_behind_relation(before: str, language: str) -> bool:
    """Whether a relative or animal is named before a word: "has two cats with diabetes", "User's wife's asthma"; not "has a cat
    allergy"."""
    said = before.split()
    named = RELATIVES.intersection((*said[:-1], *(each.removesuffix("s") for each in said if each.endswith("s"))))
    return any(RELATIVES_IN.get(each, language) == language for each in named)


def relatives(text: str) -> frozenset[str]:
    """The person's people and animals whom a statement is about, also behind the person's name: "Marta's daughter"."""
    named = NAMED_OWNER.match(text)
    return owners(text) if named is None else owners(text) | owners(text[named.end() :])


def names_in(text: str) -> frozenset[str]:
    """The names of a text, and its first word, which may be the person's name: "Marta moved to Lyon"."""
    return frozenset((*statement(text).names, *map(meaning, normalise(text).split()[:1])))


def searched_words(text: str, stated: Iterable[Reading], theme: Theme) -> str:
    """The words of a statement, with "User's" for a named owner. Those of a profession tell only about work: a dentist's health
    is another matter."""
    named = NAMED_OWNER.match(text)
    said = NUMBER.sub("0", normalise(text if named is None else f"User's {text[named.end() :]}")).split()
    if PROFESSION in theme.attributes:
        return " ".join(said)
    professions = {word for each in stated if each.attribute == PROFESSION for word in each.value}
    return " ".join(each for each in said if meaning(each) not in professions)


@cache
def named() -> dict[str, str]:
    return {normalise(each): name for name, theme in table().items() for each in theme.named}


@cache
def words_of(name: str, language: str) -> re.Pattern[str]:
    """The words of a theme's memories in this language."""
    theme = table()[name]
    whole = [rf"\b{re.escape(normalise(each))}{ALONE}" for each in (*theme.words, *theme.only_in.get(language, ()))]
    beginnings = [rf"\b{re.escape(normalise(each))}" for each in theme.beginnings]
    within = [re.escape(normalise(each)) for each in theme.within]
    if theme.owned:
        owned = "|".join(re.escape(normalise(each)) for each in theme.owned)
        whole += [rf"\b{OWNER}{WHICH} (?:{owned}){ALONE}", rf"\b(?:{owned}) {OWNER_BEHIND}\b"]
    return re.compile("|".join((*whole, *beginnings, *within)))


@cache
def table() -> dict[str, Theme]:
    return msgspec.json.decode(TABLE.read_bytes(), type=dict[str, Theme])
