"""Finds the speakers that a question names. Pure."""

from collections.abc import Collection, Iterable

from agents.passages.terms import stems


def named_speakers(speakers: Iterable[str], words: Collection[str]) -> tuple[str, ...]:
    """The speakers all of whose words occur in the question, without duplicates. An id of digits alone does not count: a
    question has other numbers."""
    question_words = set(words)
    return tuple(speaker for speaker in dict.fromkeys(speakers) if is_named(set(stems(speaker)), question_words))


def is_named(name: Collection[str], question_words: Collection[str]) -> bool:
    return any(stem.isalpha() for stem in name) and all(stem in question_words for stem in name)
