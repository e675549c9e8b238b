"""Compares a generation with the live memories of a namespace. Pure."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Final, Literal, TypeAlias

import numpy as np
from msgspec import Struct

from agents.curation.rules.normalise import normalise
from agents.curation.rules.similarity import alike
from agents.curation.rules.thresholds import Thresholds
from schemas.extraction.candidates import Source
from schemas.memories.memories import Memory
from sinks.replay.generations import Ranges
from sinks.vectors.port import Vector

# What of a memory a generation may say otherwise; sources and counts are how it came to be, not what it says.
SAID: Final = (
    *("text", "kind", "kinds", "tags", "context", "full_text", "language"),
    *("importance", "confidence", "event_time", "valid_until"),
)
NOTICED: Final = 0.005  # a difference of numbers that is one
ROWS: Final = 512  # of which cosines are in memory at a time

Matrix: TypeAlias = "np.ndarray[tuple[int, int], np.dtype[np.float64]]"
Stays: TypeAlias = Literal["by hand", "pinned", "said elsewhere"]
Fate: TypeAlias = Literal["same", "changed", "added", "lost", "kept", "withheld"]


class LiveMemory(Struct, frozen=True, kw_only=True):
    """A live memory; `stays` is the reason why a cutover must keep it, or None."""

    memory: Memory
    vector: Vector | None = None
    stays: Stays | None = None


class EndedMemory(Struct, frozen=True, kw_only=True):
    """The last state of a memory that is no longer live, for a reason outside of the replay."""

    memory: Memory
    why: str


class ReplayedMemory(Struct, frozen=True, kw_only=True):
    """A memory of the generation."""

    memory: Memory
    vector: Vector | None = None


class Difference(Struct, frozen=True, kw_only=True):
    """What becomes of one memory. `before` is live, `after` of the generation; one of them may be missing.

    `same` and `changed`, by `fields`, have both, `added` and `lost` one. What is `kept` stays as it is whatever the generation
    says, `withheld` is not brought back; `why` says why.
    """

    fate: Fate
    before: Memory | None = None
    after: Memory | None = None
    fields: tuple[str, ...] = ()
    why: str | None = None


def compare(
    live: Sequence[LiveMemory], ended: Sequence[EndedMemory], again: Sequence[ReplayedMemory], thresholds: Thresholds
) -> list[Difference]:
    """Every live memory and every one of the generation once, in their order; a pair stands where its live one is."""
    partners = pair(live, again, thresholds)
    taken = {*partners.values()}
    found = [_of_live(each, again[partners[at]].memory if at in partners else None) for at, each in enumerate(live)]
    left = [each.memory for at, each in enumerate(again) if at not in taken]
    endings = _Endings(ended)
    return [*found, *(_of_new(memory, endings) for memory in left)]


def _of_live(live: LiveMemory, after: Memory | None) -> Difference:
    before = live.memory
    if live.stays is not None:
        return Difference(fate="kept", before=before, after=after, why=live.stays)
    if after is None:
        return Difference(fate="lost", before=before)
    fields = tuple(name for name in SAID if differs(getattr(before, name), getattr(after, name)))
    return Difference(fate="changed" if fields else "same", before=before, after=after, fields=fields)


def _of_new(memory: Memory, endings: "_Endings") -> Difference:
    known = endings.saying(memory)
    if known is None:
        return Difference(fate="added", after=memory)
    return Difference(fate="withheld", after=memory, why=known.why)


class _Endings:
    """What has ended, found by what it said: the same text, or nearly the same of the same message."""

    def __init__(self, ended: Sequence[EndedMemory]) -> None:
        self._ended = ended
        self._texts = [normalise(each.memory.text) for each in ended]
        self._by_text: dict[str, list[int]] = defaultdict(list)
        self._by_message: dict[tuple[str, str], list[int]] = defaultdict(list)
        for at, each in enumerate(ended):
            self._by_text[self._texts[at]].append(at)
            for message in messages_of(each.memory):
                self._by_message[message].append(at)

    def saying(self, memory: Memory) -> EndedMemory | None:
        """The first that said it."""
        text = normalise(memory.text)
        near = {at for message in messages_of(memory) for at in self._by_message.get(message, ())}
        found = [*self._by_text.get(text, ()), *(at for at in near if alike(self._texts[at], text))]
        return self._ended[min(found)] if found else None


def differs(one: object, other: object) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) >= NOTICED
    return one != other


def pair(live: Sequence[LiveMemory], again: Sequence[ReplayedMemory], thresholds: Thresholds) -> dict[int, int]:
    """Places in `live` to places in `again`, each once: the same text first, then what is near of the same message, then what is
    so near that curation would take it for one; of each, the nearest first."""
    one, other = unit([each.vector for each in live]), unit([each.vector for each in again])
    texts = [[normalise(each.memory.text) for each in side] for side in (live, again)]
    ranked = []
    for at, to in (
        nearest(one, other, thresholds.merge) | equal_texts(texts[0], texts[1]) | sharing_messages(live, again)
    ):
        same, cosine = texts[0][at] == texts[1][to], cosine_of(one, other, at, to)
        if same or cosine >= thresholds.related or alike(texts[0][at], texts[1][to]):
            shared = share_a_message(live[at].memory, again[to].memory)
            ranked.append((not same, not shared, -cosine, at, to))
    partners: dict[int, int] = {}
    taken: set[int] = set()
    for *_, at, to in sorted(ranked):
        if at not in partners and to not in taken:
            partners[at] = to
            taken.add(to)
    return partners


def equal_texts(one: Sequence[str], other: Sequence[str]) -> set[tuple[int, int]]:
    """The places of equal texts."""
    places = defaultdict(list)
    for to, text in enumerate(other):
        places[text].append(to)
    return {(at, to) for at, text in enumerate(one) for to in places.get(text, ())}


def sharing_messages(live: Sequence[LiveMemory], again: Sequence[ReplayedMemory]) -> set[tuple[int, int]]:
    """The places of what comes from a message in common."""
    places = defaultdict(list)
    for to, each in enumerate(again):
        for message in messages_of(each.memory):
            places[message].append(to)
    return {
        (at, to) for at, each in enumerate(live) for said in messages_of(each.memory) for to in places.get(said, ())
    }


def nearest(one: Matrix, other: Matrix, at_least: float) -> set[tuple[int, int]]:
    """The places of all pairs of rows of unit length whose cosine is as high; some rows at a time, for a table of all cosines of
    8,000 and 8,000 is half a gigabyte."""
    if not one.size or not other.size:
        return set()
    found: set[tuple[int, int]] = set()
    for first in range(0, len(one), ROWS):
        pairs = np.argwhere(one[first : first + ROWS] @ other.T >= at_least)
        found |= {(first + int(at), int(to)) for at, to in pairs}
    return found


def cosine_of(one: Matrix, other: Matrix, at: int, to: int) -> float:
    """0 where there is no vector."""
    return float(one[at] @ other[to]) if one.size and other.size else 0.0


def unit(vectors: Sequence[Vector | None]) -> Matrix:
    """Rows of unit length, `(len(vectors), dim)`; zeros where there is no vector, no columns where there is none at all."""
    dimension = next((len(vector) for vector in vectors if vector is not None), 0)
    stacked = np.zeros((len(vectors), dimension))
    for at, vector in enumerate(vectors):
        if vector is not None:
            stacked[at] = vector
    lengths = np.linalg.norm(stacked, axis=1, keepdims=True)
    unit_normalised: Matrix = np.divide(stacked, lengths, out=np.zeros_like(stacked), where=lengths > 0)
    return unit_normalised


def share_a_message(one: Memory, other: Memory) -> bool:
    return not messages_of(one).isdisjoint(messages_of(other))


def messages_of(memory: Memory) -> set[tuple[str, str]]:
    return {(source.conversation_id, source.message_id) for source in memory.sources}


def replayed_whole(sources: Sequence[Source], ranges: Mapping[str, Ranges]) -> bool:
    """Whether all that something comes from was replayed; not so of what comes from no message."""
    return bool(sources) and all(within(source, ranges.get(source.conversation_id, ())) for source in sources)


def within(source: Source, ranges: Ranges) -> bool:
    """By ranges in order; those of a long conversation are many."""
    at = source.position
    if at is None:
        return False
    place = bisect_right(ranges, at, key=itemgetter(0))
    return place > 0 and at <= ranges[place - 1][1]
