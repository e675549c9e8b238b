"""An empty or partly rebuilt database is filled from published records, on PostgreSQL."""

import pytest
from msgspec.structs import replace

from agents.curation.rules.ledger.change import deleted
from agents.rebuild.rebuilder import Rebuild
from schemas.errors import Misconfigured
from schemas.extraction.candidates import Source, Wish
from schemas.kafka import topics
from schemas.kafka.records import Outgoing
from schemas.memories.events import Cause
from schemas.policies.policies import Policies
from sinks.erasure.purges import purged
from sinks.memories.event_history import EventHistory
from sinks.memories.writer import state_record
from sinks.postgres.connection import Pool
from sinks.rebuild.rebuilds import Rebuilds, unfinished
from sinks.vectors.reindex import reindex
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.log import FakeLog, compacted, without_events
from tests.fakes.repeated_messages import FakeRepeatedMessages
from tests.integration.curation_bench import Bench
from tests.integration.rebuild.rebuilding import (
    COMPARED,
    DELETED,
    HIDDEN,
    VERSIONS,
    alone,
    command,
    lived,
    rebuilt,
    rows,
    sequences,
)


async def test_memories_versions_and_sequences_are_restored_unchanged(bench: Bench, other: Pool) -> None:
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


async def test_compaction_and_retention_of_topics_lose_only_older_versions(bench: Bench, other: Pool) -> None:
    await lived(bench)
    kept = without_events(compacted(bench.publisher.records, tombstones=True))
    await rebuilt(other, kept)
    assert await rows(other, COMPARED) == await rows(bench.pool, COMPARED)
    assert await sequences(other) == await sequences(bench.pool), "tombstones carry the last numbers"
    assert await rows(other, VERSIONS) == []


async def test_sequences_of_deletions_without_tombstones_are_restored_from_events(bench: Bench, other: Pool) -> None:
    await lived(bench)
    await rebuilt(other, compacted(bench.publisher.records, tombstones=False))
    assert await rows(other, COMPARED) == await rows(bench.pool, COMPARED)
    assert await sequences(other) == await sequences(bench.pool)


async def test_an_interrupted_rebuild_resumes_where_it_stopped(bench: Bench, other: Pool) -> None:
    await lived(bench)
    log = FakeLog(bench.publisher.records, breaks_after=4)
    with pytest.raises(ConnectionError):
        await Rebuild(other, log, Policies(), require_no_workers=alone).run()
    before = log.read
    assert before
    assert await Rebuilds(other).positions(), "no worker starts on half a database"
    await Rebuild(other, log, Policies(), require_no_workers=alone).run()
    assert log.read == sum(record.topic in (topics.STATE, topics.EVENTS) for record in bench.publisher.records)
    assert await rows(other, COMPARED) == await rows(bench.pool, COMPARED)
    await Rebuild(other, log, Policies(), require_no_workers=alone).run()
    await Rebuilds(other).end()
    assert await rows(other, COMPARED) == await rows(bench.pool, COMPARED)
    assert await Rebuilds(other).positions() == {}


async def test_a_rebuild_checks_for_running_workers_after_preventing_new_ones_from_starting(
    bench: Bench, other: Pool
) -> None:
    await lived(bench)
    published = FakeLog(bench.publisher.records)
    marked = []

    async def working() -> None:
        marked.append(bool(await unfinished(other)))
        raise Misconfigured("workers are running")

    with pytest.raises(Misconfigured, match="workers are running"):
        await Rebuild(other, published, Policies(), require_no_workers=working).run()
    assert marked == [True]
    assert not await unfinished(other), "nothing was changed, and workers may start"
    await Rebuilds(other).begin({(topics.STATE, 0): 0})
    with pytest.raises(Misconfigured, match="workers are running"):
        await Rebuild(other, published, Policies(), require_no_workers=working).run()
    assert await unfinished(other), "one that was interrupted stays so"


async def test_decisions_after_a_rebuild_continue_the_sequence_and_find_restored_memories(
    bench: Bench, other: Pool
) -> None:
    await lived(bench)
    await rebuilt(other, bench.publisher.records)
    after = Bench(other)
    await reindex(other, after.vectors, FakeEmbedder())
    again = await after.remember("Tea is better than cocoa.")
    assert again.reinforcement_count == 1
    await command(after, "update", memory_id=again.memory_id, text="Tea is better than anything")
    sequences = [event.data.sequence for event in bench.events()] + [event.data.sequence for event in after.events()]
    assert sequences == list(range(1, len(sequences) + 1))


async def test_a_candidate_redelivered_after_a_rebuild_creates_no_second_memory(bench: Bench, other: Pool) -> None:
    batch = bench.batch("The user has 2 dogs")
    await bench.curator.curate(batch)
    await rebuilt(other, bench.publisher.records)
    after = Bench(other)
    await reindex(other, after.vectors, FakeEmbedder())
    await after.curator.curate(batch)
    assert await rows(other, COMPARED) == await rows(bench.pool, COMPARED)
    assert [control.kind for control in after.controls()] == ["extraction_completed"], "its window is answered"


async def test_erasing_a_single_memory_does_not_fence_its_namespace(bench: Bench, other: Pool) -> None:
    memory = await bench.remember("The user has 2 dogs")
    await bench.remember("Tea is better than coffee")
    alone = Cause(actor="operator", erased="conversations")
    gone = replace(deleted(memory, bench.now()), version=2, sequence=3)
    published = [*bench.publisher.records, purged(gone, alone, bench.now()), state_record(gone)]
    await rebuilt(other, published)
    (left,) = await Bench(other).memories.in_namespace("n")
    assert left.text == "Tea is better than coffee"
    assert await other.fetchval("SELECT count(*) FROM purges") == 0
    assert "dogs" not in str(await rows(other, VERSIONS))
    assert await sequences(other) == {"n": 3}


async def test_a_deletion_survives_a_rebuild_and_can_be_undone(bench: Bench, other: Pool) -> None:
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


async def test_messages_hidden_by_a_wish_stay_hidden_after_a_rebuild_until_undone(bench: Bench, other: Pool) -> None:
    berlin = await bench.remember("User lives in Berlin")
    source = Source(conversation_id="c", message_id="asked")
    wish = Wish(wish_id="w", message=source, statement="User lives in Berlin")
    curator = bench.curator_under(
        Policies(), said_again=FakeRepeatedMessages({"User lives in Berlin": [("d", "again")]})
    )
    await curator.curate(bench.batch(wishes=(wish,)))
    hidden = await rows(bench.pool, HIDDEN)
    assert len(hidden) == 3

    await rebuilt(other, bench.publisher.records)
    assert await rows(other, HIDDEN) == hidden
    after = Bench(other)
    await reindex(other, after.vectors, FakeEmbedder())
    await command(after, "undo", memory_id=berlin.memory_id)

    assert await rows(other, HIDDEN) == []


async def test_a_rebuild_hides_no_message_of_a_memory_that_was_restored_and_later_deleted_by_hand(
    bench: Bench, other: Pool
) -> None:
    berlin = await bench.remember("User lives in Berlin")
    asked = Source(conversation_id="c", message_id="asked")
    await bench.curator.curate(bench.batch(wishes=(Wish(wish_id="w", message=asked, statement=berlin.text),)))
    await command(bench, "undo", memory_id=berlin.memory_id)
    await command(bench, "delete", memory_id=berlin.memory_id)
    assert await rows(bench.pool, HIDDEN) == []

    await rebuilt(other, bench.publisher.records)
    assert await rows(other, HIDDEN) == []


async def test_followers_of_a_namespace_read_the_same_events_after_a_rebuild(bench: Bench, other: Pool) -> None:
    """A sequence that is missing would be told as an erasure."""
    await lived(bench)
    await rebuilt(other, bench.publisher.records)
    for namespace in ("n", "begun anew"):
        events = await EventHistory(other).events_after(namespace, 1, 100)
        assert events == await EventHistory(bench.pool).events_after(namespace, 1, 100)
    assert {each.event.type for each in await EventHistory(other).events_after("n", 1, 100)} >= {
        "memstream.memory.deleted"
    }


async def test_changes_present_only_in_events_and_not_in_the_state_topic_are_restored(
    bench: Bench, other: Pool
) -> None:
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
    states = {(record.key or b"").decode(): record for record in after.publisher.on(topics.STATE)}
    expected = {(record.key or b"").decode(): record for record in bench.publisher.on(topics.STATE)}
    assert states == expected


async def test_foreign_records_are_counted_and_skipped(bench: Bench, other: Pool) -> None:
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


async def test_an_older_record_in_another_partition_restores_nothing_deleted(bench: Bench, other: Pool) -> None:
    """Where partitions were added, what a namespace told lies in two of them."""
    gone = await bench.remember("Something nobody needs")
    await bench.remember("The user has 2 dogs")
    await command(bench, "delete", memory_id=gone.memory_id)
    events = [record for record in bench.publisher.records if record.topic == topics.EVENTS]
    await rebuilt(other, list(reversed(events)))
    there = [row["memory_id"] for row in await rows(other, COMPARED)]
    assert there == [memory.memory_id for memory in await bench.memories.in_namespace("n")]
