"""What is asked of the memories and what is found: the shapes of search, over HTTP, as a tool and inside."""

from datetime import datetime
from typing import Annotated, Literal, Protocol

from msgspec import Meta, Struct, structs
from msgspec import field as setting

from schemas.conversations.messages import Identifier, Moment
from schemas.memories import importance
from schemas.memories.memories import Memory, Status
from schemas.passages.passages import ANY_PASSAGE, Passage, PassageFilters
from schemas.policies.policies import Fraction

Scale = Literal["fraction", "tenths", "points"]
# The embedder, the vector index or the reranker was too slow, or failed; words were searched all the same.
Degraded = Literal[
    "embedder_slow", "embedder_failed", "vectors_slow", "vectors_failed", "reranker_slow", "reranker_failed"
]

# Memories, what was said word for word, or both ranked together.
Tier = Literal["memories", "said", "both"]

Words = Annotated[tuple[Identifier, ...], Meta(max_length=100)]


class Filterable(Protocol):
    """What filters look at: a memory, or what an index holds of one."""

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
    """What a memory must be: any of the values of each field that is given, and so for every field.

    Bounds of importance are on the `scale`: 0 to 1, 0 to 10, or 0 to 10,000 and more. `created_*` is when it was stored;
    `happened_*` the time of its event or, without, since when it holds. From is included, to is not. `valid_at`: it held at
    that moment, as far as is known, which lets in what was superseded or has expired since; without, only live memories are
    found.
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
        """The rule that every index follows as far as it can; what was found is held to it once more."""
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
DATED = ("happened_from", "happened_to")  # what was said has these as well


def looks_at_memories(filters: Filters) -> bool:
    """Whether a filter asks for something that only memories have."""
    return structs.replace(filters, **dict.fromkeys(DATED)) != LIVE


class Query(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A question, and the namespaces to search. Without a `text` the filters decide, and importance orders.

    Nothing of a relevance below `floor` is found; by default that of the embedding model. `explain` shows how each score
    came about. `in` says where to look. Times that the text names ("in March", "two weeks ago") are resolved against `asked_at`,
    by default now.

    `filters` hold for memories, their `happened_*` for what was said as well; `passage_filters` hold for what was said. With
    `in: both` filters of one tier alone leave the other out, and without a text only memories are found. A question that `in`
    contradicts is invalid.
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


def contradiction(asked: Query) -> str | None:
    """Why nothing could be found, whatever there is."""
    if asked.tier == "memories" and asked.passage_filters != ANY_PASSAGE:
        return "speakers, conversations and times filter what was said, not memories: ask in said or both"
    if asked.tier == "said" and looks_at_memories(asked.filters):
        return "kinds, tags and the like filter memories, not what was said: ask in memories or both"
    if not asked.words and (asked.tier == "said" or asked.passage_filters != ANY_PASSAGE):
        return "what was said is found by a text: give one"
    return None


class Parts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a score came about. `cosine` and `lexical` are as found, None where they were not looked at; `relevance` is both,
    fused, from 0 to 1; the others are what each adds to the score, and with `from_relevance` they sum up to it. Importance,
    recency and reinforcement add nothing: they order hits that are otherwise equal."""

    cosine: float | None = None
    lexical: float | None = None
    relevance: Fraction = 0.0
    from_relevance: Fraction = 0.0
    from_importance: Fraction = 0.0
    from_recency: Fraction = 0.0
    from_reinforcement: Fraction = 0.0


class Hit(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A memory that was found; `score` is from 0 to 1, comparable within one answer. Where a reranker was asked, hits are in the
    order of `reranked`, its score."""

    score: float
    memory: Memory
    parts: Parts | None = None
    reranked: float | None = None


class SaidHit(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A passage of what was said; `score` is comparable within an answer. `cosine` is None where the vector index did not name
    it, `words` is its BM25 score. Who may read any of the namespaces `owners` may read it."""

    score: float
    passage: Passage
    cosine: float | None = None
    words: float = 0.0
    owners: tuple[str, ...] = ()
    reranked: float | None = None


class Found(Struct, frozen=True, kw_only=True):
    """The best first: `hits` are the memories, `said` the passages, `mixed` both in one order. `degraded` says what could not be
    asked: the answer is what the rest knows."""

    hits: tuple[Hit, ...] = ()
    said: tuple[SaidHit, ...] = ()
    mixed: tuple[Hit | SaidHit, ...] = ()
    degraded: tuple[Degraded, ...] = ()


def as_fraction(rated: float, scale: Scale) -> Fraction:
    """An importance on any scale as it is stored, values beyond the scale as its bounds."""
    if scale == "tenths":
        return importance.of_tenths(rated)
    bounded = min(max(rated, 0.0), importance.MOST_POINTS)
    return importance.of_points(round(bounded)) if scale == "points" else min(bounded, 1.0)


def matching_languages(language: str | None) -> tuple[str, ...]:
    """What a language may be asked for by: `de-CH` by itself and as `de`."""
    return () if language is None else tuple(dict.fromkeys((language, language.partition("-")[0])))


def happened(memory: Filterable) -> datetime:
    return memory.event_time or memory.valid_from or memory.created_at


def holds(memory: Filterable, at: datetime) -> bool:
    begun = memory.valid_from is None or memory.valid_from <= at
    return begun and (memory.valid_until is None or at < memory.valid_until)


def within(moment: datetime, since: datetime | None, until: datetime | None) -> bool:
    return (since is None or since <= moment) and (until is None or moment < until)
