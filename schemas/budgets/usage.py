"""What model calls consumed: one record of everything that was asked about one thing, repair included."""

from typing import Literal

from msgspec import Struct

from schemas.conversations.messages import Moment
from schemas.extraction.requests import Lane

Operation = Literal["extract", "summarise", "compact", "score", "shorten", "rerank", "resolve"]
Outcome = Literal["answered", "failed"]


class Consumed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`calls` model calls of one operation, for `namespaces` together, ended `at`; what failed was billed all the same.

    `input_tokens` excludes what a cache was written to or read from. `cost_micros` are millionths of a US dollar, None if
    no price is known. `batched`: all at the price of batches.
    """

    usage_id: str
    at: Moment
    operation: Operation
    lane: Lane
    outcome: Outcome
    provider: str
    model: str
    calls: int
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_micros: int | None = None
    batched: bool = False
    namespaces: tuple[str, ...] = ()
    request_id: str | None = None
    conversation_id: str | None = None

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens + self.cache_read_tokens + self.cache_write_tokens

    @property
    def subject(self) -> str:
        """What its event is about."""
        return self.conversation_id or next(iter(self.namespaces), "models")


class Total(Struct, frozen=True, kw_only=True):
    """What one kind of calls came to. `cost_micros` leaves out `unpriced` records, of which no price is known."""

    operation: Operation
    lane: Lane
    provider: str
    model: str
    answered: int
    failed: int
    calls: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    cost_micros: int
    unpriced: int
