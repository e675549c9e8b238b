"""Direct requests to Qdrant: connections, endpoints and invalid answers."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from qdrant_client import AsyncQdrantClient

from schemas.errors import MemstreamError, Misconfigured, Retryable
from sinks.vectors.port import Neighbour
from sinks.vectors.qdrant import COMPLETE_FOR_S
from sinks.vectors.qdrant_direct import DirectVectors

Answering = Callable[[web.Request], Awaitable[web.Response]]

VECTOR = np.array([1, 0, 0, 0], np.float32)


class Vectors(DirectVectors):
    """Direct vectors whose collection is that of another model if `other_model` is set."""

    other_model, held, checks = False, False, 0
    begun, proceed = asyncio.Event(), asyncio.Event()  # a check sets the first and waits for the second

    async def verify(self) -> None:
        self.checks += 1
        self.begun.set()
        if self.held:
            await self.proceed.wait()
        if self.other_model:
            raise Misconfigured("the collection holds vectors of another model")


@asynccontextmanager
async def asking(answering: Answering, prefix: str = "", **settings: Any) -> AsyncIterator[Vectors]:
    app = web.Application()
    app.router.add_post(f"{prefix}/collections/mine/points/query", answering)
    async with TestServer(app) as server:
        client = AsyncQdrantClient(url=f"{server.make_url('')}".rstrip("/") + prefix, check_compatibility=False)
        vectors = Vectors(client, dimension=4, embedding_model="m", collection="mine", **settings)
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


async def test_a_search_checks_the_model_of_the_collection_at_most_every_two_seconds() -> None:
    async def answering(_: web.Request) -> web.Response:
        return web.json_response({"result": {"points": [{"id": "one", "score": 0.5}]}})

    now_s = 100.0
    async with asking(answering, clock=lambda: now_s) as vectors:
        # Given searches that find the collection as expected
        await asyncio.gather(*(vectors.search(VECTOR, namespaces=("n",)) for _ in range(3)))
        assert vectors.checks == 1
        # When the collection is filled with vectors of another model
        vectors.other_model = True
        now_s += COMPLETE_FOR_S
        # Then searches fail from the next check on, and succeed once the collection is as expected again
        for _ in range(2):
            with pytest.raises(Retryable, match="another model"):
                await vectors.search(VECTOR, namespaces=("n",))
        vectors.other_model = False
        assert await vectors.search(VECTOR, namespaces=("n",)) == [Neighbour("one", 0.5)]


async def test_a_failed_search_checks_the_collection_before_the_next_one() -> None:
    async def answering(_: web.Request) -> web.Response:
        return web.Response(status=404)

    async with asking(answering, clock=lambda: 100.0) as vectors:
        for _ in range(2):
            with pytest.raises(Retryable, match="failed while searching"):
                await vectors.search(VECTOR, namespaces=("n",))
        assert vectors.checks == 2


async def test_waiting_searches_share_one_check_and_its_failure_and_a_cancelled_one_does_not_end_it() -> None:
    async def answering(_: web.Request) -> web.Response:
        return web.json_response({"result": {"points": [{"id": "one", "score": 0.5}]}})

    async with asking(answering) as vectors:
        vectors.other_model, vectors.held = True, True
        vectors.begun, vectors.proceed = asyncio.Event(), asyncio.Event()
        first, *others = [asyncio.create_task(vectors.search(VECTOR, namespaces=("n",))) for _ in range(4)]
        await vectors.begun.wait()
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        vectors.proceed.set()
        assert [type(each) for each in await asyncio.gather(*others, return_exceptions=True)] == [Retryable] * 3
        assert vectors.checks == 1
        vectors.other_model = False
        assert await vectors.search(VECTOR, namespaces=("n",)) == [Neighbour("one", 0.5)]
