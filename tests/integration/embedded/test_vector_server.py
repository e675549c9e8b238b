"""The vector server as a process: data, shutdown and error bodies."""

import socket
from collections.abc import AsyncIterator
from importlib import metadata
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from qdrant_client import AsyncQdrantClient, models
from qdrant_client.common.version_check import is_compatible

from deploy.embedded.errors import EmbeddedPartFailed
from deploy.embedded.ports import LOOPBACK
from deploy.embedded.vectors.process import EmbeddedVectors

PARENT = """
import asyncio, sys
from pathlib import Path
from deploy.embedded.vectors.process import EmbeddedVectors
server = EmbeddedVectors(Path({data!r}))
asyncio.run(server.start())
print(server.pid, flush=True)
sys.stdin.read()
"""


@pytest.fixture
async def vectors(tmp_path: Path) -> AsyncIterator[EmbeddedVectors]:
    server = EmbeddedVectors(tmp_path)
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
async def client(vectors: EmbeddedVectors) -> AsyncIterator[AsyncQdrantClient]:
    # The check runs on a thread of its own, which may still ask when the test has stopped the server.
    client = AsyncQdrantClient(url=vectors.url, check_compatibility=False)
    yield client
    await client.close()


def point(number: int) -> models.PointStruct:
    return models.PointStruct(id=number, vector=[1.0, float(number)], payload={"number": number})


async def test_points_indexes_and_settings_survive_a_stop_and_a_kill(vectors: EmbeddedVectors, client: Any, gone: Any):
    size = models.VectorParams(size=2, distance=models.Distance.COSINE)
    await client.create_collection("kept", size, metadata={"model": "m", "draft": True})
    await client.update_collection("kept", metadata={"draft": None, "parts": 2})
    await client.create_payload_index("kept", "number", "float")
    await client.upsert("kept", [point(1), point(2)])
    first_life = vectors.pid
    await vectors.stop()
    assert gone(first_life)

    await vectors.start()
    await client.upsert("kept", [point(3)])
    await client.delete("kept", [1])
    vectors.kill()

    await vectors.start()
    found, _ = await client.scroll("kept")
    assert [(each.id, each.payload) for each in found] == [(2, {"number": 2}), (3, {"number": 3})]
    described = await client.get_collection("kept")
    assert described.config.params.vectors == models.VectorParams(size=2, distance=models.Distance.COSINE)
    assert set(described.payload_schema) == {"number"}
    assert described.config.metadata == {"model": "m", "parts": 2}


async def test_the_installed_qdrant_client_accepts_the_server_version(client: Any):
    assert is_compatible(metadata.version("qdrant-client"), (await client.info()).version)


async def test_a_deleted_collection_stays_deleted_after_a_kill(vectors: EmbeddedVectors, client: Any):
    for _ in range(2):
        await client.create_collection("short", models.VectorParams(size=2, distance=models.Distance.COSINE))
        await client.upsert("short", [point(1)])
        assert await client.delete_collection("short")
    vectors.kill()
    await vectors.start()
    assert not await client.collection_exists("short")


def test_the_server_is_gone_after_its_parent_was_killed(parent: Any, until: Any, gone: Any, tmp_path: Path):
    process, (pid,) = parent(PARENT.format(data=str(tmp_path)))
    assert not gone(pid)
    process.kill()
    until(lambda: gone(pid))


async def test_an_occupied_port_is_reported(tmp_path: Path):
    with socket.create_server((LOOPBACK, 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(EmbeddedPartFailed, match=f"vectors: port {port} on 127.0.0.1 cannot be used"):
            await EmbeddedVectors(tmp_path, port).start()


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/healthz", None, 200),
        ("GET", "/readyz", None, 200),
        ("POST", "/collections/kept/points/query", b"{not json", 400),
        ("POST", "/collections/kept/points/query", b"[]", 400),
        ("POST", "/collections/kept/points/query", b'{"query": [1, 2], "limit": -1}', 400),
        ("POST", "/collections/kept/points/query", b'{"query": [1, 2], "limit": 1e999}', 400),
        ("POST", "/collections/kept/points/query", b'{"query": [1, 2], "limit": 99999999999999999999999}', 400),
        ("POST", "/collections/kept/points/query", b'{"query": [1, 2], "score_threshold": "high"}', 400),
        ("POST", "/collections/kept/points/query", b'{"query": [1, 2], "lookup_from": {}}', 501),
        ("POST", "/collections/kept/points/scroll", b'{"offset": "somewhere"}', 400),
        (
            "POST",
            "/collections/kept/points/scroll",
            b'{"filter": {"must": [{"key": "a..b", "match": {"value": 1}}]}}',
            400,
        ),
        (
            "POST",
            "/collections/kept/points/count",
            b'{"filter": {"must": [{"key": "a", "range": {"gt": "noon"}}]}}',
            400,
        ),
        ("PUT", "/collections/kept/index", b'{"field_name": "a", "field_schema": "geo"}', 400),
        ("PUT", "/collections/other", b'{"vectors": {"size": 0, "distance": "Cosine"}}', 400),
        ("PUT", "/collections/other", b'{"vectors": {"size": 4, "distance": "Far"}}', 400),
        ("PUT", "/collections/other", b'{"vectors": {"title": {"size": 4, "distance": "Cosine"}}}', 501),
        (
            "PUT",
            "/collections/other",
            b'{"vectors": {"size": 4, "distance": "Cosine"}, "sparse_vectors": {"a": {}}}',
            501,
        ),
        ("PATCH", "/collections/kept", b'{"params": {"replication_factor": 2}}', 501),
        ("PATCH", "/collections/kept", b'{"metadata": [1]}', 400),
        ("GET", "/collections/gone", None, 404),
        ("DELETE", "/somewhere/else", None, 501),
    ],
)
async def test_every_response_has_the_status_and_shape_of_qdrant(
    vectors: EmbeddedVectors, client: Any, method: str, path: str, body: bytes | None, status: int
):
    await client.create_collection("kept", models.VectorParams(size=2, distance=models.Distance.COSINE))
    async with aiohttp.ClientSession() as session, session.request(method, vectors.url + path, data=body) as answer:
        assert answer.status == status, await answer.text()
        if status != 200:
            assert (await answer.json())["status"]["error"]
