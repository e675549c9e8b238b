"""Nothing brings an erased memory back but a new message or a deliberate import."""

from typing import TYPE_CHECKING
from uuid import uuid4

from msgspec.structs import replace

from schemas.extraction.candidates import CandidateBatch
from schemas.memories.commands import Origin
from sinks.memories.forgotten import ForgottenWishes
from sinks.memories.hidden_messages import HiddenMessages
from tests.builders.wishes import ADAS_NAMESPACE, ada_says
from tests.integration.curation_bench import NOON

if TYPE_CHECKING:
    from tests.integration.curation_bench import Bench
from tests.integration.erasure.erasing import SECRET, command, erase, hidden, tables_with
from tests.integration.erasure.purging import LATER, after, purge


async def test_no_change_of_an_erased_memory_can_be_undone(bench: "Bench") -> None:
    memory = await bench.remember(SECRET)
    await bench.curator.apply_command(command("delete", memory_id=memory.memory_id))
    await erase(bench, memory)
    for version in (None, 1, 2):
        undone = await bench.curator.apply_command(command("undo", memory_id=memory.memory_id, version=version))
        reason = f"memory {memory.memory_id} was erased: no change of it can be undone"
        assert (undone.status, undone.reason) == ("rejected", reason)
    assert await hidden(bench) == {memory.sources[0].message_id}, (
        "an undo of a wish shows its messages; this one is none"
    )
    assert await bench.live_texts("n") == []


async def test_source_messages_of_all_versions_are_hidden_unless_they_are_to_be_kept(bench: "Bench") -> None:
    memory = await bench.remember(SECRET)
    await bench.remember(SECRET)
    outcome = await erase(bench, memory)
    assert await hidden(bench) == {"m1", "m2"}
    assert outcome.erased is not None
    assert (outcome.erased.messages, outcome.erased.messages_hidden) == (2, True)

    kept = await bench.remember("User keeps bees")
    outcome = await erase(bench, kept, keep_messages=True)
    assert await hidden(bench) == {"m1", "m2"}
    assert outcome.erased is not None
    assert (outcome.erased.messages, outcome.erased.messages_hidden) == (1, False)


async def test_candidates_from_a_source_message_of_an_erased_memory_are_dropped(bench: "Bench") -> None:
    batch = bench.batch(SECRET)
    (ruling,) = (await bench.curator.curate(batch)).rulings
    memory = await bench.memories.get(ruling.memory_id or "")
    assert memory is not None
    await erase(bench, memory, keep_messages=True)
    assert (await bench.curator.curate(batch)).repeated, "a redelivery has its outcome"

    again = await bench.curator.curate(anew(batch))
    assert [(each.result, each.reason) for each in again.rulings] == [("dropped", "a memory of its message was erased")]
    assert await tables_with(bench, "zeppelin") == set()
    elsewhere = await bench.curator.curate(replace(anew(batch), namespace="another"))
    assert elsewhere.rulings[0].result == "created", "a copy in another namespace is another memory"


def anew(batch: CandidateBatch) -> CandidateBatch:
    """The batch as the answer to another request about the same messages."""
    candidates = tuple(replace(each, candidate_id=uuid4().hex) for each in batch.candidates)
    return replace(batch, request_id=uuid4().hex, candidates=candidates)


async def test_the_same_statement_in_a_new_message_creates_a_new_memory(bench: "Bench") -> None:
    memory = await bench.remember(SECRET)
    await erase(bench, memory)
    again = await bench.remember(SECRET)
    assert again.memory_id != memory.memory_id
    assert (again.status, again.text) == ("active", SECRET)


async def test_an_import_restores_an_erased_memory_deliberately_and_its_changes_can_be_undone(bench: "Bench") -> None:
    memory = await bench.remember(SECRET)
    await erase(bench, memory)
    back = command("import", memory_id=memory.memory_id, text=SECRET, origin=Origin(sources=memory.sources))
    assert (await bench.curator.apply_command(back)).memory_id == memory.memory_id
    undone = await bench.curator.apply_command(command("undo", memory_id=memory.memory_id))
    assert (undone.status, undone.change) == ("accepted", "deleted")
    outcome = await erase(bench, memory)
    assert outcome.erased is not None
    assert (outcome.change, outcome.erased.versions) == ("purged", 2)
    assert await tables_with(bench, "zeppelin") == set()


async def test_messages_of_an_erased_memory_stay_hidden_when_changes_of_its_import_are_undone(bench: "Bench") -> None:
    memory = await bench.remember(SECRET)
    await erase(bench, memory)
    back = command("import", memory_id=memory.memory_id, text=SECRET, origin=Origin(sources=memory.sources))
    await bench.curator.apply_command(back)
    undone = [await bench.curator.apply_command(command("undo", memory_id=memory.memory_id)) for _ in range(2)]
    assert [each.change for each in undone] == ["deleted", "restored"]
    rejected = await bench.curator.apply_command(command("undo", memory_id=memory.memory_id, version=99))
    assert rejected.status == "rejected"
    assert await hidden(bench) == {memory.sources[0].message_id}


async def test_an_erased_memory_that_a_wish_had_forgotten_stays_hidden_and_its_wish_holds(
    bench: "Bench",
) -> None:
    await bench.curator.apply_command(command("create", ADAS_NAMESPACE, text="User likes tea"))
    await bench.extract_and_curate(ada_says("I live in Berlin.", conversation_id="first"))
    await bench.extract_and_curate(ada_says("Please forget that I live in Berlin.", conversation_id="second"))
    memory = await bench.only_memory(ADAS_NAMESPACE, "deleted")
    async with bench.pool.acquire() as connection:
        assert await ForgottenWishes(connection).since(ADAS_NAMESPACE, NOON - LATER)
    outcome = await erase(bench, memory, keep_messages=True)
    assert outcome.erased is not None
    assert outcome.erased.messages_hidden, "the wish hides them"
    assert not [each for each in bench.events(ADAS_NAMESPACE) if each.data.cause.messages_kept]
    assert await tables_with(bench, "Berlin") == {"forgotten"}
    rows = await bench.pool.fetch("SELECT conversation_id FROM hidden_messages")
    assert {row["conversation_id"] for row in rows} == {"first", "second"}
    undone = await bench.curator.apply_command(command("undo", ADAS_NAMESPACE, memory_id=memory.memory_id))
    assert undone.status == "rejected"
    assert await bench.pool.fetchval("SELECT count(*) FROM hidden_messages") == len(rows)
    late = await bench.extract_and_curate(ada_says("I live in Berlin.", conversation_id="before the wish"))
    assert late.candidates
    assert await bench.live_texts(ADAS_NAMESPACE) == ["User likes tea"]


async def test_the_purge_of_a_namespace_also_deletes_what_is_kept_of_its_erased_memories(bench: "Bench") -> None:
    memory = await bench.remember(SECRET)
    await erase(bench, memory)
    assert await bench.pool.fetchval("SELECT count(*) FROM erased_memories") == 1
    await after(bench, LATER).apply_command(purge("n"))
    assert await bench.pool.fetchval("SELECT count(*) FROM erased_memories") == 0


async def test_messages_hidden_for_a_memory_count_as_its_source_messages(bench: "Bench") -> None:
    memory = await bench.remember(SECRET)
    repeated = bench.candidate(SECRET).sources
    async with bench.pool.acquire() as connection, connection.transaction():
        await HiddenMessages(connection)._hide("n", [("c", repeated[0].message_id, memory.memory_id, "w")])
    outcome = await erase(bench, memory)
    assert outcome.erased is not None
    assert outcome.erased.messages == 2
    late = bench.batch(bench.candidate("User flies a zeppelin", sources=repeated))
    assert (await bench.curator.curate(late)).rulings[0].result == "dropped"
