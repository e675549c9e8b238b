"""Rate limits of API keys: one token bucket per key, local to the process."""

from collections.abc import Callable
from typing import Final

MAX_BUCKETS: Final = 10_000


class RateLimiter:
    """Allows `per_s` requests per second on average and bursts of up to `burst` requests. `clock` returns monotonic seconds."""

    def __init__(self, per_s: float, burst: int, clock: Callable[[], float]) -> None:
        self._per_s = per_s
        self._burst = burst
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}  # remaining tokens, and the time of that count

    def wait_s(self, key_id: str) -> float:
        """Returns 0 and counts the request if it may proceed; otherwise returns the seconds until a request may proceed."""
        now = self._clock()
        tokens, at = self._buckets.get(key_id, (float(self._burst), now))
        tokens = min(tokens + (now - at) * self._per_s, self._burst)
        allowed = tokens >= 1
        self._buckets[key_id] = (tokens - 1 if allowed else tokens, now)
        if len(self._buckets) > MAX_BUCKETS:
            self._forget_full(now)
        return 0.0 if allowed else (1 - tokens) / self._per_s

    def _forget_full(self, now: float) -> None:
        """Drops full buckets: a new bucket is equal to a full one."""
        self._buckets = {
            key_id: (tokens, at)
            for key_id, (tokens, at) in self._buckets.items()
            if tokens + (now - at) * self._per_s < self._burst
        }
