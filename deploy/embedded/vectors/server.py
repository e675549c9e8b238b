"""A loopback subset of Qdrant's REST API on top of its engine: `python -m deploy.embedded.vectors.server DIR PORT`.

Unsupported features return 501 rather than a result that differs from Qdrant's.
"""

import argparse
import asyncio
import json
import logging
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import orjson
from aiohttp import web

from deploy.embedded.ports import LOOPBACK
from deploy.embedded.vectors import points
from deploy.embedded.vectors.collections import Collection, Collections, engine_errors, index_type
from deploy.embedded.vectors.errors import BadInput, NotOffered, VectorError
from deploy.embedded.vectors.filters import Json, require_object

T = TypeVar("T")
Body = dict[str, Any]
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

log = logging.getLogger(__name__)

SETTLE_EVERY_S = 5.0
READ_THREADS = 4
MAX_BODY_BYTES = 64 * 1024 * 1024
# Settings of speed or placement, which have no effect on one node: accepted and ignored.
IGNORED_SETTINGS = frozenset(
    {"hnsw_config", "optimizers_config", "wal_config", "on_disk_payload", "shard_number", "replication_factor"}
    | {"write_consistency_factor"}
)


class VectorServer:
    """The HTTP handlers. Updates run one after another on one thread, reads on a few others."""

    def __init__(self, collections: Collections) -> None:
        self._collections = collections
        self._writer = ThreadPoolExecutor(1, "writer")
        self._readers = ThreadPoolExecutor(READ_THREADS, "reader")

    def app(self) -> web.Application:
        """All routes; any other path or method answers 501."""
        app = web.Application(middlewares=[answers], client_max_size=MAX_BODY_BYTES)
        one = "/collections/{name}"
        app.add_routes(
            [
                web.get("/", self.root),
                *(web.get(path, self.healthy) for path in ("/healthz", "/livez", "/readyz")),
                web.get("/collections", self.names),
                web.get(f"{one}/exists", self.exists),
                web.get(one, self.info),
                web.put(one, self.create),
                web.patch(one, self.update),
                web.delete(one, self.delete),
                web.put(f"{one}/index", self.create_index),
                web.put(f"{one}/points", self.writes(points.upsert)),
                web.post(f"{one}/points/delete", self.writes(points.delete)),
                web.post(f"{one}/points/payload", self.writes(points.set_payload)),
                web.post(f"{one}/points", self.reads(points.retrieve)),
                web.post(f"{one}/points/query", self.reads(points.query)),
                web.post(f"{one}/points/scroll", self.reads(points.scroll)),
                web.post(f"{one}/points/count", self.reads(points.count)),
                web.route("*", "/{anything:.*}", self.not_offered),
            ]
        )
        app.cleanup_ctx.append(self.flushing)
        return app

    async def root(self, _: web.Request) -> web.Response:
        """Name and version; the API version is that of the installed Qdrant client."""
        return web.json_response({"title": "memstream embedded vectors", "version": version("qdrant-client")})

    async def healthy(self, _: web.Request) -> web.Response:
        """Alive."""
        return web.Response(text="healthz check passed")

    async def names(self, _: web.Request) -> web.Response:
        """All collections."""
        return ok({"collections": [{"name": name} for name in self._collections.names()]})

    async def exists(self, request: web.Request) -> web.Response:
        """Whether a collection exists."""
        return ok({"exists": request.match_info["name"] in self._collections})

    async def info(self, request: web.Request) -> web.Response:
        """A collection's settings and counts."""
        return ok(await self._read(points.describe, self._collection(request)))

    async def create(self, request: web.Request) -> web.Response:
        """Creates a collection with one unnamed vector."""
        body = await json_body(request)
        for name in body.keys() - IGNORED_SETTINGS - {"vectors", "metadata"}:
            if body[name] is not None:
                raise NotOffered(f"the collection setting `{name}`")
        size, distance = vector_params(body.get("vectors"))
        metadata = require_object(body.get("metadata") or {}, "metadata")
        await self._write(self._collections.create, request.match_info["name"], size, distance, metadata)
        return ok(True)

    async def update(self, request: web.Request) -> web.Response:
        """Changes a collection's metadata; `null` removes a key."""
        body = await json_body(request)
        for name in body.keys() - IGNORED_SETTINGS - {"metadata"}:
            if body[name] is not None:
                raise NotOffered(f"changing the collection setting `{name}`")
        metadata = require_object(body.get("metadata") or {}, "metadata")
        await self._write(self._collection(request).describe, metadata)
        return ok(True)

    async def delete(self, request: web.Request) -> web.Response:
        """Deletes a collection; returns false if there was none."""
        return ok(await self._write(self._collections.delete, request.match_info["name"]))

    async def create_index(self, request: web.Request) -> web.Response:
        """Creates an index on a payload field."""
        body = await json_body(request)
        schema = index_type(body.get("field_schema"))
        return ok(await self._write(points.create_index, self._collection(request), body.get("field_name"), schema))

    async def not_offered(self, request: web.Request) -> web.Response:
        """The response to requests without a route."""
        raise NotOffered(f"{request.method} {request.path}")

    def writes(self, operation: Callable[[Collection, Json], Any]) -> Handler:
        """A handler that runs the operation on the writer's thread."""

        async def handle(request: web.Request) -> web.Response:
            body = await json_body(request)
            return ok(await self._write(operation, self._collection(request), body))

        return handle

    def reads(self, operation: Callable[[Collection, Json], Any]) -> Handler:
        """A handler that runs the operation on a reader's thread."""

        async def handle(request: web.Request) -> web.Response:
            body = await json_body(request)
            return ok(await self._read(operation, self._collection(request), body))

        return handle

    async def flushing(self, _: web.Application) -> AsyncIterator[None]:
        """Flushes every few seconds while the application runs, and once at its end."""
        task = asyncio.create_task(self._flush_forever())
        yield
        task.cancel()
        await self._write(self._collections.close)
        self._readers.shutdown()
        self._writer.shutdown()

    async def _flush_forever(self) -> None:
        while True:
            await asyncio.sleep(SETTLE_EVERY_S)
            await self._write(self._collections.flush)

    def _collection(self, request: web.Request) -> Collection:
        return self._collections.get(request.match_info["name"])

    async def _read(self, work: Callable[..., T], *args: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._readers, within_engine, work, *args)

    async def _write(self, work: Callable[..., T], *args: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._writer, within_engine, work, *args)


def within_engine(work: Callable[..., T], *args: Any) -> T:
    """Runs the work with translated engine exceptions."""
    with engine_errors():
        return work(*args)


async def json_body(request: web.Request) -> Body:
    """The JSON object of the request. Raises BadInput."""
    try:
        return dict(require_object(orjson.loads(await request.read()), "the body"))
    except json.JSONDecodeError as exc:
        raise BadInput(f"Format error in JSON body: {exc}") from exc


def vector_params(vectors: Any) -> tuple[int, str]:
    """Size and distance of the unnamed vector. Raises BadInput or NotOffered."""
    if not isinstance(vectors, dict) or not vectors:
        raise BadInput("Format error in JSON body: a collection needs vectors with size and distance")
    if "size" not in vectors:
        raise NotOffered("named vectors")
    size = vectors["size"]
    if not isinstance(size, int) or not 1 <= size <= 65536:
        raise BadInput(f"Validation error in JSON body: [vectors.size: value {size} invalid, must be from 1 to 65536]")
    return size, str(vectors.get("distance"))


def ok(result: Any) -> web.Response:
    """Qdrant's envelope of a result."""
    body = orjson.dumps({"result": result, "status": "ok", "time": 0.0})
    return web.Response(body=body, content_type="application/json")


@web.middleware
async def answers(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Middleware: returns errors in Qdrant's form."""
    began = time.monotonic()
    try:
        return await handler(request)
    except VectorError as exc:
        status, message = exc.status, str(exc)
    except web.HTTPException as exc:
        status, message = exc.status, exc.reason
    except Exception:
        log.exception("%s %s failed", request.method, request.path)
        status, message = 500, "Service internal error: see the server's log"
    body = {"status": {"error": message}, "time": time.monotonic() - began}
    return web.json_response(body, status=status)


def main(argv: list[str]) -> None:
    """Serves until SIGTERM or SIGINT."""
    parser = argparse.ArgumentParser(prog="vector_server", description=__doc__)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("port", type=int)
    options = parser.parse_args(argv)
    app = VectorServer(Collections(options.data_dir)).app()
    web.run_app(app, host=LOOPBACK, port=options.port, print=None, access_log=None, shutdown_timeout=3)


if __name__ == "__main__":
    main(sys.argv[1:])
