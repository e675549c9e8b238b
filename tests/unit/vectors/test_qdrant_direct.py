"""Direct requests to Qdrant: connections, endpoints and invalid answers."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import numpy as np
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from qdrant_client import AsyncQdrantClient

from schemas.errors import MemstreamError, Misconfigured, Retryable
from sinks.vectors.port import Neighbour
from sinks.vectors.qdrant_direct import DirectVectors

Answering = Callable[[web.Request], Awaitable[web.Response]]

VECTOR = np.array([1, 0, 0, 0], np.float32)


@asynccontextmanager
async def asking(answering: Answering, prefix: str = "", **settings: str) -> AsyncIterator[DirectVectors]:
    app = web.Application()
    app.router.add_post(f"{prefix}/collections/mine/points/query", answering)
    async with TestServer(app) as server:
        client = AsyncQdrantClient(url=f"{server.make_url('')}".rstrip("/") + prefix, check_compatibility=False)
        vectors = DirectVectors(client, dimension=4, embedding_model="m", collection="mine", **settings)
        try:
            yield vectors
        finally:
            await vectors.aclose()
            await client.close()


async def test_a_direct_search_uses_the_url_prefix_and_api_key_of_the_client() -> None:
    seen: list[tuple[str | None, dict[str, object]]] = []

    async def answering(request: web.Request) -> web.Response:
        seen.append((request.headers.get("api-key"), await request.json()))
        return web.json_response({"result": {"points": [{"id": "one", "version": 3, "score": 0.5}]}, "status": "ok"})

    async with asking(answering, prefix="/behind", api_key="secret") as vectors:
        found = await vectors.search(VECTOR, namespaces=("n",), limit=7, min_score=0.25)
    assert found == [Neighbour("one", 0.5)]
    [(key, request_body)] = seen
    assert key == "secret"
    assert (request_body["query"], request_body["limit"], request_body["score_threshold"]) == (
        [1.0, 0.0, 0.0, 0.0],
        7,
        0.25,
    )


@pytest.mark.parametrize(
    ("status", "said", "kind"),
    [
        (401, "Invalid api-key", Misconfigured),
        (403, "no", Misconfigured),
        (404, "no collection", Retryable),
        (503, "busy", Retryable),
        (200, "<html>Welcome to the router</html>", Retryable),
    ],
)
async def test_a_failed_search_response_raises_misconfigured_or_retryable(
    status: int, said: str, kind: type[MemstreamError]
) -> None:
    async def answering(_: web.Request) -> web.Response:
        return web.Response(status=status, text=said)

    async with asking(answering) as vectors:
        with pytest.raises(kind, match="failed while searching") as refused:
            await vectors.search(VECTOR, namespaces=("n",))
    assert said not in refused.value.plain  # a server may quote what it was sent, and logs tell the plain message


async def test_a_dropped_connection_raises_retryable() -> None:
    async def answering(request: web.Request) -> web.Response:
        assert request.transport is not None
        request.transport.close()
        return web.Response()

    async with asking(answering) as vectors:
        with pytest.raises(Retryable, match="failed while searching"):
            await vectors.search(VECTOR, namespaces=("n",))
