"""How late a partition is: how long ago that was published which its stage has come to."""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

Place: TypeAlias = tuple[str, str, int]  # group, topic, partition


class Lateness:
    """What each held partition has come to: the present while it has no lag, else the newest record that was handed to the agent.

    Before a first batch it counts from when the partition was got: how old what waits there is, is not known yet.
    `now` is Unix seconds.
    """

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._got_s: dict[Place, float] = {}
        self._reached_s: dict[Place, float] = {}

    def look(self, held: Iterable[Place], lags: Mapping[Place, int]) -> None:
        """To be called now and then, with all that this worker holds; what it holds no more is forgotten."""
        now = self._now()
        self._got_s = {place: self._got_s.get(place, now) for place in held}
        self._reached_s = {place: at for place, at in self._reached_s.items() if place in self._got_s}
        for place, lag in lags.items():
            if not lag:
                self._reached_s[place] = now

    def handed(self, place: Place, timestamp_ms: int) -> None:
        """The agent gets a batch that ends with a record of this time."""
        self._reached_s[place] = max(timestamp_ms / 1000, self._reached_s.get(place, 0.0))

    def age_s(self, place: Place) -> float:
        now = self._now()
        return max(0.0, now - self._reached_s.get(place, self._got_s.get(place, now)))
