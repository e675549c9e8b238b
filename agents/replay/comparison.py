"""What a generation would change in a namespace: what is live beside what was remembered again. Values in, values out."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Final, Literal, TypeAlias

import numpy as np
from msgspec import Struct

from agents.curation.normalise import normalise
from agents.curation.similarity import alike
from agents.curation.thresholds import Thresholds
from schemas.memories import Memory
from schemas.requests import Source
from sinks.generations import Ranges
from sinks.vectors import Vector

# What of a memory a generation may say otherwise; sources and counts are how it came to be, not what it says.
SAID: Final = (
    *("text", "kind", "kinds", "tags", "context", "full_text", "language"),
    *("importance", "confidence", "event_time"),
)
NOTICED: Final = 0.005  # a difference of numbers that is one

Matrix: TypeAlias = "np.ndarray[tuple[int, int], np.dtype[np.float64]]"
Stays: TypeAlias = Literal["by hand", "pinned", "said elsewhere"]
Fate: TypeAlias = Literal["same", "changed", "added", "lost", "kept", "withheld"]


class Live(Struct, frozen=True, kw_only=True):
    """A live memory; `stays` says why no generation touches it, None if it may give way."""

    memory: Memory
    vector: Vector | None = None
    stays: Stays | None = None


class Ended(Struct, frozen=True, kw_only=True):
    """A memory that is live no longer, as it was, and went for a reason that a generation knows nothing of."""

    memory: Memory
    why: str


class Again(Struct, frozen=True, kw_only=True):
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


def compared(
    live: Sequence[Live], ended: Sequence[Ended], again: Sequence[Again], thresholds: Thresholds
) -> list[Difference]:
    """Every live memory and every one of the generation once, in their order; a pair stands where its live one is."""
    partners = paired(live, again, thresholds)
    taken = {*partners.values()}
    found = [_of_live(each, again[partners[at]].memory if at in partners else None) for at, each in enumerate(live)]
    left = [each.memory for at, each in enumerate(again) if at not in taken]
    return [*found, *(_of_new(memory, ended) for memory in left)]


def _of_live(live: Live, after: Memory | None) -> Difference:
    before = live.memory
    if live.stays is not None:
        return Difference(fate="kept", before=before, after=after, why=live.stays)
    if after is None:
        return Difference(fate="lost", before=before)
    fields = tuple(name for name in SAID if differs(getattr(before, name), getattr(after, name)))
    return Difference(fate="changed" if fields else "same", before=before, after=after, fields=fields)


def _of_new(memory: Memory, ended: Sequence[Ended]) -> Difference:
    known = next((each for each in ended if says_it_too(each.memory, memory)), None)
    if known is None:
        return Difference(fate="added", after=memory)
    return Difference(fate="withheld", after=memory, why=known.why)


def says_it_too(one: Memory, other: Memory) -> bool:
    """The same text, or nearly the same of the same message."""
    texts = normalise(one.text), normalise(other.text)
    return texts[0] == texts[1] or (share_a_message(one, other) and alike(*texts))


def differs(one: object, other: object) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) >= NOTICED
    return one != other


def paired(live: Sequence[Live], again: Sequence[Again], thresholds: Thresholds) -> dict[int, int]:
    """Places in `live` to places in `again`, each once: the same text first, then what is near of the same message, then what is
    so near that curation would take it for one; of each, the nearest first."""
    cosines = nearness([each.vector for each in live], [each.vector for each in again])
    texts = [[normalise(each.memory.text) for each in side] for side in (live, again)]
    near = {(int(at), int(to)) for at, to in np.argwhere(cosines >= thresholds.merge)}
    ranked = []
    for at, to in near | alike_in(texts[0], texts[1]) | sharing(live, again):
        same, cosine = texts[0][at] == texts[1][to], float(cosines[at, to])
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


def alike_in(one: Sequence[str], other: Sequence[str]) -> set[tuple[int, int]]:
    """The places of equal texts."""
    places = defaultdict(list)
    for to, text in enumerate(other):
        places[text].append(to)
    return {(at, to) for at, text in enumerate(one) for to in places.get(text, ())}


def sharing(live: Sequence[Live], again: Sequence[Again]) -> set[tuple[int, int]]:
    """The places of what comes from a message in common."""
    places = defaultdict(list)
    for to, each in enumerate(again):
        for message in messages_of(each.memory):
            places[message].append(to)
    return {
        (at, to) for at, each in enumerate(live) for said in messages_of(each.memory) for to in places.get(said, ())
    }


def nearness(one: Sequence[Vector | None], other: Sequence[Vector | None]) -> Matrix:
    """Cosines, `(len(one), len(other))`; 0 where there is no vector."""
    cosines = np.zeros((len(one), len(other)))
    rows = [at for at, vector in enumerate(one) if vector is not None]
    columns = [at for at, vector in enumerate(other) if vector is not None]
    if rows and columns:
        left, right = (unit([side[at] for at in places]) for side, places in ((one, rows), (other, columns)))
        cosines[np.ix_(rows, columns)] = left @ right.T
    return cosines


def unit(vectors: Iterable[Vector | None]) -> Matrix:
    stacked = np.stack([vector for vector in vectors if vector is not None]).astype(np.float64)
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
