"""No memory of purged data returns, in whatever order records arrive."""

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from schemas.conversations.messages import Scope
from schemas.extraction.candidates import CandidateBatch
from schemas.kafka import topics
from schemas.policies.namespaces import UNKNOWN
from schemas.policies.policies import Policies, Policy
from tests.integration.curation_bench import NOON

if TYPE_CHECKING:
    from tests.integration.curation_bench import Bench
from tests.integration.erasure.purging import LATER, OWNER, after, purge


async def everything(bench: "Bench", namespace: str = OWNER) -> list[int]:
    tables = ("memories", "memory_versions")
    counts = [
        await bench.pool.fetchval(f"SELECT count(*) FROM {each} WHERE namespace = $1", namespace) for each in tables
    ]
    return [*counts, await bench.pool.fetchval("SELECT count(*) FROM embeddings"), len(bench.vectors.points)]


async def test_a_purge_deletes_memories_versions_vectors_and_states_of_its_namespace_only(bench: "Bench") -> None:
    batch = bench.batch("User has a dog", "User likes tea", namespace=OWNER)
    ids = [ruling.memory_id for ruling in (await bench.curator.curate(batch)).rulings]
    await bench.curator.apply_command(purge(kind="delete", memory_id=ids[0]))
    other = await bench.remember("User has a cat")
    outcome = await after(bench, LATER).apply_command(purge(actor="mara", reason="I want it gone"))
    assert (outcome.status, outcome.change, outcome.sequence) == ("accepted", "purged", 5)
    assert await everything(bench) == [0, 0, 1, 1]
    assert await bench.memories.get(other.memory_id) == other
    purged = [event.data for event in bench.events(OWNER) if event.data.change == "purged"]
    assert {data.memory.memory_id for data in purged} == set(ids)
    assert [data.sequence for data in purged] == [4, 5]
    assert all(data.memory.text == "" and data.before is None and data.cause.actor == "mara" for data in purged)
    tombstones = {record.key.decode() for record in bench.publisher.on(topics.STATE) if record.value is None}
    assert set(ids) <= tombstones
    last = {record.key.decode(): dict(record.headers) for record in bench.publisher.on(topics.STATE)}
    assert {name: last[name]["memstream-version"] for name in ids} == dict(zip(ids, (b"3", b"2"), strict=True))
    assert {last[name]["memstream-sequence"] for name in ids} == {b"4", b"5"}
    assert last[ids[0]]["memstream-namespace"] == OWNER.encode()
    assert await bench.pending() == 0
    (answer,) = [event.data for event in bench.activity() if event.type == "memstream.command.accepted"][-1:]
    assert answer["change"] == "purged"


async def test_candidates_from_before_a_purge_are_dropped_and_later_ones_are_accepted(bench: "Bench") -> None:
    await after(bench, LATER).apply_command(purge())
    late = {"namespace": OWNER, "extracted_at": NOON + 2 * LATER}
    old = bench.batch("User has a dog", **late)
    outcome = await bench.curator.curate(old)
    assert [ruling.result for ruling in outcome.rulings] == ["dropped"]
    assert "erasure" in (outcome.rulings[0].reason or "")
    assert outcome.completed, "its request is answered all the same"
    said = replaced(bench.batch("User likes tea", **late), NOON + 2 * LATER)
    assert (await bench.curator.curate(said)).rulings[0].result == "created"
    found_before = replaced(bench.batch("User skis", namespace=OWNER, extracted_at=NOON), NOON + 2 * LATER)
    assert (await bench.curator.curate(found_before)).rulings[0].result == "dropped"


async def test_candidates_requested_before_a_purge_are_dropped_despite_a_fast_sender_clock(bench: "Bench") -> None:
    await after(bench, LATER).apply_command(purge())
    late = {"namespace": OWNER, "extracted_at": NOON + 2 * LATER}
    before = replaced(bench.batch("User has a dog", **late, requested_at=NOON + LATER), NOON + 2 * LATER)
    assert (await bench.curator.curate(before)).rulings[0].result == "dropped"
    behind = replaced(bench.batch("User likes tea", **late, requested_at=NOON + 1.5 * LATER), NOON + 2 * LATER)
    assert (await bench.curator.curate(behind)).rulings[0].result == "created"


def replaced(batch: CandidateBatch, at: Any) -> CandidateBatch:
    """Returns the batch with another time of its messages."""
    (candidate,) = batch.candidates
    sources = tuple(replace(source, timestamp=at) for source in candidate.sources)
    return replace(batch, candidates=(replace(candidate, sources=sources),))


async def test_a_command_older_than_a_purge_is_rejected_and_a_redelivered_purge_does_nothing(bench: "Bench") -> None:
    curator, command = after(bench, LATER), purge()
    await curator.apply_command(command)
    create = purge(kind="create", text="User has a dog", at=NOON)
    assert (await curator.apply_command(create)).status == "rejected"
    newer = purge(kind="create", text="User has a dog", at=NOON + 2 * LATER)
    assert (await curator.apply_command(newer)).status == "accepted"
    again = await after(bench, 3 * LATER).apply_command(command)
    assert again.repeated
    assert await bench.memories.count_live(OWNER) == 1


async def test_concurrent_candidates_during_a_purge_leave_nothing(bench: "Bench", make_bench: Any) -> None:
    benches = [bench, make_bench(), make_bench()]
    for each in benches:
        each.vectors, each.projector = bench.vectors, bench.projector  # who projects is not who decided
    storm = [
        after(each, LATER).curate(each.batch(f"User owns thing number {number}", namespace=OWNER))
        for number in range(30)
        for each in (benches[number % 3],)
    ]
    await asyncio.gather(*storm[:15], after(bench, LATER).apply_command(purge()), *storm[15:])
    assert await everything(bench) == [0, 0, 0, 0]


async def test_a_purge_in_pages_is_completed_after_the_worker_dies_between_pages(
    bench: "Bench", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sinks.erasure.purges.PAGE", 2)
    await bench.curator.curate(bench.batch(*(f"User owns thing number {n}" for n in range(5)), namespace=OWNER))
    curator, command = after(bench, LATER), purge()
    async with curator._deciding_transaction(OWNER) as connection:
        erasure = await curator._eraser._erasure(connection, command, {})
        assert erasure is not None
        assert await curator._eraser._page(connection, command, erasure) is None
    assert await bench.memories.count_live(OWNER) == 3
    await after(bench, 2 * LATER).apply_command(command)
    assert await bench.pool.fetchval("SELECT purged_at FROM purges") == NOON + LATER, (
        "the moment of the first page counts"
    )
    assert await everything(bench) == [0, 0, 0, 0]
    purged = [event.data.sequence for event in bench.events(OWNER) if event.data.change == "purged"]
    assert purged == [6, 7, 8, 9, 10]


async def test_uninstalling_an_app_keeps_its_memories_unless_purge_is_requested(bench: "Bench") -> None:
    await bench.curator.curate(bench.batch("User has a dog", namespace=OWNER))
    kept = await after(bench, LATER).apply_command(purge(kind="uninstall"))
    assert (kept.status, await bench.memories.count_live(OWNER)) == ("accepted", 1)
    gone = await after(bench, LATER).apply_command(purge(kind="uninstall", purge=True))
    assert (gone.change, await bench.memories.count_live(OWNER)) == ("purged", 0)


def test_message_scopes_are_derived_from_namespace_templates_and_empty_for_a_fixed_namespace() -> None:
    assert Policies((Policy(name="all", namespaces=("shared",)),)).scopes_feeding("shared") == ()
    scopes = Policies().scopes_feeding("conversation/c%2F1")
    assert Scope(conversation_id="c/1") in scopes
    assert Policies().scopes_feeding("notes/mara") == (Scope(conversation_id=UNKNOWN, app_id="notes", user_id="mara"),)
