"""Consumption of model calls: one record for all calls about one subject, including repairs of answers."""

from typing import Literal

from msgspec import Struct

from schemas.budgets.budgets import Lane
from schemas.conversations.messages import Moment

Operation = Literal["extract", "summarise", "compact", "score", "shorten", "rerank", "resolve"]
Outcome = Literal["answered", "failed"]


class Consumed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`calls` model calls of one operation, for `namespaces` together, ended at `at`. Failed calls that were billed count.

    `input_tokens` excludes tokens written to or read from a cache. `cost_micros` are millionths of a US dollar, None without
    a known price. `batched`: all calls at the price of batches.
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
        """The subject of the usage event."""
        return self.conversation_id or next(iter(self.namespaces), "models")


class Total(Struct, frozen=True, kw_only=True):
    """The consumption of one group of calls. `cost_micros` excludes the `unpriced` records, which have no known price."""

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
