"""Attributes with one value at a time, their phrases, and the words of change: the data of `attributes.json`."""

from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from agents.curation.rules.statements import words

TABLE: Final = Path(__file__).with_name("attributes.json")


class Attribute(Struct, frozen=True, forbid_unknown_fields=True):
    """An attribute with one value at a time. `of` is the form of its values. `begins`: the value begins on the statement's
    day, as a home does. `marked`: several values may hold, unless the later statement says "now"."""

    of: Literal["name", "town", "home", "word", "rest", "language", "means", "place", "choice", "age", "profession"]
    said_as: tuple[str, ...] = msgspec.field(name="said as")
    begins: bool = False
    marked: bool = False


class Table(Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `attributes.json`.

    - `states`: phrases that exclude each other. `nouns`: nouns before an "is", some of which are equal; those `named` are
      distinguished by names only; of those in `several` there may be more than one.
    - `leaving` ends an employment or a home, `parting` a partnership, `moving house` a home that is not named.
    - `given up` ends a thing at once, `finished` only something that lasted; `particles` belong to such verbs. `not yet`
      ends nothing.
    - The districts of `metropolises` are named as homes; `cities` are no districts.
    - `general` words name no thing. `exclusive` verbs have one object at a time.
    """

    single: dict[str, Attribute]
    nouns: tuple[str, ...]
    named: tuple[str, ...]
    states: dict[str, dict[str, tuple[str, ...]]]
    compatible: tuple[tuple[str, str], ...]
    markers: tuple[str, ...]
    professions: frozenset[str]
    leaving: frozenset[str]
    parting: tuple[str, ...]
    partners: frozenset[str]
    means: frozenset[str]
    same_means: dict[str, str] = msgspec.field(name="same means")
    roles: frozenset[str]
    nationalities: frozenset[str]
    same_verb: dict[str, str] = msgspec.field(name="same verb")
    ailing: frozenset[str]
    acute: frozenset[str]
    well: frozenset[str]
    after_healing: frozenset[str] = msgspec.field(name="after healing")
    died: frozenset[str]
    alive: frozenset[str]
    births: tuple[str, ...]
    expecting: frozenset[str]
    graduated: frozenset[str]
    studying: frozenset[str]
    degrees: frozenset[str]
    moving_house: tuple[str, ...] = msgspec.field(name="moving house")
    living: frozenset[str]
    several: frozenset[str]
    same_noun: dict[str, str] = msgspec.field(name="same noun")
    places: frozenset[str] = msgspec.field(name="places within others")
    metropolises: frozenset[str]
    cities: frozenset[str]
    same_place: dict[str, str] = msgspec.field(name="same place")
    languages: frozenset[str]
    moved: frozenset[str]
    holding: frozenset[str]
    opposed: tuple[str, ...]
    one_of: tuple[tuple[str, ...], ...] = msgspec.field(name="one of")
    past: frozenset[str]
    switched: frozenset[str]
    given_up: frozenset[str] = msgspec.field(name="given up")
    finished: frozenset[str]
    particles: frozenset[str]
    sought: frozenset[str]
    found: frozenset[str]
    planned: frozenset[str]
    not_yet: frozenset[str] = msgspec.field(name="not yet")
    general: frozenset[str]
    exclusive: frozenset[str]
    also: frozenset[str]
    indefinite: frozenset[str]


@cache
def table() -> Table:
    return msgspec.json.decode(TABLE.read_bytes(), type=Table)


@cache
def opposed_words() -> dict[str, frozenset[str]]:
    """Pairs of opposites: those of the guards, and those used only for conflicts."""
    pairs: list[Any] = [*words.ANTONYMS, *(each.split("/") for each in table().opposed)]
    return {
        word: frozenset(other for pair in pairs if word in pair for other in pair if other != word)
        for word in {word for pair in pairs for word in pair}
    }


@cache
def alternatives() -> dict[str, frozenset[str]]:
    """Words that exclude each other, such as currencies, each with the others of its group."""
    return {word: frozenset(group) - {word} for group in table().one_of for word in group}
