"""Rate limits of API keys: a token bucket for each key, in this process."""

from collections.abc import Callable
from typing import Final

MOST_BUCKETS: Final = 10_000


class RateLimiter:
    """`per_s` requests a second on average, `burst` at once. `clock` tells seconds, monotonic."""

    def __init__(self, per_s: float, burst: int, clock: Callable[[], float]) -> None:
        self._per_s = per_s
        self._burst = burst
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}  # what is left, and when that was

    def wait_s(self, key_id: str) -> float:
        """0 if the request may proceed, which is then counted; otherwise the seconds until one may."""
        now = self._clock()
        left, at = self._buckets.get(key_id, (float(self._burst), now))
        left = min(left + (now - at) * self._per_s, self._burst)
        allowed = left >= 1
        self._buckets[key_id] = (left - 1 if allowed else left, now)
        if len(self._buckets) > MOST_BUCKETS:
            self._forget_full(now)
        return 0.0 if allowed else (1 - left) / self._per_s

    def _forget_full(self, now: float) -> None:
        """Drops full buckets: a new one is the same."""
        self._buckets = {
            key_id: (left, at)
            for key_id, (left, at) in self._buckets.items()
            if left + (now - at) * self._per_s < self._burst
        }
