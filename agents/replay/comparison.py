"""Compares a generation with the live memories of a namespace. Pure."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Final, Literal, TypeAlias

import numpy as np
from msgspec import Struct

from agents.curation.rules.decisions.thresholds import Thresholds
from agents.curation.rules.statements.normalise import normalise
from agents.curation.rules.statements.similarity import alike
from schemas.extraction.candidates import Source
from schemas.memories.memories import Memory
from sinks.replay.shadows import Ranges
from sinks.vectors.port import Vector

# The compared fields. Sources and counts describe the origin of a memory, not its content.
CONTENT_FIELDS: Final = (
    *("text", "kind", "kinds", "tags", "context", "full_text", "language"),
    *("importance", "confidence", "event_time", "valid_until"),
)
MIN_DIFFERENCE: Final = 0.005  # smaller differences of numbers are ignored
BLOCK_ROWS: Final = 512  # rows whose cosines are in memory at a time

Matrix: TypeAlias = "np.ndarray[tuple[int, int], np.dtype[np.float64]]"
KeptReason: TypeAlias = Literal["by hand", "pinned", "said elsewhere"]
Fate: TypeAlias = Literal["same", "changed", "added", "lost", "kept", "withheld"]


class LiveMemory(Struct, frozen=True, kw_only=True):
    """A live memory; `reason_kept` is the reason why a cutover must keep it, or None."""

    memory: Memory
    vector: Vector | None = None
    reason_kept: KeptReason | None = None


class EndedMemory(Struct, frozen=True, kw_only=True):
    """The last state of a memory that was ended by something outside of the replay."""

    memory: Memory
    why: str


class ReplayedMemory(Struct, frozen=True, kw_only=True):
    """A memory of the generation."""

    memory: Memory
    vector: Vector | None = None


class Difference(Struct, frozen=True, kw_only=True):
    """The effect of a cutover on one memory. `before` is the live one, `after` the generation's; one of them may be missing.

    `same` and `changed` (with `fields`) have both, `added` and `lost` one. A cutover does not change `kept` ones,
    `withheld` ones are not brought back; `why` is the reason.
    """

    fate: Fate
    before: Memory | None = None
    after: Memory | None = None
    fields: tuple[str, ...] = ()
    why: str | None = None


def compare(
    live: Sequence[LiveMemory], ended: Sequence[EndedMemory], replayed: Sequence[ReplayedMemory], thresholds: Thresholds
) -> list[Difference]:
    """Every live memory and every memory of the generation once, in order; a pair is at the place of its live memory."""
    partners = pair(live, replayed, thresholds)
    taken = {*partners.values()}
    found = [_of_live(each, replayed[partners[at]].memory if at in partners else None) for at, each in enumerate(live)]
    left = [each.memory for at, each in enumerate(replayed) if at not in taken]
    endings = _Endings(ended)
    return [*found, *(_of_new(memory, endings) for memory in left)]


def _of_live(live: LiveMemory, after: Memory | None) -> Difference:
    before = live.memory
    if live.reason_kept is not None:
        return Difference(fate="kept", before=before, after=after, why=live.reason_kept)
    if after is None:
        return Difference(fate="lost", before=before)
    fields = tuple(name for name in CONTENT_FIELDS if differs(getattr(before, name), getattr(after, name)))
    return Difference(fate="changed" if fields else "same", before=before, after=after, fields=fields)


def _of_new(memory: Memory, endings: "_Endings") -> Difference:
    known = endings.with_text(memory)
    if known is None:
        return Difference(fate="added", after=memory)
    return Difference(fate="withheld", after=memory, why=known.why)


class _Endings:
    """Ended memories, found by text: the same text, or nearly the same from the same message."""

    def __init__(self, ended: Sequence[EndedMemory]) -> None:
        self._ended = ended
        self._texts = [normalise(each.memory.text) for each in ended]
        self._by_text: dict[str, list[int]] = defaultdict(list)
        self._by_message: dict[tuple[str, str], list[int]] = defaultdict(list)
        for at, each in enumerate(ended):
            self._by_text[self._texts[at]].append(at)
            for message in messages_of(each.memory):
                self._by_message[message].append(at)

    def with_text(self, memory: Memory) -> EndedMemory | None:
        """The first ended memory with this text."""
        text = normalise(memory.text)
        near = {at for message in messages_of(memory) for at in self._by_message.get(message, ())}
        found = [*self._by_text.get(text, ()), *(at for at in near if alike(self._texts[at], text))]
        return self._ended[min(found)] if found else None


def differs(one: object, other: object) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) >= MIN_DIFFERENCE
    return one != other


def pair(live: Sequence[LiveMemory], replayed: Sequence[ReplayedMemory], thresholds: Thresholds) -> dict[int, int]:
    """Pairs places in `live` with places in `again`, each once: equal texts first, then close ones from the same message,
    then those above the duplicate threshold; nearest first in each step."""
    one, other = unit([each.vector for each in live]), unit([each.vector for each in replayed])
    texts = [[normalise(each.memory.text) for each in side] for side in (live, replayed)]
    ranked = []
    for at, to in (
        nearest(one, other, thresholds.merge) | equal_texts(texts[0], texts[1]) | sharing_messages(live, replayed)
    ):
        same, cosine = texts[0][at] == texts[1][to], cosine_of(one, other, at, to)
        if same or cosine >= thresholds.related or alike(texts[0][at], texts[1][to]):
            shared = share_a_message(live[at].memory, replayed[to].memory)
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


def sharing_messages(live: Sequence[LiveMemory], replayed: Sequence[ReplayedMemory]) -> set[tuple[int, int]]:
    """The places of memories with a common source message."""
    places = defaultdict(list)
    for to, each in enumerate(replayed):
        for message in messages_of(each.memory):
            places[message].append(to)
    return {
        (at, to) for at, each in enumerate(live) for said in messages_of(each.memory) for to in places.get(said, ())
    }


def nearest(one: Matrix, other: Matrix, at_least: float) -> set[tuple[int, int]]:
    """The pairs of unit rows with a cosine of `at_least`, computed in blocks: all cosines of 8,000 and 8,000 rows take half
    a gigabyte."""
    if not one.size or not other.size:
        return set()
    found: set[tuple[int, int]] = set()
    for first in range(0, len(one), BLOCK_ROWS):
        pairs = np.argwhere(one[first : first + BLOCK_ROWS] @ other.T >= at_least)
        found |= {(first + int(at), int(to)) for at, to in pairs}
    return found


def cosine_of(one: Matrix, other: Matrix, at: int, to: int) -> float:
    """The cosine of a pair; 0 without a vector."""
    return float(one[at] @ other[to]) if one.size and other.size else 0.0


def unit(vectors: Sequence[Vector | None]) -> Matrix:
    """Unit rows, shape `(len(vectors), dim)`; zeros for missing vectors, no columns if all are missing."""
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
    """Whether all sources were replayed; False without sources."""
    return bool(sources) and all(is_replayed(source, ranges.get(source.conversation_id, ())) for source in sources)


def is_replayed(source: Source, ranges: Ranges) -> bool:
    """Whether the source is in one of the sorted ranges, of which a long conversation has many."""
    at = source.position
    if at is None:
        return False
    place = bisect_right(ranges, at, key=itemgetter(0))
    return place > 0 and at <= ranges[place - 1][1]
