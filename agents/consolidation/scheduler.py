"""The scheduler: creates scheduled runs, begins pending ones, asks windows to extract, and counts results."""

import logging
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final, Protocol

from msgspec.structs import replace

from agents.consolidation.requests import flush_record
from agents.consolidation.retries import GIVE_UP_AFTER, FailedRuns
from agents.consolidation.schedule import due, next_time, scheduled_run
from agents.stage.leases import ignore_retryable
from schemas.consolidation.runs import ConsolidationRun
from schemas.conversations.messages import Scope
from schemas.counts import counted
from schemas.errors import Retryable
from schemas.kafka.records import Publisher
from schemas.policies.policies import Policies
from sinks.consolidation.run_progress import BEGINNING, RunProgress
from sinks.postgres.connection import Connection

log = logging.getLogger(__name__)

PAGE: Final = 1_000  # windows, or conversations of runs, per query
MAX_BEGUN: Final = 4  # runs per tick
MAX_REQUESTED: Final = 500  # conversations
REQUEST_AGAIN_AFTER: Final = timedelta(minutes=5)
RECHECK_AFTER: Final = timedelta(minutes=1)  # interval of searches for unanswered requests
GIVEN_UP_AFTER: Final = timedelta(days=3)  # batches take up to a day, and daily budgets reset at midnight
DETAILS_KEPT: Final = timedelta(days=30)
NO_SPEAKERS: Final[Mapping[str, Collection[str]]] = MappingProxyType({})
FINDINGS_KEPT: Final = timedelta(days=7)


class LeaderElection(Protocol):
    """sinks.postgres.leaders.Leadership."""

    def term(self) -> AbstractAsyncContextManager[Connection | None]: ...

    async def resign(self) -> None: ...


class PolicySource(Protocol):
    """agents.policies.reader.CurrentPolicies."""

    @property
    def now(self) -> Policies: ...


class Scheduler:
    """Runs in every worker; only the leader acts. All state is in PostgreSQL, so another worker can continue."""

    def __init__(
        self, leading: LeaderElection, policies: PolicySource, publisher: Publisher, clock: Callable[[], datetime]
    ) -> None:
        self._leading = leading
        self._policies = policies
        self._publisher = publisher
        self._clock = clock
        self._settled_to = BEGINNING
        self._failing = FailedRuns()
        self._look_again_at: datetime | None = None

    async def tick(self) -> None:
        """Does the due work. Raises Retryable; the next tick continues."""
        async with self._leading.term() as connection:
            if connection is None:
                return
            progress, now = RunProgress(connection), self._clock()
            await self._schedule(progress, now)
            most = MAX_BEGUN + len(self._failing)
            pending = await progress.pending(most)
        if len(pending) < most:  # the list has all pending runs
            self._failing.keep([run.run_id for run in pending])
        for run in [run for run in pending if not self._failing.is_resting(run.run_id, now)][:MAX_BEGUN]:
            await self._begin_in_transaction(run)
        async with self._leading.term() as connection:
            if connection is None:
                return
            progress, now = RunProgress(connection), self._clock()
            self._settled_to = await progress.settle(now, self._settled_to, PAGE)
            for run in await progress.finish(now, now - GIVEN_UP_AFTER):
                log.info("consolidation of %s %s: %s", run.scope, run.status, run_summary(run))
        await self._request_extraction()

    async def close(self) -> None:
        """Gives up the leadership at once."""
        async with ignore_retryable("the scheduler's role"):
            await self._leading.resign()

    async def _schedule(self, progress: RunProgress, now: datetime) -> None:
        """Creates due runs. The next time of each schedule is stored in advance, so none is missed while no process leads."""
        schedules = {
            policy.name: policy.triggers.schedule
            for policy in self._policies.now.listed
            if policy.extract and policy.triggers.schedule is not None
        }
        known = await progress.schedules()
        if known.keys() - schedules.keys():
            await progress.keep_schedules(schedules)
        for name, schedule in schedules.items():
            scheduled = known.get(name)
            due_run = None if scheduled is None else due(scheduled.schedule, scheduled.next_due, now)
            if due_run is not None:  # a run that was due stays due if the schedule changed since
                await progress.add(scheduled_run(name, due_run, now))
            if scheduled is None or scheduled.schedule != schedule:
                await progress.set_schedule(name, schedule, next_time(schedule, now))
            elif due_run is not None:
                await progress.set_schedule(name, schedule, due_run.next_due)

    async def _begin_in_transaction(self, run: ConsolidationRun) -> None:
        """Begins a run in its own transaction, so that a failing one delays neither schedules nor other runs."""
        try:
            async with self._leading.term() as connection:
                if connection is not None and await RunProgress(connection).is_pending(run.run_id):
                    await self._begin(RunProgress(connection), run)
        except Retryable as exc:
            log.warning("consolidation of %s cannot start now, trying again: %s", run.scope, exc)
            if self._failing.record_failure(run.run_id, self._clock()):
                await self._give_up(run, f"it could not begin within {GIVE_UP_AFTER} and is cancelled: {exc.plain}")

    async def _give_up(self, run: ConsolidationRun, error: str) -> None:
        async with self._leading.term() as connection:
            if connection is not None:
                await RunProgress(connection).fail(run.run_id, self._clock(), error)

    async def _begin(self, progress: RunProgress, run: ConsolidationRun) -> None:
        policies, behind, left = self._policies.now, None, run.most
        if run.policy is not None and policies.by_name(run.policy).name != run.policy:
            await progress.fail(run.run_id, self._clock(), f"there is no policy {run.policy!r}")
            return
        while page := await progress.windows(run.conversation_id, behind, PAGE):
            speakers = await progress.speakers(page) if run.namespace is not None else {}
            about = [window for window in page if covers(run, window.scope, policies, speakers)]
            if about:
                added = await progress.add_conversations(run, about, left)
                left = None if left is None else left - added
            behind = page[-1]
            if len(page) < PAGE or left == 0:
                break
        await progress.begin(run, self._clock())

    async def _request_extraction(self) -> None:
        """Asks windows in its own transaction, so that an outage of Kafka does not delay due runs."""
        async with self._leading.term() as connection:
            if connection is None:
                return
            progress, now = RunProgress(connection), self._clock()
            conversations = await progress.unrequested(now, MAX_REQUESTED)
            if self._look_again_at is None or now >= self._look_again_at:
                conversations += await progress.unanswered(now, now - REQUEST_AGAIN_AFTER, MAX_REQUESTED)
                await progress.forget(now - DETAILS_KEPT, now - FINDINGS_KEPT)
                self._look_again_at = now + RECHECK_AFTER
            if conversations:
                await self._publisher.publish([flush_record(each, now) for each in conversations])


def covers(
    run: ConsolidationRun, scope: Scope, policies: Policies, speakers: Mapping[str, Collection[str]] = NO_SPEAKERS
) -> bool:
    """Whether a run covers a conversation under the current policies. `speakers` are users who spoke besides the one of the
    scope, by conversation."""
    policy = policies.match(scope)
    if not policy.extract or (run.policy is not None and policy.name != run.policy):
        return False
    scopes = [scope, *(replace(scope, user_id=user_id) for user_id in speakers.get(scope.conversation_id, ()))]
    return run.namespace is None or any(run.namespace in policy.namespaces_of(each) for each in scopes)


def run_summary(run: ConsolidationRun) -> str:
    """The results of a run, for the log."""
    counts = (
        f"{run.created} created, {run.reinforced + run.merged} reinforced, {run.superseded} superseded of "
        f"{run.processed} of {counted(run.conversations, 'conversations')}"
    )
    return f"{counts}; {run.error}" if run.error else counts
