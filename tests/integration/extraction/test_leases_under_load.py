"""Leases of extraction requests while other statements have taken every connection of the stage."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime

import pytest
from msgspec import structs

from agents.extraction.extractor import Extractor
from agents.extraction.outcomes import RequestOutcomes
from agents.extraction.parked_requests import ParkedRequestAgent
from schemas import codec
from schemas.errors import Deferred
from schemas.extraction.requests import ExtractionRequest
from schemas.kafka import topics
from schemas.policies.policies import Policies, Policy
from sinks.extraction.answers import Extractions, Held
from sinks.extraction.parked import Parking
from sinks.postgres.connection import Pool, connect
from tests.builders.slices import slice_of
from tests.deployment import eventually
from tests.fakes.batches import record
from tests.fakes.provider import FakeProvider, FakeRelated
from tests.fakes.publisher import FakePublisher

LEASE_S = 1.0
RENEWED_A_LEASE_LATER = "SELECT count(*) FROM {} WHERE lease_until > $1::timestamptz + interval '2 seconds'"
ANSWERED = "SELECT count(*) FROM extractions WHERE answer IS NOT NULL"
REQUEST = structs.replace(slice_of("I live in Turin."), request_id="r", namespaces=("n",))


def now() -> datetime:
    return datetime.now(UTC)


class HeldProvider(FakeProvider):
    """Its calls end when `release` is set."""

    def __init__(self) -> None:
        super().__init__(takes_s=0.0)
        self.asked, self.release = asyncio.Event(), asyncio.Event()

    async def _text(self, request: ExtractionRequest) -> str:
        self.asked.set()
        await self.release.wait()
        return await super()._text(request)


@pytest.fixture
async def leases(dsn: str) -> AsyncIterator[Pool]:
    pool = await connect(dsn, max_size=1)
    yield pool
    await pool.close()


@pytest.fixture
async def elsewhere(dsn: str) -> AsyncIterator[Pool]:
    """The pool of another worker."""
    pool = await connect(dsn, max_size=1)
    yield pool
    await pool.close()


async def test_a_model_call_keeps_its_leases_while_every_connection_of_the_stage_is_taken(
    pool: Pool, leases: Pool, elsewhere: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("extractor", "parked_requests"):
        monkeypatch.setattr(f"agents.extraction.{module}.LEASE_S", LEASE_S)
    provider, extractions = HeldProvider(), Extractions(pool, leases)
    extractor = Extractor(extractions, provider, FakeRelated(), FakePublisher(), Policies((Policy(name="p"),)), now)
    outcomes = RequestOutcomes(extractions, FakePublisher(), now, extractor.without_erased)
    agent = ParkedRequestAgent(Parking(leases), extractor, outcomes, "one", {"live": 1})
    await Parking(pool).park(
        record(topics.REQUESTS, 0, codec.encode(REQUEST), key=b"c"), REQUEST, Deferred(now(), "budget"), 60.0
    )
    await agent.tick()
    await provider.asked.wait()

    async with AsyncExitStack() as busy:
        for _ in range(pool.get_max_size()):
            await busy.enter_async_context(pool.acquire())
        at = await elsewhere.fetchval("SELECT clock_timestamp()")
        for table in ("parked", "extractions"):
            await eventually(
                lambda each=table: elsewhere.fetchval(RENEWED_A_LEASE_LATER.format(each), at), f"{table} is renewed"
            )
        assert isinstance(await Extractions(elsewhere).lease(REQUEST, "two", LEASE_S), Held)
        assert await Parking(elsewhere).claim("live", 1, "two", LEASE_S) == []

    provider.release.set()
    await eventually(lambda: elsewhere.fetchval(ANSWERED), "the answer is stored")
    assert provider.call_counts == {REQUEST.request_id: 1}
    await agent.close()
    await extractor.close()
