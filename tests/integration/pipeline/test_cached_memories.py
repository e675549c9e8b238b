"""Two replicas of the API with a cache each, on a running curator: what is deleted or erased is not served any more."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from agents.api.memories.cache import CachedMemories
from schemas.kafka import topics
from schemas.memories.memories import Memory
from sinks.memories.listing import Listing
from sinks.memories.reader import Memories
from sinks.postgres.connection import Pool, connect
from streams.kafka.tail import Tail
from tests.deployment import Deployment, Event, eventually
from tests.integration.conftest import Deploy

WITHIN_S = 1.0
NAMESPACE = "kitchen/ada"


class Replica:
    """What a process of the API keeps of memories."""

    def __init__(self, deployment: Deployment, pool: Pool) -> None:
        client, topic = deployment.settings.cluster().client(), deployment.topic(topics.EVENTS)
        self.tail = Tail(client, topic, self.hear, lambda: self.cached.forget_all())
        self.cached = CachedMemories(Memories(pool), time.time, lambda: self.tail.heard_to)

    def hear(self, records: Any) -> None:
        for record in records:
            self.cached.forget(record.key.decode())

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Replica"]:
        task = asyncio.create_task(self.tail.run())
        try:
            yield self
        finally:
            assert not task.done()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def is_hot(self, memory_id: str) -> bool:
        """Whether it is served from the cache, and a page of its namespace as well."""
        before = self.cached.hits
        await self.cached.get(memory_id)
        await self.cached.list_page(Listing(namespace=NAMESPACE))
        return self.cached.hits == before + 2

    async def serves(self, memory_id: str) -> Memory | None:
        """As a live memory, by its id or on a page."""
        memory = await self.cached.get(memory_id)
        listed = {each.memory_id: each for each in await self.cached.list_page(Listing(namespace=NAMESPACE))}
        return memory if memory is not None and memory.status == "active" else listed.get(memory_id)


def command(kind: str, **fields: Any) -> Event:
    at = datetime.now(UTC).isoformat()
    said = {"command_id": uuid4().hex, "kind": kind, "namespace": NAMESPACE, "at": at}
    return Event(topics.COMMANDS, NAMESPACE, said | fields)


async def remembered(deployment: Deployment, text: str) -> str:
    async def there() -> str:
        rows = await deployment.fetch("SELECT memory_id FROM memories WHERE text = $1 AND status = 'active'", text)
        return rows[0]["memory_id"] if rows else ""

    await deployment.publish(command("create", text=text))
    return await eventually(there, f"{text} is remembered")


async def gone_at(deployment: Deployment, memory_id: str) -> float:
    """When PostgreSQL no longer had it as a live memory."""

    async def gone() -> float:
        live = await deployment.fetch(
            "SELECT memory_id FROM memories WHERE memory_id = $1 AND status = 'active'", memory_id
        )
        return 0.0 if live else time.monotonic()

    return await eventually(gone, f"{memory_id} is gone")


async def carried_out(deployment: Deployment, ordered: Event) -> None:
    async def so() -> bool:
        name = ordered.value["command_id"]
        return bool(await deployment.fetch("SELECT FROM commands WHERE command_id = $1", name))

    await eventually(so, "the command is carried out")


@pytest.mark.parametrize("kind", ["delete", "purge"])
async def test_what_is_gone_is_served_by_no_replica_a_second_later(deploy: Deploy, kind: str) -> None:
    deployment = await deploy("caches")
    await deployment.worker(stages=["curation"])
    pool = await connect(deployment.dsn, max_size=4)
    try:
        async with Replica(deployment, pool).running() as one, Replica(deployment, pool).running() as other:
            for number in range(3):
                memory_id = await remembered(deployment, f"User owns {number} bicycles")
                for replica in (one, other):
                    await eventually(lambda: replica.is_hot(memory_id), "the replica serves from its cache")  # noqa: B023
                ordered = command(kind, **({"memory_id": memory_id} if kind == "delete" else {}))
                await deployment.publish(ordered)
                gone = await gone_at(deployment, memory_id)
                for replica in (one, other):
                    while await replica.serves(memory_id) is not None:
                        assert time.monotonic() - gone < WITHIN_S
                        await asyncio.sleep(0.005)
                await carried_out(deployment, ordered)  # until it is, a purge takes what is said meanwhile with it
    finally:
        await pool.close()
