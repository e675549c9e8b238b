"""Prepares a message for rules: its beginning, in a language with rules, by sentences, without secrets."""

import re
from collections.abc import Iterable, Iterator

from agents.models.offline.rules.engine.languages import PLACEHOLDER, language_of
from agents.models.offline.rules.engine.rule import LanguageRules
from agents.models.offline.rules.engine.sentences import sentences
from agents.models.offline.rules.tables.english import ENGLISH
from agents.models.offline.rules.tables.french import FRENCH
from agents.models.offline.rules.tables.german import GERMAN
from agents.models.offline.rules.tables.spanish import SPANISH
from agents.privacy.scrub import scrub

LANGUAGE_RULES = {each.code: each for each in (ENGLISH, GERMAN, FRENCH, SPANISH)}
# About 3,500 words: longer messages contain pasted text after the sender's own words.
MAX_READ_CHARS = 20_000
LASTING_WORDS = re.compile(
    r"(?:always|every ?time|each time|without exception|no exceptions|in general|for good|immer|jedes mal|ohne ausnahme"
    r"|grundsätzlich"
    r"|toujours|à chaque fois|sans exception|siempre|cada vez|sin excepción)(?:,? (?:please|pls|bitte|stp|por favor))?[.!]*",
    re.IGNORECASE,
)
ENDINGS = ("\n", ". ", "! ", "? ")


def readable_beginning(content: str) -> str:
    """The beginning of a message that rules read, up to the end of a sentence: half a sentence may state the opposite."""
    if len(content) <= MAX_READ_CHARS:
        return content
    return content[: max(content.rfind(ending, 0, MAX_READ_CHARS) for ending in ENDINGS) + 1]


def language_rules(content: str, hint: str | None) -> LanguageRules | None:
    """The rules of the text's language; None for a language without rules. The sender's `hint` decides if words do not."""
    language = language_of(content, hint)
    return LANGUAGE_RULES.get(language) if language else None


def with_lasting_words(parts: Iterable[str]) -> Iterator[str]:
    """The sentences, each joined with a following word that makes it permanent: "Give prices with tax. Always."."""
    pending = ""
    for part in parts:
        if pending and LASTING_WORDS.fullmatch(part):
            pending = f"{pending.rstrip('.! ')}, {part}"
            continue
        if pending:
            yield pending
        pending = part
    if pending:
        yield pending


def safe_sentences(content: str) -> Iterator[str]:
    """The sentences without those that contain a secret."""
    return (sentence for sentence in sentences_with_gaps(content) if sentence is not None)


def sentences_with_gaps(content: str) -> Iterator[str | None]:
    """The sentences, with None in the place of each that contains a secret."""
    for sentence in with_lasting_words(sentences(scrub(content).text)):
        yield None if PLACEHOLDER.search(sentence) else sentence
