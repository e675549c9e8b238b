"""The scheduler: creates scheduled runs, begins pending ones, asks windows to extract, and counts results."""

import logging
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final, Protocol

from msgspec.structs import replace

from agents.consolidation.requests import flush_record
from agents.consolidation.retries import TRIED_FOR, FailedRuns
from agents.consolidation.schedule import due, next_moment, run_of
from agents.stage.leases import ignore_retryable
from schemas.consolidation.runs import ConsolidationRun
from schemas.conversations.messages import Scope
from schemas.errors import Retryable
from schemas.kafka.records import Publisher
from schemas.policies.policies import Policies
from sinks.consolidation.run_progress import BEGINNING, RunProgress
from sinks.postgres.connection import Connection

log = logging.getLogger(__name__)

PAGE: Final = 1_000  # windows, or conversations of runs, that are looked at together
BEGUN_AT_ONCE: Final = 4  # runs
ASKED_AT_ONCE: Final = 500  # conversations
ASK_AGAIN: Final = timedelta(minutes=5)
LOOK_AGAIN: Final = timedelta(minutes=1)  # which to ask again
GIVEN_UP_AFTER: Final = timedelta(days=3)  # batches take a day, and budgets end at midnight
DETAILS_KEPT: Final = timedelta(days=30)
NOBODY_ELSE: Final[Mapping[str, Collection[str]]] = MappingProxyType({})
FINDINGS_KEPT: Final = timedelta(days=7)


class LeaderElection(Protocol):
    """sinks.postgres.leaders.Leadership."""

    def term(self) -> AbstractAsyncContextManager[Connection | None]: ...

    async def stand_down(self) -> None: ...


class PolicySource(Protocol):
    """agents.policies.reader.CurrentPolicies."""

    @property
    def now(self) -> Policies: ...


class Scheduler:
    """Every worker has one; only the leader's acts. All state is in PostgreSQL, so another worker can continue."""

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
        """Does what there is to do now. Raises Retryable; what was not done then is done at the next tick."""
        async with self._leading.term() as connection:
            if connection is None:
                return
            progress, now = RunProgress(connection), self._clock()
            await self._schedule(progress, now)
            most = BEGUN_AT_ONCE + len(self._failing)
            pending = await progress.pending(most)
        if len(pending) < most:  # none is left out
            self._failing.keep([run.run_id for run in pending])
        for run in [run for run in pending if not self._failing.is_resting(run.run_id, now)][:BEGUN_AT_ONCE]:
            await self._begin_in_transaction(run)
        async with self._leading.term() as connection:
            if connection is None:
                return
            progress, now = RunProgress(connection), self._clock()
            self._settled_to = await progress.settle(now, self._settled_to, PAGE)
            for run in await progress.finish(now, now - GIVEN_UP_AFTER):
                log.info("consolidation of %s %s: %s", run.scope, run.status, run_summary(run))
        await self._ask()

    async def close(self) -> None:
        """Lets another worker lead at once."""
        async with ignore_retryable("the scheduler's role"):
            await self._leading.stand_down()

    async def _schedule(self, progress: RunProgress, now: datetime) -> None:
        """The next moment of each schedule is noted before it comes, so that it is not missed while nobody leads."""
        wanted = {
            policy.name: policy.triggers.schedule
            for policy in self._policies.now.listed
            if policy.extract and policy.triggers.schedule is not None
        }
        known = await progress.schedules()
        if known.keys() - wanted.keys():
            await progress.keep_schedules(wanted)
        for name, schedule in wanted.items():
            standing = known.get(name)
            came = None if standing is None else due(standing.schedule, standing.next_due, now)
            if came is not None:  # also of a schedule that was changed since: its moment had come
                await progress.add(run_of(name, came, now))
            if standing is None or standing.schedule != schedule:
                await progress.set_schedule(name, schedule, next_moment(schedule, now))
            elif came is not None:
                await progress.set_schedule(name, schedule, came.next_due)

    async def _begin_in_transaction(self, run: ConsolidationRun) -> None:
        """In a transaction of its own: one that cannot begin must hold up neither schedules nor other runs."""
        try:
            async with self._leading.term() as connection:
                if connection is not None and await RunProgress(connection).is_pending(run.run_id):
                    await self._begin(RunProgress(connection), run)
        except Retryable as exc:
            log.warning("consolidation of %s cannot begin now: %s", run.scope, exc)
            if self._failing.record_failure(run.run_id, self._clock()):
                await self._give_up(run, f"it could not begin for {TRIED_FOR}, and is given up: {exc.plain}")

    async def _give_up(self, run: ConsolidationRun, error: str) -> None:
        async with self._leading.term() as connection:
            if connection is not None:
                await RunProgress(connection).fail(run.run_id, self._clock(), error)

    async def _begin(self, progress: RunProgress, run: ConsolidationRun) -> None:
        policies, behind, left = self._policies.now, None, run.most
        if run.policy is not None and policies.by_name(run.policy).name != run.policy:
            await progress.fail(run.run_id, self._clock(), f"no policy is called {run.policy!r}")
            return
        while page := await progress.windows(run.conversation_id, behind, PAGE):
            speakers = await progress.speakers(page) if run.namespace is not None else {}
            about = [window for window in page if concerns(run, window.scope, policies, speakers)]
            if about:
                added = await progress.add_conversations(run, about, left)
                left = None if left is None else left - added
            behind = page[-1]
            if len(page) < PAGE or left == 0:
                break
        await progress.begin(run, self._clock())

    async def _ask(self) -> None:
        """In a transaction of its own: Kafka being away must not hold up what is due."""
        async with self._leading.term() as connection:
            if connection is None:
                return
            progress, now = RunProgress(connection), self._clock()
            asking = await progress.unasked(now, ASKED_AT_ONCE)
            if self._look_again_at is None or now >= self._look_again_at:
                asking += await progress.unanswered(now, now - ASK_AGAIN, ASKED_AT_ONCE)
                await progress.forget(now - DETAILS_KEPT, now - FINDINGS_KEPT)
                self._look_again_at = now + LOOK_AGAIN
            if asking:
                await self._publisher.publish([flush_record(each, now) for each in asking])


def concerns(
    run: ConsolidationRun, scope: Scope, policies: Policies, speakers: Mapping[str, Collection[str]] = NOBODY_ELSE
) -> bool:
    """Whether a run is about a conversation, under the policies as they are now. `speakers` are the users who said something, by
    conversation, besides the one of the scope."""
    policy = policies.match(scope)
    if not policy.extract or (run.policy is not None and policy.name != run.policy):
        return False
    scopes = [scope, *(replace(scope, user_id=user_id) for user_id in speakers.get(scope.conversation_id, ()))]
    return run.namespace is None or any(run.namespace in policy.namespaces_of(each) for each in scopes)


def run_summary(run: ConsolidationRun) -> str:
    """What came of a run, for a log."""
    counts = (
        f"{run.created} created, {run.reinforced + run.merged} reinforced, {run.superseded} superseded of "
        f"{run.processed} of {run.conversations} conversations"
    )
    return f"{counts}; {run.error}" if run.error else counts
