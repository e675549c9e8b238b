"""Search: full queries in a body, simple ones in URL parameters."""

from functools import partial
from math import inf
from typing import Annotated, Literal, Self

from fastapi import APIRouter, Depends, Response
from fastapi import Query as Parameter
from msgspec import Struct
from msgspec.structs import replace
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, model_validator

from agents.api.access.authentication import CallerOf
from agents.api.access.callers import Caller
from agents.api.http.json_bodies import documented, json_body, json_response
from agents.api.memories.list_parameters import SCALE_MAX, Label
from agents.api.memories.views import Detail, MemoryView, memory_view
from agents.api.ports import Ports, PortsOf
from agents.retrieval.tiers import message_key
from schemas.extraction.candidates import Source
from schemas.passages.passages import Passage, PassageFilters
from schemas.retrieval.searches import Degraded, Filters, Hit, Parts, Query, SaidHit, Scale, Tier

router = APIRouter(prefix="/v1/search", tags=["search"])


class SearchQuery(Query, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A search query. With `detail` `full`, memories include their long fields. With `related`, hits include ids of the
    other tier."""

    detail: Detail = "short"
    related: bool = False


class FoundHit(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A hit: a `memory` of the tier `memory`, or a `passage` of an archived message, word for word, of the tier `said`.
    Scores are comparable within a tier only. `neighbours` are the adjacent messages that the passage needs to be
    understood, such as the question before a short reply. `message_ids` are those of the passage and its neighbours, in
    the order they were said.

    If a reranker is in use, hits are ordered by `reranked`, its score. `explain` adds `parts`, the parts of the score.
    `related` adds to a memory its source messages (`sources`), and to a passage the live memories of its message
    (`memory_ids`).
    """

    score: float
    tier: Literal["memory", "said"]
    memory: MemoryView | None = None
    passage: Passage | None = None
    neighbours: tuple[Passage, ...] = ()
    message_ids: tuple[str, ...] = ()
    parts: Parts | None = None
    reranked: float | None = None
    sources: tuple[Source, ...] = ()
    memory_ids: tuple[str, ...] = ()


class SearchAnswer(Struct, frozen=True, kw_only=True):
    """Hits, best first. `degraded` lists the parts of the search that were unavailable; the hits come from the other parts."""

    hits: tuple[FoundHit, ...]
    degraded: tuple[Degraded, ...]


class SimpleQuery(BaseModel):
    """The query parameters of a search."""

    model_config = ConfigDict(frozen=True)

    namespace: list[Label] = Field(min_length=1, max_length=100, description="Namespaces to search.")
    q: str | None = Field(None, max_length=8_000, description="The question; without it, the most important memories.")
    kind: list[Label] = Field([], max_length=64, description="Memories of any of these kinds.")
    tag: list[Label] = Field([], max_length=64, description="Memories with any of these tags.")
    language: list[Label] = Field([], max_length=64, description="Memories in any of these languages, such as `de`.")
    scale: Scale = Field("fraction", description="Scale of importance: 0 to 1, 0 to 10, or 0 to 10,000 and more.")
    min_importance: float | None = Field(None, ge=0, le=1e9, description="Memories of at least this importance.")
    max_importance: float | None = Field(None, ge=0, le=1e9, description="Memories of at most this importance.")
    min_confidence: float = Field(0.0, ge=0, le=1, description="Memories of at least this confidence.")
    valid_at: AwareDatetime | None = Field(
        None, description="Memories that were valid at this time, including superseded ones."
    )
    floor: float | None = Field(
        None, ge=0, le=1, description="Minimum relevance; default: the embedding model's threshold."
    )
    limit: int = Field(10, ge=1, le=100, description="Maximum number of entries in the response.")
    explain: bool = Field(False, description="Include the parts of each score.")
    detail: Literal["short", "full"] = Field("short", description="`full` includes the long fields, `short` does not.")
    tier: Tier = Field("both", alias="in", description="Search memories, passages of messages (`said`), or both.")
    asked_at: AwareDatetime | None = Field(
        None, description="The time that relative times in the question refer to; default: now."
    )
    speaker: list[Label] = Field([], max_length=100, description="Passages of any of these speakers.")
    conversation: list[Label] = Field([], max_length=100, description="Passages of any of these conversations.")
    said_from: AwareDatetime | None = Field(None, description="Passages from this time or later.")
    said_to: AwareDatetime | None = Field(None, description="Passages from before this time.")
    related: bool = Field(False, description="Include the sources of memories, and the memories of passages.")

    @model_validator(mode="after")
    def importance_fits_its_scale(self) -> Self:
        maximum = SCALE_MAX.get(self.scale, inf)
        if max(self.min_importance or 0, self.max_importance or 0) > maximum:
            raise ValueError(f"on the scale `{self.scale}` an importance is at most {maximum:g}")
        return self

    @model_validator(mode="after")
    def contradicts_nothing(self) -> Self:
        self.to_query()
        return self

    def to_query(self) -> SearchQuery:
        filters = Filters(
            kinds=tuple(self.kind),
            tags=tuple(self.tag),
            languages=tuple(self.language),
            scale=self.scale,
            min_importance=self.min_importance,
            max_importance=self.max_importance,
            min_confidence=self.min_confidence,
            valid_at=self.valid_at,
        )
        return SearchQuery(
            namespaces=tuple(self.namespace),
            text=self.q,
            filters=filters,
            limit=self.limit,
            floor=self.floor,
            explain=self.explain,
            detail=self.detail,
            tier=self.tier,
            asked_at=self.asked_at,
            passage_filters=PassageFilters(
                conversations=tuple(self.conversation),
                speakers=tuple(self.speaker),
                said_from=self.said_from,
                said_to=self.said_to,
            ),
            related=self.related,
        )


@router.post("", openapi_extra=documented(SearchAnswer, request_body=SearchQuery))
async def search(
    query: Annotated[SearchQuery, Depends(json_body(SearchQuery))], caller: CallerOf, ports: PortsOf
) -> Response:
    """Search memories and passages of messages by a text; without a text, the memories that the filters accept, most
    important first."""
    return json_response(await run_search(query, caller, ports))


@router.get("", openapi_extra=documented(SearchAnswer))
async def search_simply(query: Annotated[SimpleQuery, Parameter()], caller: CallerOf, ports: PortsOf) -> Response:
    """Search with URL parameters."""
    return json_response(await run_search(query.to_query(), caller, ports))


async def run_search(query: SearchQuery, caller: Caller, ports: Ports) -> SearchAnswer:
    for namespace in query.namespaces:
        caller.require("read", namespace)
    found = await ports.retrieval.search(query, partial(caller.may, "read"))
    ports.accesses.note(hit.memory for hit in found.hits)
    ports.retrieval_counts.note("search", query.namespaces, bool(found.hits or found.said))
    hits = tuple(hit_view(hit, query) for hit in found.mixed)
    if query.related:
        hits = await with_related(hits, query.namespaces, ports)
    return SearchAnswer(hits=hits, degraded=found.degraded)


def hit_view(hit: Hit | SaidHit, query: SearchQuery) -> FoundHit:
    if isinstance(hit, SaidHit):
        parts = Parts(cosine=hit.cosine, lexical=hit.words) if query.explain else None
        return FoundHit(
            score=hit.score,
            tier="said",
            passage=hit.passage,
            neighbours=hit.neighbours,
            message_ids=hit.message_ids,
            parts=parts,
            reranked=hit.reranked,
        )
    sources = hit.memory.sources if query.related else ()
    return FoundHit(
        score=hit.score,
        tier="memory",
        memory=memory_view(hit.memory, query.detail),
        parts=hit.parts,
        reranked=hit.reranked,
        sources=sources,
    )


async def with_related(hits: tuple[FoundHit, ...], namespaces: tuple[str, ...], ports: Ports) -> tuple[FoundHit, ...]:
    """Adds to passages the ids of the memories that come from their messages."""
    messages = {message_key(hit.passage) for hit in hits if hit.passage}
    memory_ids = await ports.stored.from_messages(messages, namespaces)
    return tuple(
        replace(hit, memory_ids=memory_ids.get(message_key(hit.passage), ())) if hit.passage else hit for hit in hits
    )
