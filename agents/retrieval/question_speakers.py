"""Finds the speakers that a question names, and removes their names from it. Pure."""

from collections.abc import Collection, Iterable

from agents.passages.terms import WORD, question_words, stems


def named_speakers(speakers: Iterable[str], words: Collection[str]) -> tuple[str, ...]:
    """The speakers all of whose words occur in the question, without duplicates. An id of digits alone does not count: a
    question has other numbers."""
    question_words = set(words)
    return tuple(speaker for speaker in dict.fromkeys(speakers) if is_named(set(stems(speaker)), question_words))


def is_named(name: Collection[str], question_words: Collection[str]) -> bool:
    return any(stem.isalpha() for stem in name) and all(stem in question_words for stem in name)


def without_names(text: str, speakers: Iterable[str]) -> str:
    """The text without the speakers' names; empty if no significant word is left."""
    names = {stem for speaker in speakers for stem in stems(speaker)}
    kept = WORD.sub(lambda word: "" if is_name_part(word[0], names) else word[0], text.replace("’", "'"))
    return " ".join(kept.split()) if question_words(kept) else ""


def is_name_part(word: str, names: Collection[str]) -> bool:
    own = stems(word)
    return bool(own) and all(stem in names for stem in own)
