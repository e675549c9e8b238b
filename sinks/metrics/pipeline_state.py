"""The state of the pipeline in PostgreSQL: providers as workers see them, parked requests, running calls."""

from collections.abc import Collection
from typing import Any, Final, TypeVar

from msgspec import Struct

from schemas.budgets.budgets import Lane
from schemas.codec import convert
from schemas.conversations.messages import Moment
from sinks.postgres.connection import Pool, translated
from sinks.postgres.queries import query

WORKER_TIMEOUT_S: Final = 120.0  # reports of workers that are silent for longer are ignored
MOST_REASONS: Final = 50


T = TypeVar("T", bound=Struct)


class ProviderState(Struct, frozen=True, kw_only=True):
    """The state of a provider as seen by `workers`. `breaker` is closed, open or half-open; None for a provider without one."""

    provider: str
    breaker: str | None
    available: bool
    workers: int
    at: Moment


class ParkedRequests(Struct, frozen=True, kw_only=True):
    """Extraction requests parked for one reason, such as `budget`; `batched` of them wait for or in a provider's batch."""

    lane: Lane
    reason: str
    requests: int
    batched: int
    oldest_at: Moment


class UnderWay(Struct, frozen=True, kw_only=True):
    """Running model calls, and unpublished changes, the oldest since `outbox_since`."""

    calls: int
    outbox: int
    outbox_since: Moment | None


class PipelineState:
    """Every method raises Retryable."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def note_providers(self, worker: str, found: Collection[tuple[str, str | None, bool]]) -> None:
        """Stores a worker's view of providers: name, breaker state, and availability of each."""
        with translated("storing provider states"):
            await self._pool.execute(query("pipeline", "forget_workers"), WORKER_TIMEOUT_S)
            await self._pool.execute(query("pipeline", "note_providers"), worker, *map(list, zip(*found, strict=True)))

    async def providers(self) -> tuple[ProviderState, ...]:
        """Provider states by name; one row for each state that workers differ in."""
        return await self._rows("providers", ProviderState, WORKER_TIMEOUT_S)

    async def parked(self) -> tuple[ParkedRequests, ...]:
        """Parked requests by lane and reason, most first."""
        return await self._rows("parked", ParkedRequests, MOST_REASONS)

    async def under_way(self) -> UnderWay:
        (found,) = await self._rows("under_way", UnderWay)
        return found

    async def _rows(self, statement: str, shape: type[T], *values: Any) -> tuple[T, ...]:
        with translated("reading the pipeline state"):
            rows = await self._pool.fetch(query("pipeline", statement), *values)
        return tuple(convert(dict(row), shape) for row in rows)
