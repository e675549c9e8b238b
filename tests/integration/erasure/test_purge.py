"""Erase is final: nothing that was said before comes back, in whatever order things arrive."""

import asyncio
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from msgspec.structs import replace

from agents.curation.curator import Curator
from schemas.codec import encode
from schemas.conversations.messages import Message, Scope
from schemas.erasure.erasures import Fence
from schemas.errors import Deferred, Rejected
from schemas.extraction.requests import CandidateBatch, Command, ExtractionRequest
from schemas.kafka import topics
from schemas.policies.namespaces import UNSAID
from schemas.policies.policies import Policies, Policy
from sinks.archive.messages import Archive, ArchivedMessage
from sinks.erasure.erasures import fences
from sinks.erasure.purges import Purges
from sinks.extraction.answers import Answered, Extractions
from sinks.extraction.parked import Parking
from tests.fakes.batches import record
from tests.integration.curation_bench import NOON
from tests.slices import slice_of

if TYPE_CHECKING:
    from tests.integration.curation_bench import Bench

OWNER = "notes/mara"
LATER = timedelta(hours=1)  # than anything that the bench says


def after(bench: "Bench", moment: timedelta) -> Curator:
    curator = bench.curator_under(Policies())
    curator._clock = curator._eraser._clock = lambda: NOON + moment
    return curator


def purge(namespace: str = OWNER, kind: Any = "purge", **fields: Any) -> Command:
    return Command(**({"command_id": uuid4().hex, "kind": kind, "namespace": namespace, "at": NOON + LATER} | fields))


async def everything(bench: "Bench", namespace: str = OWNER) -> list[int]:
    tables = ("memories", "memory_versions")
    counts = [
        await bench.pool.fetchval(f"SELECT count(*) FROM {each} WHERE namespace = $1", namespace) for each in tables
    ]
    return [*counts, await bench.pool.fetchval("SELECT count(*) FROM embeddings"), len(bench.vectors.points)]


async def test_memories_versions_vectors_and_states_are_gone_and_nobody_elses(bench: "Bench") -> None:
    batch = bench.batch("User has a dog", "User likes tea", namespace=OWNER)
    ids = [ruling.memory_id for ruling in (await bench.curator.curate(batch)).rulings]
    await bench.curator.carry_out(purge(kind="delete", memory_id=ids[0]))
    other = await bench.remember("User has a cat")
    outcome = await after(bench, LATER).carry_out(purge(actor="mara", reason="I want it gone"))
    assert (outcome.status, outcome.change, outcome.sequence) == ("accepted", "purged", 5)
    assert await everything(bench) == [0, 0, 1, 1]
    assert await bench.memories.get(other.memory_id) == other
    told = [event.data for event in bench.events(OWNER) if event.data.change == "purged"]
    assert {data.memory.memory_id for data in told} == set(ids)
    assert [data.sequence for data in told] == [4, 5]
    assert all(data.memory.text == "" and data.before is None and data.cause.actor == "mara" for data in told)
    tombstones = {record.key.decode() for record in bench.publisher.on(topics.STATE) if record.value is None}
    assert set(ids) <= tombstones
    last = {record.key.decode(): dict(record.headers) for record in bench.publisher.on(topics.STATE)}
    assert {name: last[name]["memstream-version"] for name in ids} == dict(zip(ids, (b"3", b"2"), strict=True))
    assert {last[name]["memstream-sequence"] for name in ids} == {b"4", b"5"}
    assert last[ids[0]]["memstream-namespace"] == OWNER.encode()
    assert await bench.pending() == 0
    (answer,) = [event.data for event in bench.activity() if event.type == "memstream.command.accepted"][-1:]
    assert answer["change"] == "purged"


async def test_what_was_said_or_found_before_never_comes_back_and_what_is_said_later_does(bench: "Bench") -> None:
    await after(bench, LATER).carry_out(purge())
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


async def test_what_was_asked_for_before_never_comes_back_though_a_senders_clock_is_ahead(bench: "Bench") -> None:
    await after(bench, LATER).carry_out(purge())
    late = {"namespace": OWNER, "extracted_at": NOON + 2 * LATER}
    before = replaced(bench.batch("User has a dog", **late, requested_at=NOON + LATER), NOON + 2 * LATER)
    assert (await bench.curator.curate(before)).rulings[0].result == "dropped"
    behind = replaced(bench.batch("User likes tea", **late, requested_at=NOON + 1.5 * LATER), NOON + 2 * LATER)
    assert (await bench.curator.curate(behind)).rulings[0].result == "created"


def replaced(batch: CandidateBatch, at: Any) -> CandidateBatch:
    """As said at another time."""
    (candidate,) = batch.candidates
    sources = tuple(replace(source, timestamp=at) for source in candidate.sources)
    return replace(batch, candidates=(replace(candidate, sources=sources),))


async def test_an_older_command_is_refused_and_the_purge_is_carried_out_once(bench: "Bench") -> None:
    curator, command = after(bench, LATER), purge()
    await curator.carry_out(command)
    create = purge(kind="create", text="User has a dog", at=NOON)
    assert (await curator.carry_out(create)).status == "rejected"
    newer = purge(kind="create", text="User has a dog", at=NOON + 2 * LATER)
    assert (await curator.carry_out(newer)).status == "accepted"
    again = await after(bench, 3 * LATER).carry_out(command)
    assert again.repeated
    assert await bench.memories.count_live(OWNER) == 1


async def test_a_storm_of_candidates_around_the_erasure_leaves_nothing(bench: "Bench", make_bench: Any) -> None:
    benches = [bench, make_bench(), make_bench()]
    for each in benches:
        each.vectors, each.projector = bench.vectors, bench.projector  # who projects is not who decided
    storm = [
        after(each, LATER).curate(each.batch(f"User owns thing number {number}", namespace=OWNER))
        for number in range(30)
        for each in (benches[number % 3],)
    ]
    await asyncio.gather(*storm[:15], after(bench, LATER).carry_out(purge()), *storm[15:])
    assert await everything(bench) == [0, 0, 0, 0]


async def test_pages_of_memories_are_erased_though_the_worker_ends_between_them(
    bench: "Bench", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sinks.erasure.purges.PAGE", 2)
    await bench.curator.curate(bench.batch(*(f"User owns thing number {n}" for n in range(5)), namespace=OWNER))
    curator, command = after(bench, LATER), purge()
    async with curator._deciding(OWNER) as connection:
        erasure = await curator._eraser._erasure(connection, command, {})
        assert erasure is not None
        assert await curator._eraser._page(connection, command, erasure) is None
    assert await bench.memories.count_live(OWNER) == 3
    await after(bench, 2 * LATER).carry_out(command)
    assert await bench.pool.fetchval("SELECT purged_at FROM purges") == NOON + LATER, (
        "the moment of the first page counts"
    )
    assert await everything(bench) == [0, 0, 0, 0]
    purged = [event.data.sequence for event in bench.events(OWNER) if event.data.change == "purged"]
    assert purged == [6, 7, 8, 9, 10]


async def test_archived_messages_go_and_those_of_before_are_not_archived_again(bench: "Bench") -> None:
    archive = Archive(bench.pool)

    def said(message_id: str, user_id: str, hours: int) -> ArchivedMessage:
        message = Message(
            conversation_id=f"with {user_id}",
            message_id=message_id,
            role="user",
            timestamp=NOON + hours * LATER,
            content="hello",
            app_id="notes",
            user_id=user_id,
        )
        return ArchivedMessage(message=message, partition=0, position=1, feeds=(f"notes/{user_id}",))

    mara, anna = said("m1", "mara", 0), said("a1", "anna", 0)
    assert await archive.store([mara, anna]) == 2
    await after(bench, LATER).carry_out(purge())
    assert await archive.conversation("with mara") == ()
    assert len(await archive.conversation("with anna")) == 1
    assert await archive.store([mara, said("m2", "mara", 2)]) == 1
    assert [each.message.message_id for each in await archive.conversation("with mara")] == ["m2"]


async def test_what_was_archived_before_goes_though_a_senders_clock_is_ahead(bench: "Bench") -> None:
    archive = Archive(bench.pool)
    ahead = [
        Message(
            conversation_id="talk",
            message_id=message_id,
            role="user",
            timestamp=NOON + 2 * LATER,
            content="hello",
            app_id="notes",
            user_id="mara",
        )
        for message_id in ("before", "after")
    ]
    await archive.store([ArchivedMessage(message=each, partition=0, position=1) for each in ahead])
    await bench.pool.execute("UPDATE messages SET archived_at = $1 WHERE message_id = 'before'", NOON)
    await after(bench, LATER).carry_out(purge())
    assert [each.message.message_id for each in await archive.conversation("talk")] == ["after"]


async def test_many_archived_messages_go_page_by_page_with_the_summaries_of_their_conversations(
    bench: "Bench", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sinks.erasure.purges.MESSAGES_PAGE", 2)
    archive, extractions = Archive(bench.pool), Extractions(bench.pool)
    said = [
        Message(
            conversation_id="talk",
            message_id=f"m{number}",
            role="user",
            timestamp=NOON,
            content="hello",
            app_id="notes",
            user_id="mara",
        )
        for number in range(5)
    ]
    await archive.store([ArchivedMessage(message=each, partition=0, position=1) for each in said])
    scope = replace(slice_of("I have a dog").scope, conversation_id="talk")
    request = replace(slice_of("I have a dog"), namespaces=(), scope=scope, purpose="summarise")
    await extractions.lease(request, "worker", 60)
    answer = encode({"answers": "summary", "provider": "p", "model": "m", "text": "They have a dog."})
    await extractions.store_answer(request.request_id, "worker", answer, provider="p", model="m", usage={}, parts=0)
    assert (await after(bench, LATER).carry_out(purge())).change == "purged"
    assert await archive.conversation("talk") == ()
    lease = await extractions.lease(request, "another", 60)
    assert isinstance(lease, Answered)
    assert b"dog" not in lease.answer


def dog(*namespaces: str, asked_at: datetime = NOON) -> ExtractionRequest:
    return replace(slice_of("I have a dog"), namespaces=namespaces, requested_at=asked_at)


async def answered(extractions: Extractions, request: ExtractionRequest) -> bytes:
    """Its answer, by now."""
    answer = encode({"answers": "extraction", "provider": "p", "model": "m", "proposals": [{"text": "User has a dog"}]})
    return await extractions.store_answer(
        request.request_id, "worker", answer, provider="p", model="m", usage={}, parts=1
    )


async def test_a_stored_answer_has_nothing_to_say_any_more(bench: "Bench") -> None:
    extractions, request = Extractions(bench.pool), dog(OWNER)
    await extractions.lease(request, "worker", 60)
    await answered(extractions, request)
    await after(bench, LATER).carry_out(purge())
    lease = await extractions.lease(request, "another", 60)
    assert isinstance(lease, Answered)
    assert b"dog" not in lease.answer


async def test_why_a_request_failed_quotes_nothing_of_an_erased_namespace(bench: "Bench") -> None:
    extractions, request = Extractions(bench.pool), dog(OWNER)
    await extractions.lease(request, "worker", 0)
    await extractions.fail(request.request_id, Rejected("refused", "a dog is no topic"))
    await after(bench, LATER).carry_out(purge())
    assert await bench.pool.fetchval("SELECT failed_reason FROM extractions") == "refused"


async def test_a_namespace_that_was_erased_before_something_was_asked_still_waits_for_its_answer(
    bench: "Bench",
) -> None:
    extractions, parking = Extractions(bench.pool), Parking(bench.pool)
    request = dog("notes/other", OWNER, asked_at=NOON + LATER)
    await after(bench, LATER / 2).carry_out(purge("notes/other"))
    await extractions.lease(request, "worker", 60)
    await answered(extractions, request)
    sent, deferred = record(topics.REQUESTS, 1, encode(request)), Deferred(NOON, "budget")
    assert await parking.park(sent, request, deferred, 60.0)
    await after(bench, 2 * LATER).carry_out(purge())
    assert b"dog" in (await extractions.answer(request.request_id) or b"")
    assert await parking.holds(request.request_id)
    await after(bench, 3 * LATER).carry_out(purge("notes/other"))
    assert b"dog" not in (await extractions.answer(request.request_id) or b"")
    assert not await parking.holds(request.request_id)


async def test_a_fence_reaches_as_far_as_the_furthest_of_several_in_whatever_order_they_come(bench: "Bench") -> None:
    older, newer = Fence(NOON, {0: 7, 1: 9}), Fence(NOON + LATER, {0: 8, 1: 5, 2: 1})
    for name, order in (("n", (older, newer)), ("m", (newer, older))):
        async with bench.pool.acquire() as connection:
            for each in order:
                await Purges(connection).fence(name, each)
            known = await fences(connection, [name], (), ())
        assert known.namespaces == {name: Fence(NOON + LATER, {0: 8, 1: 9, 2: 1})}


@pytest.mark.parametrize("asked", ["before", "after"])
async def test_an_answer_that_comes_when_its_namespace_was_erased_is_kept_without_what_it_says(
    bench: "Bench", asked: str
) -> None:
    extractions, request = Extractions(bench.pool), replace(slice_of("I have a dog"), namespaces=(OWNER,))
    request = replace(request, requested_at=NOON if asked == "before" else NOON + 2 * LATER)
    await extractions.lease(request, "worker", 60)
    await after(bench, LATER).carry_out(purge())
    answer = encode({"answers": "extraction", "provider": "p", "model": "m", "proposals": [{"text": "User has a dog"}]})
    stored = await extractions.store_answer(
        request.request_id, "worker", answer, provider="p", model="m", usage={}, parts=1
    )
    assert (b"dog" in stored) == (asked == "after")


@pytest.mark.parametrize(
    ("ahead_s", "first", "kept"),
    [(4, 6, False), (4, 7, True), (6, 6, True)],
    ids=["by a clock that is ahead", "of what was said since", "since"],
)
@pytest.mark.parametrize("erased", ["before the answer is stored", "afterwards"])
async def test_an_answer_to_what_was_asked_by_a_clock_that_is_ahead_says_nothing_of_before_the_erasure(
    bench: "Bench", erased: str, ahead_s: int, first: int, kept: bool
) -> None:
    extractions, fence = Extractions(bench.pool), Fence(NOON, {0: 7})
    request = replace(dog(OWNER, asked_at=NOON + timedelta(seconds=ahead_s)), first=first, last=first)
    await extractions.lease(request, "worker", 60)
    if erased == "afterwards":
        await answered(extractions, request)
    async with bench.pool.acquire() as connection, connection.transaction():
        await Purges(connection).fence(OWNER, fence)
        assert await Purges(connection).forget(OWNER, (), fence)
    if erased != "afterwards":
        await answered(extractions, request)
    assert (b"dog" in (await extractions.answer(request.request_id) or b"")) == kept


async def test_an_uninstalled_app_is_remembered_unless_it_is_to_be_erased(bench: "Bench") -> None:
    await bench.curator.curate(bench.batch("User has a dog", namespace=OWNER))
    kept = await after(bench, LATER).carry_out(purge(kind="uninstall"))
    assert (kept.status, await bench.memories.count_live(OWNER)) == ("accepted", 1)
    gone = await after(bench, LATER).carry_out(purge(kind="uninstall", purge=True))
    assert (gone.change, await bench.memories.count_live(OWNER)) == ("purged", 0)


def test_a_namespace_that_tells_nobody_names_no_messages_to_erase() -> None:
    assert Policies((Policy(name="all", namespaces=("shared",)),)).fed_by("shared") == ()
    scopes = Policies().fed_by("conversation/c%2F1")
    assert Scope(conversation_id="c/1") in scopes
    assert Policies().fed_by("notes/mara") == (Scope(conversation_id=UNSAID, app_id="notes", user_id="mara"),)
