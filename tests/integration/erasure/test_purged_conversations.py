"""A purge deletes archived messages, answers, requests and failure reasons of a namespace."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from schemas.codec import encode
from schemas.erasure.erasures import Fence
from schemas.errors import Deferred, Rejected
from schemas.extraction.requests import ExtractionRequest
from schemas.kafka import topics
from sinks.archive.messages import Archive, ArchivedMessage
from sinks.erasure.fences import fences
from sinks.erasure.purges import Purges
from sinks.extraction.answers import Answered, Extractions
from sinks.extraction.parked import Parking
from tests.builders.archived_messages import archived_message
from tests.builders.slices import slice_of
from tests.fakes.batches import record
from tests.integration.curation_bench import NOON

if TYPE_CHECKING:
    from tests.integration.curation_bench import Bench
from tests.integration.erasure.purging import LATER, OWNER, after, purge


async def test_a_purge_deletes_archived_messages_and_older_ones_are_not_archived_again(bench: "Bench") -> None:
    archive = Archive(bench.pool)

    def said(message_id: str, user_id: str, hours: int) -> ArchivedMessage:
        whose = {"message_id": message_id, "app_id": "notes", "user_id": user_id}
        return archived_message(
            f"with {user_id}", 1, feeds=(f"notes/{user_id}",), timestamp=NOON + hours * LATER, **whose
        )

    mara, anna = said("m1", "mara", 0), said("a1", "anna", 0)
    assert await archive.store([mara, anna]) == 2
    await after(bench, LATER).apply_command(purge())
    assert await archive.conversation("with mara") == ()
    assert len(await archive.conversation("with anna")) == 1
    assert await archive.store([mara, said("m2", "mara", 2)]) == 1
    assert [each.message.message_id for each in await archive.conversation("with mara")] == ["m2"]


async def test_messages_archived_before_a_purge_are_deleted_despite_a_fast_sender_clock(bench: "Bench") -> None:
    archive = Archive(bench.pool)
    mara = {"app_id": "notes", "user_id": "mara", "timestamp": NOON + 2 * LATER}
    await archive.store([archived_message("talk", 1, message_id=each, **mara) for each in ("before", "after")])
    await bench.pool.execute("UPDATE messages SET archived_at = $1 WHERE message_id = 'before'", NOON)
    await after(bench, LATER).apply_command(purge())
    assert [each.message.message_id for each in await archive.conversation("talk")] == ["after"]


async def test_a_purge_deletes_archived_messages_in_pages_and_conversation_summaries(
    bench: "Bench", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sinks.erasure.purges.MESSAGES_PAGE", 2)
    archive, extractions = Archive(bench.pool), Extractions(bench.pool)
    await archive.store([archived_message("talk", number, app_id="notes", user_id="mara") for number in range(5)])
    scope = replace(slice_of("I have a dog").scope, conversation_id="talk")
    request = replace(slice_of("I have a dog"), namespaces=(), scope=scope, purpose="summarise")
    await extractions.lease(request, "worker", 60)
    answer = encode({"answers": "summary", "provider": "p", "model": "m", "text": "They have a dog."})
    await extractions.store_answer(request.request_id, "worker", answer, provider="p", model="m", usage={}, parts=0)
    assert (await after(bench, LATER).apply_command(purge())).change == "purged"
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


async def test_a_purge_empties_stored_answers(bench: "Bench") -> None:
    extractions, request = Extractions(bench.pool), dog(OWNER)
    await extractions.lease(request, "worker", 60)
    await answered(extractions, request)
    await after(bench, LATER).apply_command(purge())
    lease = await extractions.lease(request, "another", 60)
    assert isinstance(lease, Answered)
    assert b"dog" not in lease.answer


async def test_a_stored_failure_reason_quotes_nothing_of_an_erased_namespace(bench: "Bench") -> None:
    extractions, request = Extractions(bench.pool), dog(OWNER)
    await extractions.lease(request, "worker", 0)
    await extractions.fail(request.request_id, Rejected("refused", "a dog is no topic"))
    await after(bench, LATER).apply_command(purge())
    assert await bench.pool.fetchval("SELECT failed_reason FROM extractions") == "refused"


async def test_a_namespace_erased_before_the_request_was_made_still_receives_the_shared_answer(
    bench: "Bench",
) -> None:
    extractions, parking = Extractions(bench.pool), Parking(bench.pool)
    request = dog("notes/other", OWNER, asked_at=NOON + LATER)
    await after(bench, LATER / 2).apply_command(purge("notes/other"))
    await extractions.lease(request, "worker", 60)
    await answered(extractions, request)
    sent, deferred = record(topics.REQUESTS, 1, encode(request)), Deferred(NOON, "budget")
    assert await parking.park(sent, request, deferred, 60.0)
    await after(bench, 2 * LATER).apply_command(purge())
    assert b"dog" in (await extractions.answer(request.request_id) or b"")
    assert await parking.holds(request.request_id)
    await after(bench, 3 * LATER).apply_command(purge("notes/other"))
    assert b"dog" not in (await extractions.answer(request.request_id) or b"")
    assert not await parking.holds(request.request_id)


async def test_several_fences_combine_to_the_furthest_positions_in_any_order(bench: "Bench") -> None:
    older, newer = Fence(NOON, {0: 7, 1: 9}), Fence(NOON + LATER, {0: 8, 1: 5, 2: 1})
    for name, order in (("n", (older, newer)), ("m", (newer, older))):
        async with bench.pool.acquire() as connection:
            for each in order:
                await Purges(connection).fence(name, each)
            known = await fences(connection, [name], (), ())
        assert known.namespaces == {name: Fence(NOON + LATER, {0: 8, 1: 9, 2: 1})}


@pytest.mark.parametrize("option", ["before", "after"])
async def test_an_answer_arriving_after_its_namespace_was_erased_is_stored_without_its_content(
    bench: "Bench", option: str
) -> None:
    extractions, request = Extractions(bench.pool), replace(slice_of("I have a dog"), namespaces=(OWNER,))
    request = replace(request, requested_at=NOON if option == "before" else NOON + 2 * LATER)
    await extractions.lease(request, "worker", 60)
    await after(bench, LATER).apply_command(purge())
    answer = encode({"answers": "extraction", "provider": "p", "model": "m", "proposals": [{"text": "User has a dog"}]})
    stored = await extractions.store_answer(
        request.request_id, "worker", answer, provider="p", model="m", usage={}, parts=1
    )
    assert (b"dog" in stored) == (option == "after")


@pytest.mark.parametrize(
    ("ahead_s", "first", "kept"),
    [(4, 6, False), (4, 7, True), (6, 6, True)],
    ids=["by a clock that is ahead", "of what was said since", "since"],
)
@pytest.mark.parametrize("erased", ["before the answer is stored", "afterwards"])
async def test_an_answer_requested_by_a_fast_clock_keeps_no_content_from_before_a_namespace_erasure(
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
