"""The vector index in Qdrant: one collection, a point per memory, the namespace as its tenant."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any, ClassVar

from qdrant_client import AsyncQdrantClient, models
from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

from schemas.counts import counted
from schemas.errors import MemstreamError, Misconfigured, Retryable
from schemas.retrieval.searches import LIVE, Filters
from sinks.vectors.port import Neighbour, Point, PointsRefused, Vector
from sinks.vectors.qdrant_payload import INDEXES, any_of, as_qdrant, search_filter

DEFAULT_COLLECTION = "memories"
REFUSED = (401, 403)  # a wrong key: retries do not help
WRONG = (400, 413, 422)  # an invalid request
CONFLICT = 409  # two workers created the collection at once

# Keys of the collection's metadata.
MODEL = "embedding_model"
REINDEXING = "reindexing"  # present while the collection is incomplete
# The model of collections without metadata: they were created when there was no other model.
UNRECORDED_MODEL = "all-MiniLM-L6-v2-int8"
RECORDS_METADATA = (1, 16)  # the first version of Qdrant with collection metadata

# How long a check of the collection stays valid; losing and recreating one takes longer.
COMPLETE_FOR_S = 2.0


class Vectors:
    """A VectorIndex in a Qdrant collection with cosine distance, for vectors of `dimension` by `embedding_model`.

    `indexes` are the payload fields that searches filter by, `model_setting` the setting that names the model.
    """

    indexes: ClassVar[Mapping[str, models.KeywordIndexParams | models.FloatIndexParams]] = INDEXES
    model_setting: ClassVar = "MEMSTREAM_EMBEDDER_MODEL"

    def __init__(
        self,
        client: AsyncQdrantClient,
        *,
        dimension: int,
        embedding_model: str,
        collection: str = DEFAULT_COLLECTION,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._whole_until = clock()
        self._checking: asyncio.Task[None] | None = None
        self._client = client
        self._collection = collection
        self._dimension = dimension
        self._embedding_model = embedding_model

    @property
    def embedding_model(self) -> str:
        return self._embedding_model

    @property
    def collection(self) -> str:
        return self._collection

    async def ensure_collection(self) -> None:
        with translated("preparing the collection"):
            if not await self._client.collection_exists(self._collection):
                await self._refuse_an_old_server()
                await self._create({MODEL: self._embedding_model})
        await self.verify()
        with translated("preparing the collection"):
            await self._index((await self._client.get_collection(self._collection)).payload_schema)

    async def verify(self) -> None:
        """Raises Misconfigured if the collection has vectors of another dimension or model, or is incomplete."""
        with translated("checking the collection"):
            config = (await self._client.get_collection(self._collection)).config
        self._check_dimension(config.params.vectors)
        self._check_metadata(config.metadata or {})

    async def is_of_another_model(self) -> bool:
        """Whether the existing collection has vectors of another model."""
        with translated("checking the collection"):
            metadata = (await self._client.get_collection(self._collection)).config.metadata or {}
        return bool(metadata.get(MODEL, UNRECORDED_MODEL) != self._embedding_model)

    async def recreate(self) -> None:
        self._whole_until = 0.0
        with translated("recreating the collection"):
            await self._refuse_an_old_server()
            await self._client.delete_collection(self._collection)
            await self._create({MODEL: self._embedding_model, REINDEXING: True})

    async def complete(self) -> None:
        with translated("completing the collection"):
            await self._client.update_collection(self._collection, metadata={REINDEXING: None})

    async def exists(self) -> bool:
        """Whether the collection exists."""
        with translated("checking whether the collection exists"):
            return await self._client.collection_exists(self._collection)

    async def _refuse_an_old_server(self) -> None:
        version = (await self._client.info()).version
        if tuple(int(part) for part in version.split(".")[:2]) < RECORDS_METADATA:
            raise Misconfigured(f"Qdrant {version} cannot record whose vectors it holds: upgrade it to 1.16 or later")

    async def _create(self, metadata: dict[str, Any]) -> None:
        size = models.VectorParams(size=self._dimension, distance=models.Distance.COSINE)
        try:
            await self._client.create_collection(self._collection, vectors_config=size, metadata=metadata)
        except UnexpectedResponse as exc:
            if exc.status_code != CONFLICT:
                raise
        await self._index({})

    async def _index(self, known: Mapping[str, Any]) -> None:
        """Creates payload indexes that are not `known`."""
        for field in self.indexes.keys() - known.keys():
            await self._client.create_payload_index(self._collection, field, self.indexes[field], wait=True)

    def _check_dimension(self, held: object) -> None:
        size = held.size if isinstance(held, models.VectorParams) else None
        if size != self._dimension:
            raise Misconfigured(
                f"the Qdrant collection {self._collection!r} holds vectors of dimension {size}, "
                f"{self._embedding_model} makes {self._dimension}: run `memstream reindex`"
            )

    def _check_metadata(self, metadata: dict[str, Any]) -> None:
        model = metadata.get(MODEL, UNRECORDED_MODEL)
        if model != self._embedding_model:
            raise Misconfigured(
                f"the Qdrant collection {self._collection!r} holds vectors of {model}, which those of "
                f"{self._embedding_model} cannot be compared with: run `memstream reindex`, or set {self.model_setting}={model}"
            )
        if metadata.get(REINDEXING):
            raise Misconfigured(
                f"the Qdrant collection {self._collection!r} is incomplete: `memstream reindex` is running, "
                "or was interrupted; then run it again"
            )

    async def drop_collection(self) -> None:
        with translated("dropping the collection"):
            await self._client.delete_collection(self._collection)

    async def neighbours(self, namespace: str, vector: Vector, *, min_score: float, limit: int) -> list[Neighbour]:
        return await self.search(vector, namespaces=(namespace,), min_score=min_score, limit=limit)

    @asynccontextmanager
    async def _searching(self) -> AsyncIterator[None]:
        """Requires a complete collection of the index's model: a search of another one would find less, or compare vectors of
        two models. Raises Retryable otherwise."""
        await self._require_complete()
        try:
            yield
        except MemstreamError:
            self._whole_until = 0.0  # the collection may be lost: check it again before its next use
            raise

    async def _require_complete(self) -> None:
        """Raises Retryable if the collection is incomplete or of another model; checks it every COMPLETE_FOR_S at most.
        Callers share a running check and its failure: none waits for a further time-out."""
        if self._clock() < self._whole_until:
            return
        if self._checking is None:
            self._checking = asyncio.create_task(self._check_complete())
            self._checking.add_done_callback(self._checked)
        checking = self._checking
        await asyncio.wait((checking,))  # a cancelled caller must not cancel the check of the others
        checking.result()

    async def _check_complete(self) -> None:
        try:
            await self.verify()
        except Misconfigured as exc:
            raise Retryable(str(exc)) from exc
        self._whole_until = self._clock() + COMPLETE_FOR_S

    def _checked(self, check: asyncio.Task[None]) -> None:
        self._checking = None
        if not check.cancelled():
            check.exception()  # counts as retrieved, also if every caller was cancelled

    async def search(
        self,
        vector: Vector,
        *,
        namespaces: Collection[str],
        filters: Filters = LIVE,
        limit: int = 10,
        min_score: float | None = None,
    ) -> list[Neighbour]:
        async with self._searching():
            with translated("searching"):
                answer = await self._client.query_points(
                    self._collection,
                    query=vector.tolist(),
                    query_filter=search_filter(namespaces, filters),
                    limit=limit,
                    score_threshold=min_score,
                    with_payload=False,
                )
        return [Neighbour(str(point.id), point.score) for point in answer.points]

    async def upsert(self, points: Sequence[Point]) -> None:
        await self._written([as_qdrant(point) for point in points])

    async def _written(self, structs: Sequence[models.PointStruct]) -> None:
        if not structs:
            return
        with translated("writing points"):
            try:
                await self._client.upsert(self._collection, list(structs), wait=True)
            except UnexpectedResponse as exc:
                if exc.status_code not in WRONG:
                    raise
                # Also the status for vectors of another dimension, which is not the points' fault.
                await self._require_complete()
                raise PointsRefused(f"Qdrant refuses {counted(len(structs), 'points')}", str(exc)) from exc

    async def delete(self, memory_ids: Collection[str]) -> None:
        if not memory_ids:
            return
        selector = models.PointIdsList(points=list(memory_ids))
        with translated("deleting points"):
            try:
                await self._client.delete(self._collection, selector, wait=True)
            except UnexpectedResponse as exc:
                if exc.status_code not in WRONG:
                    raise
                raise PointsRefused(f"Qdrant refuses to delete {counted(len(memory_ids), 'points')}", str(exc)) from exc

    async def count(self, namespace: str | None = None) -> int:
        condition = None if namespace is None else models.Filter(must=[any_of("namespace", (namespace,))])
        with translated("counting points"):
            return (await self._client.count(self._collection, count_filter=condition, exact=True)).count

    async def ids(self, *, page: int = 1_000) -> AsyncIterator[list[tuple[str, str]]]:
        offset: Any = None
        while True:
            with translated("listing points"):
                points, offset = await self._client.scroll(
                    self._collection, limit=page, offset=offset, with_payload=["namespace"], with_vectors=False
                )
            yield [((point.payload or {}).get("namespace", ""), str(point.id)) for point in points]
            if offset is None:
                return


@contextmanager
def translated(action: str) -> Iterator[None]:
    """Translates client errors: Misconfigured for a refused key, Retryable for everything else.

    An answer such as "no such collection" is Retryable too: `memstream reindex` fixes it while the worker waits.
    """
    try:
        yield
    except UnexpectedResponse as exc:
        kind = Misconfigured if exc.status_code in REFUSED else Retryable
        raise kind(f"Qdrant failed while {action}", str(exc)) from exc
    except (ApiException, OSError, TimeoutError) as exc:
        raise Retryable(f"Qdrant failed while {action}: {getattr(exc, 'source', None) or exc!r}") from exc
