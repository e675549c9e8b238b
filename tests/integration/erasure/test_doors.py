"""An erasure on a real database fences every write path against older data and admits newer data."""

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from schemas.codec import encode
from schemas.conversations.messages import Scope
from schemas.erasure.erasures import Erasure
from schemas.errors import Deferred, Rejected
from schemas.extraction.candidates import Wish
from schemas.kafka import topics
from sinks.archive.messages import Archive
from sinks.erasure.erasures import begin
from sinks.extraction.answers import Extractions
from sinks.extraction.parked import Parking
from sinks.postgres.queries import query
from sinks.replay.generations import Generations
from tests.builders.slices import slice_of
from tests.fakes.batches import record
from tests.integration.curation_bench import NOON
from tests.integration.erasure.eraser import AT, LATER, Worker, of, said

if TYPE_CHECKING:
    from tests.integration.curation_bench import Bench


async def test_a_message_sent_between_the_purge_request_and_its_last_page_stays(bench: "Bench", worker: Worker):
    await worker.erasing.begin("e", "namespace", "ada", namespace="notes/mara")
    archive, meanwhile = Archive(bench.pool), AT + timedelta(minutes=10)
    assert await archive.store([said("mara", "old", AT), said("mara", "new", meanwhile, position=100)]) == 1, "at once"
    worker.curator._clock = worker.curator._eraser._clock = lambda: LATER
    await worker.through("e")
    assert [len(await archive.conversation(name)) for name in ("old", "new")] == [0, 1]
    found = {"namespace": "notes/mara", "extracted_at": LATER, "requested_at": meanwhile}
    batch = bench.batch(bench.candidate("Mara skis", sources=of("new", at=meanwhile)), **found)
    assert [ruling.result for ruling in (await worker.curator.curate(batch)).rulings] == ["created"]


async def test_a_request_erased_while_it_is_being_parked_is_not_parked(bench: "Bench", worker: Worker):
    request = replace(slice_of("I have a dog"), requested_at=NOON)
    parking, sent = Parking(bench.pool), record(topics.REQUESTS, 1, encode(request))
    async with bench.pool.acquire() as connection, connection.transaction():
        await connection.execute(query("purges", "lock_archive"))
        parked = asyncio.create_task(parking.park(sent, request, Deferred(NOON, "budget"), 60.0))
        while not await bench.pool.fetchval(
            "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'advisory'"
        ):
            assert not parked.done(), "the erasure is not yet there"
        erasure = Erasure(
            erasure_id="e", kind="conversation", at=AT, actor="ada", conversation_id=request.conversation_id
        )
        await begin(connection, erasure)
    assert not await parked
    assert not await parking.holds(request.request_id)


async def test_a_stored_failure_reason_quotes_nothing_of_an_erased_conversation(bench: "Bench", worker: Worker):
    extractions, request = Extractions(bench.pool), replace(slice_of("I have a dog"), requested_at=NOON)
    await extractions.lease(request, "worker", 0)
    await extractions.fail(request.request_id, Rejected("refused", "a dog is no topic"))
    await worker.erasing.begin("c", "conversation", "ada", conversation_id=request.conversation_id)
    await worker.through("c")
    assert await bench.pool.fetchval("SELECT failed_reason FROM extractions") == "refused"


async def test_the_archive_rejects_older_messages_of_an_erased_user_or_conversation(bench: "Bench", worker: Worker):
    await worker.erasing.begin("u", "user", "ada", user_id="mara", app_id="notes")
    await worker.erasing.begin("c", "conversation", "ada", conversation_id="c")
    ahead = AT + timedelta(minutes=5)
    refused = [
        said("mara", "new", AT),
        said("anna", "c", AT),
        said("mara", "ahead", ahead, position=99),
    ]
    taken = [
        said("mara", "new", ahead, position=100),
        said("anna", "c", ahead, position=101),
        said("mara", "elsewhere", AT, app_id="other"),
        said("anna", "other", AT),
    ]
    assert await Archive(bench.pool).store([*refused, *taken]) == len(taken)


@pytest.mark.parametrize(
    ("kind", "subject"),
    [
        ("user", {"user_id": "mara"}),
        ("conversation", {"conversation_id": "m"}),
        ("namespace", {"namespace": "notes/mara"}),
    ],
)
async def test_every_entry_point_drops_messages_from_before_an_erasure_and_accepts_later_ones(
    bench: "Bench", worker: Worker, kind: Any, subject: dict[str, str]
):
    archive, extractions = Archive(bench.pool), Extractions(bench.pool)
    old, later = said("mara", "m", AT), said("mara", "m", LATER, position=100)
    await archive.store([old])
    await worker.erasing.begin("e", kind, "ada", **subject)
    receipt = await worker.through("e", "m")
    assert receipt.status == "complete"
    assert await Generations(bench.pool).unerased([old, later]) == [later], "replayed by an operator"
    assert await archive.store([old]) == 0, "sent again"
    assert await archive.store([later]) == 1
    fences = await extractions.fences_of(Scope.of(old.message), ["notes/mara"])
    assert {fence.at for fence in fences} == {AT}, "no model is asked again"
    row = {"conversation_id": "m", "namespace": "notes/mara", "extracted_at": LATER, "requested_at": LATER}
    results = [
        (await worker.curator.curate(bench.batch(bench.candidate(text, sources=of("m", at=at)), **row))).rulings[0]
        for text, at in (("Mara skis", AT), ("Mara sails", LATER))
    ]
    assert [ruling.result for ruling in results] == ["dropped", "created"], "candidates that are delivered again"


async def test_the_extractor_reads_fences_of_users_and_conversations(bench: "Bench", worker: Worker):
    extractions, scope = Extractions(bench.pool), Scope(conversation_id="c", app_id="notes", user_id="mara")
    assert await extractions.fences_of(scope, ["notes"]) == ()
    await worker.erasing.begin("u", "user", "ada", user_id="mara")
    await worker.erasing.begin("c", "conversation", "ada", conversation_id="c")
    assert [fence.at for fence in await extractions.fences_of(scope, ["notes"])] == [AT, AT]
    other = Scope(conversation_id="d", app_id="notes", user_id="anna")
    assert await extractions.fences_of(other, ["notes"]) == ()


async def test_an_answer_about_an_erased_conversation_is_stored_without_its_content(bench: "Bench", worker: Worker):
    extractions, request = Extractions(bench.pool), replace(slice_of("I have a dog"), requested_at=NOON)
    await extractions.lease(request, "worker", 60)
    await worker.erasing.begin("c", "conversation", "ada", conversation_id=request.conversation_id)
    answer = encode({"answers": "extraction", "provider": "p", "model": "m", "proposals": [{"text": "User has a dog"}]})
    values = {"provider": "p", "model": "m", "usage": {}, "parts": 1}
    assert b"dog" not in await extractions.store_answer(request.request_id, "worker", answer, **values)


@pytest.mark.parametrize(
    ("ahead_s", "first", "kept"),
    [(4, 99, False), (4, 100, True), (6, 99, True)],
    ids=["by a clock that is ahead", "of what was said since", "since"],
)
@pytest.mark.parametrize("erased", ["before the answer is stored", "afterwards"])
async def test_an_answer_requested_by_a_fast_clock_keeps_no_content_from_before_a_conversation_erasure(
    bench: "Bench", worker: Worker, erased: str, ahead_s: int, first: int, kept: bool
):
    extractions = Extractions(bench.pool)
    extraction_request = replace(slice_of("I have a dog"), first=first, last=first)
    request = replace(extraction_request, requested_at=AT + timedelta(seconds=ahead_s))
    await extractions.lease(request, "worker", 60)
    answer = encode({"answers": "extraction", "provider": "p", "model": "m", "proposals": [{"text": "User has a dog"}]})
    values = {"provider": "p", "model": "m", "usage": {}, "parts": 1}
    if erased == "afterwards":
        await extractions.store_answer(request.request_id, "worker", answer, **values)
    await worker.erasing.begin("c", "conversation", "ada", conversation_id=request.conversation_id)
    if erased == "afterwards":
        await worker.through("c")
    else:
        await extractions.store_answer(request.request_id, "worker", answer, **values)
    assert (b"dog" in (await extractions.answer(request.request_id) or b"")) == kept


async def test_the_curator_drops_candidates_of_an_erased_conversation_in_any_namespace(bench: "Bench", worker: Worker):
    await worker.erasing.begin("c", "conversation", "ada", conversation_id="c")
    late = {"conversation_id": "c", "extracted_at": LATER, "requested_at": LATER}
    old = bench.batch(bench.candidate("User skis", sources=of("c")), **late)
    assert [ruling.result for ruling in (await worker.curator.curate(old)).rulings] == ["dropped"]
    new = bench.batch(bench.candidate("User skis", sources=of("c", at=LATER)), **late)
    assert [ruling.result for ruling in (await worker.curator.curate(new)).rulings] == ["created"]
    assert [each.fence.at for each in await worker.curator.fences_of("notes", "c")] == [AT]
    assert await worker.curator.fences_of("notes", "d") == ()
    other = bench.batch(bench.candidate("User sails", sources=of("d")), **(late | {"conversation_id": "d"}))
    assert [ruling.result for ruling in (await worker.curator.curate(other)).rulings] == ["created"]


async def test_the_curator_drops_a_wish_whose_words_may_come_from_an_erased_message(bench: "Bench", worker: Worker):
    await worker.erasing.begin("c", "conversation", "ada", conversation_id="c")
    (asking,), (meant,) = of("c", at=LATER), of("c")
    wish = Wish(wish_id="w", message=asking, topic="my sister in Turin", messages=(meant,))
    batch = replace(
        bench.batch(namespace="notes/ada", conversation_id="c", extracted_at=LATER, requested_at=LATER), wishes=(wish,)
    )

    outcome = await worker.curator.curate(batch)

    assert [each.result for each in outcome.wishes] == ["dropped"]
    assert await bench.pool.fetchval("SELECT count(*) FROM forgotten") == 0
