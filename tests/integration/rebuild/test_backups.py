"""A restored backup is brought up to date from later published events."""

import pytest

from schemas.codec import decode
from schemas.errors import Misconfigured
from schemas.kafka import topics
from schemas.memories.events import MemoryEvent
from sinks.outbox.projector import put_records
from sinks.postgres.connection import Pool
from sinks.rebuild.rebuilds import Rebuilds
from sinks.vectors.reindex import reindex
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.log import compacted, without_events
from tests.integration.curation_bench import NOON, Bench
from tests.integration.rebuild.rebuilding import COMPARED, command, lived, rebuilt, rows, sequences


async def test_a_database_with_memories_is_rejected_unless_declared_as_a_backup(bench: Bench) -> None:
    await lived(bench)
    before = await rows(bench.pool, COMPARED)
    with pytest.raises(Misconfigured, match="--onto-backup"):
        await rebuilt(bench.pool, bench.publisher.records)
    with pytest.raises(Misconfigured, match="right cluster"):
        await rebuilt(bench.pool, [], onto_backup=True)
    assert await Rebuilds(bench.pool).positions() == {}
    await rebuilt(bench.pool, bench.publisher.records, onto_backup=True)
    assert await rows(bench.pool, COMPARED) == before


async def test_a_restored_backup_is_updated_with_everything_published_since(bench: Bench, other: Pool) -> None:
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


async def test_a_memory_no_longer_present_in_kafka_is_removed_from_a_backup(bench: Bench, other: Pool) -> None:
    await bench.remember("The user has 2 dogs")
    deleted = await bench.remember("Something nobody needs")
    await rebuilt(other, bench.publisher.records)
    await command(bench, "delete", memory_id=deleted.memory_id)
    await bench.remember("Tea is better than coffee")
    long_after = without_events(compacted(bench.publisher.records, tombstones=False))
    await rebuilt(other, long_after, onto_backup=True)
    assert await rows(other, COMPARED) == await rows(bench.pool, COMPARED)


async def test_a_rebuild_onto_a_backup_keeps_only_generations_live_in_all_their_namespaces(
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


async def test_unpublished_decisions_in_a_backup_are_kept_and_published(bench: Bench, other: Pool) -> None:
    await bench.remember("The user has 2 dogs")
    published = list(bench.publisher.records)
    await bench.remember("Tea is better than coffee")
    await rebuilt(other, bench.publisher.records)
    untold = [record for record in bench.publisher.records if record not in published and record.topic == topics.EVENTS]
    async with other.acquire() as connection:
        await put_records(connection, "n", untold)
    await rebuilt(other, published, onto_backup=True)
    assert await rows(other, COMPARED) == await rows(bench.pool, COMPARED)
    after = Bench(other)
    await after.projector.sweep()
    assert [decode(record.value, MemoryEvent).data.sequence for record in after.publisher.on(topics.EVENTS)] == [2]
