"""PostgreSQL and Qdrant are rebuilt from Kafka after a total loss, and the pipeline continues."""

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

from aiokafka.partitioner import murmur2

from schemas.kafka import topics
from sinks.passages.vectors import SUFFIX
from sinks.postgres.migrate import migrate
from tests.builders.chat_events import end, message
from tests.builders.proposals import command, curated
from tests.command_line import run
from tests.deployment import Deployment, Event
from tests.integration.conftest import Deploy
from tests.preparation import administer

MARA, GONE = "notes/mara", "notes/gone"
COLUMNS = "memory_id, namespace, kind, kinds, tags, text, normalised, importance, confidence, version, sequence, status, sources"
MEMORIES = f"SELECT {COLUMNS} FROM memories WHERE status <> 'deleted' ORDER BY memory_id"
SEQUENCES = "SELECT namespace, sequence FROM namespaces WHERE sequence > 0 ORDER BY namespace"


def conversation(partition: int) -> str:
    """One whose messages are in a partition of two."""
    return next(f"c-{n}" for n in range(99) if (murmur2(f"c-{n}".encode()) & 0x7FFFFFFF) % 2 == partition)


def said(text: str, partition: int, message_id: str) -> list[Event]:
    key = conversation(partition)
    event = message(key, 1, text, message_id=message_id, app_id="notes", user_id="mara")
    return [event, end(key, last_message_id=message_id)]


async def lose_everything_but_kafka(deployment: Deployment) -> None:
    server, _, database = deployment.dsn.rpartition("/")
    await administer(f"{server}/postgres", f'DROP DATABASE "{database}" WITH (FORCE)')
    await administer(f"{server}/postgres", f'CREATE DATABASE "{database}"')
    await migrate(deployment.dsn)
    async with deployment.qdrant() as client:
        await client.delete_collection(deployment.settings.qdrant_collection)


async def told_sequences(deployment: Deployment, namespace: str) -> list[int]:
    events = await deployment.values(topics.EVENTS)
    return [event["data"]["sequence"] for event in events if event["data"]["namespace"] == namespace]


async def test_the_pipeline_continues_after_a_rebuild_as_if_nothing_had_been_lost(
    deploy: Deploy, tmp_path: Path
) -> None:
    deployment = await deploy("rebuild", start_from="now")
    memstream = partial(asyncio.to_thread, run, deployment.settings, tmp_path)
    worker = await deployment.worker()
    await deployment.publish(
        *said("I live in Lisbon. I am allergic to peanuts.", 0, "m1"),
        *(command("create", MARA, text=f"User owns {n} boats.", tags=["boats"]) for n in (2, 7)),
        command("create", GONE, text="Nobody may read this again."),
    )
    await deployment.settled()
    (boats, *_) = await deployment.fetch("SELECT memory_id FROM memories WHERE text = 'User owns 7 boats.'")
    await deployment.publish(command("delete", MARA, memory_id=boats["memory_id"]), command("purge", GONE))
    await deployment.settled()
    refused = await memstream("rebuild", "--onto-backup")
    assert refused.returncode == 1
    assert "workers are running" in refused.stderr
    assert await worker.stop() == 0

    memories, sequences = await deployment.fetch(MEMORIES), await deployment.fetch(SEQUENCES)
    passages = await deployment.points(SUFFIX)
    await deployment.publish(*said("I work as a carpenter.", 1, "m2"))
    await lose_everything_but_kafka(deployment)
    done = await memstream("rebuild")
    assert done.returncode == 0, done.stderr
    assert await deployment.fetch(MEMORIES) == memories
    assert await deployment.fetch(SEQUENCES) == sequences
    assert set(await deployment.points()) == {row["memory_id"] for row in memories}
    assert passages and not await deployment.points(SUFFIX), (
        "points of messages that the archive no longer has are gone"
    )

    await deployment.worker("another")
    kept = next(row for row in memories if row["text"] == "User owns 2 boats.")
    await deployment.publish(
        *said("I am allergic to peanuts!", 0, "m3"),
        command("update", MARA, memory_id=kept["memory_id"], text="User owns 3 boats."),
    )
    await deployment.settled()
    await curated(deployment)
    after = {row["text"]: row for row in await deployment.fetch("SELECT * FROM memories WHERE status = 'active'")}
    assert any("carpenter" in text for text in after), "what was said while nothing ran is not skipped"
    assert after["User owns 3 boats."]["version"] == kept["version"] + 1
    (peanuts,) = [row for text, row in after.items() if "peanuts" in text]
    assert peanuts["reinforcement_count"] == 1
    numbers = await told_sequences(deployment, MARA)
    assert numbers == list(range(1, len(numbers) + 1)), "neither a gap nor a number twice"
    assert not any("Nobody" in text for text in after)


async def test_a_worker_refuses_to_start_on_a_partially_rebuilt_database(deploy: Deploy) -> None:
    deployment = await deploy("half")
    await deployment.fetch("INSERT INTO rebuild_positions VALUES ('memory.state', 0, 17)")
    worker: Any = deployment.start_worker()
    assert await asyncio.to_thread(worker._process.wait, 60) == 1
    deployment.forget(worker)
    assert "run `memstream rebuild` to its end" in deployment.logs()


async def test_a_worker_refuses_to_start_with_a_lost_vector_collection(deploy: Deploy) -> None:
    """It would find nothing near what is said again, and remember everything a second time."""
    deployment = await deploy("lost")
    worker: Any = await deployment.worker(stages=("curation",))
    await deployment.publish(command("create", MARA, text="User owns 2 boats."))
    await curated(deployment)
    assert await worker.stop() == 0
    async with deployment.qdrant() as client:
        await client.delete_collection(deployment.settings.qdrant_collection)
    worker = deployment.start_worker("another", stages=("curation",))
    assert await asyncio.to_thread(worker._process.wait, 60) == 1
    deployment.forget(worker)
    assert "run `memstream reindex`" in deployment.logs()
