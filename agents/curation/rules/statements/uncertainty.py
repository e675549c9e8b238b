"""Finds similar texts that need a model's confirmation although no guard objects."""

from collections.abc import Set as AbstractSet
from itertools import pairwise
from math import ceil

from agents.curation.rules.statements import words
from agents.curation.rules.statements.guards import only_in
from agents.curation.rules.statements.meaning import meaning
from agents.curation.rules.statements.statement import Statement, statement

MIN_ROOT, MIN_ROOT_SHARE = 4, 0.7  # common letters of two forms of a word, and their share of the shorter form
MAX_ROOT = 24  # letters that are compared
CLASSES = frozenset(map(meaning, words.CLASSES))
LIGHT = frozenset(map(meaning, words.LIGHT))


def doubt(candidate: str, memory: str) -> str | None:
    """The reason why a match needs a model's verdict; None if it needs none. Symmetric.

    - `language`: the language has no word lists, or its script has no spaces, so that an unknown word may be a negation.
    - `words`: each text has words that the other lacks.
    - `relation`: they differ only in a relating word: "cooks for", "cooks with".
    - `compound`: the last word of one text is followed by another word in the other: "a laptop", "a laptop bag".
    """
    new, old = statement(candidate), statement(memory)
    if new.unspaced or old.unspaced:
        return "language" if new.content != old.content else None
    if not (new.understood and old.understood) and sorted(new.content) != sorted(old.content):
        return "language"
    if has_new_words(new, old) and has_new_words(old, new):
        return "words"
    if new.content == old.content and only_in(new, old) & words.RELATING and only_in(old, new) & words.RELATING:
        return "relation"
    return "compound" if compound(new, old) or compound(old, new) else None


def has_new_words(new: Statement, old: Statement) -> bool:
    """Whether `new` has content words, light ones aside, of which `old` has no form."""
    return bool(new_words(new, old))


def new_words(new: Statement, old: Statement) -> set[str]:
    return unknown(set(new.content) - LIGHT, old)


def unknown(stems: AbstractSet[str], other: Statement) -> set[str]:
    """The stems of which the other statement has no form: "teacher" is a form of "teach", "subscription" of "subscribe".

    Forms of a word have equal beginnings of at least MIN_ROOT letters and MIN_ROOT_SHARE of the shorter form. Takes time in
    proportion to the number of words.
    """
    roots = {root(word) for word in other.content}
    beginnings = {begin for word in other.content for begin in beginnings_of(word)}
    return {
        word
        for word in stems - set(other.content)
        if root(word) not in beginnings and roots.isdisjoint(beginnings_of(word))
    }


def root(word: str) -> str:
    """The beginning that all forms of the word share."""
    return word[: max(MIN_ROOT, ceil(MIN_ROOT_SHARE * min(len(word), MAX_ROOT)))]


def beginnings_of(word: str) -> list[str]:
    return [word[:length] for length in range(MIN_ROOT, min(len(word), MAX_ROOT) + 1)]


def compound(new: Statement, old: Statement) -> bool:
    """Whether a word that only the new text has, and that is no name, directly follows the last word of the old text."""
    behind = {meaning(word) for before, word in pairwise(new.tokens) if (meaning(before),) == old.content[-1:]}
    return bool(unknown(behind & set(new.content) - set(map(meaning, new.names)) - CLASSES, old))
