"""A rebuild repeats the erasures of single memories."""

from schemas.extraction.candidates import Source
from schemas.memories.commands import Command, Origin
from sinks.postgres.connection import Pool
from tests.builders.slices import slice_of
from tests.integration.curation_bench import NOON, Bench
from tests.integration.erasure.erasing import proposed, store_answer
from tests.integration.erasure.purging import LATER, after, purge
from tests.integration.rebuild.rebuilding import COMPARED, DELETED, ERASED, HIDDEN, VERSIONS, command, rebuilt, rows


async def test_a_rebuild_leaves_an_erased_memory_erased_its_messages_hidden_and_nothing_is_made_of_them_again(
    bench: Bench, other: Pool
) -> None:
    memory, kept = await bench.remember("My secret"), await bench.remember("My other secret")
    await command(bench, "erase", memory_id=memory.memory_id)
    await command(bench, "erase", memory_id=kept.memory_id, keep_messages=True)
    await rebuilt(other, bench.publisher.records)
    for statement in (COMPARED, DELETED, VERSIONS):
        assert await rows(other, statement) == []
    assert await rows(other, ERASED) == await rows(bench.pool, ERASED) != []
    assert await rows(other, HIDDEN) == await rows(bench.pool, HIDDEN) != []
    later = Bench(other)
    for source in (*memory.sources, *kept.sources):
        outcome = await later.curator.curate(later.batch(later.candidate("My secret", sources=(source,))))
        assert outcome.rulings[0].result == "dropped"


async def test_a_rebuild_onto_a_backup_erases_a_memory_of_the_backup_that_was_erased_since(
    bench: Bench, other: Pool
) -> None:
    memory = await bench.remember("My secret")
    await rebuilt(other, bench.publisher.records)
    await command(bench, "erase", memory_id=memory.memory_id)
    await rebuilt(other, bench.publisher.records, onto_backup=True)
    assert await rows(other, VERSIONS) == await rows(other, COMPARED) == []


async def test_a_rebuild_keeps_what_was_erased_alone_after_the_purge_of_its_namespace(
    bench: Bench, other: Pool
) -> None:
    before = await bench.remember("My old secret")
    await command(bench, "erase", memory_id=before.memory_id)
    await bench.remember("User likes tea")
    await after(bench, LATER).apply_command(purge("n"))
    curator, moment = after(bench, 2 * LATER), NOON + 2 * LATER
    source = Source(conversation_id="c", message_id="new", timestamp=moment)
    batch = bench.batch(bench.candidate("My secret", sources=(source,)), extracted_at=moment)
    (ruling,) = (await curator.curate(batch)).rulings
    erasure = Command(command_id="e", kind="erase", namespace="n", at=moment, memory_id=ruling.memory_id)
    assert (await curator.apply_command(erasure)).change == "purged"
    await rebuilt(other, bench.publisher.records)
    assert len(await rows(bench.pool, ERASED)) == len(await rows(bench.pool, HIDDEN)) == 1
    assert await rows(other, ERASED) == await rows(bench.pool, ERASED)
    assert await rows(other, HIDDEN) == await rows(bench.pool, HIDDEN)


async def test_a_rebuild_keeps_the_messages_of_all_erasures_of_a_memory(bench: Bench, other: Pool) -> None:
    memory = await bench.remember("My secret")
    await command(bench, "erase", memory_id=memory.memory_id)
    told = Source(conversation_id="d", message_id="elsewhere", timestamp=NOON)
    origin = Origin(sources=(told,))
    await command(bench, "import", memory_id=memory.memory_id, text="My secret", origin=origin)
    await command(bench, "erase", memory_id=memory.memory_id)
    await rebuilt(other, bench.publisher.records)
    (erased,) = await rows(other, ERASED)
    assert len(erased["messages"]) == 2
    assert [erased] == await rows(bench.pool, ERASED)
    assert await rows(other, HIDDEN) == await rows(bench.pool, HIDDEN)


async def test_a_rebuild_onto_a_backup_erases_its_copies_of_a_memory_that_was_erased_since(
    bench: Bench, other: Pool
) -> None:
    request = slice_of("I have a secret.")
    source = request.source(request.messages[0])
    memory = await bench.remember("My secret", sources=(source,))
    await rebuilt(other, bench.publisher.records)
    proposal = {"kind": "fact", "text": "My secret", "message_ids": [source.message_id], "confidence": 0.9}
    await store_answer(other, request, proposal)
    await command(bench, "erase", memory_id=memory.memory_id)
    await rebuilt(other, bench.publisher.records, onto_backup=True)
    assert await proposed(other, request) == []
