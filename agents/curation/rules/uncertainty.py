"""Finds similar texts that need a model's confirmation although no guard objects."""

from collections.abc import Set as AbstractSet
from itertools import pairwise
from math import ceil

from agents.curation.rules import words
from agents.curation.rules.guards import only_in
from agents.curation.rules.meaning import meaning
from agents.curation.rules.statement import Statement, statement

LEAST_ROOT, LEAST_SHARE = 4, 0.7  # letters with which forms of a word begin alike, and their share of the shorter form
LONGEST_ROOT = 24  # letters that are looked at; longer words are none that people say
CLASSES = frozenset(map(meaning, words.CLASSES))
LIGHT = frozenset(map(meaning, words.LIGHT))


def doubt(candidate: str, memory: str) -> str | None:
    """What an objection cannot settle, and the model's word may. Symmetric. None, or:

    `language`: it has no lists, or its script has no spaces, so that any other word may be a `not`.
    `words`: each of the two has words that the other does not have, so that neither may say all that the other says.
    `relation`: they differ in nothing but how things relate: cooks for, cooks with.
    `compound`: what one ends with has another word behind it in the other: a laptop, a laptop bag.
    """
    new, old = statement(candidate), statement(memory)
    if new.unspaced or old.unspaced:
        return "language" if new.content != old.content else None
    if not (new.understood and old.understood) and sorted(new.content) != sorted(old.content):
        return "language"
    if news(new, old) and news(old, new):
        return "words"
    if new.content == old.content and only_in(new, old) & words.RELATING and only_in(old, new) & words.RELATING:
        return "relation"
    return "compound" if compound(new, old) or compound(old, new) else None


def news(new: Statement, old: Statement) -> bool:
    """Whether it has words that are not light, and of which the other has no form."""
    return bool(unknown(set(new.content) - LIGHT, old))


def unknown(stems: AbstractSet[str], other: Statement) -> set[str]:
    """Those of which the other has no form: `teacher` is one of `teach`, `subscription` of `subscribe`.

    Forms of a word begin alike, with LEAST_ROOT letters and with LEAST_SHARE of the shorter. Takes time in proportion to
    the number of words.
    """
    roots = {root(word) for word in other.content}
    beginnings = {begin for word in other.content for begin in beginnings_of(word)}
    return {
        word
        for word in stems - set(other.content)
        if root(word) not in beginnings and roots.isdisjoint(beginnings_of(word))
    }


def root(word: str) -> str:
    """What a form of the word must at least begin with."""
    return word[: max(LEAST_ROOT, ceil(LEAST_SHARE * min(len(word), LONGEST_ROOT)))]


def beginnings_of(word: str) -> list[str]:
    return [word[:length] for length in range(LEAST_ROOT, min(len(word), LONGEST_ROOT) + 1)]


def compound(new: Statement, old: Statement) -> bool:
    """Whether a word of the new text alone, and no name, stands right behind the last one of the old text."""
    behind = {meaning(word) for before, word in pairwise(new.tokens) if (meaning(before),) == old.content[-1:]}
    return bool(unknown(behind & set(new.content) - set(map(meaning, new.names)) - CLASSES, old))
