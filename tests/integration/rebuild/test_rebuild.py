"""A database rebuilt from what was published, on PostgreSQL itself: empty ones, half ones, and backups."""

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from msgspec.structs import replace

from agents.curation.rules.change import deleted
from agents.rebuild.rebuilder import Read, Rebuild
from deploy.embedded.stack import EmbeddedStack
from schemas.codec import decode
from schemas.errors import Misconfigured
from schemas.extraction.requests import Command
from schemas.kafka import topics
from schemas.kafka.records import Outgoing
from schemas.memories.events import Cause, MemoryEvent
from schemas.policies.policies import Policies
from sinks.embeddings.fake import FakeEmbedder
from sinks.erasure.purges import purged
from sinks.memories.event_history import Chronicle
from sinks.memories.writer import state
from sinks.outbox.projector import put_records
from sinks.postgres.connection import Pool, connect
from sinks.rebuild.rebuilds import Rebuilds, unfinished
from sinks.vectors.reindex import reindex
from tests.fakes.log import FakeLog, compacted, without_events
from tests.integration.curation_bench import NOON, Bench
from tests.preparation import drop_database, make_database

COMPARED = "SELECT to_jsonb(memories) AS row FROM memories WHERE status <> 'deleted' ORDER BY memory_id"
DELETED = "SELECT to_jsonb(memories) AS row FROM memories WHERE status = 'deleted' ORDER BY memory_id"
VERSIONS = "SELECT to_jsonb(v) AS row FROM memory_versions v ORDER BY memory_id, version"
SEQUENCES = "SELECT namespace, sequence FROM namespaces ORDER BY namespace"


@pytest.fixture
async def other(embedded_stack: EmbeddedStack) -> AsyncIterator[Pool]:
    """Another migrated database, empty."""
    name = f"other_{uuid4().hex[:12]}"
    pool = await connect(await make_database(embedded_stack.dsn, name), max_size=4)
    yield pool
    await pool.close()
    await drop_database(embedded_stack.dsn, name)


async def command(bench: Bench, kind: str, namespace: str = "n", **fields: Any) -> None:
    given = Command(command_id=uuid4().hex, kind=kind, namespace=namespace, at=bench.now(), **fields)  # type: ignore[arg-type]
    await bench.curator.carry_out(given)


async def alone() -> None:
    """No worker runs."""


async def lived(bench: Bench) -> None:
    """Memories that were created, reinforced, superseded, updated, pinned, deleted; and a namespace that was erased."""
    dogs = await bench.remember("The user has 2 dogs")
    await bench.remember("The user has 2 dogs")
    await bench.remember("The user has no dogs at all", contradicts=dogs.memory_id)
    tea = await bench.remember("Tea is better than coffee", tags=("drink",))
    await command(bench, "update", memory_id=tea.memory_id, text="Tea is better than cocoa", importance=0.9)
    gone = await bench.remember("Something nobody needs")
    for namespace in ("erased", "begun anew"):
        await bench.curator.curate(bench.batch("A secret of mine", "My other secret", namespace=namespace))
        await command(bench, "purge", namespace)
    later = NOON + timedelta(days=1)
    fresh = bench.batch("Said afterwards", namespace="begun anew", extracted_at=later)
    await bench.curator.curate(fresh)
    await command(bench, "delete", memory_id=gone.memory_id)


async def rows(pool: Pool, statement: str) -> list[Any]:
    return [row["row"] for row in await pool.fetch(statement)]


async def sequences(pool: Pool) -> dict[str, int]:
    return {row["namespace"]: row["sequence"] for row in await pool.fetch(SEQUENCES)}


async def rebuilt(pool: Pool, published: Sequence[Outgoing], **options: Any) -> Read:
    read = await Rebuild(pool, FakeLog(published), Policies(), alone=alone).run(**options)
    await Rebuilds(pool).end()
    return read


async def test_memories_versions_and_sequences_come_back_as_they_were(bench: Bench, other: Pool) -> None:
    await lived(bench)
    await rebuilt(other, bench.publisher.records)
    assert await rows(other, COMPARED) == await rows(bench.pool, COMPARED)
    assert await rows(other, DELETED) == await rows(bench.pool, DELETED)
    assert await rows(other, VERSIONS) == await rows(bench.pool, VERSIONS)
    assert await sequences(other) == await sequences(bench.pool)
    assert await rows(other, "SELECT to_jsonb(purges) AS row FROM purges ORDER BY 1") == await rows(
        bench.pool, "SELECT to_jsonb(purges) AS row FROM purges ORDER BY 1"
    )
    assert await other.fetchval("SELECT count(*) FROM outbox") == 0, "all of it was told"
    said = str(await rows(other, "SELECT to_jsonb(v) AS row FROM memory_versions v"))
    assert "secret" not in said, "what was erased does not come back"


async def test_compaction_and_retention_cost_older_versions_alone(bench: Bench, other: Pool) -> None:
    await lived(bench)
    kept = without_events(compacted(bench.publisher.records, tombstones=True))
    await rebuilt(other, kept)
    assert await rows(other, COMPARED) == await rows(bench.pool, COMPARED)
    assert await sequences(other) == await sequences(bench.pool), "tombstones carry the last numbers"
    assert await rows(other, VERSIONS) == []


async def test_events_tell_the_numbers_of_deletions_whose_tombstones_are_gone(bench: Bench, other: Pool) -> None:
    await lived(bench)
    await rebuilt(other, compacted(bench.publisher.records, tombstones=False))
    assert await rows(other, COMPARED) == await rows(bench.pool, COMPARED)
    assert await sequences(other) == await sequences(bench.pool)


async def test_a_rebuild_that_was_interrupted_goes_on_where_it_was(bench: Bench, other: Pool) -> None:
    await lived(bench)
    log = FakeLog(bench.publisher.records, breaks_after=4)
    with pytest.raises(ConnectionError):
        await Rebuild(other, log, Policies(), alone=alone).run()
    before = log.read
    assert before
    assert await Rebuilds(other).positions(), "no worker starts on half a database"
    await Rebuild(other, log, Policies(), alone=alone).run()
    assert log.read == sum(record.topic in (topics.STATE, topics.EVENTS) for record in bench.publisher.records)
    assert await rows(other, COMPARED) == await rows(bench.pool, COMPARED)
    await Rebuild(other, log, Policies(), alone=alone).run()
    await Rebuilds(other).end()
    assert await rows(other, COMPARED) == await rows(bench.pool, COMPARED)
    assert await Rebuilds(other).positions() == {}


async def test_a_database_with_memories_is_refused_unless_it_is_said_to_be_a_backup(bench: Bench) -> None:
    await lived(bench)
    before = await rows(bench.pool, COMPARED)
    with pytest.raises(Misconfigured, match="--onto-backup"):
        await rebuilt(bench.pool, bench.publisher.records)
    with pytest.raises(Misconfigured, match="right cluster"):
        await rebuilt(bench.pool, [], onto_backup=True)
    assert await Rebuilds(bench.pool).positions() == {}
    await rebuilt(bench.pool, bench.publisher.records, onto_backup=True)
    assert await rows(bench.pool, COMPARED) == before


async def test_workers_are_looked_for_once_none_can_start_any_more(bench: Bench, other: Pool) -> None:
    await lived(bench)
    published = FakeLog(bench.publisher.records)
    marked = []

    async def working() -> None:
        marked.append(bool(await unfinished(other)))
        raise Misconfigured("workers are running")

    with pytest.raises(Misconfigured, match="workers are running"):
        await Rebuild(other, published, Policies(), alone=working).run()
    assert marked == [True]
    assert not await unfinished(other), "nothing was changed, and workers may start"
    await Rebuilds(other).begin({(topics.STATE, 0): 0})
    with pytest.raises(Misconfigured, match="workers are running"):
        await Rebuild(other, published, Policies(), alone=working).run()
    assert await unfinished(other), "one that was interrupted stays so"


async def test_decisions_go_on_without_a_gap_and_find_what_came_back(bench: Bench, other: Pool) -> None:
    await lived(bench)
    await rebuilt(other, bench.publisher.records)
    after = Bench(other)
    await reindex(other, after.vectors, FakeEmbedder())
    again = await after.remember("Tea is better than cocoa.")
    assert again.reinforcement_count == 1
    await command(after, "update", memory_id=again.memory_id, text="Tea is better than anything")
    told = [event.data.sequence for event in bench.events()] + [event.data.sequence for event in after.events()]
    assert told == list(range(1, len(told) + 1))


async def test_a_candidate_that_comes_again_afterwards_is_not_a_second_memory(bench: Bench, other: Pool) -> None:
    batch = bench.batch("The user has 2 dogs")
    await bench.curator.curate(batch)
    await rebuilt(other, bench.publisher.records)
    after = Bench(other)
    await reindex(other, after.vectors, FakeEmbedder())
    await after.curator.curate(batch)
    assert await rows(other, COMPARED) == await rows(bench.pool, COMPARED)
    assert [control.kind for control in after.controls()] == ["extraction_completed"], "its window is answered"


async def test_what_was_erased_alone_does_not_fence_its_namespace(bench: Bench, other: Pool) -> None:
    memory = await bench.remember("The user has 2 dogs")
    await bench.remember("Tea is better than coffee")
    alone = Cause(actor="operator", erased="conversations")
    gone = replace(deleted(memory, bench.now()), version=2, sequence=3)
    published = [*bench.publisher.records, purged(gone, alone, bench.now()), state(gone)]
    await rebuilt(other, published)
    (left,) = await Bench(other).memories.in_namespace("n")
    assert left.text == "Tea is better than coffee"
    assert await other.fetchval("SELECT count(*) FROM purges") == 0
    assert "dogs" not in str(await rows(other, VERSIONS))
    assert await sequences(other) == {"n": 3}


async def test_a_deletion_holds_and_can_be_undone(bench: Bench, other: Pool) -> None:
    batch = bench.batch("The user has 2 dogs")
    await bench.curator.curate(batch)
    (dogs,) = await bench.memories.in_namespace("n")
    await command(bench, "delete", memory_id=dogs.memory_id)
    await rebuilt(other, bench.publisher.records)
    after = Bench(other)
    await reindex(other, after.vectors, FakeEmbedder())
    await after.curator.curate(batch)
    assert await rows(other, COMPARED) == [], "its candidate, which comes again, does not bring it back"
    await command(after, "undo", memory_id=dogs.memory_id)
    (back,) = await after.memories.in_namespace("n")
    assert (back.text, back.version) == ("The user has 2 dogs", 3)


async def test_who_follows_a_namespace_is_told_the_same_as_before(bench: Bench, other: Pool) -> None:
    """A sequence that is missing would be told as an erasure."""
    await lived(bench)
    await rebuilt(other, bench.publisher.records)
    for namespace in ("n", "begun anew"):
        told = await Chronicle(other).behind(namespace, 1, 100)
        assert told == await Chronicle(bench.pool).behind(namespace, 1, 100)
    assert {each.event.type for each in await Chronicle(other).behind("n", 1, 100)} >= {"memstream.memory.deleted"}


async def test_what_an_event_told_and_the_state_did_not_any_more_is_told(bench: Bench, other: Pool) -> None:
    gone = await bench.remember("Something nobody needs")
    before = len(bench.publisher.records)
    await bench.remember("The user has 2 dogs")
    await command(bench, "delete", memory_id=gone.memory_id)
    cut = [
        record
        for number, record in enumerate(bench.publisher.records)
        if number < before or record.topic != topics.STATE
    ]
    await rebuilt(other, cut)
    assert await rows(other, COMPARED) == await rows(bench.pool, COMPARED)
    after = Bench(other)
    await after.projector.sweep()
    told = {(record.key or b"").decode(): record for record in after.publisher.on(topics.STATE)}
    expected = {(record.key or b"").decode(): record for record in bench.publisher.on(topics.STATE)}
    assert told == expected


async def test_a_restored_backup_is_brought_up_to_what_was_told_since(bench: Bench, other: Pool) -> None:
    kept = await bench.remember("The user has 2 dogs")
    deleted = await bench.remember("Something nobody needs")
    changed = await bench.remember("Tea is better than coffee")
    await bench.curator.curate(bench.batch("A secret of mine", namespace="erased"))
    await rebuilt(other, bench.publisher.records)
    backup = Bench(other)
    await reindex(other, backup.vectors, FakeEmbedder())
    pending = [record for record in bench.publisher.records if record.topic in (topics.EVENTS, topics.STATE)]
    async with other.acquire() as connection:  # what had not been published when the backup was made
        await put_records(connection, "n", [record for record in pending if record.key != b"erased"])
    await command(bench, "update", memory_id=changed.memory_id, text="Tea is better than cocoa")
    await command(bench, "delete", memory_id=deleted.memory_id)
    await command(bench, "purge", "erased")
    await rebuilt(other, compacted(bench.publisher.records, tombstones=False), onto_backup=True)
    assert await rows(other, COMPARED) == await rows(bench.pool, COMPARED)
    assert await sequences(other) == await sequences(bench.pool)
    assert "secret" not in str(await rows(other, "SELECT to_jsonb(v) AS row FROM memory_versions v"))
    assert await other.fetchval("SELECT count(*) FROM outbox") == 0, "an older state would be put over a newer one"
    embedded = await other.fetch("SELECT memory_id FROM embeddings")
    assert [row["memory_id"] for row in embedded] == [kept.memory_id], "vectors of another text are not kept"


async def test_a_memory_that_nothing_tells_of_any_more_leaves_a_backup(bench: Bench, other: Pool) -> None:
    await bench.remember("The user has 2 dogs")
    deleted = await bench.remember("Something nobody needs")
    await rebuilt(other, bench.publisher.records)
    await command(bench, "delete", memory_id=deleted.memory_id)
    await bench.remember("Tea is better than coffee")
    long_after = without_events(compacted(bench.publisher.records, tombstones=False))
    await rebuilt(other, long_after, onto_backup=True)
    assert await rows(other, COMPARED) == await rows(bench.pool, COMPARED)


async def test_no_generation_stays_in_a_backup_that_could_be_switched_to_without_its_shadows(
    bench: Bench, other: Pool
) -> None:
    await bench.remember("The user has 2 dogs")
    await rebuilt(other, bench.publisher.records)
    statuses = {
        "0000000a": "building",
        "0000000b": "ready",
        "0000000c": "undone",
        "0000000d": "discarding",
        "0000000e": "cutover",
        "0000000f": "cutover",
    }
    for generation_id, status in statuses.items():
        await other.execute("INSERT INTO generations VALUES ($1, '{}', $2, $3, $3)", generation_id, status, NOON)
        await other.execute(
            "INSERT INTO generation_namespaces VALUES ($1, 'n', $2, $2), ($1, 'another', $3, $3)",
            generation_id,
            1 if status == "cutover" else None,
            1 if generation_id == "0000000f" else None,
        )
    await rebuilt(other, bench.publisher.records, onto_backup=True)
    left = await other.fetch("SELECT generation_id FROM generations")
    assert [row["generation_id"] for row in left] == ["0000000f"], "the one that is live in all its namespaces"


async def test_what_a_backup_decided_and_never_published_stays_and_is_published(bench: Bench, other: Pool) -> None:
    await bench.remember("The user has 2 dogs")
    told = list(bench.publisher.records)
    await bench.remember("Tea is better than coffee")
    await rebuilt(other, bench.publisher.records)
    untold = [record for record in bench.publisher.records if record not in told and record.topic == topics.EVENTS]
    async with other.acquire() as connection:
        await put_records(connection, "n", untold)
    await rebuilt(other, told, onto_backup=True)
    assert await rows(other, COMPARED) == await rows(bench.pool, COMPARED)
    after = Bench(other)
    await after.projector.sweep()
    assert [decode(record.value, MemoryEvent).data.sequence for record in after.publisher.on(topics.EVENTS)] == [2]


async def test_records_that_are_none_of_memstreams_are_counted_and_left_out(bench: Bench, other: Pool) -> None:
    await bench.remember("The user has 2 dogs")
    strange = [
        Outgoing(topic=topics.STATE, key=b"a", value=b"not JSON"),
        Outgoing(topic=topics.STATE, key=b"b", value=None),
        Outgoing(topic=topics.EVENTS, key=b"n", value=b'{"specversion": "1.0"}'),
        Outgoing(topic=topics.EVENTS, key=b"n", value=None),
    ]
    read = await rebuilt(other, [*strange, *bench.publisher.records])
    assert (read.records, read.unreadable) == (6, 4)
    assert await rows(other, COMPARED) == await rows(bench.pool, COMPARED)


async def test_an_older_record_in_another_partition_brings_nothing_back(bench: Bench, other: Pool) -> None:
    """Where partitions were added, what a namespace told lies in two of them."""
    gone = await bench.remember("Something nobody needs")
    await bench.remember("The user has 2 dogs")
    await command(bench, "delete", memory_id=gone.memory_id)
    events = [record for record in bench.publisher.records if record.topic == topics.EVENTS]
    await rebuilt(other, list(reversed(events)))
    there = [row["memory_id"] for row in await rows(other, COMPARED)]
    assert there == [memory.memory_id for memory in await bench.memories.in_namespace("n")]
