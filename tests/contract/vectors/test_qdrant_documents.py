"""Requests to Qdrant and its responses match Qdrant's OpenAPI document and the models of qdrant-client.

The document says what there must be, and the models take no field that it does not have. Both are held here to what travels, by
the client and by requests that are made without it.
"""

import json
import re
from collections.abc import AsyncIterator
from typing import Any, NamedTuple
from uuid import uuid4

import aiohttp
import pytest
from aiohttp import web
from jsonschema_rs import ValidationError
from pydantic import TypeAdapter
from qdrant_client import AsyncQdrantClient
from qdrant_client.http import models as m

from deploy.embedded.stack import EmbeddedStack
from sinks.vectors.port import Vector
from sinks.vectors.qdrant_direct import DirectVectors
from tests.cases.filters import CASES
from tests.contract.vectors.qdrant_openapi import TRIMMED, Document
from tests.contract.vectors.test_vector_index import DIMENSION, point, towards

ONE = "/collections/[^/]+"
# Method and path; what the document says of the request's body and of the answer.
DOCUMENTED: dict[tuple[str, str], tuple[Any, Any]] = {
    ("GET", "/"): (None, m.VersionInfo),
    ("GET", "/collections"): (None, m.InlineResponse2006),
    ("GET", f"{ONE}/exists"): (None, m.InlineResponse2009),
    ("GET", ONE): (None, m.InlineResponse2007),
    ("PUT", ONE): (m.CreateCollection, m.InlineResponse2001),
    ("PATCH", ONE): (m.UpdateCollection, m.InlineResponse2001),
    ("DELETE", ONE): (None, m.InlineResponse2001),
    ("PUT", f"{ONE}/index"): (m.CreateFieldIndex, m.InlineResponse2008),
    ("PUT", f"{ONE}/points"): (m.PointInsertOperations, m.InlineResponse2008),
    ("POST", f"{ONE}/points/delete"): (m.PointsSelector, m.InlineResponse2008),
    ("POST", f"{ONE}/points/payload"): (m.SetPayload, m.InlineResponse2008),
    ("POST", f"{ONE}/points"): (m.PointRequest, m.InlineResponse20017),
    ("POST", f"{ONE}/points/query"): (m.QueryRequest, m.InlineResponse20022),
    ("POST", f"{ONE}/points/scroll"): (m.ScrollRequest, m.InlineResponse20019),
    ("POST", f"{ONE}/points/count"): (m.CountRequest, m.InlineResponse20020),
}


DOCUMENT = Document(TRIMMED.read_text())


class Exchange(NamedTuple):
    method: str
    path: str
    body: bytes
    status: int
    answer: bytes

    def documented(self) -> tuple[str, str]:
        """The route that it is of. Fails when there is none, and when the request or the answer is not as the document says."""
        (route,) = [each for each in DOCUMENTED if each[0] == self.method and re.fullmatch(each[1], self.path)]
        request, response = DOCUMENTED[route]
        assert (request is None) == (self.body == b""), self
        if request is not None:
            TypeAdapter(request).validate_json(self.body)
        TypeAdapter(response if self.status == 200 else m.ErrorResponse).validate_json(self.answer)
        self.is_as_published()
        return route

    def is_as_published(self) -> None:
        route = DOCUMENT.route(self.method, self.path)
        if (request := DOCUMENT.request(route)) is not None:
            request.validate(json.loads(self.body))
        DOCUMENT.answer(route, self.status).validate(json.loads(self.answer))


class Overheard:
    """Passes requests on to a Qdrant and keeps what was said."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.exchanges: list[Exchange] = []

    async def pass_on(self, request: web.Request) -> web.Response:
        body = await request.read()
        async with (
            aiohttp.ClientSession() as session,
            session.request(
                request.method,
                self._url + request.path_qs,
                data=body or None,
                headers={"Content-Type": "application/json"} if body else {},
            ) as response,
        ):
            answer = await response.read()
        self.exchanges.append(Exchange(request.method, request.path, body, response.status, answer))
        return web.Response(body=answer, status=response.status, content_type="application/json")


@pytest.fixture
async def overheard(embedded_stack: EmbeddedStack) -> AsyncIterator[tuple[Overheard, str]]:
    overheard = Overheard(embedded_stack.qdrant_url)
    app = web.Application(client_max_size=32 * 1024 * 1024)
    app.router.add_route("*", "/{path:.*}", overheard.pass_on)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield overheard, f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


async def test_requests_to_qdrant_and_its_responses_match_the_openapi_document(overheard: tuple[Overheard, str]):
    exchanges, url = overheard
    client = AsyncQdrantClient(url=url, check_compatibility=False)
    index = DirectVectors(client, dimension=DIMENSION, embedding_model="m", collection=f"documents-{uuid4().hex}")
    try:
        await index.ensure_collection()
        await index.ensure_collection()
        await use(index, towards(0))
        await client.retrieve(index._collection, [str(uuid4())], with_payload=True)
        await client.get_collections()
        await client.info()
        await index.drop_collection()
        with pytest.raises(Exception, match="failed"):
            await index.count("n")
    finally:
        await index.aclose()
        await client.close()
    said = {exchange.documented() for exchange in exchanges.exchanges}
    assert said == DOCUMENTED.keys() - {("PATCH", ONE), ("POST", f"{ONE}/points/payload")}
    assert {exchange.status for exchange in exchanges.exchanges} >= {200, 404}


async def use(index: DirectVectors, near: Vector) -> None:
    points = [point(angle / 10) for angle in range(5)]
    await index.upsert(points)
    await index.neighbours("n", near, min_score=0.1, limit=3)
    for filters, _ in CASES:
        await index.search(near, namespaces=("n", "m"), filters=filters, min_score=0.1)
    async for _ in index.ids(page=2):
        pass
    await index.count("n")
    await index.delete([points[0].memory_id])


def test_the_openapi_document_has_exactly_the_routes_that_are_checked():
    described = {(method, re.sub(r"\{\w+\}", "[^/]+", path)) for method, path in DOCUMENT.routes}
    assert described == DOCUMENTED.keys()


@pytest.mark.parametrize(
    ("method", "path", "status", "body", "answer"),
    [
        ("POST", "/collections/c/points/count", 200, {"exact": "yes"}, {"result": {"count": 1}}),
        ("POST", "/collections/c/points/count", 200, {"exact": True}, {"result": {"count": -1}}),
        ("POST", "/collections/c/points/count", 200, {"exact": True}, {"result": {}}),
        ("POST", "/collections/c/points/query", 200, {"limit": 0}, {"result": {"points": []}}),
        ("PUT", "/collections/c/points", 200, {"points": [{"vector": [1.0]}]}, {"result": None}),
        ("GET", "/collections/c/exists", 200, None, {"result": {"exists": "yes"}}),
        ("GET", "/collections/c/exists", 404, None, {"status": {"error": 4}}),
    ],
)
def test_requests_and_responses_that_deviate_from_the_openapi_document_are_detected(
    method: str, path: str, status: int, body: Any, answer: Any
):
    exchange = Exchange(method, path, json.dumps(body).encode(), status, json.dumps(answer).encode())
    with pytest.raises(ValidationError):
        exchange.is_as_published()
