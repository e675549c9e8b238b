"""Batches from parked request to published answer: real PostgreSQL, the real SDK, and a local Messages server."""

import asyncio
from typing import Any

import pytest

from agents.dead_letters.writer import dead_letter_headers
from schemas import codec
from schemas.extraction.candidates import CandidateBatch
from schemas.extraction.requests import ExtractionRequest
from schemas.kafka import topics
from schemas.windows.window_controls import WindowControl
from tests.integration.curation_bench import Bench
from tests.integration.extraction.batches.batch_stage import Worker, lives_in, numbered_request
from tests.servers.messages import MODELS, MessagesServer


async def test_requests_are_sent_in_one_batch_and_each_answer_is_stored_and_published(
    worker: Worker, server: MessagesServer
) -> None:
    await worker.park(numbered_request(1), numbered_request(2), numbered_request(3))
    await worker.agent.tick()
    (batch,) = server.batches.made.values()
    assert set(batch.requests) == {numbered_request(number).request_id for number in (1, 2, 3)}
    await worker.look()
    assert worker.remembered == lives_in(1, 2, 3)
    assert await worker.count("parked") == 0
    assert server.seen == []
    usage = await worker.pool.fetch("SELECT provider, model, usage FROM extractions WHERE answer IS NOT NULL")
    assert [(row["provider"], row["model"], row["usage"]["batched"]) for row in usage] == 3 * [
        ("claude", MODELS[0], True)
    ]


async def test_a_running_batch_is_polled_at_growing_intervals(worker: Worker, server: MessagesServer) -> None:
    server.batches.ends_at_poll = 3
    await worker.park(numbered_request(1))
    await worker.agent.tick()
    worker.agent._poll_s = 60.0
    pauses = []
    for _ in range(2):
        await worker.look()
        pauses.append(await worker.pool.fetchval("SELECT extract(epoch FROM look_at - now()) FROM batches"))
        assert worker.remembered == []
    assert 55 < pauses[0] < 65 and 85 < pauses[1] < 95
    await worker.look()
    assert worker.remembered == lives_in(1)


async def test_a_batch_is_collected_by_another_worker_after_a_restart(
    worker: Worker, another: Worker, server: MessagesServer
) -> None:
    await worker.park(numbered_request(1), numbered_request(2))
    await worker.agent.tick()
    await another.look()
    assert another.remembered == lives_in(1, 2)
    assert len(server.batches.made) == 1


async def test_another_worker_collects_the_rest_when_a_worker_dies_while_collecting(
    worker: Worker, another: Worker, server: MessagesServer
) -> None:
    await worker.park(*(numbered_request(number) for number in range(1, 6)))
    await worker.agent.tick()
    taken = 0
    published = worker.publisher.publish

    async def publish(records: Any) -> None:
        nonlocal taken
        taken += 1
        if taken == 3:
            raise asyncio.CancelledError
        await published(records)

    worker.publisher.publish = publish  # type: ignore[method-assign]
    with pytest.raises(asyncio.CancelledError):
        await worker.look()
    assert len(worker.remembered) == 2
    await worker.pool.execute("UPDATE batches SET lease_until = now()")
    await another.look()
    assert sorted(worker.remembered + another.remembered) == lives_in(1, 2, 3, 4, 5)
    assert await worker.count("parked") == 0


async def test_memory_references_in_a_reply_refer_to_the_memories_shown_in_its_prompt(
    worker: Worker, server: MessagesServer, bench: Bench
) -> None:
    shown = [await bench.remember(text) for text in ("User likes chess.", "User drinks coffee.")]
    worker.related.memories = tuple(shown)
    await worker.park(numbered_request(1, "I prefer tea over coffee."))
    server.batches.script(
        'text:{"memories":[{"kind":"fact","text":"User drinks tea.","messages":[1],"confidence":0.9,"contradicts":2}]}'
    )
    await worker.agent.tick()
    worker.related.memories = ()
    await bench.pool.execute("DELETE FROM memories WHERE memory_id = $1", shown[0].memory_id)
    await worker.look()
    (part,) = [codec.decode(each.value, CandidateBatch) for each in worker.publisher.on(topics.CANDIDATES)]
    assert part.candidates[0].contradicts == shown[1].memory_id


@pytest.mark.parametrize("step", ["expired", "canceled", "overloaded", "server_error", "rate_limited", "no_credit"])
async def test_a_request_without_a_reply_is_sent_individually(
    worker: Worker, server: MessagesServer, step: str
) -> None:
    server.batches.script("rules", step)
    await worker.park(numbered_request(1), numbered_request(2))
    await worker.agent.tick()
    await worker.look()
    assert worker.remembered == lives_in(1)
    await worker.resume()
    assert worker.remembered == lives_in(1, 2)
    assert len(server.seen) == 1
    assert await worker.count("parked") == 0


@pytest.mark.parametrize(("step", "reason"), [("refusal", "refused"), ("bad_request", "refused_request")])
async def test_an_unanswerable_request_becomes_a_dead_letter_and_its_window_is_notified(
    worker: Worker, server: MessagesServer, step: str, reason: str
) -> None:
    server.batches.script(step)
    await worker.park(numbered_request(1), numbered_request(2))
    await worker.agent.tick()
    await worker.look()
    (letter,) = worker.publisher.on(topics.DEAD_LETTERS)
    assert dead_letter_headers(letter.headers)["reason"] == reason
    assert codec.decode(letter.value, ExtractionRequest) == numbered_request(1)
    (control,) = [codec.decode(each.value, WindowControl) for each in worker.publisher.on(topics.WINDOW_CONTROL)]
    assert (control.kind, control.request_id) == ("extraction_failed", numbered_request(1).request_id)
    assert worker.remembered == lives_in(2)
    assert await worker.count("parked") == 0


@pytest.mark.parametrize("step", ["text:I would rather not.", "truncated"])
async def test_an_incomplete_reply_is_repaired_by_one_call(worker: Worker, server: MessagesServer, step: str) -> None:
    server.batches.script(step)
    await worker.park(numbered_request(1))
    await worker.agent.tick()
    await worker.look()
    assert worker.remembered == lives_in(1)
    assert len(server.seen) == 1
    usage = await worker.pool.fetchval("SELECT usage FROM extractions")
    assert not usage.get("batched"), "not all of it has the price of batches"


async def test_a_reply_that_cannot_be_repaired_yet_is_repaired_later_without_delaying_others(
    worker: Worker, server: MessagesServer
) -> None:
    server.batches.script("text:no", "rules")
    server.script("overloaded")
    await worker.park(numbered_request(1), numbered_request(2))
    await worker.agent.tick()
    await worker.look()
    assert worker.remembered == lives_in(2)
    await worker.look()
    assert worker.remembered == lives_in(1, 2)
    assert len(server.batches.made) == 1


async def test_requests_of_a_batch_with_lost_results_are_sent_individually(
    worker: Worker, server: MessagesServer
) -> None:
    await worker.park(numbered_request(1))
    await worker.agent.tick()
    server.batches.made.clear()
    await worker.look()
    await worker.resume()
    assert worker.remembered == lives_in(1)


async def test_a_slice_erased_during_its_batch_is_skipped(worker: Worker, server: MessagesServer) -> None:
    await worker.park(numbered_request(1), numbered_request(2))
    await worker.agent.tick()
    for table in ("parked", "extractions"):
        await worker.pool.execute(f"DELETE FROM {table} WHERE conversation_id = 'c1'")
    await worker.look()
    assert worker.remembered == lives_in(2)
    assert worker.publisher.on(topics.DEAD_LETTERS) == []


async def test_a_request_in_a_batch_is_sent_individually_only_long_after_its_deadline(
    worker: Worker, server: MessagesServer
) -> None:
    await worker.park(numbered_request(1))
    await worker.agent.tick()
    for days, answered in ((1, []), (3, lives_in(1))):
        await worker.pool.execute("UPDATE parked SET deadline = now() - $1 * interval '1 day'", days)
        await worker.resume()
        assert worker.remembered == answered


async def test_batches_that_ended_long_ago_are_deleted(worker: Worker, server: MessagesServer) -> None:
    for number in (1, 2):
        await worker.park(numbered_request(number))
        await worker.agent.tick()
        await worker.look()
        await worker.pool.execute("UPDATE batches SET ended_at = now() - $1 * interval '1 day'", 31)
    assert await worker.count("batches") == 1
