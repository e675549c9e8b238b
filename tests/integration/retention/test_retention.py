"""Retention deletes old archived messages that are consolidated and in no context, and blocks no writer."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from msgspec.structs import replace

from agents.retention.sweeper import RecordRetention, Sweeper, daily_sweep, manual_sweep
from schemas.consolidation.retention import Sweep
from schemas.conversations.windows import Gap
from schemas.extraction.candidates import Source, Wish
from schemas.policies.matching import Match
from schemas.policies.policies import Policies, Policy
from sinks.archive.messages import Archive
from sinks.archive.retention import GovernedWindow, Sweeps
from sinks.memories.forgotten import ForgottenWishes
from sinks.postgres.connection import Pool
from sinks.windows.projection import Windows
from tests.builders.archived_messages import archived_message
from tests.fakes.windows import a_pruning, a_state

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
LONG_AGO, LATELY = NOW - timedelta(days=31), NOW - timedelta(days=29)
POLICIES = Policies(
    (
        Policy(name="month", match=Match(app_id="app"), retention_days=30),
        Policy(name="silent", match=Match(app_id="silent"), retention_days=30, extract=False),
        Policy(name="ever", match=Match(app_id="ever")),
    )
)


class Store:
    """An archive, its windows, and workers that sweep it."""

    def __init__(self, pool: Pool) -> None:
        self.pool, self.now = pool, NOW
        self.sweeps = Sweeps(pool)

    def worker(self, **fields: Any) -> Sweeper:
        records = RecordRetention(usage_days=fields.pop("usage_days", 0), pruning_days=fields.pop("pruning_days", 0))
        return Sweeper(self.sweeps, POLICIES, records, lambda: self.now, **fields)

    async def said(
        self, conversation: str, at: datetime, count: int = 2, first: int = 0, app: str = "app", **state: Any
    ) -> None:
        """Messages that were archived at a time, of a window that is forgotten unless `state` says otherwise."""
        await Archive(self.pool).store(
            [
                archived_message(conversation, position, timestamp=NOW, app_id=app)
                for position in range(first, first + count)
            ]
        )
        await self.pool.execute(
            "UPDATE messages SET archived_at = $3 WHERE conversation_id = $1 AND position >= $2",
            conversation,
            first,
            at,
        )
        scope = replace(a_state(conversation).scope, app_id=app)
        fields = {"phase": "forgotten", "extracted_to": first + count} | state
        await Windows(self.pool).project([a_state(conversation, scope=scope, **fields)])

    async def extracted(self, conversation: str, first: int, last: int, how: str = "completed") -> None:
        completed, failed = (NOW, None) if how != "failed" else (None, NOW)
        namespaces = {"summary": [], "replayed": ["~0a1b2c3d/app"]}.get(how, ["app"])
        await self.pool.execute(
            "INSERT INTO extractions (request_id, conversation_id, partition, first_position, last_position, policy,"
            " policy_version, namespaces, completed_at, failed_at) VALUES ($1, $2, 3, $3, $4, 'month', 1, $5, $6, $7)",
            *(uuid4().hex, conversation, first, last, namespaces, None if how == "asked" else completed, failed),
        )

    async def left(self) -> list[str]:
        rows = await self.pool.fetch("SELECT message_id FROM messages ORDER BY conversation_id, position")
        return [row["message_id"] for row in rows]

    async def swept(self, worker: Sweeper, sweep: Sweep | None = None) -> Sweep:
        """The sweep once it is over; today's without one by hand."""
        if sweep is not None:
            await self.sweeps.add(sweep)
        for _ in range(100):
            await worker.tick()
            stored = await self.sweeps.of(sweep.sweep_id) if sweep else (await self.sweeps.page(1))[0]
            if stored is not None and stored.finished_at is not None:
                return stored
        raise AssertionError("the sweep does not end")


@pytest.fixture
def store(pool: Pool) -> Store:
    return Store(pool)


async def test_old_consolidated_messages_are_deleted_and_recent_ones_stay(store: Store) -> None:
    await store.said("old", LONG_AGO)
    await store.said("new", LATELY)
    await store.said("kept", LONG_AGO, app="ever")
    for conversation in ("old", "new", "kept"):
        await store.extracted(conversation, 0, 1)
    sweep = await store.swept(store.worker())
    assert await store.left() == ["kept-0", "kept-1", "new-0", "new-1"]
    assert (sweep.trigger, sweep.status, sweep.finished_at) == ("schedule", "completed", NOW)
    ever, month = sweep.policies
    assert (ever.policy, ever.days, ever.messages, ever.bytes, ever.pruned, ever.held) == ("ever", 0, 2, 10, 0, 0)
    assert (month.policy, month.days, month.messages, month.pruned, month.pruned_bytes) == ("month", 30, 2, 2, 10)
    assert (ever.oldest, month.oldest) == (LONG_AGO, LATELY)


@pytest.mark.parametrize("how", ["asked", "failed", "summary", "replayed"])
async def test_messages_without_a_completed_extraction_stay(store: Store, how: str) -> None:
    await store.said("a", LONG_AGO, count=3)
    await store.extracted("a", 0, 0)
    await store.extracted("a", 1, 2, how)
    (month,) = (await store.swept(store.worker())).policies
    assert await store.left() == ["a-1", "a-2"]
    assert (month.messages, month.pruned, month.held) == (2, 1, 2)


async def test_messages_in_the_context_of_an_open_conversation_stay(store: Store) -> None:
    await store.said("a", LONG_AGO, count=6, phase="open", opened=1, gaps=(Gap(2, 3, 2, 10),))
    await store.extracted("a", 0, 5)
    await store.swept(store.worker())
    assert await store.left() == ["a-1", "a-4", "a-5"], "0 is of a window before this one, 2 and 3 left its context"


async def test_under_a_policy_without_extraction_messages_outside_the_context_are_deleted(
    store: Store,
) -> None:
    await store.said("a", LONG_AGO, app="silent")
    await store.said("b", LONG_AGO, app="silent", phase="open")
    await store.swept(store.worker())
    assert await store.left() == ["b-0", "b-1"]


async def test_a_dry_run_counts_and_deletes_nothing(store: Store) -> None:
    await store.said("a", LONG_AGO, count=30)
    await store.extracted("a", 0, 19)
    sweep = await store.swept(store.worker(rows=5), manual_sweep(True, "ada", NOW))
    (month,) = sweep.policies
    assert (sweep.dry_run, sweep.asked_by, sweep.trigger) == (True, "ada", "hand")
    assert (month.pruned, month.pruned_bytes, month.held, month.messages) == (20, 100, 10, 30)
    assert len(await store.left()) == 30


async def test_a_dry_run_counts_locked_messages_and_locks_none(store: Store) -> None:
    await store.said("a", LONG_AGO)
    await store.extracted("a", 0, 1)
    async with store.pool.acquire() as other, other.transaction():
        await other.fetch("SELECT FROM messages WHERE message_id = 'a-0' FOR UPDATE")
        sweep = await store.swept(store.worker(), manual_sweep(True, "ada", NOW))
    assert [each.pruned for each in sweep.policies] == [2]


async def test_a_sweep_step_reads_each_slice_of_a_long_conversation_once(store: Store) -> None:
    await store.said("a", LONG_AGO, count=300)
    for position in range(300):
        await store.extracted("a", position, position)
    await store.sweeps.add(manual_sweep(True, "ada", NOW))
    async with store.sweeps.step(NOW) as step:
        assert step is not None
        ((scope, partition),) = await step.windows()
        (pruned,) = await step.prune([GovernedWindow(scope, partition, "month", 30, True)], NOW)
        read = await step._connection.fetchval(
            "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'extractions'"
        )
    assert (pruned.pruned, read) == (300, 300)


async def test_an_unfinished_manual_sweep_does_not_block_the_daily_one(store: Store) -> None:
    await store.sweeps.add(manual_sweep(True, "ada", NOW - timedelta(hours=2)))
    await store.sweeps.add(manual_sweep(False, "eve", NOW - timedelta(minutes=30)))
    await store.sweeps.add(daily_sweep(NOW))
    taken = []
    for _ in range(3):
        async with store.sweeps.step(NOW) as step:
            assert step is not None
            taken.append(step.sweep.asked_by)
            await step.finish(NOW)
    assert taken == ["eve", "retention", "ada"]


async def test_a_sweep_deletes_few_messages_per_step_and_another_worker_continues(store: Store) -> None:
    for conversation in "abc":
        await store.said(conversation, LONG_AGO, count=5)
        await store.extracted(conversation, 0, 4)
    left = []
    for _ in range(8):
        await store.worker(rows=2, conversations=2).tick()
        left.append(len(await store.left()))
    assert left == [13, 11, 9, 7, 5, 5, 3, 1]
    sweep = await store.swept(store.worker(rows=2, conversations=2))
    assert await store.left() == []
    assert [(each.pruned, each.messages) for each in sweep.policies] == [(15, 0)]


async def test_locked_messages_are_skipped_and_deleted_by_the_next_daily_sweep(store: Store) -> None:
    await store.said("a", LONG_AGO)
    await store.extracted("a", 0, 1)
    async with store.pool.acquire() as other, other.transaction():
        await other.fetch("SELECT FROM messages WHERE message_id = 'a-0' FOR UPDATE")
        await store.swept(store.worker())
    assert await store.left() == ["a-0"]
    store.now += timedelta(days=1)
    await store.swept(store.worker())
    assert await store.left() == []


async def test_two_workers_never_run_a_step_of_the_same_sweep_concurrently(store: Store) -> None:
    await store.worker().tick()
    await store.sweeps.add(manual_sweep(False, "ada", NOW))
    async with store.sweeps.step(NOW) as first, store.sweeps.step(NOW) as second:
        assert first is not None and second is None


async def test_only_one_sweep_a_day_is_created_by_any_number_of_workers(store: Store) -> None:
    for _ in range(3):
        await store.swept(store.worker())
    assert len(await store.sweeps.page(10)) == 1
    store.now += timedelta(days=1)
    await store.worker().tick()
    newest, oldest = await store.sweeps.page(10)
    assert newest.created_at == store.now and oldest.created_at == NOW
    behind = (newest.created_at, newest.sweep_id)
    assert await store.sweeps.page(10, behind) == (oldest,)


async def test_model_usage_and_pruning_records_are_deleted_after_their_own_retention_time(store: Store) -> None:
    for number, ago in enumerate((timedelta(days=500), timedelta(days=500), timedelta(days=399))):
        await store.pool.execute(
            "INSERT INTO model_usage (usage_id, at, operation, lane, outcome, provider, model, calls, input_tokens,"
            " output_tokens, cache_read_tokens, cache_write_tokens, batched, namespaces, told)"
            " VALUES ($1, $2, 'extract', 'live', 'answered', 'claude', 'm', 1, 1, 1, 0, 0, false, '{}', $3)",
            *(str(number), NOW - ago, number != 1),
        )
    prunings = [a_pruning(1, (NOW - timedelta(days=91)).timestamp()), a_pruning(2, NOW.timestamp())]
    await Windows(store.pool).project([a_state("c", prunings=tuple(prunings))])
    worker = store.worker(usage_days=400, pruning_days=90)
    sweep = await store.swept(worker)
    assert (sweep.usage, sweep.prunings) == (1, 1)
    kept = await store.pool.fetch("SELECT usage_id FROM model_usage ORDER BY 1")
    assert [row["usage_id"] for row in kept] == ["1", "2"], "what is not told yet stays"
    assert await store.pool.fetchval("SELECT array_agg(number) FROM window_prunings") == [2]


async def test_records_are_kept_forever_by_default(store: Store) -> None:
    await Windows(store.pool).project([a_state("c", prunings=(a_pruning(1, 0.0),))])
    await store.swept(store.worker())
    assert await store.pool.fetchval("SELECT count(*) FROM window_prunings") == 1


async def test_wishes_to_forget_are_deleted_after_thirty_days_in_every_namespace(store: Store) -> None:
    async with store.pool.acquire() as connection:
        for number, at in enumerate((LONG_AGO, LATELY)):
            source = Source(conversation_id="c", message_id=str(number), timestamp=at)
            await ForgottenWishes(connection).keep(f"app/{number}", [Wish(wish_id=str(number), message=source)], NOW)
    await store.worker().tick()
    rows = await store.pool.fetch("SELECT namespace FROM forgotten")
    assert [row["namespace"] for row in rows] == ["app/1"]
