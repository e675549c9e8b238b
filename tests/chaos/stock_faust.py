"""Stock Faust under the kill loop. The harness must detect its losses."""

import contextlib
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Self

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition

from deploy.embedded.postgres.unprivileged import die_with_parent
from deploy.embedded.stack import EmbeddedStack
from deploy.settings import Settings
from schemas.kafka import topics
from streams.kafka.topics import create, specs
from tests.chaos.conversations import Conversation
from tests.chaos.ledger import Ledger
from tests.chaos.stock_worker import changelog, group
from tests.chaos.workers import Process, WorkerProcess
from tests.preparation import unprepared

CHAT = (topics.MESSAGES, topics.ENDED)


class StockProcess(WorkerProcess):
    """A worker of stock Faust. Workers that hang or end by themselves are not counted: the next kill replaces them."""

    def launched(self) -> Process:
        """Starts a new process, so that nothing of memstream's delivery is loaded."""
        command = [sys.executable, "-m", "tests.chaos.stock_worker", "--ready-file", str(self.ready_file)]
        with self._log.open("ab") as log:
            return subprocess.Popen(command, env=self._environment, stdout=log, stderr=log, preexec_fn=die_with_parent)

    async def wait_ready(self, timeout_s: float = 25.0) -> None:
        with contextlib.suppress(RuntimeError):
            await super().wait_ready(timeout_s)

    async def stop(self, timeout_s: float = 10.0) -> int:
        with contextlib.suppress(TimeoutError):
            return await super().stop(timeout_s)
        return 0


class StockFaust:
    """Compares the rows of a table's changelog with the committed offsets of the group."""

    stuck_after_s = 30.0  # five sessions

    def __init__(self, settings: Settings, directory: Path) -> None:
        self.settings = settings
        self._directory = directory
        self._workers = 0
        name, partitions = settings.topics().physical(topics.MESSAGES), range(settings.conversation_partitions)
        self._said = [TopicPartition(name, number) for number in partitions]
        self._rows = [TopicPartition(changelog(settings), number) for number in partitions]

    @classmethod
    async def prepared(cls, stack: EmbeddedStack, name: str, directory: Path) -> Self:
        settings = unprepared(stack, name, directory)
        names = settings.topics()
        chat = [spec for spec in specs(names) if spec.name in map(names.physical, CHAT)]
        await create(settings.cluster().client(), chat, names.replication)
        return cls(settings, directory)

    def worker(self) -> WorkerProcess:
        self._workers += 1
        return StockProcess(f"stock-{self._workers}", self.settings, self._directory)

    async def erase(self, users: Collection[str]) -> None:
        raise NotImplementedError("stock Faust erases nobody")

    async def lag(self) -> int:
        async with self._consumer() as consumer:
            ends = await consumer.end_offsets(self._said)
            done = await self._committed(consumer)
            return sum(ends[tp] - done[tp] for tp in self._said)

    async def behind(self) -> int:
        return await self.lag()

    async def left_wrong(self) -> list[str]:
        """Stock Faust's own stores are not checked, only the changelog."""
        return []

    async def ledger(self, published: list[Conversation]) -> Ledger:
        """A message is lost if the group has committed an offset above it and no row contains it.

        One that is not committed yet, because its partition is stuck, is no loss: it counts as lag.
        """
        async with self._consumer() as consumer:
            done = await self._committed(consumer)
            said = await _read(consumer, self._said)
            rows = {record.key: json.loads(record.value) for record in await _read(consumer, self._rows)}
        applied = [message_id for row in rows.values() for message_id in row]
        committed = {
            json.loads(record.value)["message_id"]
            for record in said
            if record.offset < done[TopicPartition(record.topic, record.partition)]
        }
        sent = {message.message_id for conversation in published for message in conversation.messages}
        return Ledger(
            lost=[f"message {name} is committed and in no row" for name in sorted(sent & committed - set(applied))],
            duplicated=[f"message {name} was never sent" for name in sorted(set(applied) - sent)],
            repeated=len(applied) - len(set(applied)),
        )

    @asynccontextmanager
    async def _consumer(self) -> AsyncIterator[Any]:
        consumer = AIOKafkaConsumer(
            bootstrap_servers=self.settings.bootstrap_servers,
            group_id=group(self.settings),
            enable_auto_commit=False,
            auto_offset_reset="earliest",
        )
        await consumer.start()
        try:
            yield consumer
        finally:
            await consumer.stop()

    async def _committed(self, consumer: Any) -> dict[TopicPartition, int]:
        return {tp: await consumer.committed(tp) or 0 for tp in self._said}


async def _read(consumer: Any, tps: list[TopicPartition]) -> list[ConsumerRecord]:
    """Returns all current records of these partitions, each in order."""
    consumer.assign(tps)
    await consumer.seek_to_beginning(*tps)
    ends = await consumer.end_offsets(tps)
    found: list[ConsumerRecord] = []
    while any([await consumer.position(tp) < ends[tp] for tp in tps]):
        for records in (await consumer.getmany(timeout_ms=500)).values():
            found += records
    return found
