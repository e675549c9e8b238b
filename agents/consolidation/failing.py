"""Runs that could not begin: when each is tried again, and when it is given up. In memory: whoever leads next tries anew."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Final, NamedTuple

TRIED_AGAIN_AFTER: Final = timedelta(minutes=1)
TRIED_FOR: Final = timedelta(hours=1)


class Tried(NamedTuple):
    """When a run first could not begin, and when it last could not."""

    first: datetime
    last: datetime


class Failing:
    """By the ids of runs."""

    def __init__(self) -> None:
        self._tried: dict[str, Tried] = {}

    def __len__(self) -> int:
        return len(self._tried)

    def rests(self, run_id: str, now: datetime) -> bool:
        """Whether it failed a moment ago, so that others have their turn."""
        return run_id in self._tried and now < self._tried[run_id].last + TRIED_AGAIN_AFTER

    def failed(self, run_id: str, now: datetime) -> bool:
        """It could not begin; whether that is so for so long that it never will."""
        tried = self._tried[run_id] = Tried(self._tried[run_id].first if run_id in self._tried else now, now)
        return tried.last >= tried.first + TRIED_FOR

    def keep(self, pending: Collection[str]) -> None:
        """Forgets all others: they have begun, or are over."""
        self._tried = {run_id: tried for run_id, tried in self._tried.items() if run_id in pending}
