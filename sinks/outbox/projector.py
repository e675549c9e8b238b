"""The only way from Postgres to Qdrant and Kafka: rows that commit with the decision and leave in its order."""

import logging
from collections.abc import Iterable, Sequence
from typing import Any

import asyncpg
from opentelemetry.trace import SpanKind

from schemas.codec import encode
from schemas.errors import Rejected, Retryable
from schemas.kafka import topics
from schemas.kafka.records import Outgoing, Publisher
from schemas.observability import traces
from schemas.replay.shadows import is_reserved
from sinks.memories.reader import Memories
from sinks.postgres.connection import Connection, Pool, storable_json, translated
from sinks.postgres.queries import query
from sinks.vectors.port import Point, PointsRefused, VectorIndex

log = logging.getLogger(__name__)

PAGE = 500  # rows projected at a time; bounds memory and the size of one request to Qdrant
STALE_S = 10.0  # a row this old was written by a process that is gone, or by one that is failing and tries again itself


class Projector:
    """Brings Qdrant and Kafka up to what Postgres says, namespace by namespace.

    A row is deleted only when its effect is in Qdrant and on the broker. A crash anywhere before that repeats the same
    vectors, and the same records with the same ids in the same order; nothing is lost or overtaken.
    """

    def __init__(self, pool: Pool, vectors: VectorIndex, publisher: Publisher, *, stale_s: float = STALE_S) -> None:
        self._pool = pool
        self._vectors = vectors
        self._publisher = publisher
        self._stale_s = stale_s

    async def project(self, connection: Connection, namespace: str) -> int:
        """Projects everything pending in a namespace, and returns the number of rows.

        Runs in the caller's transaction and keeps the namespace locked to its end. Raises Retryable when Postgres,
        Qdrant or Kafka fails: the transaction must then be rolled back, and the rows stay.
        """
        with translated("projecting"):
            await connection.execute(query("memories", "lock_namespace"), namespace)
            return await self._project_locked(connection, namespace)

    async def project_now(self, namespace: str) -> int:
        """Projects a namespace in a transaction of its own."""
        with translated("projecting"):
            async with self._pool.acquire() as connection, connection.transaction():
                return await self.project(connection, namespace)

    async def sweep(self, limit: int = 100) -> int:
        """Projects up to `limit` namespaces with rows older than `stale_s`, oldest first; returns the number of rows.

        A namespace somebody holds is left to them. Every namespace has its turn before a failure is raised.
        """
        with translated("sweeping the outbox"):
            rows = await self._pool.fetch(query("outbox", "forgotten"), self._stale_s, limit)
        projected, failures = 0, []
        for row in rows:
            try:
                projected += await self._sweep_one(row["namespace"])
            except Retryable as exc:
                failures.append(exc)
        if failures:
            raise Retryable(
                f"{len(failures)} of {len(rows)} namespaces could not be projected: {failures[0]}"
            ) from failures[0]
        return projected

    async def _sweep_one(self, namespace: str) -> int:
        with translated("sweeping the outbox"):
            async with self._pool.acquire() as connection, connection.transaction():
                if not await connection.fetchval(query("memories", "try_lock_namespace"), namespace):
                    return 0
                return await self._project_locked(connection, namespace)

    async def _project_locked(self, connection: Connection, namespace: str) -> int:
        projected = 0
        while rows := await connection.fetch(query("outbox", "pending"), namespace, PAGE):
            await self._to_index(connection, [row["key"].decode() for row in rows if row["target"] == "vector"])
            # After the vectors: who reads an event can find the memory.
            await self._published([outgoing(row) for row in rows if row["target"] == "kafka"])
            await connection.execute(query("outbox", "done"), namespace, rows[-1]["id"])
            projected += len(rows)
        return projected

    async def _published(self, records: Sequence[Outgoing]) -> None:
        """They may be of several decisions, and of processes that are gone."""
        if not records:
            return
        causes = [traces.traceparent_of(record.headers) for record in records]
        told = {"memstream.records": len(records)}
        with traces.span("outbox publish", told, causes=causes, kind=SpanKind.PRODUCER):
            await self._to_kafka(records)

    async def _to_kafka(self, records: Sequence[Outgoing]) -> None:
        try:
            await self._publisher.publish(records)
        except Rejected:
            for record in records:
                await self._to_kafka_or_letters(record)

    async def _to_kafka_or_letters(self, record: Outgoing) -> None:
        """What can never be published must not hold up its namespace: a dead letter says that it is missing."""
        try:
            await self._publisher.publish([record])
        except Rejected as rejected:
            log.error("a record for %s cannot be published: %s", record.topic, rejected)
            await self._publisher.publish([dead_letter_of(record, rejected)])

    async def _to_index(self, connection: Connection, memory_ids: Sequence[str]) -> None:
        """Vector rows name a memory; what the index should hold of it is read now, so an old row does no harm."""
        if not memory_ids:
            return
        wanted = set(memory_ids)
        points = await Memories(connection).points(wanted, self._vectors.embedding_model)
        await self._indexed(points)
        await self._vectors.delete(wanted - {point.memory_id for point in points})

    async def _indexed(self, points: Sequence[Point]) -> None:
        """A point that the index takes for wrong must not hold up its namespace: a dead letter says that it is missing there."""
        try:
            await self._vectors.upsert(points)
        except PointsRefused as refused:
            if len(points) > 1:
                for point in points:
                    await self._indexed([point])
                return
            (point,) = points
            log.error("memory %s is not in the index: %s", point.memory_id, refused.plain)
            await self._publisher.publish([refused_point(point, refused)])


def refused_point(point: Point, refused: PointsRefused) -> Outgoing:
    """The memory is in Postgres, and found by its words."""
    told = {"reason": "refused", "detail": str(refused), "stage": "outbox", "topic": "vectors"}
    headers = tuple((f"memstream-{name}", value.encode("utf-8", "replace")) for name, value in told.items())
    return Outgoing(topic=topics.DEAD_LETTERS, key=point.memory_id.encode(), value=b"", headers=headers)


def dead_letter_of(record: Outgoing, rejected: Rejected) -> Outgoing:
    """By reference: the value may be what is wrong with the record, and it is in Postgres anyway."""
    told = {"reason": rejected.reason, "detail": rejected.detail, "stage": "outbox", "topic": record.topic}
    headers = tuple((f"memstream-{name}", value.encode("utf-8", "replace")) for name, value in told.items())
    return Outgoing(topic=topics.DEAD_LETTERS, key=record.key, value=b"", headers=headers)


async def put_records(connection: Connection, namespace: str, records: Iterable[Outgoing]) -> None:
    """Writes records to the outbox, in their order, within the caller's transaction and the namespace's lock. The trace of the
    decision goes with them, whoever publishes them."""
    if is_reserved(namespace):  # what a replay remembers is nobody's business until it is cut over
        return
    if rows := [kafka_row(traces.with_traceparent(record)) for record in records]:
        await connection.execute(query("outbox", "put_records"), namespace, *map(list, zip(*rows, strict=True)))


async def put_vectors(connection: Connection, namespace: str, memory_ids: Iterable[str]) -> None:
    """Says that what the index holds of these memories is to be brought up to date."""
    await connection.execute(query("outbox", "put_vectors"), namespace, [each.encode() for each in memory_ids])


def kafka_row(record: Outgoing) -> tuple[Any, ...]:
    """The headers as text: an array of lists would be one of two dimensions."""
    headers = storable_json(encode([[name, value.decode()] for name, value in record.headers])).decode()
    return (record.topic, record.key, record.partition, headers, record.value)


def outgoing(row: asyncpg.Record) -> Outgoing:
    return Outgoing(
        topic=row["topic"],
        key=row["key"],
        value=row["payload"],
        headers=tuple((name, value.encode()) for name, value in row["headers"]),
        partition=row["partition"],
    )
