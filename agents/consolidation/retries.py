"""Retries of runs that cannot begin, and when to give up. In memory: a new leader starts over."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Final, NamedTuple

TRIED_AGAIN_AFTER: Final = timedelta(minutes=1)
TRIED_FOR: Final = timedelta(hours=1)
# Between two failures that go on from each other: others are tried in between, of which four may take half a minute each. After
# longer nobody tried, as while PostgreSQL was away, or the clock was set.
MOST_BETWEEN: Final = timedelta(minutes=15)


class FailedRun(NamedTuple):
    """When a run first could not begin of as often as it was tried, and when it last could not."""

    first: datetime
    last: datetime

    def keeps_failing(self, now: datetime) -> bool:
        return timedelta() <= now - self.last <= MOST_BETWEEN


class FailedRuns:
    """By the ids of runs."""

    def __init__(self) -> None:
        self._tried: dict[str, FailedRun] = {}

    def __len__(self) -> int:
        return len(self._tried)

    def is_resting(self, run_id: str, now: datetime) -> bool:
        """Whether it failed a moment ago, so that others have their turn."""
        tried = self._tried.get(run_id)
        return tried is not None and timedelta() <= now - tried.last < TRIED_AGAIN_AFTER

    def record_failure(self, run_id: str, now: datetime) -> bool:
        """It could not begin; whether that is so for so long, at every try, that it never will."""
        before = self._tried.get(run_id)
        first = before.first if before is not None and before.keeps_failing(now) else now
        self._tried[run_id] = FailedRun(first, now)
        return now >= first + TRIED_FOR

    def keep(self, pending: Collection[str]) -> None:
        """Forgets all others: they have begun, or are over."""
        self._tried = {run_id: tried for run_id, tried in self._tried.items() if run_id in pending}
