"""What the pipeline does right now, as PostgreSQL knows it: providers as workers find them, parked requests, calls under way."""

from collections.abc import Collection
from typing import Any, Final, TypeVar

from msgspec import Struct

from schemas.codec import convert
from schemas.conversations.messages import Moment
from schemas.extraction.requests import Lane
from sinks.postgres.connection import Pool, translated
from sinks.postgres.queries import query

SILENT_S: Final = 120.0  # what a worker said that has been silent for longer counts no more
MOST_REASONS: Final = 50


T = TypeVar("T", bound=Struct)


class ProviderState(Struct, frozen=True, kw_only=True):
    """How so many workers find a provider of models. `breaker` is closed, open or half-open; None for one without."""

    provider: str
    breaker: str | None
    available: bool
    workers: int
    at: Moment


class ParkedRequests(Struct, frozen=True, kw_only=True):
    """Extraction requests that wait for one reason, such as `budget`; `batched` of them for or in a provider's batch."""

    lane: Lane
    reason: str
    requests: int
    batched: int
    oldest_at: Moment


class UnderWay(Struct, frozen=True, kw_only=True):
    """Extractions that a model is asked for now, and changes that wait to be published, the oldest since `outbox_since`."""

    calls: int
    outbox: int
    outbox_since: Moment | None


class PipelineState:
    """Every method raises Retryable."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def note_providers(self, worker: str, found: Collection[tuple[str, str | None, bool]]) -> None:
        """What a worker found: of each provider its name, its breaker's state, and whether it can be asked."""
        with translated("noting how providers are"):
            await self._pool.execute(query("pipeline", "forget_workers"), SILENT_S)
            await self._pool.execute(query("pipeline", "note_providers"), worker, *map(list, zip(*found, strict=True)))

    async def providers(self) -> tuple[ProviderState, ...]:
        """By name; one that workers find differently comes several times."""
        return await self._rows("providers", ProviderState, SILENT_S)

    async def parked(self) -> tuple[ParkedRequests, ...]:
        """By lane and reason, the most first."""
        return await self._rows("parked", ParkedRequests, MOST_REASONS)

    async def under_way(self) -> UnderWay:
        (found,) = await self._rows("under_way", UnderWay)
        return found

    async def _rows(self, statement: str, shape: type[T], *values: Any) -> tuple[T, ...]:
        with translated("looking at the pipeline"):
            rows = await self._pool.fetch(query("pipeline", statement), *values)
        return tuple(convert(dict(row), shape) for row in rows)
