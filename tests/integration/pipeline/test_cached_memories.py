"""Two API replicas with caches stop serving deleted and erased memories."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from agents.api.memories.cache import CachedMemories
from deploy.embedded.ports import free_port
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
    """The memory caches of an API process."""

    def __init__(self, deployment: Deployment, pool: Pool) -> None:
        client, topic = deployment.settings.cluster().client(), deployment.topic(topics.EVENTS)
        self.tail = Tail(client, topic, self.hear, lambda: self.cached.forget_all())
        self.cached = CachedMemories(Memories(pool), time.time, lambda: self.tail.caught_up_to, on_read=self.count)
        self.hits = 0

    def count(self, is_cached: bool, _namespace: str) -> None:
        self.hits += is_cached

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
        before = self.hits
        await self.cached.get(memory_id)
        await self.cached.list_page(Listing(namespace=NAMESPACE))
        return self.hits == before + 2

    async def serves(self, memory_id: str) -> Memory | None:
        """Returns the live memory from the cache, by its id or on a page."""
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


async def applied(deployment: Deployment, ordered: Event) -> None:
    async def so() -> bool:
        name = ordered.value["command_id"]
        return bool(await deployment.fetch("SELECT FROM commands WHERE command_id = $1", name))

    await eventually(so, "the command is carried out")


@pytest.mark.parametrize("kind", ["delete", "purge"])
async def test_no_replica_serves_a_deleted_or_erased_memory_after_one_second(deploy: Deploy, kind: str) -> None:
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
                    asked_at = time.monotonic()
                    while await replica.serves(memory_id) is not None:
                        assert asked_at - gone < WITHIN_S
                        await asyncio.sleep(0.005)
                        asked_at = time.monotonic()
                await applied(deployment, ordered)  # until it is, a purge takes what is said meanwhile with it
    finally:
        await pool.close()


async def test_search_returns_a_newly_cached_memory_and_no_erased_one(deploy: Deploy) -> None:
    deployment = await deploy("hot", api_metrics_port=(port := free_port()))
    await deployment.worker(stages=["curation"])
    body = {"namespaces": [NAMESPACE], "text": "How many bicycles are there?", "in": "memories"}
    async with (
        httpx.AsyncClient(base_url=await deployment.api(), timeout=60) as api,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as metrics,
    ):

        async def metric(name: str, **labels: str) -> float:
            families = text_string_to_metric_families((await metrics.get("/metrics")).text)
            rows = [row for family in families for row in family.samples if (row.name, row.labels) == (name, labels)]
            return rows[0].value if rows else 0.0

        made = await api.post("/v1/memories", json={"namespace": NAMESPACE, "text": "User owns 3 bicycles."})
        await eventually(lambda: metric("memstream_retrieval_cache_bytes"), "the memory is read as it is made", 60)
        (hit,) = (await api.post("/v1/search", json=body)).json()["hits"]
        assert hit["memory"]["memory_id"] == made.json()["memory_id"]
        counts = [await metric("memstream_retrieval_memory_reads_total", cached=each) for each in ("true", "false")]
        assert counts == [1, 0]

        answer = await api.delete("/v1/namespaces", params={"namespace": NAMESPACE})
        assert answer.is_success
        assert (await api.post("/v1/search", json=body)).json()["hits"] == []
