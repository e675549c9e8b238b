"""Consolidation runs are taken over, requested again or given up when leaders, Kafka or conversations fail."""

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
from tests.integration.consolidation.scheduled_runs import NIGHT, NOON, ScheduledRuns


async def test_one_worker_leads_and_another_takes_over_when_it_stands_down_or_dies(scheduled: ScheduledRuns) -> None:
    first, second = scheduled.worker("first", lease_s=60), scheduled.worker("second", lease_s=60)
    await scheduled.said("a", range(10, 12))
    await first.tick()
    scheduled.now = NIGHT
    await second.tick()
    assert await scheduled.all() == (), "the second one does not lead"
    await first.close()
    await second.tick()
    assert len(await scheduled.all()) == 1, "the moment that the first one noted is not missed"
    await first.tick()
    await scheduled.pool.execute("UPDATE leaders SET until = clock_timestamp()")  # the lease of a dead worker expires
    scheduled.now = NIGHT + timedelta(days=1)
    await first.tick()
    runs = await scheduled.all()
    assert [run.due_at for run in runs] == [NIGHT, NIGHT + timedelta(days=1)]
    assert [run.conversations for run in runs] == [1, 0], "what the first run is about, the second one is not"


async def test_only_one_of_two_leaders_holds_the_term_at_a_time(scheduled: ScheduledRuns) -> None:
    first = Leadership(scheduled.pool, "scheduler", "first", lease_s=0.0)
    second = Leadership(scheduled.pool, "scheduler", "second", lease_s=0.0)
    async with first.term() as leads, second.term() as leads_too:
        assert leads is not None and leads_too is None


async def test_a_leader_paused_within_its_term_is_replaced_and_makes_no_further_decisions(
    scheduled: ScheduledRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = scheduled.worker("first", lease_s=0.0, silent_s=0.2), scheduled.worker("second")
    await scheduled.said("a", range(10, 12))
    await first.tick()
    scheduled.now = NIGHT
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
        while not scheduled.requested():
            await second.tick()
    made = await scheduled.all()
    resumed.set()
    with pytest.raises(Retryable):
        await ticking
    await first.tick()
    assert (len(made), await scheduled.all(), scheduled.requested()) == (1, made, [("a", 3, "background")])


async def test_a_run_interrupted_while_requesting_is_fully_requested_by_the_next_leader_and_completes_once(
    scheduled: ScheduledRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.consolidation.scheduler.MAX_REQUESTED", 2)
    said = {"a": 10, "b": 20, "c": 30, "d": 40}
    for conversation, at in said.items():
        await scheduled.said(conversation, range(at, at + 2))
    scheduled.published = FakePublisher(Fuse(4))  # two words, and one of the next two
    first, second = scheduled.worker("first"), scheduled.worker("second")
    run_id = await scheduled.by_hand(policy="nightly")
    await first.tick()
    with pytest.raises(Retryable, match="fuse"):
        await first.tick()
    await scheduled.pool.execute("UPDATE leaders SET until = clock_timestamp()")
    await second.tick()
    await first.tick()
    requested = [name for name, *_ in scheduled.requested()]
    assert (sorted(requested[:2] + requested[3:]), requested[2] in requested[3:]) == (list(said), True)

    for conversation, at in said.items():
        await scheduled.extracted(conversation, at, at + 1, ("created",))
    await second.tick()
    over = await scheduled.run(run_id)
    assert (over.status, over.processed, over.requests, over.created) == ("completed", 4, 4, 4)
    await first.tick()
    assert (await scheduled.all(), len(scheduled.requested())) == ((over,), 5)


async def test_a_request_without_an_extraction_is_sent_again_and_one_with_an_extraction_is_not(
    scheduled: ScheduledRuns,
) -> None:
    worker = scheduled.worker("one")
    await scheduled.said("lost", range(10, 12))
    await scheduled.said("heard", range(20, 22))
    await scheduled.by_hand(policy="nightly")
    await worker.tick()
    await scheduled.pool.execute(
        "INSERT INTO extractions (request_id, conversation_id, partition, first_position, last_position, policy,"
        " policy_version, namespaces) VALUES ('r', 'heard', 3, 20, 21, 'nightly', 1, '{app/ada}')"
    )
    scheduled.now += RECHECK_AFTER
    await worker.tick()
    assert len(scheduled.requested()) == 2, "not before five minutes have passed"
    scheduled.now += REQUEST_AGAIN_AFTER
    await worker.tick()
    assert scheduled.requested()[2:] == [("lost", 3, "background")]


async def test_a_scheduled_run_is_created_during_a_kafka_outage_and_requested_afterwards(
    scheduled: ScheduledRuns,
) -> None:
    worker = scheduled.worker("one")
    await scheduled.said("a", range(10, 12))
    await worker.tick()
    scheduled.now = NIGHT
    scheduled.published = FakePublisher(Fuse(1))
    worker = scheduled.worker("one")
    with pytest.raises(Retryable, match="fuse"):
        await worker.tick()
    assert len(await scheduled.all()) == 1
    await worker.tick()
    assert scheduled.requested() == [("a", 3, "background")]


async def test_a_run_that_times_out_fails_and_reports_its_progress(scheduled: ScheduledRuns) -> None:
    worker = scheduled.worker("one")
    await scheduled.said("a", range(10, 12))
    run_id = await scheduled.by_hand(policy="nightly")
    await worker.tick()
    scheduled.now += GIVEN_UP_AFTER
    await worker.tick()
    run = await scheduled.run(run_id)
    assert run.status == "failed" and run.error and run.error.startswith("1 of 1 conversations were not done in time")


async def test_a_manual_run_that_cannot_start_blocks_neither_schedules_nor_other_runs(
    scheduled: ScheduledRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = scheduled.worker("one")
    await worker.tick()
    await scheduled.said("a", range(10, 12))
    poison = await scheduled.by_hand(namespace="app/ada")
    adds = RunProgress.add_conversations

    async def too_slow(progress: RunProgress, run: ConsolidationRun, *given: Any) -> int:
        if run.run_id == poison:
            raise Retryable("it takes too long")
        return await adds(progress, run, *given)

    monkeypatch.setattr(RunProgress, "add_conversations", too_slow)
    scheduled.now = NIGHT
    other = await scheduled.by_hand(conversation_id="a")
    await worker.tick()
    (by_schedule,) = [run for run in await scheduled.all() if run.trigger == "schedule"]
    assert (by_schedule.status, (await scheduled.run(other)).status) == ("running", "completed")
    assert (await scheduled.run(poison)).status == "pending"
    assert scheduled.requested() == [("a", 3, "background")]


async def test_runs_that_can_never_start_do_not_block_others_and_fail_after_an_hour(
    scheduled: ScheduledRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = scheduled.worker("one")
    await scheduled.said("a", range(10, 12))
    hopeless = [await scheduled.by_hand(namespace=f"app/{name}") for name in "abcde"]
    tried: list[str] = []
    windows = RunProgress.windows

    async def too_slow(progress: RunProgress, conversation_id: str | None, *given: Any) -> Any:
        if conversation_id is None:
            tried.append("all")
            raise Retryable("it takes too long")
        return await windows(progress, conversation_id, *given)

    monkeypatch.setattr(RunProgress, "windows", too_slow)
    scheduled.now += timedelta(seconds=1)
    other = await scheduled.by_hand(conversation_id="a")
    await worker.tick()
    await worker.tick()
    assert ((await scheduled.run(other)).status, len(tried)) == ("running", len(hopeless)), "each of them once"
    for minutes in range(1, 61):
        scheduled.now = NOON + timedelta(seconds=1, minutes=minutes)
        assert {(await scheduled.run(each)).status for each in hopeless} == {"pending"}
        await worker.tick()
        await worker.tick()
    given_up = [await scheduled.run(each) for each in hopeless]
    assert {(each.status, each.finished_at) for each in given_up} == {("failed", scheduled.now)}
    assert {each.error for each in given_up} == {
        "it could not begin within 1:00:00 and is cancelled: it takes too long"
    }
    calls = len(tried)
    scheduled.now += timedelta(minutes=2)
    await worker.tick()
    assert len(tried) == calls


async def test_a_run_that_can_never_start_fails_even_if_other_runs_always_come_first(
    scheduled: ScheduledRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = scheduled.worker("one")
    await scheduled.said("a", range(10, 12))
    hopeless = await scheduled.by_hand(namespace="app/ada")
    adds = RunProgress.add_conversations

    async def too_slow(progress: RunProgress, run: ConsolidationRun, *given: Any) -> int:
        if run.run_id == hopeless:
            raise Retryable("it takes too long")
        return await adds(progress, run, *given)

    monkeypatch.setattr(RunProgress, "add_conversations", too_slow)
    for minutes in range(62):
        scheduled.now = NOON + timedelta(minutes=minutes)
        await worker.tick()
        for number in range(6):
            came = replace(
                await scheduled.run(hopeless), run_id=f"{minutes}-{number}", trigger="schedule", policy="nightly"
            )
            await scheduled.runs.add(replace(came, namespace=None, due_at=scheduled.now + timedelta(seconds=number)))
        await worker.tick()
        await worker.tick()
    assert (await scheduled.run(hopeless)).status == "failed"
