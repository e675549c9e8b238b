"""Reads the data of a deployment: Kafka's records, PostgreSQL's rows, Qdrant's points.

It uses aiokafka, asyncpg and qdrant-client directly, never memstream's own readers.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from msgspec import Struct
from qdrant_client import AsyncQdrantClient

from deploy.settings import Settings
from schemas.kafka import topics
from streams.kafka.topics import STAGES, specs

CHAT = (topics.MESSAGES, topics.ENDED)

MEMORY = tuple(name for name in vars(topics).values() if isinstance(name, str) and name.startswith("memory."))

TABLES = (
    *("messages", "extractions", "extraction_parts", "namespaces", "memories", "memory_versions", "embeddings"),
    *("commands", "outbox"),
)


class Snapshot(Struct):
    """All data in Kafka (by logical topic), PostgreSQL (by table) and Qdrant (id, payload, vector)."""

    records: dict[str, list[ConsumerRecord]]
    rows: dict[str, list[dict[str, Any]]]
    points: dict[str, tuple[dict[str, Any], list[float]]]
    lags: dict[str, int]

    def values(self, topic: str) -> list[Any]:
        """The decoded records of a topic."""
        return [json.loads(record.value) for record in self.records[topic] if record.value is not None]

    def memories(self, namespace: str) -> list[dict[str, Any]]:
        return [row for row in self.rows["memories"] if row["namespace"] == namespace]


class Stores:
    """The stores of a deployment's settings."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    @property
    def dsn(self) -> str:
        return self.settings.postgres_dsn.get_secret_value()

    def topic(self, name: str) -> str:
        """The physical name of a topic."""
        return self.settings.topics().physical(name)

    def group(self, stage: str) -> str:
        return self.settings.topics().group(stage)

    async def records(self, topic: str) -> list[ConsumerRecord]:
        """All committed records of a topic (logical name), each partition in order."""
        async with self._consumer() as consumer:
            tps = self._partitions(self.topic(topic))
            consumer.assign(tps)
            ends = await consumer.end_offsets(tps)
            found: list[ConsumerRecord] = []
            while any([await consumer.position(tp) < ends[tp] for tp in tps]):
                for records in (await consumer.getmany(timeout_ms=100)).values():
                    found += records
            return found

    async def values(self, topic: str) -> list[Any]:
        return [json.loads(record.value) for record in await self.records(topic) if record.value is not None]

    @asynccontextmanager
    async def _consumer(self) -> AsyncIterator[AIOKafkaConsumer]:
        consumer = AIOKafkaConsumer(
            **self.settings.cluster().client(),
            isolation_level="read_committed",
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            retry_backoff_ms=10,  # the consumer sleeps this long after requesting an unknown topic
        )
        await consumer.start()
        try:
            yield consumer
        finally:
            await consumer.stop()

    def _partitions(self, *names: str) -> list[TopicPartition]:
        counts = {spec.name: spec.partitions for spec in specs(self.settings.topics())}
        return [TopicPartition(name, number) for name in names for number in range(counts[name])]

    async def fetch(self, statement: str, *values: Any) -> list[dict[str, Any]]:
        """Rows as dictionaries, jsonb parsed."""
        connection = await asyncpg.connect(self.dsn)
        try:
            await connection.set_type_codec("jsonb", schema="pg_catalog", encoder=json.dumps, decoder=json.loads)
            return [dict(row) for row in await connection.fetch(statement, *values)]
        finally:
            await connection.close()

    async def count(self, table: str) -> int:
        (row,) = await self.fetch(f"SELECT count(*) AS counted FROM {table}")
        return int(row["counted"])

    @asynccontextmanager
    async def qdrant(self) -> AsyncIterator[AsyncQdrantClient]:
        client = AsyncQdrantClient(url=self.settings.qdrant_url, timeout=30, check_compatibility=False)
        try:
            yield client
        finally:
            await client.close()

    async def points(self, suffix: str = "") -> dict[str, tuple[dict[str, Any], list[float]]]:
        """Payload and vector of every point, by id: of memories, or of passages with their collection's suffix."""
        collection, offset = self.settings.qdrant_collection + suffix, None
        found: dict[str, Any] = {}
        async with self.qdrant() as client:
            while await client.collection_exists(collection):
                page, offset = await client.scroll(
                    collection, limit=500, offset=offset, with_payload=True, with_vectors=True
                )
                found |= {str(point.id): (point.payload or {}, point.vector) for point in page}
                if offset is None:
                    break
        return found

    async def lags(self) -> dict[str, int]:
        """The number of uncommitted records of each stage's group; a partition without a commit counts from its start
        offset."""
        admin = AIOKafkaAdminClient(**self.settings.cluster().client())
        await admin.start()
        try:
            async with self._consumer() as consumer:
                origins = await self.fetch("SELECT * FROM origins")
                counted = await asyncio.gather(*(self._lag(stage, origins, admin, consumer) for stage in STAGES))
                return dict(zip(STAGES, counted, strict=True))
        finally:
            await admin.close()

    async def _lag(
        self, stage: str, origins: list[dict[str, Any]], admin: AIOKafkaAdminClient, consumer: AIOKafkaConsumer
    ) -> int:
        tps, group = self._partitions(*map(self.topic, STAGES[stage])), self.group(stage)
        done = {
            TopicPartition(row["topic"], row["partition"]): row["origin_offset"]
            for row in origins
            if row["consumer_group"] == group
        }
        done |= {
            tp: committed.offset
            for tp, committed in (await admin.list_consumer_group_offsets(group)).items()
            if committed.offset >= 0
        }
        ends = await consumer.end_offsets(tps)
        return sum(ends[tp] - done.get(tp, 0) for tp in tps)

    async def waiting_windows(self) -> list[str]:
        """Conversations whose windows wait for extraction, an answer or missing messages, read from the changelog."""
        names = self.settings.topics()
        heads = {}
        for record in await self.records(names.changelog.removeprefix(names.prefix)):
            if b"\x00" not in record.key:
                heads[record.key] = json.loads(record.value) if record.value is not None else {}
        return [
            key.decode()
            for key, head in heads.items()
            if head.get("waiting_since") or head.get("asked") or head.get("held")
        ]

    async def snapshot(self) -> Snapshot:
        """The present data of Kafka, PostgreSQL and Qdrant."""
        return Snapshot(
            records={name: await self.records(name) for name in (*CHAT, *MEMORY)},
            rows={name: await self.fetch(f"SELECT * FROM {name}") for name in TABLES},
            points=await self.points(),
            lags=await self.lags(),
        )
