"""Retention of the short-term tier: goes through all conversations step by step, and deletes old consolidated messages."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from schemas import ids
from schemas.consolidation.retention import RetentionStatistics, Sweep
from schemas.conversations.messages import Scope
from schemas.policies.policies import PolicySelector
from sinks.archive.retention import CONVERSATIONS, ROWS, GovernedWindow, Place, Step, Sweeps
from sinks.memories.forgotten import WISHES_KEPT

SWEEP_EVERY: Final = timedelta(days=1)
SWEEPS_KEPT: Final = timedelta(days=90)
RETENTION: Final = "retention"  # the requester of daily sweeps


class RecordRetention(Struct, frozen=True, kw_only=True):
    """Retention in days (0: for ever) of records of model calls and of prunings."""

    usage_days: int = 0
    pruning_days: int = 0


class Sweeper:
    """One per worker; one of them takes a step at a time. All state is in PostgreSQL, so any worker can continue. A step
    deletes at most `rows` messages of at most `conversations`."""

    def __init__(
        self,
        sweeps: Sweeps,
        policies: PolicySelector,
        records: RecordRetention,
        clock: Callable[[], datetime],
        *,
        conversations: int = CONVERSATIONS,
        rows: int = ROWS,
    ) -> None:
        self._sweeps = sweeps
        self._policies = policies
        self._records = records
        self._clock = clock
        self._conversations = conversations
        self._rows = rows
        self._todays_sweep: str | None = None

    async def tick(self) -> None:
        """Creates the daily sweep if it is missing, deletes old sweeps and wishes with it, and takes the next step. Raises
        Retryable."""
        now = self._clock()
        if (todays := daily_sweep(now)).sweep_id != self._todays_sweep:
            await self._sweeps.add(todays)
            await self._sweeps.forget(now - SWEEPS_KEPT)
            await self._sweeps.drop_wishes(now - WISHES_KEPT)
            self._todays_sweep = todays.sweep_id
        async with self._sweeps.step(now) as step:
            if step is not None:
                await self._take_step(step, now)

    async def _take_step(self, step: Step, now: datetime) -> None:
        page = await step.windows(self._conversations)
        if not page:
            await self._drop_records(step, now)
            return
        windows = [self._owned(scope, partition) for scope, partition in page]
        pruned = await step.prune(windows, now, self._rows)
        count = sum(each.pruned for each in pruned)
        # At the row limit, these conversations may have more messages to delete.
        if count >= self._rows and not step.sweep.dry_run:
            await step.advance(step.place, add_counts(step.sweep.policies, pruned))
            return
        kept = await step.keep(windows, now)
        if step.sweep.dry_run:  # a dry run counts expired messages as archived, but they are not held
            due = {each.policy: each.pruned for each in pruned}
            kept = [replace(each, held=each.held - due.get(each.policy, 0)) for each in kept]
        scope, partition = page[-1]
        place = Place(scope.conversation_id, partition)
        await step.advance(place, add_counts(step.sweep.policies, [*pruned, *kept]))

    async def _drop_records(self, step: Step, now: datetime) -> None:
        """After all conversations: deletes old rows of other tables; ends the sweep once there are no more."""
        usage = prunings = 0
        if self._records.usage_days:
            usage = await step.drop_usage(now - timedelta(days=self._records.usage_days), self._rows)
        if self._records.pruning_days:
            prunings = await step.drop_prunings(now - timedelta(days=self._records.pruning_days), self._rows)
        await step.advance(step.place, step.sweep.policies, usage, prunings)
        if step.sweep.dry_run or max(usage, prunings) < self._rows:
            await step.finish(now)

    def _owned(self, scope: Scope, partition: int) -> GovernedWindow:
        policy = self._policies.match(scope)
        return GovernedWindow(scope, partition, policy.name, policy.retention_days, policy.extract)


def daily_sweep(now: datetime) -> Sweep:
    """The sweep of that day; its id is derived from the day."""
    day = int(now.timestamp() // SWEEP_EVERY.total_seconds())
    sweep_id = ids.derive("retention sweep", day)
    return Sweep(sweep_id=sweep_id, trigger="schedule", status="pending", asked_by=RETENTION, created_at=now)


def manual_sweep(dry_run: bool, asked_by: str, now: datetime) -> Sweep:
    return Sweep(
        sweep_id=ids.derive("retention sweep by hand", dry_run, asked_by, now.isoformat()),
        trigger="hand",
        status="pending",
        asked_by=asked_by,
        created_at=now,
        dry_run=dry_run,
    )


def add_counts(known: Iterable[RetentionStatistics], more: Sequence[RetentionStatistics]) -> list[RetentionStatistics]:
    """Adds counts by policy."""
    by_policy = {each.policy: each for each in known}
    for each in more:
        by_policy[each.policy] = by_policy[each.policy] + each if each.policy in by_policy else each
    return [by_policy[name] for name in sorted(by_policy)]
