"""A circuit breaker (Nygard, "Release It!", 2007): a provider that is down is left alone, and tried with one call at a time.

It has no clock: each question brings its moment, in seconds of any clock that does not go back.
"""

from typing import Literal, TypeAlias

BreakerState: TypeAlias = Literal["closed", "open", "half-open"]


class Breaker:
    """Opens after `most_outages` in a row. `cool_down_s` later it lets one probe through, which closes or opens it again."""

    def __init__(self, most_outages: int = 5, cool_down_s: float = 30.0) -> None:
        self._most_outages = most_outages
        self._cool_down_s = cool_down_s
        self._opened_at: float | None = None
        self._probing = False
        self.outages = 0
        """In a row, up to now."""

    def state(self, now: float) -> BreakerState:
        if self._opened_at is None:
            return "closed"
        return "half-open" if now >= self._opened_at + self._cool_down_s else "open"

    def wait_s(self, now: float) -> float:
        """Until a call may be made: 0 for now. Behind a running probe, as long as another cool-down."""
        if self._opened_at is None:
            return 0.0
        if self._probing:
            return self._cool_down_s
        return max(0.0, self._opened_at + self._cool_down_s - now)

    def started(self) -> None:
        """A call is made, as `wait_s` allowed; one of the three below ends it."""
        self._probing = self._opened_at is not None

    def answered(self) -> None:
        self._opened_at = None
        self._probing = False
        self.outages = 0

    def failed(self, now: float) -> None:
        """It was an outage. Calls that were under way when it opened do not put the probe off."""
        self.outages += 1
        if (self._opened_at is None and self.outages >= self._most_outages) or self._probing:
            self._opened_at = now
        self._probing = False

    def abandoned(self) -> None:
        """The call ended without telling anything of the provider: another one may be the probe."""
        self._probing = False
