"""The transactional outbox: rows that commit with a decision, and their projection to Qdrant and Kafka in the same order."""

import logging
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import asyncpg
from opentelemetry.trace import SpanKind

from schemas.codec import encode, without_nul
from schemas.counts import counted
from schemas.errors import Rejected, Retryable
from schemas.kafka.dead_letters import letter_without_source
from schemas.kafka.records import Outgoing, Publisher
from schemas.observability import traces
from schemas.policies.shadows import is_reserved
from sinks.memories.reader import Memories
from sinks.postgres.connection import Connection, Pool, translated
from sinks.postgres.queries import query
from sinks.vectors.port import Point, PointsRefused, VectorIndex

log = logging.getLogger(__name__)

STAGE: Final = "outbox"
PAGE = 500  # rows per page; bounds memory and the size of a request to Qdrant
STALE_S = 10.0  # the process that wrote an older row has ended, or is failing and retries itself


class Projector:
    """Projects committed changes to Qdrant and Kafka, one namespace at a time.

    A row is deleted once Qdrant and the broker have it. A crash before that repeats the same vectors, and the same records
    with the same ids in the same order; nothing is lost or reordered.
    """

    def __init__(
        self,
        pool: Pool,
        vectors: VectorIndex,
        publisher: Publisher,
        *,
        stale_s: float = STALE_S,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._pool = pool
        self._vectors = vectors
        self._publisher = publisher
        self._stale_s = stale_s
        self._clock = clock

    async def project(self, connection: Connection, namespace: str) -> int:
        """Projects all pending rows of a namespace and returns their number.

        Runs in the caller's transaction and keeps the namespace locked until it ends. Raises Retryable when PostgreSQL,
        Qdrant or Kafka fails: roll the transaction back, and the rows stay.
        """
        with translated("projecting the outbox"):
            await connection.execute(query("memories", "lock_namespace"), namespace)
            return await self._project_locked(connection, namespace)

    async def project_now(self, namespace: str) -> int:
        """Projects a namespace in its own transaction."""
        with translated("projecting the outbox"):
            async with self._pool.acquire() as connection, connection.transaction():
                return await self.project(connection, namespace)

    async def sweep(self, limit: int = 100) -> int:
        """Projects up to `limit` namespaces with rows older than `stale_s` seconds, oldest first; returns the number of
        rows.

        Skips namespaces that others hold. Tries every namespace before it raises a failure.
        """
        with translated("projecting the outbox"):
            rows = await self._pool.fetch(query("outbox", "forgotten"), self._stale_s, limit)
        projected, failures = 0, []
        for row in rows:
            try:
                projected += await self._sweep_one(row["namespace"])
            except Retryable as exc:
                failures.append(exc)
        if failures:
            raise Retryable(
                f"{len(failures)} of {counted(len(rows), 'namespaces')} could not be projected: {failures[0]}"
            ) from failures[0]
        return projected

    async def _sweep_one(self, namespace: str) -> int:
        with translated("projecting the outbox"):
            async with self._pool.acquire() as connection, connection.transaction():
                if not await connection.fetchval(query("memories", "try_lock_namespace"), namespace):
                    return 0
                return await self._project_locked(connection, namespace)

    async def _project_locked(self, connection: Connection, namespace: str) -> int:
        projected = 0
        while rows := await connection.fetch(query("outbox", "pending"), namespace, PAGE):
            await self._to_index(connection, [row["key"].decode() for row in rows if row["target"] == "vector"])
            # After the vectors, so that consumers of an event can find the memory.
            await self._published([outgoing(row) for row in rows if row["target"] == "kafka"])
            await connection.execute(query("outbox", "done"), namespace, rows[-1]["id"])
            projected += len(rows)
        return projected

    async def _published(self, records: Sequence[Outgoing]) -> None:
        """Publishes records, which may be of several decisions and of processes that have ended."""
        if not records:
            return
        causes = [traces.traceparent_of(record.headers) for record in records]
        fields = {"memstream.records": len(records)}
        with traces.span("outbox publish", fields, causes=causes, kind=SpanKind.PRODUCER):
            await self._to_kafka(records)

    async def _to_kafka(self, records: Sequence[Outgoing]) -> None:
        try:
            await self._publisher.publish(records)
        except Rejected:
            for record in records:
                await self._to_kafka_or_dead_letters(record)

    async def _to_kafka_or_dead_letters(self, record: Outgoing) -> None:
        """Publishes a record, or a dead letter if the record can never be published, so that it does not block its
        namespace."""
        try:
            await self._publisher.publish([record])
        except Rejected as rejected:
            log.error("a record for %s cannot be published, writing a dead letter: %s", record.topic, rejected)
            # Without the value, which may be what is wrong; PostgreSQL has it.
            await self._publish_letter(record.key, record.topic, rejected)

    async def _to_index(self, connection: Connection, memory_ids: Sequence[str]) -> None:
        """Brings memories up to date in the index. Vector rows only name a memory; its current point is read here, so an old
        row does no harm."""
        if not memory_ids:
            return
        wanted = set(memory_ids)
        points = await Memories(connection).points(wanted, self._vectors.embedding_model)
        await self._indexed(points)
        await self._removed(sorted(wanted - {point.memory_id for point in points}))

    async def _indexed(self, points: Sequence[Point]) -> None:
        """Writes points. A point that the index refuses becomes a dead letter and does not block its namespace."""
        try:
            await self._vectors.upsert(points)
        except PointsRefused as refused:
            if len(points) > 1:
                for point in points:
                    await self._indexed([point])
                return
            (point,) = points
            log.error(
                "Qdrant refuses the vector of memory %s, writing a dead letter: %s", point.memory_id, refused.plain
            )
            await self._publish_refused(point.memory_id, refused)

    async def _removed(self, memory_ids: Sequence[str]) -> None:
        """Deletes points. A deletion that the index refuses becomes a dead letter."""
        try:
            await self._vectors.delete(memory_ids)
        except PointsRefused as refused:
            if len(memory_ids) > 1:
                for memory_id in memory_ids:
                    await self._removed([memory_id])
                return
            (memory_id,) = memory_ids
            log.error(
                "Qdrant refuses to delete the vector of memory %s, writing a dead letter: %s", memory_id, refused.plain
            )
            await self._publish_refused(memory_id, refused)

    async def _publish_refused(self, memory_id: str, refused: PointsRefused) -> None:
        """Publishes the dead letter of a refused point. The memory is in PostgreSQL and full-text search finds it, or it was
        deleted and the index keeps an outdated point."""
        await self._publish_letter(memory_id.encode(), "vectors", Rejected("refused", str(refused)))

    async def _publish_letter(self, key: bytes | None, destination: str, rejected: Rejected) -> None:
        await self._publisher.publish([letter_without_source(key, STAGE, destination, rejected, self._clock())])


async def put_records(connection: Connection, namespace: str, records: Iterable[Outgoing]) -> None:
    """Writes records to the outbox, in order, within the caller's transaction and the lock of the namespace. The trace of
    the decision goes along."""
    if is_reserved(namespace):  # changes of a shadow namespace are not published before its cutover
        return
    if rows := [kafka_row(traces.with_traceparent(record)) for record in records]:
        await connection.execute(query("outbox", "put_records"), namespace, *map(list, zip(*rows, strict=True)))


async def put_vectors(connection: Connection, namespace: str, memory_ids: Iterable[str]) -> None:
    """Queues memories to be brought up to date in the index."""
    await connection.execute(query("outbox", "put_vectors"), namespace, [each.encode() for each in memory_ids])


def kafka_row(record: Outgoing) -> tuple[Any, ...]:
    """The row of a record; headers as text, as an array of lists would be two-dimensional."""
    headers = without_nul(encode([[name, value.decode()] for name, value in record.headers])).decode()
    return (record.topic, record.key, record.partition, headers, record.value)


def outgoing(row: asyncpg.Record) -> Outgoing:
    return Outgoing(
        topic=row["topic"],
        key=row["key"],
        value=row["payload"],
        headers=tuple((name, value.encode()) for name, value in row["headers"]),
        partition=row["partition"],
    )
