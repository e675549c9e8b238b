"""Decides by words how to remove one of too many memories: one that is outdated, a duplicate, can be merged, or is the least
important."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from operator import itemgetter

from msgspec import Struct

from agents.models.offline.rules.findings.relations import (
    attribute_of,
    choice_differs,
    is_negative,
    is_same,
    numbers,
    numbers_differ,
    overlap,
    taste_differs,
    words,
)
from agents.models.prompts.compaction import Decision
from schemas.memories.memories import Memory

RELATED = 0.25  # share of common words from which two memories are related
SAME_SUBJECT = 0.4  # share of common words from which two memories are merged
QUOTED_CHARS = 80


class NumberedMemory(Struct, frozen=True):
    """A memory with its number, from 1, and its words."""

    number: int
    memory: Memory
    words: frozenset[str]

    @property
    def text(self) -> str:
        return self.memory.text


def decide_by_rules(memories: Sequence[Memory], max_chars: int) -> Decision:
    """The decision about at least one memory, the newest last. The same memories give the same decision."""
    pairs = list(related_pairs(memories))
    for rule in (outdated, repeated, contained):
        for older, newer in pairs:
            found = rule(older, newer)
            if found is not None:
                return found
    for older, newer in pairs:
        merged = merge(older, newer, max_chars)
        if merged is not None:
            return merged
    return delete_least_important(memories)


def related_pairs(memories: Sequence[Memory]) -> Iterator[tuple[NumberedMemory, NumberedMemory]]:
    """Pairs of memories with common words, the older one first; the pairs with most in common come first."""
    known = [NumberedMemory(number, memory, words(memory.text)) for number, memory in enumerate(memories, 1)]
    shared = [(overlap(older.words, newer.words), (older, newer)) for older, newer in combinations(known, 2)]
    near = [each for each in shared if each[0] >= RELATED]
    return (pair for _, pair in sorted(near, key=itemgetter(0), reverse=True))


def outdated(older: NumberedMemory, newer: NumberedMemory) -> Decision | None:
    if is_negative(older.text) == is_negative(newer.text) and older.words == newer.words:
        return None
    place = attribute_of(older.text)
    replaced = place is not None and place == attribute_of(newer.text) and older.words != newer.words
    if not (
        replaced
        or taste_differs(newer.text, older.text)
        or choice_differs(newer.text, older.text)
        or numbers_differ(newer.text, older.text)
    ):
        return None
    return deletion(older, f"outdated by {quoted(newer.text)}")


def repeated(older: NumberedMemory, newer: NumberedMemory) -> Decision | None:
    if not is_same(older.text, newer.text):
        return None
    less, more = sorted((older, newer), key=lambda each: len(each.words))
    return deletion(less, f"said by {quoted(more.text)} as well")


def contained(older: NumberedMemory, newer: NumberedMemory) -> Decision | None:
    less, more = sorted((older, newer), key=lambda each: len(each.words))
    if not less.words <= more.words or is_negative(less.text) != is_negative(more.text):
        return None
    return deletion(less, f"part of {quoted(more.text)}") if numbers(less.text) <= numbers(more.text) else None


def merge(older: NumberedMemory, newer: NumberedMemory, max_chars: int) -> Decision | None:
    text = f"{older.text.rstrip(' .')}. {newer.text}"
    if overlap(older.words, newer.words) < SAME_SUBJECT or len(text) > max_chars or "…" in text:
        return None
    return Decision(
        action="edit",
        memory=older.number,
        text=text,
        absorbs=newer.number,
        reason=f"{quoted(newer.text)} is about the same",
    )


def delete_least_important(memories: Sequence[Memory]) -> Decision:
    """Deletes the least important memory; of equals the least often repeated, then the oldest."""
    numbered = enumerate(memories, 1)
    number, _ = min(numbered, key=lambda each: (each[1].importance, each[1].reinforcement_count, each[1].created_at))
    return Decision(action="delete", memory=number, reason="the least important one, said least often and longest ago")


def deletion(known: NumberedMemory, why: str) -> Decision:
    return Decision(action="delete", memory=known.number, reason=why)


def quoted(text: str) -> str:
    return f"“{text[:QUOTED_CHARS]}{'…' if len(text) > QUOTED_CHARS else ''}”"
