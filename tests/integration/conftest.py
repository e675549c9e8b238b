"""Databases and deployments on the session's stack, and the sample conversations, processed once for all tests."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from msgspec import Struct

from deploy.embedded.stack import EmbeddedStack
from sinks.postgres.connection import Connection, Pool, connect
from tests.deployment import Deployment, Event, deployed
from tests.deployment_data import Snapshot
from tests.fakes.sinks import Fuse
from tests.integration.curation_bench import Bench
from tests.preparation import administer, drop_database, make_database, of_database

SAMPLES = Path(__file__).parents[2] / "deploy" / "samples"
TRACE = (("traceparent", b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),)

Deploy = Callable[..., Awaitable[Deployment]]


class Played(Struct):
    """The samples' deployment, the published events, and the stored data after the first and the second time that they were
    published."""

    deployment: Deployment
    published: list[Event]
    once: Snapshot
    twice: Snapshot


@pytest.fixture
async def empty_dsn(embedded_stack: EmbeddedStack) -> AsyncIterator[str]:
    """A database without tables."""
    name = f"empty_{uuid4().hex[:12]}"
    await administer(embedded_stack.dsn, f"CREATE DATABASE {name}")
    yield of_database(embedded_stack.dsn, name)
    await drop_database(embedded_stack.dsn, name)


@pytest.fixture
async def dsn(embedded_stack: EmbeddedStack) -> AsyncIterator[str]:
    """A migrated database."""
    name = f"test_{uuid4().hex[:12]}"
    yield await make_database(embedded_stack.dsn, name)
    await drop_database(embedded_stack.dsn, name)


@pytest.fixture
async def pool(dsn: str) -> AsyncIterator[Pool]:
    pool = await connect(dsn, max_size=8)
    yield pool
    await pool.close()


@pytest.fixture
async def slow(pool: Pool) -> AsyncIterator[Connection]:
    """A transaction of another worker, which the test ends."""
    async with pool.acquire() as connection:
        await connection.execute("BEGIN")
        yield connection
        await connection.execute("ROLLBACK")


@pytest.fixture
def bench(pool: Pool) -> Bench:
    return Bench(pool)


@pytest.fixture
def make_bench(pool: Pool) -> Callable[..., Bench]:
    """Further benches on the same database, like other workers."""

    def make(fuse: Fuse | None = None) -> Bench:
        return Bench(pool, fuse)

    return make


@pytest.fixture
async def deploy(embedded_stack: EmbeddedStack, tmp_path: Path) -> AsyncIterator[Deploy]:
    """`await deploy(name, **settings)`: a deployment for this test."""
    async with AsyncExitStack() as made:

        async def make(name: str, **settings: Any) -> Deployment:
            few = {"conversation_partitions": 2, "namespace_partitions": 2}
            return await made.enter_async_context(deployed(embedded_stack, name, tmp_path, **(few | settings)))

        yield make


@pytest.fixture(scope="session")
def samples(embedded_stack: EmbeddedStack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    """The sample conversations, published twice to one worker. The worker is stopped, so the data does not change."""
    directory = tmp_path_factory.mktemp("samples")
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        deploying = deployed(
            embedded_stack, "samples", directory, policies_file=SAMPLES / "policies.json", log_format="json"
        )
        try:
            yield runner.run(play(stack, deploying))
        finally:
            runner.run(stack.aclose())


async def play(stack: AsyncExitStack, deploying: Any) -> Played:
    deployment = await stack.enter_async_context(deploying)
    days = [sample_events(path) for path in sorted(SAMPLES.glob("day-*.jsonl"))]
    worker = await deployment.worker()
    for day in days:
        await deployment.publish(*day)
        await deployment.settled()
    once = await deployment.snapshot()
    for day in days:
        await deployment.publish(*day)
    await deployment.settled()
    twice = await deployment.snapshot()
    assert await worker.stop() == 0
    return Played(deployment, [event for day in days for event in day], once, twice)


def sample_events(path: Path) -> list[Event]:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [
        Event(line["topic"], line["key"], line["raw"].encode() if "raw" in line else line["value"], TRACE)
        for line in lines
    ]
