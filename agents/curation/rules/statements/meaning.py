"""Maps words to approximate meanings: one stem for the forms of a word and its synonyms."""

import re
from collections.abc import Iterable
from functools import lru_cache

from agents.curation.rules.statements import synonyms

SUFFIXES = (("ies", "y"), ("iendo", ""), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""), ("e", ""))
UNSTEMMED = frozenset({"fils"})  # "fils" (son) must not become "fille" (daughter)
DOUBLED = re.compile(r"([bdgklmnprt])\1$")


def stem(word: str) -> str:
    """An approximate stem: equal for "hikes", "hiked" and "hiking", and for "plans" and "planning"."""
    if word in UNSTEMMED:
        return word
    for suffix, instead in SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3 and not word.endswith("ss"):
            return DOUBLED.sub(r"\1", word.removesuffix(suffix)) + instead
    return word


def synonymous(groups: Iterable[str]) -> dict[str, str]:
    """The stem of each synonym's group by the stem of the word. A word in several groups joins them."""
    meanings: dict[str, str] = {}
    for group in groups:
        stems = [stem(word) for word in group.split()]
        joined = {meanings.get(each, each) for each in stems} | set(stems)
        first = min(joined)
        meanings |= {word: first for word, known in meanings.items() if known in joined} | dict.fromkeys(joined, first)
    return meanings


@lru_cache(maxsize=64)
def stems(listed: frozenset[str]) -> frozenset[str]:
    """The meanings of several words."""
    return frozenset(map(meaning, listed))


MEANINGS = synonymous(synonyms.GROUPS.strip().splitlines())


def meaning(word: str) -> str:
    """The word's stem, or the stem of its group of synonyms."""
    stemmed = stem(word)
    return MEANINGS.get(stemmed, stemmed)
