"""A running API during and after outages of the broker, PostgreSQL, Qdrant and the embedder."""

import itertools
import time
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from pydantic import SecretStr

from deploy.embedded.kafka.broker import EmbeddedBroker
from deploy.embedded.postgres.server import EmbeddedPostgres
from deploy.embedded.vectors.process import EmbeddedVectors
from deploy.wiring import connections
from deploy.wiring.vector_index import qdrant
from sinks.postgres.migrate import migrate
from tests.builders.memories import a_memory
from tests.deployment import Deployment, eventually
from tests.embedders import packaged_embedder
from tests.integration.conftest import Deploy
from tests.memory_store import remember
from tests.servers.embeddings import MODEL, EmbeddingServer

NAMESPACE = "kitchen/ada"
ASKED = {"namespaces": [NAMESPACE], "text": "Which food is User allergic to?"}
LENGTHS = itertools.count(10)
NOT_HELD_UP_S = 4.0  # nothing that is read asks the broker
WITHIN_S = 8.0  # a statement may take 5 s
DEGRADED_WITHIN_S = 4.0  # Qdrant and the embedder may take 2 s
BACK_WITHIN_S = 30.0


@pytest.fixture
async def broker(tmp_path: Path, cache_dir: Path) -> AsyncIterator[EmbeddedBroker]:
    server = EmbeddedBroker(tmp_path / "kafka", cache_dir / "jars")
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
async def postgres(tmp_path: Path) -> AsyncIterator[EmbeddedPostgres]:
    """One that may be stopped: the session's is everybody's."""
    server = EmbeddedPostgres(tmp_path / "postgres")
    await server.start()
    await migrate(server.dsn)
    yield server
    await server.stop()


@pytest.fixture
async def vectors(tmp_path: Path) -> AsyncIterator[EmbeddedVectors]:
    server = EmbeddedVectors(tmp_path / "vectors")
    await server.start()
    yield server
    await server.stop()


async def stored(deployment: Deployment) -> str:
    """A memory in PostgreSQL and in Qdrant; its id."""
    memory = a_memory("User is allergic to peanuts.", memory_id=str(uuid4()), namespace=NAMESPACE)
    with closing(packaged_embedder()) as embedder:
        async with (
            connections.postgres(deployment.settings, max_size=1) as pool,
            qdrant(deployment.settings, embedder) as index,
        ):
            await index.ensure_collection()
            await remember(pool, [memory], embedder, index)
    return memory.memory_id


async def answered(asking: Any, within_s: float) -> httpx.Response:
    began = time.monotonic()
    answer: httpx.Response = await asking
    assert time.monotonic() - began < within_s
    return answer


async def searched(api: httpx.AsyncClient) -> Any:
    answer = await answered(api.post("/v1/search", json=ASKED), DEGRADED_WITHIN_S)
    assert answer.status_code == 200, answer.text
    return answer.json()


def reads(api: httpx.AsyncClient, memory_id: str) -> list[Any]:
    """A page of a length that nobody asked for before is not in the cache, which goes on while it knows that nothing changed."""
    return [
        api.get("/v1/memories", params={"namespace": NAMESPACE, "limit": str(next(LENGTHS))}),
        api.get(f"/v1/memories/{memory_id}/versions"),
        api.get("/v1/statistics", params={"namespace": NAMESPACE}),
        api.get("/v1/conversations/c1"),
        api.post("/v1/search", json=ASKED),
        api.post("/v1/context", json=ASKED),
    ]


async def test_reads_during_a_postgresql_outage_return_503_with_retry_after_and_recover(
    postgres: EmbeddedPostgres, deploy: Deploy
) -> None:
    deployment = await deploy("away", postgres_dsn=SecretStr(postgres.dsn))
    memory_id = await stored(deployment)
    async with httpx.AsyncClient(base_url=await deployment.api(), timeout=30) as api:
        before = [(await each).status_code for each in reads(api, memory_id)]
        assert before == [200, 200, 200, 404, 200, 200]
        await postgres.stop()
        for read in reads(api, memory_id):
            answer = await answered(read, WITHIN_S)
            assert (answer.status_code, answer.headers["Content-Type"]) == (503, "application/problem+json")
            assert int(answer.headers["Retry-After"]) > 0
        assert (await answered(api.get("/health/ready"), WITHIN_S)).status_code == 503
        assert (await api.get("/health/live")).status_code == 200
        await postgres.start()

        async def back() -> bool:
            return [(await each).status_code for each in reads(api, memory_id)] == before

        await eventually(back, "reads go on", BACK_WITHIN_S)
        assert (await api.get("/health/ready")).status_code == 200


async def test_during_a_broker_outage_reads_succeed_and_writes_return_503_with_retry_after(
    broker: EmbeddedBroker, deploy: Deploy
) -> None:
    deployment = await deploy("brokerless", bootstrap_servers=broker.bootstrap_servers, api_wait_s=1.0)
    memory_id = await stored(deployment)
    new = {"namespace": NAMESPACE, "text": "User likes rye bread."}
    async with httpx.AsyncClient(base_url=await deployment.api(), timeout=30) as api:

        async def read() -> list[int]:
            requests = [api.get(f"/v1/memories/{memory_id}"), *reads(api, memory_id)]
            return [(await answered(each, NOT_HELD_UP_S)).status_code for each in requests]

        async def accepted() -> bool:
            return (await api.post("/v1/memories", json=new)).status_code == 202

        before = await read()
        assert before == [200, 200, 200, 200, 404, 200, 200]
        assert await accepted(), "no worker carries it out"
        await broker.stop()
        assert await read() == before
        refused = await answered(api.post("/v1/memories", json=new), WITHIN_S)
        assert (refused.status_code, refused.headers["Content-Type"]) == (503, "application/problem+json")
        assert int(refused.headers["Retry-After"]) > 0
        assert await read() == before
        assert (await api.get("/health/ready")).status_code == 200
        await broker.start()
        await eventually(accepted, "changes are accepted again", BACK_WITHIN_S)
        assert await read() == before


async def test_search_without_qdrant_finds_memories_by_words_and_reports_the_degradation(
    vectors: EmbeddedVectors, deploy: Deploy
) -> None:
    deployment = await deploy("degraded", qdrant_url=vectors.url)
    memory_id = await stored(deployment)
    async with httpx.AsyncClient(base_url=await deployment.api(), timeout=30) as api:

        async def whole() -> Any:
            found = await searched(api)
            return None if found["degraded"] else found

        found = await eventually(whole, "all parts are asked", BACK_WITHIN_S)
        assert [hit["memory"]["memory_id"] for hit in found["hits"]] == [memory_id]
        await vectors.stop()
        lame = await searched(api)
        assert [hit["memory"]["memory_id"] for hit in lame["hits"]] == [memory_id]
        assert lame["degraded"] in (["vectors_failed"], ["vectors_slow"])
        assert (await api.post("/v1/context", json=ASKED)).json()["degraded"] == lame["degraded"]
        assert (await api.get("/health/ready")).status_code == 200
        await vectors.start()

        async def back() -> bool:
            return (await searched(api))["degraded"] == []

        await eventually(back, "Qdrant is asked again", BACK_WITHIN_S)


async def test_a_slow_embedder_does_not_delay_search_responses(deploy: Deploy) -> None:
    async with EmbeddingServer() as server:
        chosen = {"embedder": "openai", "embedder_model": MODEL, "embedder_base_url": server.openai_url}
        deployment = await deploy("slow-embedder", **chosen)
        async with httpx.AsyncClient(base_url=await deployment.api(), timeout=30) as api:
            server.script("slow")
            assert "embedder_slow" in (await searched(api))["degraded"]
            calls = len(server.seen)
            assert "embedder_slow" in (await searched(api))["degraded"]
            assert len(server.seen) == calls, "it is left alone for a while, and nobody waits for it"

            async def back() -> bool:
                return "embedder_slow" not in (await searched(api))["degraded"]

            await eventually(back, "the embedder is asked again", BACK_WITHIN_S)
