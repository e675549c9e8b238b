"""Consolidation runs whose leader, Kafka or conversations fail them: taken over, asked again, given up."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from agents.consolidation.scheduler import GIVEN_UP_AFTER, RECHECK_AFTER, REQUEST_AGAIN_AFTER
from schemas.consolidation.runs import ConsolidationRun
from schemas.errors import Retryable
from sinks.consolidation.run_progress import RunProgress
from sinks.postgres.leaders import Leadership
from tests.fakes.sinks import FakePublisher, Fuse
from tests.integration.consolidation.night import NIGHT, NOON, Night


async def test_one_worker_leads_and_another_takes_over_when_it_stands_down_or_dies(night: Night) -> None:
    first, second = night.worker("first", lease_s=60), night.worker("second", lease_s=60)
    await night.said("a", range(10, 12))
    await first.tick()
    night.now = NIGHT
    await second.tick()
    assert await night.all() == (), "the second one does not lead"
    await first.close()
    await second.tick()
    assert len(await night.all()) == 1, "the moment that the first one noted is not missed"
    await first.tick()
    await night.pool.execute("UPDATE leaders SET until = clock_timestamp()")  # the lease of a worker that died runs out
    night.now = NIGHT + timedelta(days=1)
    await first.tick()
    runs = await night.all()
    assert [run.due_at for run in runs] == [NIGHT, NIGHT + timedelta(days=1)]
    assert [run.conversations for run in runs] == [1, 0], "what the first run is about, the second one is not"


async def test_only_one_of_two_leaders_holds_the_term_at_a_time(night: Night) -> None:
    first = Leadership(night.pool, "scheduler", "first", lease_s=0.0)
    second = Leadership(night.pool, "scheduler", "second", lease_s=0.0)
    async with first.term() as leads, second.term() as leads_too:
        assert leads is not None and leads_too is None


async def test_a_leader_paused_within_its_term_is_replaced_and_makes_no_further_decisions(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = night.worker("first", lease_s=0.0, silent_s=0.2), night.worker("second")
    await night.said("a", range(10, 12))
    await first.tick()
    night.now = NIGHT
    paused, resumed = asyncio.Event(), asyncio.Event()
    adds = RunProgress.add

    async def pausing(progress: RunProgress, run: ConsolidationRun) -> None:
        if not paused.is_set():
            paused.set()
            await resumed.wait()
        await adds(progress, run)

    monkeypatch.setattr(RunProgress, "add", pausing)
    ticking = asyncio.create_task(first.tick())
    await paused.wait()
    async with asyncio.timeout(10):
        while not night.asked():
            await second.tick()
    made = await night.all()
    resumed.set()
    with pytest.raises(Retryable):
        await ticking
    await first.tick()
    assert (len(made), await night.all(), night.asked()) == (1, made, [("a", 3, "background")])


async def test_a_run_interrupted_while_requesting_is_fully_requested_by_the_next_leader_and_completes_once(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.consolidation.scheduler.MAX_REQUESTED", 2)
    said = {"a": 10, "b": 20, "c": 30, "d": 40}
    for conversation, at in said.items():
        await night.said(conversation, range(at, at + 2))
    night.published = FakePublisher(Fuse(4))  # two words, and one of the next two
    first, second = night.worker("first"), night.worker("second")
    run_id = await night.by_hand(policy="nightly")
    await first.tick()
    with pytest.raises(Retryable, match="fuse"):
        await first.tick()
    await night.pool.execute("UPDATE leaders SET until = clock_timestamp()")
    await second.tick()
    await first.tick()
    asked = [name for name, *_ in night.asked()]
    assert (sorted(asked[:2] + asked[3:]), asked[2] in asked[3:]) == (list(said), True)

    for conversation, at in said.items():
        await night.extracted(conversation, at, at + 1, ("created",))
    await second.tick()
    over = await night.run(run_id)
    assert (over.status, over.processed, over.requests, over.created) == ("completed", 4, 4, 4)
    await first.tick()
    assert (await night.all(), len(night.asked())) == ((over,), 5)


async def test_a_request_without_an_extraction_is_sent_again_and_one_with_an_extraction_is_not(night: Night) -> None:
    worker = night.worker("one")
    await night.said("lost", range(10, 12))
    await night.said("heard", range(20, 22))
    await night.by_hand(policy="nightly")
    await worker.tick()
    await night.pool.execute(
        "INSERT INTO extractions (request_id, conversation_id, partition, first_position, last_position, policy,"
        " policy_version, namespaces) VALUES ('r', 'heard', 3, 20, 21, 'nightly', 1, '{app/ada}')"
    )
    night.now += RECHECK_AFTER
    await worker.tick()
    assert len(night.asked()) == 2, "not before five minutes have passed"
    night.now += REQUEST_AGAIN_AFTER
    await worker.tick()
    assert night.asked()[2:] == [("lost", 3, "background")]


async def test_a_scheduled_run_is_created_during_a_kafka_outage_and_requested_afterwards(night: Night) -> None:
    worker = night.worker("one")
    await night.said("a", range(10, 12))
    await worker.tick()
    night.now = NIGHT
    night.published = FakePublisher(Fuse(1))
    worker = night.worker("one")
    with pytest.raises(Retryable, match="fuse"):
        await worker.tick()
    assert len(await night.all()) == 1
    await worker.tick()
    assert night.asked() == [("a", 3, "background")]


async def test_a_run_that_times_out_fails_and_reports_its_progress(night: Night) -> None:
    worker = night.worker("one")
    await night.said("a", range(10, 12))
    run_id = await night.by_hand(policy="nightly")
    await worker.tick()
    night.now += GIVEN_UP_AFTER
    await worker.tick()
    run = await night.run(run_id)
    assert run.status == "failed" and run.error and run.error.startswith("1 of 1 conversations were not done in time")


async def test_a_manual_run_that_cannot_start_blocks_neither_schedules_nor_other_runs(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = night.worker("one")
    await worker.tick()
    await night.said("a", range(10, 12))
    poison = await night.by_hand(namespace="app/ada")
    adds = RunProgress.add_conversations

    async def too_slow(progress: RunProgress, run: ConsolidationRun, *given: Any) -> int:
        if run.run_id == poison:
            raise Retryable("it takes too long")
        return await adds(progress, run, *given)

    monkeypatch.setattr(RunProgress, "add_conversations", too_slow)
    night.now = NIGHT
    other = await night.by_hand(conversation_id="a")
    await worker.tick()
    (scheduled,) = [run for run in await night.all() if run.trigger == "schedule"]
    assert (scheduled.status, (await night.run(other)).status) == ("running", "completed")
    assert (await night.run(poison)).status == "pending"
    assert night.asked() == [("a", 3, "background")]


async def test_runs_that_can_never_start_do_not_block_others_and_fail_after_an_hour(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = night.worker("one")
    await night.said("a", range(10, 12))
    hopeless = [await night.by_hand(namespace=f"app/{name}") for name in "abcde"]
    tried: list[str] = []
    windows = RunProgress.windows

    async def too_slow(progress: RunProgress, conversation_id: str | None, *given: Any) -> Any:
        if conversation_id is None:
            tried.append("all")
            raise Retryable("it takes too long")
        return await windows(progress, conversation_id, *given)

    monkeypatch.setattr(RunProgress, "windows", too_slow)
    night.now += timedelta(seconds=1)
    other = await night.by_hand(conversation_id="a")
    await worker.tick()
    await worker.tick()
    assert ((await night.run(other)).status, len(tried)) == ("running", len(hopeless)), "each of them once"
    for minutes in range(1, 61):
        night.now = NOON + timedelta(seconds=1, minutes=minutes)
        assert {(await night.run(each)).status for each in hopeless} == {"pending"}
        await worker.tick()
        await worker.tick()
    given_up = [await night.run(each) for each in hopeless]
    assert {(each.status, each.finished_at) for each in given_up} == {("failed", night.now)}
    assert {each.error for each in given_up} == {
        "it could not begin within 1:00:00 and is cancelled: it takes too long"
    }
    asked = len(tried)
    night.now += timedelta(minutes=2)
    await worker.tick()
    assert len(tried) == asked


async def test_a_run_that_can_never_start_fails_even_if_other_runs_always_come_first(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = night.worker("one")
    await night.said("a", range(10, 12))
    hopeless = await night.by_hand(namespace="app/ada")
    adds = RunProgress.add_conversations

    async def too_slow(progress: RunProgress, run: ConsolidationRun, *given: Any) -> int:
        if run.run_id == hopeless:
            raise Retryable("it takes too long")
        return await adds(progress, run, *given)

    monkeypatch.setattr(RunProgress, "add_conversations", too_slow)
    for minutes in range(62):
        night.now = NOON + timedelta(minutes=minutes)
        await worker.tick()
        for number in range(6):
            came = replace(
                await night.run(hopeless), run_id=f"{minutes}-{number}", trigger="schedule", policy="nightly"
            )
            await night.runs.add(replace(came, namespace=None, due_at=night.now + timedelta(seconds=number)))
        await worker.tick()
        await worker.tick()
    assert (await night.run(hopeless)).status == "failed"
