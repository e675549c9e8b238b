"""An extraction stage with parked requests, checked once a second."""

import asyncio
from datetime import timedelta

from msgspec import structs

from schemas.errors import Deferred
from schemas.extraction.requests import ExtractionRequest
from tests.fakes.clock import utc
from tests.unit.extraction.extraction_stage import Worker, numbered_request

HOUR_S = 3_600.0


def in_background(number: int = 1) -> ExtractionRequest:
    return structs.replace(numbered_request(number), lane="background")


def deferred(after_s: float = HOUR_S) -> Deferred:
    return Deferred(utc() + timedelta(seconds=after_s), "budget")


async def parked(worker: Worker, *requests: ExtractionRequest, after_s: float = HOUR_S) -> None:
    """The requests are delivered, and put off."""
    worker.provider.failures += [deferred(after_s) for _ in requests]
    batch = await worker.take(*requests)
    await asyncio.sleep(2)
    assert batch.acked
    assert len(worker.parking.rows) == len(requests)
    worker.provider.call_counts.clear()


async def ticked(worker: Worker, times: int = 1) -> None:
    """One look a second."""
    for _ in range(times):
        await worker.resuming.tick()
        await asyncio.sleep(1)
