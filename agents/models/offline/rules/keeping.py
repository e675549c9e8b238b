"""Which of too many memories may go, by words alone: what is outdated, said twice, better told as one, or matters least."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from operator import itemgetter

from msgspec import Struct

from agents.models.offline.rules.relations import (
    choice_differs,
    is_negative,
    is_same,
    numbers,
    numbers_differ,
    overlap,
    slot,
    taste_differs,
    words,
)
from agents.models.prompts.compaction import Decision
from schemas.memories.memories import Memory

RELATED = 0.25  # of their words, in common: less, and two memories are about different things
SAME_SUBJECT = 0.4  # two such memories are better told as one
QUOTED_CHARS = 80


class Known(Struct, frozen=True):
    """A memory, its place among all, from 1, and its words."""

    number: int
    memory: Memory
    words: frozenset[str]

    @property
    def text(self) -> str:
        return self.memory.text


def decide(memories: Sequence[Memory], most_chars: int) -> Decision:
    """The step for at least one memory, the newest last; the same memories give the same step."""
    pairs = list(related_pairs(memories))
    for rule in (outdated, repeated, contained):
        for older, newer in pairs:
            found = rule(older, newer)
            if found is not None:
                return found
    for older, newer in pairs:
        merged = told_as_one(older, newer, most_chars)
        if merged is not None:
            return merged
    return least(memories)


def related_pairs(memories: Sequence[Memory]) -> Iterator[tuple[Known, Known]]:
    """Those with words in common, the older one first; the pairs that have most in common come first."""
    known = [Known(number, memory, words(memory.text)) for number, memory in enumerate(memories, 1)]
    shared = [(overlap(older.words, newer.words), (older, newer)) for older, newer in combinations(known, 2)]
    near = [each for each in shared if each[0] >= RELATED]
    return (pair for _, pair in sorted(near, key=itemgetter(0), reverse=True))


def outdated(older: Known, newer: Known) -> Decision | None:
    if is_negative(older.text) == is_negative(newer.text) and older.words == newer.words:
        return None
    place = slot(older.text)
    replaced = place is not None and place == slot(newer.text) and older.words != newer.words
    if not (
        replaced
        or taste_differs(newer.text, older.text)
        or choice_differs(newer.text, older.text)
        or numbers_differ(newer.text, older.text)
    ):
        return None
    return gone(older, f"outdated by {quoted(newer.text)}")


def repeated(older: Known, newer: Known) -> Decision | None:
    if not is_same(older.text, newer.text):
        return None
    less, more = sorted((older, newer), key=lambda each: len(each.words))
    return gone(less, f"said by {quoted(more.text)} as well")


def contained(older: Known, newer: Known) -> Decision | None:
    less, more = sorted((older, newer), key=lambda each: len(each.words))
    if not less.words <= more.words or is_negative(less.text) != is_negative(more.text):
        return None
    return gone(less, f"part of {quoted(more.text)}") if numbers(less.text) <= numbers(more.text) else None


def told_as_one(older: Known, newer: Known, most_chars: int) -> Decision | None:
    text = f"{older.text.rstrip(' .')}. {newer.text}"
    if overlap(older.words, newer.words) < SAME_SUBJECT or len(text) > most_chars or "…" in text:
        return None
    return Decision(
        action="edit",
        memory=older.number,
        text=text,
        absorbs=newer.number,
        reason=f"{quoted(newer.text)} is about the same",
    )


def least(memories: Sequence[Memory]) -> Decision:
    """The least important one goes; among equals the least often said, then the oldest."""
    numbered = enumerate(memories, 1)
    number, _ = min(numbered, key=lambda each: (each[1].importance, each[1].reinforcement_count, each[1].created_at))
    return Decision(action="delete", memory=number, reason="the least important one, said least often and longest ago")


def gone(known: Known, why: str) -> Decision:
    return Decision(action="delete", memory=known.number, reason=why)


def quoted(text: str) -> str:
    return f"“{text[:QUOTED_CHARS]}{'…' if len(text) > QUOTED_CHARS else ''}”"
