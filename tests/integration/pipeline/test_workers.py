"""Several workers, failing servers and a first start: no message is lost or processed twice."""

import asyncio
import random
import signal
from pathlib import Path
from typing import Any

import pytest
from aiokafka.admin import AIOKafkaAdminClient

from deploy.embedded.stack import EmbeddedStack
from deploy.wiring import connections
from streams.kafka.topics import STAGES
from tests.chaos.conversations import Conversation, conversations, events, interleaved
from tests.chaos.ledger import Ledger, balance
from tests.chaos.workers import WorkerProcess
from tests.deployment import Deployment, Event, deployed, eventually, without_shared_calls

SPREAD = {"conversation_partitions": 6, "namespace_partitions": 4}
LEAVES_WITHIN_S = 30.0
OUTAGE_OVER_S = 120.0


def talks(count: int) -> list[Conversation]:
    return conversations(count, (6, 12), random.Random(count))


def mixed(said: list[Conversation]) -> list[Event]:
    """Many conversations at once, as in life."""
    return [
        Event(record.topic, (record.key or b"").decode(), record.value)
        for record in interleaved(said, 20, random.Random(3))
    ]


def parts(said: list[Event], count: int) -> list[list[Event]]:
    size = -(-len(said) // count)
    return [said[start : start + size] for start in range(0, len(said), size)]


async def some_archived(deployment: Deployment, more_than: int) -> None:
    async def archived() -> bool:
        return await deployment.count("messages") > more_than

    await eventually(archived, f"more than {more_than} messages are archived", OUTAGE_OVER_S)


async def ledger(deployment: Deployment, said: list[Conversation]) -> Ledger:
    async with connections.postgres(deployment.settings, max_size=2) as pool:
        return await balance(deployment.settings, pool, said)


async def assert_balanced(deployment: Deployment, said: list[Conversation]) -> None:
    await deployment.settled(OUTAGE_OVER_S)
    found = await ledger(deployment, said)
    assert (found.lost, found.duplicated) == ([], [])


async def leaves(worker: WorkerProcess) -> None:
    """Asked by SIGTERM, it is gone in time and says that all is well."""
    worker.send(signal.SIGTERM)

    async def gone() -> bool:
        return not worker.running

    await eventually(gone, f"{worker.name} has left", LEAVES_WITHIN_S)
    assert await worker.stop() == 0


async def group(deployment: Deployment, stage: str) -> tuple[str, int]:
    """The state of a stage's consumer group, and the number of its members."""
    admin = AIOKafkaAdminClient(bootstrap_servers=deployment.settings.bootstrap_servers)
    await admin.start()
    try:
        (described,) = await admin.describe_consumer_groups([deployment.group(stage)])
        _, _, state, _, _, found, *_ = described.groups[0]
        return state, len(found)
    finally:
        await admin.close()


@pytest.mark.heavy
async def test_workers_joining_and_leaving_under_load_lose_and_duplicate_nothing(deploy: Any, tmp_path: Path):
    deployment = await deploy("join", policies_file=without_shared_calls(tmp_path), **SPREAD)
    said = talks(60)
    first, second, third = parts(mixed(said), 3)
    staying, leaving = deployment.start_worker("one"), deployment.start_worker("two")
    await asyncio.gather(staying.wait_ready(), leaving.wait_ready())

    async def shared() -> bool:
        return [await group(deployment, stage) for stage in STAGES] == [("Stable", 2)] * len(STAGES)

    await eventually(shared, "two workers share the partitions of every stage")
    await deployment.publish(*first)
    await some_archived(deployment, 20)
    joining = deployment.start_worker("three")
    await deployment.publish(*second)
    await joining.wait_ready()
    await deployment.publish(*third)
    await leaves(leaving)
    await assert_balanced(deployment, said)
    await asyncio.gather(leaves(staying), leaves(joining))
    assert [await group(deployment, stage) for stage in STAGES] == [("Empty", 0)] * len(STAGES)


@pytest.mark.heavy
async def test_one_process_a_stage_does_the_work_of_one_worker(deploy: Any, tmp_path: Path):
    deployment = await deploy("stages", policies_file=without_shared_calls(tmp_path), **SPREAD)
    said = talks(20)
    workers = [deployment.start_worker(stage, stages=[stage]) for stage in STAGES]
    await deployment.publish(*mixed(said))
    await asyncio.gather(*(worker.wait_ready() for worker in workers))
    await assert_balanced(deployment, said)
    await asyncio.gather(*(leaves(worker) for worker in workers))


@pytest.mark.heavy
async def test_all_messages_are_processed_despite_a_temporary_qdrant_outage(breakable: EmbeddedStack, tmp_path: Path):
    async with deployed(
        breakable, "qdrant", tmp_path, policies_file=without_shared_calls(tmp_path), **SPREAD
    ) as deployment:
        said = talks(30)
        before, during, after = parts(mixed(said), 3)
        worker = await deployment.worker()
        await deployment.publish(*before)
        await some_archived(deployment, 10)
        breakable.vectors.kill()
        await deployment.publish(*during)
        await some_archived(deployment, len(before))
        assert worker.running
        await breakable.vectors.start()
        await deployment.publish(*after)
        await assert_balanced(deployment, said)
        await leaves(worker)


@pytest.mark.heavy
async def test_all_messages_are_processed_despite_a_temporary_postgres_outage(breakable: EmbeddedStack, tmp_path: Path):
    async with deployed(
        breakable, "postgres", tmp_path, policies_file=without_shared_calls(tmp_path), **SPREAD
    ) as deployment:
        said = talks(30)
        before, during, after = parts(mixed(said), 3)
        worker = await deployment.worker()
        await deployment.publish(*before)
        await some_archived(deployment, 10)
        await breakable.postgres.stop()
        await deployment.publish(*during)

        async def missed() -> bool:
            return "PostgreSQL failed" in deployment.logs()

        await eventually(missed, "the worker notices that PostgreSQL is away")
        assert worker.running
        await breakable.postgres.start()
        await deployment.publish(*after)
        await assert_balanced(deployment, said)
        await leaves(worker)


def one_by_one(*said: Conversation) -> list[Event]:
    return [Event(each.topic, (each.key or b"").decode(), each.value) for talk in said for each in events(talk)]


async def processed(deployment: Deployment) -> dict[str, set[str]]:
    """Conversations that are archived, and those that are extracted."""
    archived = await deployment.fetch("SELECT DISTINCT conversation_id FROM messages")
    extracted = await deployment.fetch("SELECT conversation_id FROM extractions WHERE completed_at IS NOT NULL")
    return {
        "archived": {row["conversation_id"] for row in archived},
        "extracted": {row["conversation_id"] for row in extracted},
    }


@pytest.mark.heavy
async def test_a_first_start_skips_existing_records_and_a_restart_keeps_that_start_position(deploy: Any):
    """The first worker is killed before it has committed anything."""
    deployment = await deploy("now", start_from="now")
    # The topics are older than the installation.
    await deployment.fetch("UPDATE _pogo_migration SET applied = now() + interval '1 hour' RETURNING 1")
    old, missed, new = talks(6)[::2]
    await deployment.publish(*one_by_one(old))
    first = await deployment.worker("first")
    first.kill()
    await deployment.publish(*one_by_one(missed))
    await deployment.worker("second")
    await deployment.publish(*one_by_one(new))
    await deployment.settled()
    both = {missed.conversation_id, new.conversation_id}
    assert await processed(deployment) == {"archived": both, "extracted": both}
