"""The sample cache on a real broker holds the same memories as PostgreSQL after every kind of change."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer

from deploy.samples.memory_cache import MemoryCache, states, status
from schemas.codec import convert
from schemas.kafka import topics
from schemas.memories.memories import Memory
from sinks.memories import reader
from sinks.postgres.connection import connect
from tests.builders.proposals import candidates, command, curated
from tests.deployment import Deployment, Event, eventually, without_shared_calls

HELD, ERASED = "notes/ada", "notes/tom"
SWEPT = {"deploy.wiring.model_stages.EXPIRE_S": 0.5}


class Follower:
    """A cache that reads along; `records` counts what it has read."""

    def __init__(self, deployment: Deployment) -> None:
        self.cache = MemoryCache()
        self.records = 0
        self._deployment = deployment

    async def run(self) -> None:
        topic = self._deployment.topic(topics.STATE)
        async for record in states(self._deployment.settings.bootstrap_servers, topic):
            self.cache.apply(record.key.decode(), record.value, record.headers)
            self.records += 1

    async def caught_up(self) -> None:
        published = len(await self._deployment.records(topics.STATE))

        async def read() -> bool:
            return self.records >= published

        await eventually(read, f"{published} records of the state topic are read", 30)


@asynccontextmanager
async def following(deployment: Deployment) -> AsyncIterator[Follower]:
    follower = Follower(deployment)
    task = asyncio.create_task(follower.run())
    try:
        yield follower
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def done(deployment: Deployment, *events: Event) -> None:
    """Publishes one after the other, each carried out before the next: topics have no order among each other."""
    for event in events:
        await deployment.publish(event)
        await curated(deployment)


async def id_of(deployment: Deployment, text: str) -> str:
    (row,) = await deployment.fetch("SELECT memory_id FROM memories WHERE text = $1", text)
    return str(row["memory_id"])


async def stored(deployment: Deployment) -> dict[str, Memory]:
    """Returns the memories in PostgreSQL that are not deleted, by id."""
    pool = await connect(deployment.dsn, max_size=1)
    try:
        rows = reader.memories_from(await pool.fetch("SELECT * FROM memories WHERE status <> 'deleted'"))
    finally:
        await pool.close()
    return {memory.memory_id: memory for memory in rows}


async def read_anew(deployment: Deployment) -> dict[str, Any]:
    """Returns the output of the sample as a process that knows only the broker's address and the topic."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "deploy.samples.memory_cache", deployment.settings.bootstrap_servers),
        *("--topic", deployment.topic(topics.STATE), "--until-end"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(), 60)
    assert (process.returncode, err) == (0, b"")
    found = [json.loads(line) for line in out.splitlines()]
    return {memory["memory_id"]: memory for memory in found}


def as_memories(held: dict[str, Any]) -> dict[str, Memory]:
    return {memory_id: convert(memory, Memory) for memory_id, memory in held.items()}


async def everything_that_may_happen(deployment: Deployment) -> None:
    """Creations, repetition, contradiction, change, deletion and its undo, expiry, and the erasure of a namespace."""
    soon = (datetime.now(UTC) + timedelta(seconds=2)).isoformat()
    await done(
        deployment,
        candidates(HELD, "User plays the cello.", "User lives in Porto.", "User keeps bees."),
        candidates(HELD, "user plays the CELLO"),
        command("create", HELD, text="User has a boat."),
        command("create", HELD, text="User has a horse."),
        command("create", HELD, text="User is in Rome today.", expires_at=soon),
        candidates(ERASED, "User has a cat.", "User drinks tea."),
    )
    porto, bees = await id_of(deployment, "User lives in Porto."), await id_of(deployment, "User keeps bees.")
    boat, horse = await id_of(deployment, "User has a boat."), await id_of(deployment, "User has a horse.")
    await done(
        deployment,
        candidates(HELD, "User moved to Berlin.", contradicts=porto),
        command("update", HELD, memory_id=bees, text="User keeps bees and hens.", tags=["animals"]),
        command("delete", HELD, memory_id=boat),
        command("delete", HELD, memory_id=horse),
        command("undo", HELD, memory_id=horse),
        command("purge", ERASED),
    )
    # Sent after the erasure; what was sent before it would be rejected.
    await done(deployment, command("create", ERASED, text="User has come back."))

    async def expired() -> bool:
        return bool(await deployment.fetch("SELECT FROM memories WHERE status = 'expired'"))

    await eventually(expired, "a memory whose time is over is marked")
    await done(deployment, command("create", HELD, text="User has a drum."))


async def publish_again(deployment: Deployment) -> None:
    """Everything in the state topic, partition by partition in its order, as an outbox that was interrupted does."""
    producer = AIOKafkaProducer(bootstrap_servers=deployment.settings.bootstrap_servers)
    async with producer:
        for record in await deployment.records(topics.STATE):
            await producer.send_and_wait(
                record.topic, record.value, key=record.key, partition=record.partition, headers=list(record.headers)
            )


@pytest.mark.heavy
async def test_the_cache_equals_postgresql_after_every_kind_of_memory_change(deploy: Any, tmp_path: Path) -> None:
    deployment = await deploy("cache", policies_file=without_shared_calls(tmp_path))
    async with following(deployment) as follower:
        await deployment.worker(stages=["curation"], paces=SWEPT)
        await everything_that_may_happen(deployment)
        await follower.caught_up()
        wanted = await stored(deployment)
        assert {memory.status for memory in wanted.values()} == {"active", "superseded", "expired"}
        assert as_memories(follower.cache.memories) == wanted
        live = {memory["text"] for memory in follower.cache.live(HELD, datetime.now(UTC))}
        assert live == {
            *("User plays the cello.", "User moved to Berlin.", "User keeps bees and hens."),
            *("User has a horse.", "User has a drum."),
        }
        assert [memory["text"] for memory in follower.cache.live(ERASED, datetime.now(UTC))] == ["User has come back."]
        assert all(status(memory, datetime.now(UTC)) == memory["status"] for memory in follower.cache.memories.values())

        await publish_again(deployment)
        await follower.caught_up()
        assert as_memories(follower.cache.memories) == wanted, "what came again changed the cache"
    assert as_memories(await read_anew(deployment)) == wanted
