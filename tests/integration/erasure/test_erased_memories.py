"""A single memory is erased for good: none of its words remain in tables, the index or later records."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from schemas.erasure.receipts import Remains
from schemas.extraction.links import Link
from schemas.kafka import topics
from schemas.policies.policies import Policies
from sinks.access.audit import Audit
from sinks.memories.resolutions import Resolutions
from tests.builders.slices import slice_of
from tests.builders.wishes import ADAS_NAMESPACE, ada_says
from tests.integration.curation_bench import NOON

if TYPE_CHECKING:
    from tests.integration.curation_bench import Bench
from tests.integration.erasure.erasing import SECRET, command, erase, hidden, proposed, store_answer, tables_with
from tests.integration.erasure.purging import LATER, after, purge


async def test_an_erased_memory_leaves_no_row_version_vector_or_text_and_only_its_ids_are_published(
    bench: "Bench",
) -> None:
    memory = await bench.remember(SECRET)
    edited = command("update", memory_id=memory.memory_id, text=f"{SECRET} and a zeppelin dock", tags=("zeppelin",))
    await bench.curator.apply_command(edited)
    other = await bench.remember("User likes tea")
    assert await tables_with(bench, "zeppelin") == {"memories", "memory_versions"}
    before = len(bench.publisher.records)

    outcome = await erase(bench, memory, actor="ada", reason="as asked")

    assert (outcome.status, outcome.change, outcome.memory_id) == ("accepted", "purged", memory.memory_id)
    assert outcome.erased is not None
    erased = outcome.erased
    assert (erased.memories, erased.versions, erased.vectors, erased.messages) == (1, 2, 1, 1)
    assert await tables_with(bench, "zeppelin") == set()
    assert await bench.pool.fetchval("SELECT count(*) FROM embeddings") == 1
    assert set(bench.vectors.points) == {other.memory_id}
    assert await bench.memories.get(other.memory_id) == other
    assert await bench.pending() == 0

    published = bench.publisher.records[before:]
    assert not any(b"zeppelin" in (record.value or b"") for record in published)
    (event,) = [each for each in bench.events() if each.data.change == "purged"]
    assert (event.type, event.subject) == ("memstream.memory.purged", memory.memory_id)
    assert (event.data.sequence, event.data.before, event.data.memory.text) == (outcome.sequence, None, "")
    cause = event.data.cause
    assert (cause.actor, cause.command_id is not None, cause.reason, cause.erased) == ("ada", True, "as asked", None)
    assert [each.message_id for each in cause.messages] == [memory.sources[0].message_id]
    states = [record for record in published if record.topic == topics.STATE]
    assert [(record.key, record.value) for record in states] == [(memory.memory_id.encode(), None)]
    assert dict(states[0].headers)["memstream-version"] == b"3"

    (audited,) = await Audit(bench.pool).latest(1)
    assert (audited.action, audited.subject, audited.actor) == ("memory.erase", memory.memory_id, "ada")
    assert audited.details["namespace"] == "n"


@pytest.mark.parametrize("ended", ["superseded", "deleted", "expired"])
async def test_memories_of_every_status_are_erased(bench: "Bench", ended: str) -> None:
    memory = await bench.remember("User lives in Turku")
    if ended == "superseded":
        await bench.remember("User has moved to Oulu", contradicts=memory.memory_id)
    elif ended == "deleted":
        await bench.curator.apply_command(command("delete", memory_id=memory.memory_id))
    else:
        await bench.curator.apply_command(command("update", memory_id=memory.memory_id, expires_at=NOON))
        await bench.curator.expire()
    found = await bench.memories.get(memory.memory_id)
    assert found is not None
    assert found.status == ended
    assert (await erase(bench, memory)).change == "purged"
    assert await tables_with(bench, "Turku") == set()
    assert await bench.memories.versions(memory.memory_id) == ()


async def test_links_to_an_erased_memory_are_removed_and_the_sequence_has_no_gap_in_kafka(bench: "Bench") -> None:
    gone = await bench.remember(SECRET)
    linked = command("create", text="User builds sheds", links=(Link(type="relates", memory_id=gone.memory_id),))
    linking = (await bench.curator.apply_command(linked)).memory_id
    await erase(bench, gone)
    memory = await bench.memories.get(linking or "")
    assert memory is not None
    assert memory.links == ()
    assert [event.data.sequence for event in bench.events()] == [1, 2, 3, 4]
    assert [event.data.change for event in bench.events()] == ["created", "created", "purged", "updated"]
    assert bench.events()[-1].data.cause.messages == ()


async def test_memories_that_compaction_merged_into_an_erased_memory_are_erased_with_it(bench: "Bench") -> None:
    kept, absorbed = await bench.remember("User has a zeppelin"), await bench.remember("User has a secret dock")
    deleted = replace(absorbed, status="deleted", superseded_by=kept.memory_id)
    await bench.pool.execute(
        "UPDATE memories SET status = 'deleted', superseded_by = $2, version = 2, text = '' WHERE memory_id = $1",
        *(absorbed.memory_id, kept.memory_id),
    )
    await bench.pool.execute(
        "INSERT INTO memory_versions (memory_id, version, namespace, change, before, after, cause, at) "
        "VALUES ($1, 2, 'n', 'compacted', $2, $3, '{\"actor\": \"test\"}', now())",
        *(absorbed.memory_id, absorbed, replace(deleted, sequence=99)),
    )
    outcome = await erase(bench, kept)
    assert outcome.erased is not None
    assert (outcome.erased.memories, outcome.erased.messages) == (2, 2)
    said = {source.message_id for memory in (kept, absorbed) for source in memory.sources}
    events = [event.data for event in bench.events() if event.data.change == "purged"]
    assert [{each.message_id for each in event.cause.messages} for event in events] == [said, said]
    assert await tables_with(bench, "secret dock") == set()
    assert await bench.memories.get(absorbed.memory_id) is None


async def test_the_outcome_lists_what_kafka_keeps_and_the_command_is_applied_once(bench: "Bench") -> None:
    memory = await bench.remember(SECRET)
    remains = Remains(topic="memory.events", holds="texts", because="retention.ms=1", until=NOON, code="events")

    async def kept(at: datetime) -> Sequence[Remains]:
        return [remains]

    bench.curator._memory_eraser._remains = kept
    sent = command("erase", memory_id=memory.memory_id)
    outcome = await bench.curator.apply_command(sent)
    assert outcome.erased is not None
    assert outcome.erased.remains == (remains,)
    stored = await bench.pool.fetchval("SELECT outcome FROM commands WHERE command_id = $1", sent.command_id)
    assert stored["erased"]["versions"] == 1
    events = len(bench.events())
    again = await bench.curator.apply_command(sent)
    assert (again.repeated, again.erased) == (True, outcome.erased)
    assert len(bench.events()) == events


async def test_erasing_an_erased_or_unknown_memory_changes_nothing_and_says_so(bench: "Bench") -> None:
    memory = await bench.remember(SECRET)
    await erase(bench, memory)
    again = await erase(bench, memory)
    assert (again.status, again.change, again.reason) == (
        "accepted",
        None,
        f"memory {memory.memory_id} was erased before",
    )
    unknown = await bench.curator.apply_command(command("erase", memory_id="no such"))
    assert (unknown.status, unknown.reason) == ("rejected", "no memory no such in n")
    foreign = await bench.curator.apply_command(command("erase", "another", memory_id=memory.memory_id))
    assert foreign.status == "rejected"
    assert len(await Audit(bench.pool).latest(5)) == 1


async def test_another_version_than_the_expected_one_is_not_erased(bench: "Bench") -> None:
    memory = await bench.remember(SECRET)
    assert (await erase(bench, memory, if_version=2)).status == "rejected"
    assert await bench.memories.get(memory.memory_id) == memory
    assert await hidden(bench) == set()
    assert (await erase(bench, memory, if_version=1)).change == "purged"


async def test_an_erasure_sent_before_the_erasure_of_its_namespace_is_rejected(bench: "Bench") -> None:
    await after(bench, LATER).apply_command(purge("n"))
    later = command("create", text=SECRET, at=NOON + 2 * LATER)
    made = await bench.curator.apply_command(later)
    refused = await bench.curator.apply_command(command("erase", memory_id=made.memory_id))
    assert (refused.status, refused.reason) == ("rejected", "older than the erasure of its namespace")


async def test_a_memory_without_source_messages_is_erased(bench: "Bench") -> None:
    made = await bench.curator.apply_command(command("create", text=SECRET))
    outcome = await bench.curator.apply_command(command("erase", memory_id=made.memory_id))
    assert outcome.erased is not None
    assert (outcome.erased.versions, outcome.erased.messages) == (1, 0)
    assert await bench.live_texts("n") == []


async def test_stored_answers_lose_what_was_proposed_from_the_messages_of_an_erased_memory(bench: "Bench") -> None:
    request = slice_of("I have a secret zeppelin.", "I like tea.")
    again = replace(request, request_id="of which no memory was made yet")
    said, other = request.messages
    proposals = [
        {"kind": "fact", "text": SECRET, "message_ids": [said.message_id], "confidence": 0.9},
        {"kind": "fact", "text": "User likes tea", "message_ids": [other.message_id], "confidence": 0.9},
    ]
    await store_answer(bench.pool, request, *proposals)
    await store_answer(bench.pool, again, *proposals)
    candidate = bench.candidate(SECRET, sources=(request.source(said),))
    batch = bench.batch(candidate, request_id=request.request_id, conversation_id=request.conversation_id)
    (ruling,) = (await bench.curator.curate(batch)).rulings
    await bench.curator.apply_command(command("erase", memory_id=ruling.memory_id))
    assert await proposed(bench.pool, request) == await proposed(bench.pool, again) == ["User likes tea"]
    assert await tables_with(bench, "zeppelin") == set()


async def test_the_stored_answer_with_the_wish_that_had_a_memory_forgotten_loses_its_words(bench: "Bench") -> None:
    await bench.extract_and_curate(ada_says("I live in Berlin.", conversation_id="first"))
    asking = ada_says("Please forget that I live in Berlin.", conversation_id="second")
    message_ids = [asking.messages[0].message_id]
    wish = {"kind": "wish", "text": "User lives in Berlin", "message_ids": message_ids, "confidence": 0.9}
    await store_answer(bench.pool, asking, wish)
    await bench.extract_and_curate(asking)
    await erase(bench, await bench.only_memory(ADAS_NAMESPACE, "deleted"))
    assert await proposed(bench.pool, asking) == []


async def test_verdicts_are_deleted_of_the_conversations_that_an_erased_memory_came_from(bench: "Bench") -> None:
    memory = await bench.remember(SECRET)
    for conversation_id in ("c", "d"):
        part = bench.batch("User likes tea", request_id=conversation_id, conversation_id=conversation_id)
        await Resolutions(bench.pool).keep(part, [], NOON)
    await erase(bench, memory)
    left = await bench.pool.fetch("SELECT conversation_id FROM resolutions")
    assert [row["conversation_id"] for row in left] == ["d"]


async def test_the_profile_loses_an_erased_constraint(bench: "Bench") -> None:
    memory = await bench.remember("User is allergic to peanuts", tags=("constraint",))
    await erase(bench, memory)
    changed = [each.data for each in bench.activity() if each.type == "memstream.profile.changed"]
    assert changed[-1]["memory_ids"] == [memory.memory_id]


async def test_a_full_namespace_has_room_after_an_erasure(bench: "Bench") -> None:
    policies = Policies((replace(Policies().governing("n"), max_memories=1),))
    curator = bench.curator_under(policies)
    await curator.curate(bench.batch(SECRET))
    memory = await bench.only_memory("n", "active")
    await curator.apply_command(command("erase", memory_id=memory.memory_id))
    (ruling,) = (await curator.curate(bench.batch("User likes tea"))).rulings
    assert ruling.result == "created"
    assert [each.data.change for each in bench.events()] == ["created", "purged", "created"]
