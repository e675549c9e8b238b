"""Following new records of a topic on a real broker."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from aiokafka import AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from deploy.embedded.kafka.broker import EmbeddedBroker
from deploy.embedded.stack import EmbeddedStack
from streams.kafka.tail import Tail
from tests.deployment import eventually


class Listener:
    """The values received, and how often records may have been missed."""

    def __init__(self) -> None:
        self.values: list[bytes] = []
        self.lapses = 0

    def receive(self, records: Any) -> None:
        self.values += [record.value for record in records]

    def lapse(self) -> None:
        self.lapses += 1

    @asynccontextmanager
    async def following(self, bootstrap_servers: str, topic: str) -> AsyncIterator[None]:
        self.tail = Tail({"bootstrap_servers": bootstrap_servers}, topic, self.receive, self.lapse, again_s=0.05)
        task = asyncio.create_task(self.tail.run())
        try:
            yield
        finally:
            assert not task.done(), "it follows until it is cancelled"
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def listens(self) -> None:
        async def lapsed() -> bool:
            return self.lapses > 0

        await eventually(lapsed, "the tail follows the topic", 20)


async def test_every_listener_receives_all_records_of_all_partitions_published_after_it_started(
    embedded_stack: EmbeddedStack,
) -> None:
    topic, servers = f"tail-{uuid4().hex[:8]}", embedded_stack.bootstrap_servers
    admin = AIOKafkaAdminClient(bootstrap_servers=servers)
    await admin.start()
    await admin.create_topics([NewTopic(topic, 3, 1)])
    one, other = Listener(), Listener()
    async with AIOKafkaProducer(bootstrap_servers=servers) as producer:
        await producer.send_and_wait(topic, b"before", partition=0)
        async with one.following(servers, topic), other.following(servers, topic):
            await one.listens()
            await other.listens()
            for number in range(6):
                await producer.send_and_wait(topic, b"%d" % number, partition=number % 3)

            async def all_received() -> bool:
                return sorted(one.values) == sorted(other.values) == [b"%d" % number for number in range(6)]

            await eventually(all_received, "both received all six", 20)
            assert one.lapses == other.lapses == 1
    await admin.delete_topics([topic])
    await admin.close()


async def test_the_tail_retries_while_brokers_are_unavailable(caplog: Any) -> None:
    listener = Listener()
    async with listener.following("127.0.0.1:1", "nowhere"):

        async def tried_twice() -> bool:
            return caplog.text.count("reading nowhere failed, trying again") >= 2

        await eventually(tried_twice, "it tries again", 30)
    assert listener.lapses == 0


async def test_the_tail_reports_until_when_it_is_caught_up_and_falls_behind_during_a_broker_outage(
    cache_dir: Path, tmp_path: Path
) -> None:
    broker, listener = EmbeddedBroker(tmp_path / "kafka", cache_dir / "jars"), Listener()
    await broker.start()
    try:
        admin = AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers)
        await admin.start()
        await admin.create_topics([NewTopic("tail", 3, 1)])
        await admin.close()
        async with listener.following(broker.bootstrap_servers, "tail"):

            async def fresh() -> bool:
                return time.time() - listener.tail.caught_up_to < 0.8

            async def stale() -> bool:
                return time.time() - listener.tail.caught_up_to > 2

            await eventually(fresh, "it has heard everything", 20)
            assert listener.tail.caught_up_to <= time.time()
            await broker.stop()
            await eventually(stale, "it says that it has not heard lately", 20)
    finally:
        await broker.stop()
