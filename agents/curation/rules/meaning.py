"""Words to what they mean, roughly: forms of a word and its synonyms to one stem."""

import re
from collections.abc import Iterable

from agents.curation.rules import synonyms

SUFFIXES = (("ies", "y"), ("iendo", ""), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""), ("e", ""))
DOUBLED = re.compile(r"([bdgklmnprt])\1$")


def stem(word: str) -> str:
    """Rough: good enough to see `hikes`, `hiked` and `hiking` as one, and `plans` and `planning`."""
    for suffix, instead in SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3 and not word.endswith("ss"):
            return DOUBLED.sub(r"\1", word.removesuffix(suffix)) + instead
    return word


def synonymous(groups: Iterable[str]) -> dict[str, str]:
    """The stem of each word to that of its group. A word of several groups joins them."""
    meanings: dict[str, str] = {}
    for group in groups:
        stems = [stem(word) for word in group.split()]
        joined = {meanings.get(each, each) for each in stems} | set(stems)
        first = min(joined)
        meanings |= {word: first for word, known in meanings.items() if known in joined} | dict.fromkeys(joined, first)
    return meanings


MEANINGS = synonymous(synonyms.GROUPS.strip().splitlines())


def meaning(word: str) -> str:
    """Its stem, or the one that stands for it and its synonyms."""
    stemmed = stem(word)
    return MEANINGS.get(stemmed, stemmed)
