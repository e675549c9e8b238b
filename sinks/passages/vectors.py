"""The vectors of passages: a separate Qdrant collection, without any text of messages."""

import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import datetime
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias

import msgspec
from qdrant_client import AsyncQdrantClient, models

from schemas.passages.passages import ANY_PASSAGE, PassageFilters
from sinks.postgres.connection import storable
from sinks.vectors.port import Neighbour, PointsRefused, Vector
from sinks.vectors.qdrant import translated
from sinks.vectors.qdrant_direct import DirectVectors
from sinks.vectors.qdrant_payload import KEYWORD, NUMBER, any_of, seconds

log = logging.getLogger(__name__)

SAID_AT: Final = "said"  # seconds since 1970; points of earlier versions have only a namespace
SUFFIX = "-passages"  # appended to the name of the memories' collection


class PassagePoint(NamedTuple):
    """A passage's vector, the payload that searches filter by, and its message with the user who sent it."""

    passage_id: str
    namespace: str
    conversation_id: str
    message_id: str
    speaker: str
    said_at: datetime
    vector: Vector
    user_id: str | None = None
    tenant_id: str | None = None
    app_id: str | None = None


OnRefused: TypeAlias = Callable[[PassagePoint, PointsRefused], Awaitable[None]]


class PassageVectors(DirectVectors):
    """The vector index of passages. Raises as VectorIndex does. Writes are visible when they return."""

    indexes: ClassVar = {
        "namespace": models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True),
        "conversation": KEYWORD,
        "speaker": KEYWORD,
        SAID_AT: NUMBER,
    }
    model_setting: ClassVar = "MEMSTREAM_PASSAGE_EMBEDDER_MODEL"

    def __init__(self, client: AsyncQdrantClient, **known: Any) -> None:
        super().__init__(client, **known)
        self.on_refused: OnRefused = ignore_refused

    async def nearest(
        self,
        vector: Vector,
        namespaces: Collection[str],
        filters: PassageFilters = ANY_PASSAGE,
        *,
        limit: int,
    ) -> list[Neighbour]:
        """The nearest passages of any of the namespaces, nearest first. Old points without filter fields pass every filter:
        check the rows."""
        body = {
            "query": vector.tolist(),
            "filter": msgspec.Raw(passage_filter(namespaces, filters).model_dump_json(exclude_none=True)),
            "limit": limit,
            "with_payload": False,
        }
        found = await self._query(msgspec.json.encode(body))
        return [Neighbour(str(each.id), each.score) for each in found.points]

    async def ids_without_point(self, passage_ids: Collection[str]) -> set[str]:
        """Those of the passages that have no point."""
        with translated("checking points of passages"):
            points = await self._client.retrieve(
                self._collection, list(passage_ids), with_payload=False, with_vectors=False
            )
        return set(passage_ids) - {str(each.id) for each in points}

    async def write(self, points: Sequence[PassagePoint]) -> None:
        """Writes points, replacing those of the same passages. Reports and skips points that Qdrant refuses."""
        try:
            await self._written([as_struct(each) for each in points])
        except PointsRefused as refused:
            if len(points) > 1:
                for each in points:
                    await self.write([each])
                return
            (point,) = points
            log.error("Qdrant refuses the vector of passage %s: %s", point.passage_id, refused.plain)
            await self.on_refused(point, refused)


async def ignore_refused(_: PassagePoint, __: PointsRefused) -> None:
    """The default for refused points: the log entry is enough."""


def as_struct(point: PassagePoint) -> models.PointStruct:
    return models.PointStruct(id=point.passage_id, vector=point.vector.tolist(), payload=payload(point))


def payload(point: PassagePoint) -> dict[str, Any]:
    return {
        "namespace": point.namespace,
        "conversation": point.conversation_id,
        "speaker": point.speaker,
        SAID_AT: point.said_at.timestamp(),
    }


def passage_filter(namespaces: Collection[str], filters: PassageFilters) -> models.Filter:
    keywords = {"conversation": filters.conversations, "speaker": filters.speakers}
    others: list[models.Condition] = [
        any_of(field, [storable(each) for each in values]) for field, values in keywords.items() if values
    ]
    if filters.said_from or filters.said_to:
        said_at = models.Range(gte=seconds(filters.said_from), lt=seconds(filters.said_to))
        others.append(models.FieldCondition(key=SAID_AT, range=said_at))
    conditions: list[models.Condition] = [any_of("namespace", namespaces)]
    if others:
        old = models.IsEmptyCondition(is_empty=models.PayloadField(key=SAID_AT))
        conditions.append(models.Filter(should=[models.Filter(must=others), old]))
    return models.Filter(must=conditions)
