"""Builders of parked requests."""

from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from msgspec.structs import replace

from schemas import codec
from schemas.budgets.budgets import Lane
from schemas.errors import Deferred
from schemas.extraction.requests import ExtractionRequest
from schemas.kafka import topics
from sinks.extraction.parked import Parking, ShareGroup
from tests.builders.slices import slice_of
from tests.fakes.batches import record
from tests.fakes.parking import FakeParking

AnyParking: TypeAlias = Parking | FakeParking

LONG_S, OVER_S = 3_600.0, 0.0
EARLIER, LATER = timedelta(hours=-1), timedelta(hours=1)


def now() -> datetime:
    return datetime.now(UTC)


def a_request(request_id: str = "r", lane: Lane = "background") -> ExtractionRequest:
    return replace(slice_of("I moved to Lyon."), request_id=request_id, lane=lane)


def sent(request: ExtractionRequest, offset: int = 7, **options: Any) -> Any:
    return record(topics.REQUESTS, offset, codec.encode(request), **options)


async def park(
    parking: AnyParking,
    request: ExtractionRequest,
    wait: timedelta = EARLIER,
    deadline_s: float = LONG_S,
    *,
    batched: bool = False,
) -> None:
    await parking.park(sent(request), request, Deferred(now() + wait, "budget"), deadline_s, batched=batched)


async def claimed(
    parking: AnyParking, lane: Lane = "background", limit: int = 10, lease_s: float = LONG_S
) -> list[str]:
    return [each.request_id for each in await parking.claim(lane, limit, "owner", lease_s)]


async def share(
    parking: AnyParking,
    request_id: str,
    *,
    tokens: int = 100,
    key: str = "k",
    enough: int = 1_000,
    wait: timedelta = LATER,
    reason: str = "shared",
) -> None:
    request = a_request(request_id, "live")
    sharing = ShareGroup(key, tokens, enough)
    await parking.park(sent(request), request, Deferred(now() + wait, reason), LONG_S, sharing=sharing)
