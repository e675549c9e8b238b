"""The API's rate limits: token buckets, headers in every response, and 429 when one is empty."""

import math
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

# Per minute, high enough that no test meets them by accident.
REQUESTS, INPUT_TOKENS, OUTPUT_TOKENS = 50_000, 50_000_000, 10_000_000


class Bucket:
    """Holds a minute's worth at most; `now` is in seconds since 1970."""

    def __init__(self, per_minute: int, now: Callable[[], float]) -> None:
        self.per_minute = per_minute
        self.now = now
        self._level = float(per_minute)
        self._at = now()

    @property
    def level(self) -> float:
        now = self.now()
        self._level = min(self.per_minute, self._level + (now - self._at) * self.per_minute / 60)
        self._at = now
        return self._level

    def take(self, amount: int) -> None:
        """May leave less than nothing: what an answer costs is known when it is given."""
        self._level = self.level - amount

    def seconds_until(self, level: float) -> float:
        return max(0.0, (level - self.level) * 60 / self.per_minute)

    def headers(self, name: str) -> dict[str, str]:
        full = datetime.fromtimestamp(self.now(), UTC) + timedelta(seconds=self.seconds_until(self.per_minute))
        # Whole seconds, the next one: at a reset that has been rounded down the bucket would not be full.
        reset = (full + timedelta(seconds=1)).replace(microsecond=0) if full.microsecond else full
        said = {"limit": self.per_minute, "remaining": max(0, int(self.level)), "reset": f"{reset:%Y-%m-%dT%H:%M:%SZ}"}
        return {f"anthropic-ratelimit-{name}-{what}": str(value) for what, value in said.items()}


class Rates:
    """Requests, input tokens (without what the cache read) and output tokens a minute."""

    def __init__(
        self,
        requests: int = REQUESTS,
        input_tokens: int = INPUT_TOKENS,
        output_tokens: int = OUTPUT_TOKENS,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.requests = Bucket(requests, now)
        self.input_tokens = Bucket(input_tokens, now)
        self.output_tokens = Bucket(output_tokens, now)

    def wait_s(self) -> int:
        """Whole seconds until another request is let in; 0 for now."""
        all_of_them = (self.requests, self.input_tokens, self.output_tokens)
        return math.ceil(max(bucket.seconds_until(1) for bucket in all_of_them))

    def spend(self, usage: dict[str, Any]) -> None:
        self.input_tokens.take(usage["input_tokens"] + usage["cache_creation_input_tokens"])
        self.output_tokens.take(usage["output_tokens"])

    def headers(self) -> dict[str, str]:
        """`tokens` tells of both limits together, as the API does where no workspace has one of its own."""
        return {
            **self.requests.headers("requests"),
            **self.input_tokens.headers("input-tokens"),
            **self.output_tokens.headers("output-tokens"),
            **together(self.input_tokens, self.output_tokens).headers("tokens"),
        }


def together(first: Bucket, second: Bucket) -> Bucket:
    """Returns a bucket with the limits and the current levels of both."""
    both = Bucket(first.per_minute + second.per_minute, first.now)
    both.take(both.per_minute - int(first.level + second.level))
    return both
