"""Search: whole questions as a body, simple ones in the address."""

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
from agents.api.memories.list_parameters import MOST, Label
from agents.api.memories.views import Detail, MemoryView, view
from agents.api.ports import Ports, PortsOf
from agents.retrieval.rights import permitted
from schemas.extraction.candidates import Source
from schemas.passages.passages import Passage, PassageFilters
from schemas.retrieval.searches import Degraded, Filters, Hit, Parts, Query, SaidHit, Scale, Tier

router = APIRouter(prefix="/v1/search", tags=["search"])


class SearchQuery(Query, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A question, whether the memories found are shown with their long parts, and whether hits lead to the other tier."""

    detail: Detail = "short"
    related: bool = False


class FoundHit(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A `memory`, or with the tier `said` a `passage` of what was said, word for word. Scores are comparable within a tier.

    Where a reranker was asked, hits are in the order of `reranked`, its score. `parts` are there where `explain` asks for them.
    With `related` a memory has the messages that it comes from (`sources`), a passage the live memories that come from its
    message (`memory_ids`).
    """

    score: float
    tier: Literal["memory", "said"]
    memory: MemoryView | None = None
    passage: Passage | None = None
    parts: Parts | None = None
    reranked: float | None = None
    sources: tuple[Source, ...] = ()
    memory_ids: tuple[str, ...] = ()


class SearchAnswer(Struct, frozen=True, kw_only=True):
    """The best first. `degraded` is empty, or says what could not be asked: then this is what the rest knows."""

    hits: tuple[FoundHit, ...]
    degraded: tuple[Degraded, ...]


class SimpleQuery(BaseModel):
    """A question in an address. Unknown parameters are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    namespace: list[Label] = Field(min_length=1, max_length=100, description="Namespaces to search.")
    q: str | None = Field(None, max_length=8_000, description="What is looked for; without it importance orders.")
    kind: list[Label] = Field([], max_length=64, description="Memories of any of these kinds.")
    tag: list[Label] = Field([], max_length=64, description="Memories with any of these tags.")
    language: list[Label] = Field([], max_length=64, description="Memories in any of these languages, such as `de`.")
    scale: Scale = Field("fraction", description="What importance is said in: 0 to 1, 0 to 10, 0 to 10,000 and more.")
    min_importance: float | None = Field(None, ge=0, le=1e9, description="Of at least this importance.")
    max_importance: float | None = Field(None, ge=0, le=1e9, description="Of at most this importance.")
    min_confidence: float = Field(0.0, ge=0, le=1, description="Of at least this confidence.")
    valid_at: AwareDatetime | None = Field(None, description="Memories that held at this moment, superseded ones too.")
    floor: float | None = Field(None, ge=0, le=1, description="The least relevance; default the embedding model's.")
    limit: int = Field(10, ge=1, le=100, description="How many at most.")
    explain: bool = Field(False, description="Show how each score came about.")
    detail: Literal["short", "full"] = Field("short", description="Without the long parts, or with them.")
    tier: Tier = Field("both", alias="in", description="Memories, what was said word for word, or both.")
    asked_at: AwareDatetime | None = Field(None, description="What times in the question refer to; default now.")
    speaker: list[Label] = Field([], max_length=100, description="What was said by any of these speakers.")
    conversation: list[Label] = Field([], max_length=100, description="What was said in any of these conversations.")
    said_from: AwareDatetime | None = Field(None, description="What was said at this moment or later.")
    said_to: AwareDatetime | None = Field(None, description="What was said before this moment.")
    related: bool = Field(False, description="With the sources of each memory, and the memories of each passage.")

    @model_validator(mode="after")
    def importance_fits_its_scale(self) -> Self:
        most = MOST.get(self.scale, inf)
        if max(self.min_importance or 0, self.max_importance or 0) > most:
            raise ValueError(f"on the scale `{self.scale}` an importance is at most {most:g}")
        return self

    @model_validator(mode="after")
    def contradicts_nothing(self) -> Self:
        self.asked()
        return self

    def asked(self) -> SearchQuery:
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


@router.post("", openapi_extra=documented(SearchAnswer, takes=SearchQuery))
async def search(
    asked: Annotated[SearchQuery, Depends(json_body(SearchQuery))], caller: CallerOf, ports: PortsOf
) -> Response:
    """Memories, and passages of what was said, that have to do with a text; without one the memories that the filters accept, the
    most important first."""
    return json_response(await found(asked, caller, ports))


@router.get("", openapi_extra=documented(SearchAnswer))
async def search_simply(asked: Annotated[SimpleQuery, Parameter()], caller: CallerOf, ports: PortsOf) -> Response:
    """The same for what fits into an address."""
    return json_response(await found(asked.asked(), caller, ports))


async def found(asked: SearchQuery, caller: Caller, ports: Ports) -> SearchAnswer:
    for namespace in asked.namespaces:
        caller.require("read", namespace)
    answered = permitted(await ports.retrieval.search(asked), partial(caller.may, "read"))
    ports.accesses.note(hit.memory for hit in answered.hits)
    hits = tuple(shown(hit, asked) for hit in answered.mixed)
    if asked.related:
        hits = await with_related(hits, asked.namespaces, ports)
    return SearchAnswer(hits=hits, degraded=answered.degraded)


def shown(hit: Hit | SaidHit, asked: SearchQuery) -> FoundHit:
    if isinstance(hit, SaidHit):
        parts = Parts(cosine=hit.cosine, lexical=hit.words) if asked.explain else None
        return FoundHit(score=hit.score, tier="said", passage=hit.passage, parts=parts, reranked=hit.reranked)
    sources = hit.memory.sources if asked.related else ()
    return FoundHit(
        score=hit.score,
        tier="memory",
        memory=view(hit.memory, asked.detail),
        parts=hit.parts,
        reranked=hit.reranked,
        sources=sources,
    )


async def with_related(hits: tuple[FoundHit, ...], namespaces: tuple[str, ...], ports: Ports) -> tuple[FoundHit, ...]:
    """Passages with the ids of the memories that come from their messages."""
    messages = {message_of(hit.passage) for hit in hits if hit.passage}
    memory_ids = await ports.stored.from_messages(messages, namespaces)
    return tuple(
        replace(hit, memory_ids=memory_ids.get(message_of(hit.passage), ())) if hit.passage else hit for hit in hits
    )


def message_of(passage: Passage) -> tuple[str, str]:
    return passage.conversation_id, passage.message_id
