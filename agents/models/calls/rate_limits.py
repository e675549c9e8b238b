"""Client-side rate limits of a provider: token buckets that follow the server's headers, so that calls wait instead of
failing.

They have no clock: callers pass the time, in monotonic seconds.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from agents.models.port import Usage
from schemas.errors import Retryable

LimitKind: TypeAlias = Literal["requests", "input_tokens", "output_tokens", "tokens"]
Cost: TypeAlias = Mapping[LimitKind, float]
KINDS: Final[tuple[LimitKind, ...]] = ("requests", "input_tokens", "output_tokens", "tokens")
EXPECTED_OUTPUT_TOKENS: Final = 500
"""The expected tokens of an answer before the call: four memories, or a summary."""


class Allowance(Struct, frozen=True):
    """A rate limit as the server reports it: amount per minute, and the remaining amount."""

    kind: LimitKind
    per_minute: float
    remaining: float


class RateLimited(Retryable):
    """The provider is available but rejected the call for its rate. `allowances` are the limits that it reported, `wait_s` the
    seconds that it asked to wait, if any; `said` is its message."""

    def __init__(
        self, message: str, wait_s: float | None = None, allowances: Sequence[Allowance] = (), *, said: str = ""
    ) -> None:
        super().__init__(message, said)
        self.wait_s = wait_s
        self.allowances = tuple(allowances)


class TokenBucket:
    """A token bucket that holds one minute's amount. Without a limit it is never empty."""

    def __init__(self, per_minute: float | None = None) -> None:
        self._most = per_minute
        self._level = per_minute or 0.0
        self._at = 0.0

    def wait_s(self, now: float, amount: float) -> float:
        """Seconds until the amount is available; an amount above the bucket's size passes when it is full."""
        if self._most is None:
            return 0.0
        lacking = min(amount, self._most) - self._refilled(now)
        return max(0.0, lacking * 60.0 / self._most)

    def take(self, now: float, amount: float) -> None:
        """Takes an amount; the level may fall below zero. A negative amount is given back."""
        if self._most is not None:
            self._level = min(self._most, self._refilled(now) - amount)

    def set_remaining(self, now: float, per_minute: float, remaining: float) -> None:
        """Lowers the level to the server's value if that is less. The server does not know the running calls of this process, and
        this process does not know the calls of other clients."""
        known = self._refilled(now) if self._most is not None else remaining
        self._most = per_minute
        self._level = min(known, remaining, per_minute)
        self._at = now

    def _refilled(self, now: float) -> float:
        most = self._most or 0.0
        self._level = min(most, self._level + max(0.0, now - self._at) * most / 60.0)
        self._at = max(self._at, now)
        return self._level


class RateLimits:
    """The limits of one model. `tokens_per_minute` is the operator's own, for input and output together."""

    def __init__(self, tokens_per_minute: float | None = None) -> None:
        self._buckets: dict[LimitKind, TokenBucket] = {kind: TokenBucket() for kind in KINDS}
        self._own = TokenBucket(tokens_per_minute)
        self._closed_until = 0.0

    def wait_s(self, now: float, cost: Cost) -> float:
        """Seconds until a call of this cost may start; 0 for now."""
        waits = [bucket.wait_s(now, cost[kind]) for kind, bucket in self._buckets.items()]
        return max(self._closed_until - now, self._own.wait_s(now, cost["tokens"]), *waits, 0.0)

    def take(self, now: float, cost: Cost) -> None:
        self._own.take(now, cost["tokens"])
        for kind, bucket in self._buckets.items():
            bucket.take(now, cost[kind])

    def correct(self, now: float, expected: Cost, actual: Cost) -> None:
        """Replaces the expected cost of a call by the actual one."""
        self.take(now, {kind: actual[kind] - expected[kind] for kind in KINDS})

    def set_remaining(self, now: float, allowances: Sequence[Allowance]) -> None:
        for allowance in allowances:
            self._buckets[allowance.kind].set_remaining(now, allowance.per_minute, allowance.remaining)

    def block(self, now: float, seconds: float) -> None:
        """Blocks all calls for that many seconds."""
        self._closed_until = max(self._closed_until, now + seconds)


def expected_cost(input_tokens: float) -> Cost:
    """The expected cost of a call."""
    return cost(input_tokens, EXPECTED_OUTPUT_TOKENS)


def actual_cost(usage: Usage) -> Cost:
    """The actual cost of a call; tokens read from the cache do not count against the limits."""
    return cost(usage.input_tokens + usage.cache_write_tokens, usage.output_tokens)


def cost(input_tokens: float, output_tokens: float) -> Cost:
    return {
        "requests": 1.0,
        "input_tokens": input_tokens,
        "output_tokens": output_tokens,
        "tokens": input_tokens + output_tokens,
    }
