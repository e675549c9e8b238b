"""Searches: queries, filters and hits, for HTTP, tools and internal use."""

from datetime import datetime
from typing import Annotated, Literal, Protocol

from msgspec import Meta, Struct, structs
from msgspec import field as setting

from schemas.conversations.messages import Identifier, Moment
from schemas.extraction import importance
from schemas.memories.memories import Memory, Status
from schemas.passages.passages import ANY_PASSAGE, Passage, PassageFilters
from schemas.policies.policies import Fraction

Scale = Literal["fraction", "tenths", "points"]
# Parts of a search that timed out or failed; word search has run in any case.
Degraded = Literal[
    "embedder_slow", "embedder_failed", "vectors_slow", "vectors_failed", "reranker_slow", "reranker_failed"
]

# Memories, passages of messages, or both ranked together.
Tier = Literal["memories", "said", "both"]

Words = Annotated[tuple[Identifier, ...], Meta(max_length=100)]


class Filterable(Protocol):
    """The fields that filters use: of a memory, or of an index entry."""

    @property
    def kind(self) -> str: ...
    @property
    def kinds(self) -> tuple[str, ...]: ...
    @property
    def tags(self) -> tuple[str, ...]: ...
    @property
    def status(self) -> Status: ...
    @property
    def importance(self) -> float: ...
    @property
    def confidence(self) -> float: ...
    @property
    def language(self) -> str | None: ...
    @property
    def pinned(self) -> bool: ...
    @property
    def created_at(self) -> datetime: ...
    @property
    def event_time(self) -> datetime | None: ...
    @property
    def valid_from(self) -> datetime | None: ...
    @property
    def valid_until(self) -> datetime | None: ...


class Filters(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Filters of memories: each given field must have one of its values.

    Bounds of importance are on `scale`: 0 to 1, 0 to 10, or 0 to 10,000 and more. `created_*`: when it was stored;
    `happened_*`: the time of its event, otherwise since when it holds (from inclusive, to exclusive). `valid_at`: memories
    that held at that time, as far as known, including superseded and expired ones; without it, live memories only. A memory
    holds until its `valid_until` or `expires_at`, whichever comes first.
    """

    kinds: Words = ()
    tags: Words = ()
    languages: Words = ()
    min_confidence: Fraction = 0.0
    min_importance: float | None = None
    max_importance: float | None = None
    scale: Scale = "fraction"
    created_from: Moment | None = None
    created_to: Moment | None = None
    happened_from: Moment | None = None
    happened_to: Moment | None = None
    valid_at: Moment | None = None
    pinned: bool | None = None

    @property
    def statuses(self) -> tuple[Status, ...]:
        return ("active",) if self.valid_at is None else ("active", "superseded", "expired")

    @property
    def least_importance(self) -> Fraction:
        return 0.0 if self.min_importance is None else as_fraction(self.min_importance, self.scale)

    @property
    def most_importance(self) -> Fraction:
        return 1.0 if self.max_importance is None else as_fraction(self.max_importance, self.scale)

    def accepts(self, memory: Filterable) -> bool:
        """The rule that every index implements as far as it can; hits are checked by it again."""
        return (
            memory.status in self.statuses
            and (not self.kinds or not {memory.kind, *memory.kinds}.isdisjoint(self.kinds))
            and (not self.tags or not set(memory.tags).isdisjoint(self.tags))
            and (not self.languages or not set(matching_languages(memory.language)).isdisjoint(self.languages))
            and memory.confidence >= self.min_confidence
            and self.least_importance <= memory.importance <= self.most_importance
            and within(memory.created_at, self.created_from, self.created_to)
            and within(happened(memory), self.happened_from, self.happened_to)
            and (self.valid_at is None or holds(memory, self.valid_at))
            and self.pinned in (None, memory.pinned)
        )


LIVE = Filters()
DATED = ("happened_from", "happened_to")  # these filters apply to passages too


def looks_at_memories(filters: Filters) -> bool:
    """Whether a filter uses a field that only memories have. `scale` alone filters nothing."""
    return structs.replace(filters, scale=LIVE.scale, **dict.fromkeys(DATED)) != LIVE


class Query(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A search in namespaces. Without `text`, the memories that the filters accept, most important first.

    - `floor`: least relevance of a hit; default: the embedding model's
    - `explain`: include the parts of each score
    - `in`: memories, passages (`said`), or both
    - `asked_at`: the time that relative times in the text ("in March", "two weeks ago") refer to; default: now
    - `filters`: for memories; their `happened_*` for passages too
    - `passage_filters`: for passages

    With `in: both`, a filter of one tier excludes the other tier, and without `text` only memories are found. A query that
    contradicts `in` is invalid.
    """

    namespaces: Annotated[tuple[Identifier, ...], Meta(min_length=1, max_length=100)]
    text: Annotated[str, Meta(max_length=8_000)] | None = None
    filters: Filters = LIVE
    limit: Annotated[int, Meta(ge=1, le=100)] = 10
    floor: Fraction | None = None
    explain: bool = False
    tier: Tier = setting(default="both", name="in")
    asked_at: Moment | None = None
    passage_filters: PassageFilters = ANY_PASSAGE

    def __post_init__(self) -> None:
        if wrong := contradiction(self):
            raise ValueError(wrong)

    @property
    def words(self) -> str:
        """The text, empty where there is none."""
        return (self.text or "").strip()

    @property
    def asks_memories(self) -> bool:
        if self.tier != "both":
            return self.tier == "memories"
        return self.passage_filters == ANY_PASSAGE or looks_at_memories(self.filters)

    @property
    def asks_passages(self) -> bool:
        if self.tier != "both":
            return self.tier == "said"
        return bool(self.words) and (not looks_at_memories(self.filters) or self.passage_filters != ANY_PASSAGE)


def contradiction(query: Query) -> str | None:
    """Why the query can have no hits."""
    if query.tier == "memories" and query.passage_filters != ANY_PASSAGE:
        return "filters by speaker, conversation and time apply to passages, not memories: search in said or both"
    if query.tier == "said" and looks_at_memories(query.filters):
        return "filters such as kinds and tags apply to memories, not passages: search in memories or both"
    if not query.words and (query.tier == "said" or query.passage_filters != ANY_PASSAGE):
        return "a search for passages needs a text"
    return None


class Parts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The parts of a score. `cosine` and `lexical` are raw values, None if not measured; `relevance` combines both, from 0
    to 1; `from_relevance` is the score. `from_importance`, `from_recency` and `from_reinforcement` are always 0 and remain for
    clients of earlier versions."""

    cosine: float | None = None
    lexical: float | None = None
    relevance: Fraction = 0.0
    from_relevance: Fraction = 0.0
    from_importance: Fraction = 0.0
    from_recency: Fraction = 0.0
    from_reinforcement: Fraction = 0.0


class Hit(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A memory that was found. Scores are from 0 to 1 and comparable within an answer. With a reranker, hits are in the
    order of `reranked`, its score."""

    score: float
    memory: Memory
    parts: Parts | None = None
    reranked: float | None = None


class SaidHit(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A passage that was found. Scores are comparable within an answer. `cosine` is None if the vector index did not return
    it, `words` is its BM25 score. The right to read one of the namespaces `owners` is enough to read it.

    `neighbours` are messages before and after it that are needed to understand it, in order; they have the same owners.
    `joined` are the hits among them: each is shown on its own if this hit is not shown.
    """

    score: float
    passage: Passage
    neighbours: tuple[Passage, ...] = ()
    joined: tuple["SaidHit", ...] = ()
    cosine: float | None = None
    words: float = 0.0
    owners: tuple[str, ...] = ()
    reranked: float | None = None

    @property
    def exchange(self) -> tuple[Passage, ...]:
        """The passage and its neighbours, in order."""
        return tuple(sorted((self.passage, *self.neighbours), key=lambda each: each.ordinal))

    @property
    def message_ids(self) -> tuple[str, ...]:
        """The messages of the exchange, in order."""
        return tuple(each.message_id for each in self.exchange)


class Found(Struct, frozen=True, kw_only=True):
    """Hits, best first: `hits` are memories, `said` passages, `mixed` both in one order. `degraded` names the parts of the
    search that failed or were too slow."""

    hits: tuple[Hit, ...] = ()
    said: tuple[SaidHit, ...] = ()
    mixed: tuple[Hit | SaidHit, ...] = ()
    degraded: tuple[Degraded, ...] = ()


def as_fraction(rated: float, scale: Scale) -> Fraction:
    """An importance on any scale as the stored fraction; values beyond the scale count as its bounds."""
    if scale == "tenths":
        return importance.of_tenths(rated)
    bounded = min(max(rated, 0.0), importance.MOST_POINTS)
    return importance.of_points(round(bounded)) if scale == "points" else min(bounded, 1.0)


def matching_languages(language: str | None) -> tuple[str, ...]:
    """The languages by which a language is found: `de-CH` as itself and as `de`."""
    return () if language is None else tuple(dict.fromkeys((language, language.partition("-")[0])))


def happened(memory: Filterable) -> datetime:
    return memory.event_time or memory.valid_from or memory.created_at


def holds(memory: Filterable, at: datetime) -> bool:
    begun = memory.valid_from is None or memory.valid_from <= at
    return begun and (memory.valid_until is None or at < memory.valid_until)


def within(moment: datetime, since: datetime | None, until: datetime | None) -> bool:
    return (since is None or since <= moment) and (until is None or moment < until)
