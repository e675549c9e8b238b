"""The vectors of passages: a collection of their own beside that of memories, with nothing in it that was said."""

from collections.abc import Collection, Sequence
from typing import ClassVar, NamedTuple

import msgspec
from qdrant_client import models

from sinks.vectors.port import Neighbour, Vector
from sinks.vectors.qdrant import translated
from sinks.vectors.qdrant_direct import DirectVectors
from sinks.vectors.qdrant_payload import any_of

SUFFIX = "-passages"  # behind the name of the memories' collection


class PassagePoint(NamedTuple):
    """A passage's vector, and the namespace that it is found in."""

    passage_id: str
    namespace: str
    vector: Vector


class PassageVectors(DirectVectors):
    """Raises as VectorIndex does. Writes are visible when they return."""

    indexes: ClassVar = {"namespace": models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True)}

    async def nearest(self, vector: Vector, namespaces: Collection[str], *, limit: int) -> list[Neighbour]:
        """The nearest passages of any of the namespaces, the nearest first."""
        asked = {
            "query": vector.tolist(),
            "filter": msgspec.Raw(
                models.Filter(must=[any_of("namespace", namespaces)]).model_dump_json(exclude_none=True)
            ),
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
            models.PointStruct(id=each.passage_id, vector=each.vector.tolist(), payload={"namespace": each.namespace})
            for each in points
        ]
        with translated("writing passages"):
            await self._client.upsert(self._collection, structs, wait=True)
