"""Leases of extraction requests and batches while other statements have taken every connection of the stage."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import structs

from deploy.metrics.meters import Meters
from deploy.settings import load
from deploy.wiring import model_stages
from schemas import codec
from schemas.errors import Deferred
from schemas.extraction.requests import ExtractionRequest
from schemas.kafka import topics
from schemas.policies.policies import Policies, Policy
from sinks.extraction.answers import Extractions, Held
from sinks.extraction.batches import Batches
from sinks.extraction.parked import Parking
from sinks.postgres.connection import Pool, connect
from sinks.vectors.port import Neighbour
from tests.builders.slices import slice_of
from tests.deployment import eventually
from tests.fakes.app import StubApp
from tests.fakes.batches import record
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.provider import FakeProvider
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


class HeldBatches(HeldProvider):
    """Also its batches: whether one has ended is known when `release` is set."""

    def batches(self) -> "HeldBatches":
        return self

    async def ended(self, _: str) -> bool:
        self.asked.set()
        await self.release.wait()
        return False


class NoMemories:
    """A vector index without memories."""

    async def search(self, *_: object, **__: object) -> list[Neighbour]:
        return []


@pytest.fixture
async def elsewhere(dsn: str) -> AsyncIterator[Pool]:
    """The pool of another worker."""
    pool = await connect(dsn, max_size=1)
    yield pool
    await pool.close()


async def wired_stage(dsn: str, pool: Pool, provider: FakeProvider, resources: AsyncExitStack) -> dict[str, Any]:
    """The periodic tasks of an extraction stage as a worker wires it, by name."""
    tasks: dict[str, Any] = {}
    app: Any = StubApp()
    app.beside = []

    async def add(_: str, handle: Any) -> None:
        handle(app)

    wiring: Any = SimpleNamespace(
        settings=load(_env_file=None, postgres_dsn=dsn),
        worker="one",
        pool=pool,
        publisher=FakePublisher(),
        policies=Policies((Policy(name="p"),)),
        meters=Meters(),
        resources=resources,
        periodic_tasks=SimpleNamespace(add=lambda name, _, task: tasks.__setitem__(name, task)),
        add=add,
    )
    vectors: Any = NoMemories()
    leases = await model_stages.lease_connections(wiring)
    await model_stages.add_extraction(wiring, leases, provider, FakeEmbedder(), vectors)
    return tasks


@asynccontextmanager
async def all_connections_taken(pool: Pool) -> AsyncIterator[None]:
    async with AsyncExitStack() as busy:
        for _ in range(pool.get_max_size()):
            await busy.enter_async_context(pool.acquire())
        yield


async def renewed(elsewhere: Pool, *tables: str) -> None:
    """Waits until the lease in each table was renewed."""
    at = await elsewhere.fetchval("SELECT clock_timestamp()")
    for table in tables:
        await eventually(
            lambda each=table: elsewhere.fetchval(RENEWED_A_LEASE_LATER.format(each), at), f"{table} is renewed"
        )


async def test_a_batch_keeps_its_lease_while_every_connection_of_the_stage_is_taken(
    dsn: str, pool: Pool, elsewhere: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.extraction.batches.agent.LEASE_S", LEASE_S)
    provider = HeldBatches()
    await pool.execute(
        "INSERT INTO batches (batch_key, state, provider_id, requests) VALUES ('b', 'submitted', 'p', 1)"
    )
    async with AsyncExitStack() as resources:
        looking = asyncio.ensure_future((await wired_stage(dsn, pool, provider, resources))["batches"]())
        await asyncio.wait_for(provider.asked.wait(), 60.0)

        async with all_connections_taken(pool):
            await renewed(elsewhere, "batches")
            assert await Batches(elsewhere).claim("two", LEASE_S) is None

        provider.release.set()
        await looking
    assert await pool.fetchval("SELECT lease_owner IS NULL AND looks = 1 FROM batches")


async def test_a_model_call_keeps_its_leases_while_every_connection_of_the_stage_is_taken(
    dsn: str, pool: Pool, elsewhere: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.extraction.extractor.LEASE_S", LEASE_S)
    monkeypatch.setattr("agents.extraction.parked_requests.LEASE_S", LEASE_S)
    provider = HeldProvider()
    await Parking(pool).park(
        record(topics.REQUESTS, 0, codec.encode(REQUEST), key=b"c"), REQUEST, Deferred(now(), "budget"), 60.0
    )
    async with AsyncExitStack() as resources:
        tasks = await wired_stage(dsn, pool, provider, resources)
        await tasks["parked requests"]()
        await asyncio.wait_for(provider.asked.wait(), 60.0)

        async with all_connections_taken(pool):
            await renewed(elsewhere, "parked", "extractions")
            assert isinstance(await Extractions(elsewhere).lease(REQUEST, "two", LEASE_S), Held)
            assert await Parking(elsewhere).claim("live", 1, "two", LEASE_S) == []

        provider.release.set()
        await eventually(lambda: elsewhere.fetchval(ANSWERED), "the answer is stored")
        assert provider.call_counts == {REQUEST.request_id: 1}
