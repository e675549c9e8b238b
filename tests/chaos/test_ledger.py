"""The ledger reports every kind of damage."""

import json
import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import pytest
from aiokafka import ConsumerRecord
from qdrant_client.models import PointStruct

from deploy.embedded.stack import EmbeddedStack
from deploy.wiring import connections
from schemas.kafka import topics
from schemas.kafka.records import Outgoing
from sinks.passages.vectors import SUFFIX
from streams.windows.rows.rows import chunk_key, is_head
from tests.chaos.conversations import Conversation, conversations, events
from tests.chaos.erasing import left_of
from tests.chaos.ledger import Ledger, balance
from tests.chaos.memstream_system import Memstream
from tests.deployment import Deployment, Event, deployed

FEW = {"conversation_partitions": 2, "namespace_partitions": 2}
COPIED_MEMORY = """INSERT INTO memories
    SELECT copy.* FROM memories one, jsonb_populate_record(one, '{"memory_id": "copied"}') copy"""
COPIED_PASSAGE = """INSERT INTO passages
    SELECT copy.* FROM passages one,
        jsonb_populate_record(one, jsonb_build_object('passage_id', gen_random_uuid(), 'namespace', 'chaos/nobody')) copy
    WHERE one.message_id = 'chaos-00000-000'"""
RENAMED_MESSAGE = """ALTER TABLE passages DROP CONSTRAINT passages_conversation_id_message_id_fkey;
    UPDATE messages SET message_id = 'm' WHERE message_id = 'chaos-00000-000'"""
RENAMED_MEMORY = "DELETE FROM embeddings; UPDATE memories SET memory_id = 'renamed'"
MISLAID_MEMORY = "INSERT INTO namespaces VALUES ('chaos/nobody'); UPDATE memories SET namespace = 'chaos/nobody'"
OVERLAPPING_SLICE = """INSERT INTO extractions
    SELECT copy.* FROM extractions one, jsonb_populate_record(one, '{"request_id": "again"}') copy
    WHERE one.conversation_id = 'chaos-00000'"""


class Damage(NamedTuple):
    """A SQL statement or a published record, and the entries that the ledger must then have."""

    done: str | Outgoing
    found: tuple[str, ...]

    def unseen(self, entries: Iterable[str]) -> list[str]:
        """Returns expected entries that the ledger lacks."""
        said = "\n".join(entries)
        return [f"{self.done}: {entry!r} is not in {said!r}" for entry in self.found if entry not in said]


IN_POSTGRES = (
    Damage("DELETE FROM messages WHERE message_id = 'chaos-00000-000'", ("chaos-00000-000 is not archived",)),
    Damage(RENAMED_MESSAGE, ("m was never sent", "message m has no passage")),
    Damage("DELETE FROM passages", ("message chaos-00000-000 has no passage",)),
    Damage("DELETE FROM passages WHERE piece = 1", ("has passages [0] in chaos/user-00000, not [0, 1]",)),
    Damage("UPDATE passages SET ordinal = ordinal + 1 WHERE piece = 1", (" has 2 numbers",)),
    Damage(COPIED_PASSAGE, ("message chaos-00000-000 has passages in chaos/nobody", " is not in Qdrant")),
    Damage("UPDATE messages SET content = '' WHERE message_id = 'chaos-00000-000'", ("archived in other words",)),
    Damage("DELETE FROM extractions WHERE conversation_id = 'chaos-00000'", ("lies in no completed extraction",)),
    Damage("UPDATE extractions SET completed_at = NULL", ("lies in no completed extraction",)),
    Damage("UPDATE extractions SET first_position = first_position + 1", ("lies in no completed extraction",)),
    Damage(OVERLAPPING_SLICE, ("lies in 2 extractions", "chaos-00000 was cut into 2 slices")),
    Damage("DELETE FROM memories", ("the memory of user-00000", ", PostgreSQL has not")),
    Damage(COPIED_MEMORY, ("the memory of user-00000", "memory copied is not in Qdrant")),
    Damage(RENAMED_MEMORY, ("is None, not 2", "memory.state has")),
    Damage("UPDATE memories SET text = 'Something else.'", ("the memory of user-00000",)),
    Damage("UPDATE memories SET reinforcement_count = 0", ("user-00000 said it 2 times, reinforced 0 times",)),
    Damage("UPDATE memories SET reinforcement_count = 2", ("user-00000 said it 2 times, reinforced 2 times",)),
    Damage("UPDATE memories SET sources = '[]'", ("user-00000 said it 2 times, reinforced 1 times from 0",)),
    Damage(MISLAID_MEMORY, ("the memory of user-00000", "1 memories of nobody, who said nothing")),
    Damage("UPDATE namespaces SET sequence = sequence + 1", ("stands at 3, its events at 2",)),
    Damage("UPDATE memories SET version = version + 1", ("is 2, not 3",)),
)


async def in_kafka(deployment: Deployment) -> list[Damage]:
    """Records that a clean run would not have left, made of those that it did."""
    names = deployment.settings.topics()
    changelog = names.changelog.removeprefix(names.prefix)
    (event, *_), (memory, *_) = [await deployment.records(name) for name in (topics.EVENTS, topics.STATE)]
    (request, *_) = await deployment.records(topics.REQUESTS)
    messages = json.loads(request.value)["messages"]
    (*_, head) = [record for record in await deployment.records(changelog) if is_head(record.key)]  # one at rest
    key = chunk_key(json.loads(head.key), 999)
    chunk = Outgoing(topic=changelog, key=key, value=b"[]", partition=head.partition)
    return [
        Damage(changed(topics.REQUESTS, request, "messages", [*messages[:2], *messages[3:]]), ("was cut in two ways",)),
        Damage(changed(topics.REQUESTS, request, "request_id", "another"), ("was asked for twice, or in other words",)),
        Damage(Outgoing(topic=topics.DEAD_LETTERS, key=b"k", value=b""), ("dead letter b'k'",)),
        Damage(changed(topics.STATE, memory, "version", 1), ("is 1, not 2",)),
        Damage(changed(topics.STATE, memory, "memory_id", "unknown"), ("memory.state has unknown",)),
        Damage(chunk, ("was left behind",)),
        Damage(changed(changelog, head, "next_row", 0), ("was left behind", "are missing")),
        Damage(changed(changelog, head, "received", 99), ("lost count of its messages",)),
        Damage(changed(changelog, head, "waiting_since", 1.0), ("still waits",)),
        Damage(changed(changelog, head, "asked", [["request", 1, 2, 1, 0.0]]), ("still waits",)),
        Damage(changed(changelog, head, "held", [1, 0.0, None, None]), ("still waits",)),
        Damage(changed(topics.EVENTS, event, "id", "another"), ("has two ids",)),
        Damage(
            changed(topics.EVENTS, event, "data", json.loads(event.value)["data"] | {"sequence": 9}), ("from 2 to 9",)
        ),
    ]


def changed(topic: str, record: ConsumerRecord, field: str, value: Any) -> Outgoing:
    """The record once more, in its partition, with another value in one field."""
    whole = json.loads(record.value) | {field: value}
    return Outgoing(topic=topic, key=record.key, value=json.dumps(whole).encode(), partition=record.partition)


async def ledger(deployment: Deployment, said: list[Conversation]) -> Ledger:
    async with connections.postgres(deployment.settings, max_size=2) as pool:
        return await balance(deployment.settings, pool, said)


async def processed(deployment: Deployment) -> list[Conversation]:
    """Two conversations of one user, and everything that came of them; no worker runs any more."""
    said = conversations(2, (6, 8), random.Random(1))
    worker = await deployment.worker()
    await deployment.publish(
        *(Event(each.topic, (each.key or b"").decode(), each.value) for talk in said for each in events(talk))
    )
    await deployment.settled()
    await worker.stop()
    return said


@pytest.mark.heavy
async def test_the_ledger_reports_missing_and_duplicate_records(embedded_stack: EmbeddedStack, tmp_path: Path):
    async with deployed(embedded_stack, "ledger", tmp_path, **FEW) as deployment:
        said = await processed(deployment)
        assert await ledger(deployment, said) == Ledger()
        unsaid = conversations(3, (6, 8), random.Random(1))[-1]
        found = await ledger(deployment, [*said, unsaid])
        assert f"message {unsaid.messages[2].message_id} was asked for in no request as it was said" in found.lost
        async with connections.postgres(deployment.settings, max_size=1) as pool:
            left = "\n".join(await left_of(["user-00000"], deployment.settings, pool))
        vectors = ("vectors of memories of user-00000", "vectors of passages of user-00000")
        for place in (
            "rows of messages",
            "rows of memories",
            "rows of extractions",
            *vectors,
            "passages of user-00000",
        ):
            assert place in left, "what is not erased is found by whoever looks for it"
        unseen = await unseen_in_postgres(deployment, said)
        unseen += await unseen_in_qdrant(deployment, said)
        unseen += await unseen_in_kafka(deployment, said)
        assert unseen == []


async def unseen_in_postgres(deployment: Deployment, said: list[Conversation]) -> list[str]:
    """Each damage is rolled back once the ledger has looked at it."""
    unseen = []
    async with connections.postgres(deployment.settings, max_size=1) as pool, pool.acquire() as connection:
        for damage in IN_POSTGRES:
            transaction = connection.transaction()
            await transaction.start()
            await connection.execute(damage.done)
            found = await balance(deployment.settings, connection, said)
            await transaction.rollback()
            unseen += damage.unseen(found.lost + found.duplicated)
    return unseen


async def unseen_in_qdrant(deployment: Deployment, said: list[Conversation]) -> list[str]:
    """One point for another in each collection: they are put back afterwards."""
    unseen = []
    for suffix, what in (("", "memory"), (SUFFIX, "passage")):
        collection = deployment.settings.qdrant_collection + suffix
        point_id, (payload, vector) = next(iter((await deployment.points(suffix)).items()))
        stranger = str(uuid4())
        async with deployment.qdrant() as client:
            await client.delete(collection, [point_id])
            await client.upsert(collection, [PointStruct(id=stranger, vector=vector, payload=payload)])
            found = await ledger(deployment, said)
            await client.delete(collection, [stranger])
            await client.upsert(collection, [PointStruct(id=point_id, vector=vector, payload=payload)])
        expected = (f"{what} {point_id} is not in Qdrant", f"{stranger}, PostgreSQL has not")
        unseen += Damage(f"another point of a {what}", expected).unseen(found.lost + found.duplicated)
    return unseen


async def unseen_in_kafka(deployment: Deployment, said: list[Conversation]) -> list[str]:
    """Published records cannot be removed, so only the entries that each record adds are compared."""
    unseen, before = [], Counter[str]()
    async with connections.kafka(deployment.settings) as publisher:
        for damage in await in_kafka(deployment):
            await publisher.publish([damage.done])
            found = await ledger(deployment, said)
            after = Counter(found.lost + found.duplicated)
            unseen += damage.unseen(after - before)
            before = after
    assert found.repeated > 0
    return unseen


@pytest.mark.heavy
async def test_the_backlog_counts_unprocessed_kafka_records_and_outbox_rows(
    embedded_stack: EmbeddedStack, tmp_path: Path
):
    async with deployed(embedded_stack, "behind", tmp_path, **FEW) as deployment:
        system = Memstream(deployment.settings, tmp_path)
        assert await system.behind() == 0
        await deployment.publish(Event(topics.MESSAGES, "c", {}))
        assert await system.lag() == 3  # for the windows, for the archive and for passages
        await deployment.fetch("INSERT INTO outbox (namespace, target) VALUES ('n', 'vector')")
        assert await system.behind() == 4
