"""The vectors of passages: a collection of their own beside that of memories, with nothing in it that was said."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, ClassVar, Final, NamedTuple

import msgspec
from qdrant_client import models

from schemas.passages.passages import ANY_PASSAGE, PassageFilters
from sinks.postgres.connection import storable
from sinks.vectors.port import Neighbour, Vector
from sinks.vectors.qdrant import translated
from sinks.vectors.qdrant_direct import DirectVectors
from sinks.vectors.qdrant_payload import KEYWORD, NUMBER, any_of, seconds

SAID: Final = "said"  # seconds since 1970; points of earlier versions have nothing but their namespace
SUFFIX = "-passages"  # behind the name of the memories' collection


class PassagePoint(NamedTuple):
    """A passage's vector, and what searches filter by."""

    passage_id: str
    namespace: str
    conversation_id: str
    speaker: str
    said_at: datetime
    vector: Vector


class PassageVectors(DirectVectors):
    """Raises as VectorIndex does. Writes are visible when they return."""

    indexes: ClassVar = {
        "namespace": models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True),
        "conversation": KEYWORD,
        "speaker": KEYWORD,
        SAID: NUMBER,
    }

    async def nearest(
        self,
        vector: Vector,
        namespaces: Collection[str],
        filters: PassageFilters = ANY_PASSAGE,
        *,
        limit: int,
    ) -> list[Neighbour]:
        """The nearest passages of any of the namespaces, the nearest first. Points from before they could be filtered are not
        left out: who searches looks at the rows."""
        asked = {
            "query": vector.tolist(),
            "filter": msgspec.Raw(passage_filter(namespaces, filters).model_dump_json(exclude_none=True)),
            "limit": limit,
            "with_payload": False,
        }
        found = await self._asked(msgspec.json.encode(asked))
        return [Neighbour(str(each.id), each.score) for each in found.points]

    async def missing(self, passage_ids: Collection[str]) -> set[str]:
        """Those of the passages that have no point."""
        with translated("looking for points of passages"):
            points = await self._client.retrieve(
                self._collection, list(passage_ids), with_payload=False, with_vectors=False
            )
        return set(passage_ids) - {str(each.id) for each in points}

    async def write(self, points: Sequence[PassagePoint]) -> None:
        """Replaces those of the same passage."""
        if not points:
            return
        structs = [
            models.PointStruct(id=each.passage_id, vector=each.vector.tolist(), payload=payload(each))
            for each in points
        ]
        with translated("writing passages"):
            await self._client.upsert(self._collection, structs, wait=True)


def payload(point: PassagePoint) -> dict[str, Any]:
    return {
        "namespace": point.namespace,
        "conversation": point.conversation_id,
        "speaker": point.speaker,
        SAID: point.said_at.timestamp(),
    }


def passage_filter(namespaces: Collection[str], filters: PassageFilters) -> models.Filter:
    keywords = {"conversation": filters.conversations, "speaker": filters.speakers}
    others: list[models.Condition] = [
        any_of(field, [storable(each) for each in values]) for field, values in keywords.items() if values
    ]
    if filters.said_from or filters.said_to:
        said = models.Range(gte=seconds(filters.said_from), lt=seconds(filters.said_to))
        others.append(models.FieldCondition(key=SAID, range=said))
    conditions: list[models.Condition] = [any_of("namespace", namespaces)]
    if others:
        old = models.IsEmptyCondition(is_empty=models.PayloadField(key=SAID))
        conditions.append(models.Filter(should=[models.Filter(must=others), old]))
    return models.Filter(must=conditions)
