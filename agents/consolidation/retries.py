"""Retries of runs that fail to begin, and when to give up. In memory: a new leader starts over."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Final, NamedTuple

RETRY_AFTER: Final = timedelta(minutes=1)
GIVE_UP_AFTER: Final = timedelta(hours=1)
# Longest time between two failures in a row: in between, four other runs may take 30 s each. A longer gap means that no
# attempt was made, as while PostgreSQL was unavailable, or that the clock was set.
MAX_INTERVAL: Final = timedelta(minutes=15)


class FailedRun(NamedTuple):
    """The times of the first and the last failure of a run."""

    first: datetime
    last: datetime

    def keeps_failing(self, now: datetime) -> bool:
        return timedelta() <= now - self.last <= MAX_INTERVAL


class FailedRuns:
    """The failed runs by id."""

    def __init__(self) -> None:
        self._tried: dict[str, FailedRun] = {}

    def __len__(self) -> int:
        return len(self._tried)

    def is_resting(self, run_id: str, now: datetime) -> bool:
        """Whether the run failed recently, so that other runs come first."""
        tried = self._tried.get(run_id)
        return tried is not None and timedelta() <= now - tried.last < RETRY_AFTER

    def record_failure(self, run_id: str, now: datetime) -> bool:
        """Records a failure; True if the run has failed for so long that it should be given up."""
        before = self._tried.get(run_id)
        first = before.first if before is not None and before.keeps_failing(now) else now
        self._tried[run_id] = FailedRun(first, now)
        return now >= first + GIVE_UP_AFTER

    def keep(self, pending: Collection[str]) -> None:
        """Forgets runs that are not pending any more."""
        self._tried = {run_id: tried for run_id, tried in self._tried.items() if run_id in pending}
