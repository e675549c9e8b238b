"""A deployment of its own on a shared stack: topics under a prefix, a database, a Qdrant collection, its workers.

What is read back here goes through aiokafka, asyncpg and qdrant-client as they are, never through memstream's readers.
"""

import asyncio
import json
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from uuid import uuid4

import asyncpg
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from msgspec import Struct
from qdrant_client import AsyncQdrantClient

from deploy.embedded.stack import EmbeddedStack
from deploy.settings import Settings
from schemas.kafka import topics
from streams.apps import STAGES
from streams.kafka.topics import specs
from tests.chaos.workers import ApiProcess, WorkerProcess
from tests.preparation import PASSWORD, administer, prepared

CHAT = (topics.MESSAGES, topics.ENDED)

MEMORY = tuple(name for name in vars(topics).values() if isinstance(name, str) and name.startswith("memory."))

TABLES = (
    *("messages", "extractions", "extraction_parts", "namespaces", "memories", "memory_versions", "embeddings"),
    *("commands", "outbox"),
)

T = TypeVar("T")


async def eventually(condition: Callable[[], Awaitable[T]], what: str, within_s: float = 60.0) -> T:
    """The condition's first true value. Fails at the deadline, saying what did not happen."""
    deadline = time.monotonic() + within_s
    while not (value := await condition()):
        assert time.monotonic() < deadline, f"not within {within_s:g} s: {what}"
        await asyncio.sleep(0.1)
    return value


class Event(NamedTuple):
    """What a chat service publishes: a dict is sent as JSON, bytes as they are, None as a tombstone."""

    topic: str
    key: str
    value: Any
    headers: Sequence[tuple[str, bytes]] = ()

    @property
    def bytes(self) -> bytes | None:
        if self.value is None:
            return None
        return self.value if isinstance(self.value, bytes) else json.dumps(self.value).encode()


class Snapshot(Struct):
    """Everything that stands in Kafka (by logical topic), Postgres (by table) and Qdrant (id, payload, vector)."""

    records: dict[str, list[ConsumerRecord]]
    rows: dict[str, list[dict[str, Any]]]
    points: dict[str, tuple[dict[str, Any], list[float]]]
    lags: dict[str, int]

    def values(self, topic: str) -> list[Any]:
        """The JSON values of a topic's records."""
        return [json.loads(record.value) for record in self.records[topic] if record.value is not None]

    def memories(self, namespace: str) -> list[dict[str, Any]]:
        return [row for row in self.rows["memories"] if row["namespace"] == namespace]


class Deployment:
    """One deployment by its settings; workers write their logs and data into `directory`."""

    def __init__(self, settings: Settings, directory: Path) -> None:
        self.settings = settings
        self.directory = directory
        self._workers: list[WorkerProcess] = []

    @property
    def dsn(self) -> str:
        return self.settings.postgres_dsn.get_secret_value()

    def topic(self, name: str) -> str:
        """The physical name."""
        return self.settings.topics().physical(name)

    def group(self, stage: str) -> str:
        return self.settings.topics().group(stage)

    async def worker(self, name: str = "worker", *, stages: Iterable[str] = (), **settings: Any) -> WorkerProcess:
        """A started worker that is ready. It is stopped with the deployment, if not before."""
        worker = self.starting(name, stages=stages, **settings)
        await worker.wait_ready()
        return worker

    def starting(self, name: str = "worker", *, stages: Iterable[str] = (), **settings: Any) -> WorkerProcess:
        """A worker that has just been started."""
        worker = WorkerProcess(name, self.settings.model_copy(update=settings), self.directory, stages)
        worker.start()
        self._workers.append(worker)
        return worker

    async def api(self, name: str = "api") -> str:
        """The address of an HTTP API without keys, which is stopped with the deployment."""
        process = ApiProcess(name, self.settings, self.directory)
        process.start()
        self._workers.append(process)
        await process.wait_ready()
        return process.said_when_ready

    def forget(self, worker: WorkerProcess) -> None:
        """That it ended by itself was meant."""
        self._workers.remove(worker)

    async def stop_workers(self) -> None:
        await asyncio.gather(*(worker.stop() for worker in self._workers if worker.running))

    def logs(self) -> str:
        """What all workers have logged."""
        return "\n".join(path.read_text(errors="replace") for path in sorted(self.directory.glob("*.log")))

    async def publish(self, *events: Event) -> None:
        """As a chat service does, with a plain producer; in order."""
        producer = AIOKafkaProducer(**self.settings.cluster().client())
        await producer.start()
        try:
            sent = [
                await producer.send(self.topic(each.topic), each.bytes, each.key.encode(), headers=list(each.headers))
                for each in events
            ]
            await asyncio.gather(*sent)
        finally:
            await producer.stop()

    async def records(self, topic: str) -> list[ConsumerRecord]:
        """Every committed record of a topic (logical name), each partition in order."""
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
            retry_backoff_ms=10,  # asked for a topic it has not met, it sleeps so long before it looks at the answer
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

    async def points(self) -> dict[str, tuple[dict[str, Any], list[float]]]:
        """Payload and vector of every point, by id."""
        collection, offset = self.settings.qdrant_collection, None
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
        """Records that each stage's group has not committed; a partition without a commit counts from its origin."""
        admin = AIOKafkaAdminClient(**self.settings.cluster().client())
        await admin.start()
        try:
            async with self._consumer() as consumer:
                return {stage: await self._lag(stage, admin, consumer) for stage in STAGES}
        finally:
            await admin.close()

    async def _lag(self, stage: str, admin: AIOKafkaAdminClient, consumer: AIOKafkaConsumer) -> int:
        tps = self._partitions(*map(self.topic, STAGES[stage]))
        done = {
            TopicPartition(row["topic"], row["partition"]): row["origin_offset"]
            for row in await self.fetch("SELECT * FROM origins WHERE consumer_group = $1", self.group(stage))
        }
        done |= {
            tp: committed.offset
            for tp, committed in (await admin.list_consumer_group_offsets(self.group(stage))).items()
            if committed.offset >= 0
        }
        ends = await consumer.end_offsets(tps)
        return sum(ends[tp] - done.get(tp, 0) for tp in tps)

    async def waiting_windows(self) -> list[str]:
        """Conversations with messages that wait to be extracted, for an answer or for stragglers, read from the changelog."""
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

    async def settled(self, within_s: float = 120.0) -> None:
        """Waits until everything published is processed: lags are zero, windows rest, the outbox is empty."""
        deadline, behind = time.monotonic() + within_s, await self._behind()
        while behind:
            crashed = [worker.name for worker in self._workers if worker.exit_code not in (None, 0, -signal.SIGKILL)]
            assert not crashed, f"{crashed} ended by themselves\n{self.logs()[-4000:]}"
            assert time.monotonic() < deadline, f"not settled within {within_s:g} s: {behind}\n{self.logs()[-4000:]}"
            await asyncio.sleep(0.2)
            behind = await self._behind()

    async def _behind(self) -> str:
        if any((lags := await self.lags()).values()):
            return f"lags {lags}"
        if waiting := await self.waiting_windows():
            return f"windows {waiting}"
        if left := await self.count("outbox"):
            return f"{left} rows in the outbox"
        if parked := await self.fetch("SELECT request_id FROM parked WHERE NOT batched AND not_before <= now()"):
            return f"{len(parked)} parked requests whose time has come"
        # Looked at again: what was on its way between the looks shows up as lag.
        return f"lags {lags}" if any((lags := await self.lags()).values()) else ""

    async def snapshot(self) -> Snapshot:
        """Everything that stands in Kafka, Postgres and Qdrant now."""
        return Snapshot(
            records={name: await self.records(name) for name in (*CHAT, *MEMORY)},
            rows={name: await self.fetch(f"SELECT * FROM {name}") for name in TABLES},
            points=await self.points(),
            lags=await self.lags(),
        )

    async def remove(self) -> None:
        """Stops the workers and takes the topics, the database and the collection away again."""
        await self.stop_workers()
        admin = AIOKafkaAdminClient(**self.settings.cluster().client())
        await admin.start()
        try:
            own = [spec.name for spec in specs(self.settings.topics())]
            await admin.delete_topics([name for name in await admin.list_topics() if name in own])
        finally:
            await admin.close()
        async with self.qdrant() as client:
            await client.delete_collection(self.settings.qdrant_collection)
        server, _, database = self.dsn.rpartition("/")
        await administer(f"{server}/postgres", f'DROP DATABASE IF EXISTS "{database}" WITH (FORCE)')


@asynccontextmanager
async def deployed(stack: EmbeddedStack, name: str, directory: Path, **chosen: Any) -> AsyncIterator[Deployment]:
    """A deployment under a name that nobody else has; removed in the end. Fails when a log has told the password."""
    unique = f"{name}-{uuid4().hex[:8]}"
    deployment = Deployment(await prepared(stack, unique, directory, **chosen), directory)
    try:
        yield deployment
    finally:
        await deployment.remove()
    assert PASSWORD not in deployment.logs()
