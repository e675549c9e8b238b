"""Retention of the short-term tier: goes through all conversations step by step, and lets go what is old and was consolidated."""

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

SWEEP_EVERY: Final = timedelta(days=1)
SWEEPS_KEPT: Final = timedelta(days=90)
RETENTION: Final = "retention"  # who asks for the sweeps of every day


class RecordRetention(Struct, frozen=True, kw_only=True):
    """For how many days records are kept that are no messages, 0 for ever: of model calls, and of prunings of windows."""

    usage_days: int = 0
    pruning_days: int = 0


class Sweeper:
    """One in each worker; a step is taken by one of them at a time. All it knows rests in PostgreSQL, so that another goes on.

    A step is short: at most `rows` messages leave in it, of at most `conversations`.
    """

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
        self._asked: str | None = None

    async def tick(self) -> None:
        """Asks for the sweep of the day, if nobody has yet, and takes a step of what is to be done. Raises Retryable."""
        now = self._clock()
        if (todays := daily_sweep(now)).sweep_id != self._asked:
            await self._sweeps.add(todays)
            await self._sweeps.forget(now - SWEEPS_KEPT)
            self._asked = todays.sweep_id
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
        if count >= self._rows and not step.sweep.dry_run:  # there may be more of these conversations
            await step.advance(step.place, add_counts(step.sweep.policies, pruned))
            return
        kept = await step.keep(windows, now)
        if step.sweep.dry_run:  # what would leave is still there, and is not held
            due = {each.policy: each.pruned for each in pruned}
            kept = [replace(each, held=each.held - due.get(each.policy, 0)) for each in kept]
        scope, partition = page[-1]
        place = Place(scope.conversation_id, partition)
        await step.advance(place, add_counts(step.sweep.policies, [*pruned, *kept]))

    async def _drop_records(self, step: Step, now: datetime) -> None:
        """Behind all conversations: what of other tables is too old. Over, once nothing more of that is found."""
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
    """The sweep of the day that it is; whoever asks for it asks for the same one."""
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
    """The numbers of each policy, with what was found since, by name."""
    by_policy = {each.policy: each for each in known}
    for each in more:
        by_policy[each.policy] = by_policy[each.policy] + each if each.policy in by_policy else each
    return [by_policy[name] for name in sorted(by_policy)]
