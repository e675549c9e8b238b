"""A circuit breaker (Nygard, "Release It!", 2007): a provider that is down is not called, except for one probe at a time.

It has no clock: callers pass the time, in monotonic seconds.
"""

from typing import Literal, TypeAlias

BreakerState: TypeAlias = Literal["closed", "open", "half-open"]


class Breaker:
    """Opens after `max_outages` in a row. After `cool_down_s` seconds one probe may pass, which closes or reopens it."""

    def __init__(self, max_outages: int = 5, cool_down_s: float = 30.0) -> None:
        self._max_outages = max_outages
        self._cool_down_s = cool_down_s
        self._opened_at: float | None = None
        self._probing = False
        self.outages = 0
        """The latest outages in a row."""

    def state(self, now: float) -> BreakerState:
        if self._opened_at is None:
            return "closed"
        return "half-open" if now >= self._opened_at + self._cool_down_s else "open"

    def wait_s(self, now: float) -> float:
        """Seconds until a call may start; 0 for now. During a probe, another cool-down."""
        if self._opened_at is None:
            return 0.0
        if self._probing:
            return self._cool_down_s
        return max(0.0, self._opened_at + self._cool_down_s - now)

    def started(self) -> None:
        """Notes the start of a call that `wait_s` allowed; one of the next three methods ends it."""
        self._probing = self._opened_at is not None

    def answered(self) -> None:
        self._opened_at = None
        self._probing = False
        self.outages = 0

    def failed(self, now: float) -> None:
        """Notes an outage. Calls that were running when the breaker opened do not delay the probe."""
        self.outages += 1
        if (self._opened_at is None and self.outages >= self._max_outages) or self._probing:
            self._opened_at = now
        self._probing = False

    def abandoned(self) -> None:
        """Notes a call that ended without a result about the provider: another call may be the probe."""
        self._probing = False
