"""Reads of whom or what a statement tells which attribute, with which value. What counts as an attribute is data."""

import re
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from agents.curation.rules import words
from agents.curation.rules.meaning import meaning
from agents.curation.rules.normalise import normalise
from agents.curation.rules.statement import UNSPACED, Statement, statement

TABLE: Final = Path(__file__).with_name("attributes.json")
CLAUSE_ENDS: Final = re.compile(r"[,;.()]| (?:since|because|with|and|until|from|seit|weil|mit|und|depuis|desde) ")
WORD: Final = re.compile(r"[^\W_][\w'’.-]*", re.UNICODE)
ADVERBS: Final = words.words(
    "now currently recently just again already also soon jetzt inzwischen wieder bald maintenant désormais ahora ya"
    " said gesagt here first second third"
)


class Attribute(Struct, frozen=True, forbid_unknown_fields=True):
    """Something that one has one of at a time. `of` is the form of its values; `begins`: it begins on a day of its own."""

    of: Literal["name", "word", "rest", "language", "before"]
    said_as: tuple[str, ...] = msgspec.field(name="said as")
    begins: bool = False


class Table(Struct, frozen=True, forbid_unknown_fields=True):
    """What `attributes.json` says. `states` are phrases that exclude each other, `nouns` what may stand before an `is`."""

    single: dict[str, Attribute]
    nouns: tuple[str, ...]
    states: dict[str, dict[str, tuple[str, ...]]]
    compatible: tuple[tuple[str, str], ...]
    places: frozenset[str] = msgspec.field(name="places within others")
    languages: frozenset[str]
    moved: frozenset[str]
    over: frozenset[str]
    holding: frozenset[str]
    opposed: tuple[str, ...]
    past: frozenset[str]


class Reading(Struct, frozen=True):
    """`owner` are the words for whom it is about, empty for the user; `value` what it has of the attribute."""

    owner: frozenset[str]
    attribute: str
    value: tuple[str, ...]
    state: bool = False
    begins: bool = False

    def excludes(self, other: "Reading") -> bool:
        """Whether both cannot hold at a time."""
        if (self.owner, self.attribute) != (other.owner, other.attribute) or self.value == other.value:
            return False
        if self.state:
            pair = (self.value[0], other.value[0])
            return pair not in table().compatible and pair[::-1] not in table().compatible
        mine, theirs = set(self.value), set(other.value)
        if mine <= theirs or theirs <= mine:
            return False
        wider = [bool(set(each) & table().places) for each in (mine, theirs)]
        return wider[0] == wider[1]


@lru_cache(maxsize=1_024)
def readings(text: str) -> tuple[Reading, ...]:
    """Every attribute that a statement tells of; nothing of what it wishes for, denies or calls over, but for states."""
    said = statement(text)
    plain = said.negated is None and not said.ended and not said.denied and "maybe" not in said.scope
    found = list(states(text, plain))
    if plain:
        found += [*singles(text, said), *noun_frames(text)]
    return tuple(found)


def states(text: str, plain: bool) -> list[Reading]:
    """The longest phrase of each attribute counts: `never eats meat` holds `eats meat`."""
    normalised, found = f" {normalise(text)} ", []
    for attribute, values in table().states.items():
        phrases = [(phrase, value) for value, listed in values.items() for phrase in listed]
        for phrase, value in sorted(phrases, key=lambda each: -len(each[0])):
            before, met, _ = normalised.partition(f" {phrase} ")
            if met and (plain or not words.NEGATIONS.isdisjoint(phrase.split()) or ends(phrase)):
                found.append(Reading(owner(before), attribute, (value,), state=True))
                break
    return found


def ends(phrase: str) -> bool:
    return not words.ENDINGS.isdisjoint(phrase.split()) or any(each in phrase for each in words.ENDING_PHRASES)


def singles(text: str, said: Statement) -> list[Reading]:
    found = []
    for name, attribute in table().single.items():
        match = pattern(name).search(text)
        if match is None or (said.wish and attribute.of in ("name", "word", "before")):
            continue
        before, after = text[: match.start()], text[match.end() :]
        value = of_form(attribute.of, before, after)
        if value:
            whose = before if attribute.of != "before" else before.rstrip().rpartition(" ")[0]
            found.append(Reading(owner(whose), name, value, begins=attribute.begins))
    return found


def noun_frames(text: str) -> list[Reading]:
    """`User's <noun> is <value>`. Values are compared where both are names, both have numbers, or neither."""
    match = noun_pattern().match(text)
    if match is None:
        return []
    value = clause(match["value"])
    names = tuple(meaning(normalise(each)) for each in WORD.findall(value) if each.lower() != each and len(each) > 1)
    numbers = statement(value).quantities
    form = "number" if numbers else "name" if names else "word"
    found = names if form == "name" else tuple(sorted(numbers)) if form == "number" else content(value)
    kind = " ".join(normalise(f"{match['noun']} {match['rest']}").split())
    return [Reading(owner(match["owner"]), f"{kind}, a {form}", found)] if found else []


def of_form(form: str, before: str, after: str) -> tuple[str, ...]:
    if form == "before":  # the verb: cycles to work
        verb = before.split()[-1:] if not content(clause(after)) or after.lstrip().startswith("by ") else []
        return tuple(meaning(normalise(each)) for each in verb if normalise(each) not in words.LIGHT)
    value = clause(after)
    if form == "language":
        spoken = normalise(value).split()[:1]
        return tuple(each for each in spoken if each in table().languages)
    if form == "name":
        return leading_names(value)
    found = content(value)
    return found[:1] if form == "word" and found else found


def leading_names(value: str) -> tuple[str, ...]:
    """The capitalised words with which it begins, behind an article; in a script without capitals all of it."""
    found: list[str] = []
    for each in WORD.findall(value):
        if not found and each.casefold() in words.ARTICLES:
            continue
        if not (each[0].isupper() or each[0].isdigit() or each.lower() == each.upper()):
            break
        found.append(normalise(each))
    return tuple(found) if all(each[:1] and not each.isdigit() for each in found) else ()


def clause(after: str) -> str:
    return CLAUSE_ENDS.split(f"{after.strip()} ", maxsplit=1)[0]


def content(value: str) -> tuple[str, ...]:
    return tuple(meaning(each) for each in normalise(value).split() if each not in words.FUNCTION_WORDS)


def owners(text: str) -> frozenset[str]:
    """The user's people and animals with whom a statement begins; none where it begins with the user."""
    found: list[str] = []
    for token in statement(text).tokens:
        if token in words.RELATIONS and token != "team":
            found.append(meaning(token))
        elif token in words.WAS | words.IS | words.LISTED or token not in words.GENERIC_SUBJECTS | words.FUNCTION_WORDS:
            break
    return frozenset(found)


def owner(before: str) -> frozenset[str]:
    """The words for whom or what it is about; none for the user."""
    said = normalise(before.replace("'s ", " ").replace("’s ", " ")).split()
    empty = (words.GENERIC_SUBJECTS | words.FUNCTION_WORDS | ADVERBS | words.WISHES | words.LIKES) - words.RELATIONS
    return frozenset(meaning(each) for each in said if each not in empty)


@cache
def pattern(attribute: str) -> re.Pattern[str]:
    """The longest of its phrases first."""
    phrases = sorted(table().single[attribute].said_as, key=lambda each: -len(each))
    joined = "|".join(bounded(phrase) for phrase in phrases)
    return re.compile(joined, re.IGNORECASE)


def bounded(phrase: str) -> str:
    """As words of their own, where the script has spaces between words. `…` stands for some words between; what comes behind a
    `+` must be said later."""
    if UNSPACED.search(phrase):
        return re.escape(phrase)
    phrase, _, later = phrase.partition(" + ")
    if later:
        return rf"{bounded(phrase)}(?=.*\b{re.escape(later)}\b)"
    if "…" in phrase:
        return r"(?: \S+){0,5}? ".join(bounded(part) for part in phrase.split(" … "))
    return rf"(?<=\W){re.escape(phrase)}(?=\W|$)".replace(
        r"\ ", "(?: now| currently| still| jetzt| maintenant| ahora| ya)? "
    )


@cache
def noun_pattern() -> re.Pattern[str]:
    nouns = "|".join(re.escape(noun) for noun in sorted(table().nouns, key=lambda each: -len(each)))
    return re.compile(
        rf"(?P<owner>.*?)\b(?P<noun>{nouns})(?P<rest>(?: ?\w+){{0,2}}?) (?:is|are|ist|est|es)(?: now| currently)? (?P<value>.+)",
        re.IGNORECASE,
    )


@cache
def table() -> Table:
    return msgspec.json.decode(TABLE.read_bytes(), type=Table)


@cache
def opposed_words() -> dict[str, frozenset[str]]:
    """Words that deny each other: those of the guards, and those that only a conflict goes by."""
    pairs: list[Any] = [*words.ANTONYMS, *(each.split("/") for each in table().opposed)]
    return {
        word: frozenset(other for pair in pairs if word in pair for other in pair if other != word)
        for word in {word for pair in pairs for word in pair}
    }
