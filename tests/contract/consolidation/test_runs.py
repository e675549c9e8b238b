"""Consolidation runs and archive sweeps in memory and on PostgreSQL are requested and listed in the same way."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias
from uuid import uuid4

import pytest
from msgspec.structs import replace

from agents.consolidation.requests import manual_run
from agents.retention.sweeper import manual_sweep
from schemas.consolidation.runs import ConsolidationRun, RunRequest
from sinks.access.audit import Audit, Audited
from sinks.archive.retention import Sweeps
from sinks.consolidation.runs import RunFilter, Runs
from sinks.postgres.connection import connect
from tests.fakes.runs import FakeRuns, FakeSweeps

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
Either: TypeAlias = tuple[Runs, Sweeps] | tuple[FakeRuns, FakeSweeps]


@pytest.fixture(params=["fake", "postgres"])
async def either(request: pytest.FixtureRequest, dsn: str) -> AsyncIterator[Either]:
    """With nothing in them."""
    if request.param == "fake":
        yield FakeRuns(), FakeSweeps()
        return
    pool = await connect(dsn, max_size=4)
    await pool.execute("TRUNCATE consolidation_runs, retention_sweeps CASCADE")
    yield Runs(pool), Sweeps(pool)
    await pool.close()


def a_run(minute: int, namespaces: tuple[str, ...] = (), **wanted: Any) -> ConsolidationRun:
    return manual_run(RunRequest(**wanted), namespaces, "ada", NOON + timedelta(minutes=minute))


async def test_a_run_is_returned_as_requested_and_adding_it_again_changes_nothing(either: Either) -> None:
    runs, _ = either
    run = a_run(1, ("app/ada",), namespace="app/ada", dry_run=True, most=5)
    await runs.add(run)
    await runs.add(replace(run, asked_by="eve"))
    assert await runs.of(run.run_id) == run
    assert await runs.of("nobody's") is None
    assert await runs.findings(run.run_id) == ()


async def test_runs_are_listed_newest_first_and_filtered_by_policy_namespace_and_status(either: Either) -> None:
    runs, _ = either
    first, second, third = a_run(1, policy="p"), a_run(2, ("a", "b"), conversation_id="c"), a_run(3, policy="p")
    for run in (second, third, first):
        await runs.add(run)
    assert await runs.page(RunFilter(limit=2)) == (third, second)
    assert await runs.page(RunFilter(limit=9, behind=(second.created_at, second.run_id))) == (first,)
    assert await runs.page(RunFilter(limit=9, policy="p")) == (third, first)
    assert await runs.page(RunFilter(limit=9, namespace="b")) == (second,)
    assert await runs.page(RunFilter(limit=9, status="completed")) == ()
    assert len(await runs.page(RunFilter(limit=9, status="pending"))) == 3


async def test_last_scheduled_returns_the_latest_scheduled_run_of_each_policy(either: Either) -> None:
    runs, _ = either
    for minute, policy in ((1, "p"), (3, "p"), (2, "p"), (1, "q")):
        run = replace(a_run(minute, policy=policy), run_id=f"{policy}{minute}", trigger="schedule")
        await runs.add(run)
    await runs.add(a_run(9, policy="p"))
    found = await runs.last_scheduled(["p", "q", "none"])
    assert {policy: run.run_id for policy, run in found.items()} == {"p": "p3", "q": "q1"}


async def test_a_run_is_rejected_if_its_requester_has_too_many_pending_runs(either: Either) -> None:
    runs, _ = either
    first = a_run(1)
    assert await runs.add(replace(first, run_id="3", policy="p", trigger="schedule"))
    for run in (first, replace(first, run_id="2")):
        assert await runs.add(run, 2)
    assert not await runs.add(replace(first, run_id="4"), 2)
    assert await runs.of("4") is None
    assert await runs.add(replace(first, run_id="4", asked_by="eve"), 2)
    assert await runs.add(replace(first, run_id="5"), 3)
    assert await runs.add(replace(first, run_id="6"))


async def test_a_run_is_audited_if_and_only_if_it_was_accepted(either: Either) -> None:
    runs, _ = either
    run = a_run(1)
    entry = Audited(
        at=run.created_at, actor="ada", action="consolidation.run", subject=f"audited {uuid4()}", details={}
    )
    refused = replace(entry, subject=f"refused {uuid4()}")
    assert await runs.add(run, 1, entry)
    assert not await runs.add(replace(run, run_id="2"), 1, refused)
    await runs.add(run, audited=refused)
    audited = runs.audited if isinstance(runs, FakeRuns) else await Audit(runs._pool).latest(100)
    assert [each for each in audited if each.subject in (entry.subject, refused.subject)] == [entry]


async def test_concurrently_added_runs_do_not_exceed_the_limit_of_pending_runs(either: Either) -> None:
    runs, _ = either
    made = [replace(a_run(1), run_id=str(number)) for number in range(12)]
    added = await asyncio.gather(*(runs.add(run, 3) for run in made))
    assert added.count(True) == len(await runs.page(RunFilter(limit=20))) == 3


async def test_runs_created_at_the_same_time_each_appear_on_exactly_one_page(either: Either) -> None:
    runs, _ = either
    made = {run.run_id: run for run in (a_run(1, policy=name) for name in "abcd")}
    for run in made.values():
        await runs.add(run)
    newest = await runs.page(RunFilter(limit=2))
    rest = await runs.page(RunFilter(limit=9, behind=(newest[-1].created_at, newest[-1].run_id)))
    assert [run.run_id for run in (*newest, *rest)] == sorted(made, reverse=True)


async def test_retention_sweeps_are_returned_as_added_once_and_listed_newest_first(either: Either) -> None:
    _, sweeps = either
    first, second = manual_sweep(True, "ada", NOON), manual_sweep(False, "ada", NOON + timedelta(minutes=1))
    for sweep in (second, first, replace(first, asked_by="eve")):
        await sweeps.add(sweep)
    assert await sweeps.of(first.sweep_id) == first
    assert await sweeps.of("nobody's") is None
    assert await sweeps.page(9) == (second, first)
    assert await sweeps.page(9, (second.created_at, second.sweep_id)) == (first,)
