"""Statements in two languages. Their words differ in any case, so only numbers, names and lengths can be compared."""

from typing import Final

from msgspec.structs import asdict

from agents.curation.rules.statements.guards import objection
from agents.curation.rules.statements.statement import Statement, statement
from agents.curation.rules.statements.uncertainty import unknown
from agents.models.one_language import WORDS_FOR_USER, primary_subtag
from schemas.extraction.candidates import Candidate
from schemas.memories.memories import Memory

FIGURES: Final = ("numbers", "times")  # guards that apply in any language
MIN_LENGTH_SHARE: Final = (
    0.7  # least share of the original's content words: a translation may join words ("Kindergärtnerin")
)
CAPITALISED_NOUNS: Final = ("de", "lb")  # languages that capitalise all nouns
UNSPACED_WORD: Final = 2  # characters per word


class TranslatedCandidate(Candidate, frozen=True):
    """A candidate whose text, written by a model, also has the content of the memory that it refines, where the two are, or
    were, in different languages."""


def as_translated(candidate: Candidate) -> TranslatedCandidate:
    return TranslatedCandidate(**asdict(candidate))


def are_other_languages(mine: str | None, theirs: str | None) -> bool:
    """Whether both languages are known and differ; `de`, `DE` and `de-AT` are equal."""
    return mine is not None and theirs is not None and primary_subtag(mine) != primary_subtag(theirs)


def in_other_language(candidate: Candidate, memory: Memory) -> bool:
    """Whether candidate and memory are in different languages: then only numbers and times can object to a model's verdict."""
    return are_other_languages(candidate.language, memory.language)


def lost_in_translation(said: str, language: str | None, text: str) -> bool:
    """Whether a translation lacks a number, a time or a name of the original, or is too short for its content."""
    old, new = statement(said), statement(text)
    if objection(said, text) in FIGURES or length(new) < MIN_LENGTH_SHARE * length(old):
        return True
    has_names = not (old.unspaced or new.unspaced) and primary_subtag(language or "") not in CAPITALISED_NOUNS
    return has_names and bool(unknown(set(old.names) - set(new.tokens), new))


def length(of: Statement) -> float:
    """The number of content words, without the words for the user."""
    return len([each for each in of.content if each not in WORDS_FOR_USER]) / (UNSPACED_WORD if of.unspaced else 1)
