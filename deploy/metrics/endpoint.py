"""The HTTP endpoint of a process for Prometheus, liveness and readiness, on the event loop that does the work."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from aiohttp import web
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from schemas.errors import Misconfigured

NotReady = Callable[[], list[str]]


@asynccontextmanager
async def serve_metrics(host: str, port: int, registry: CollectorRegistry, not_ready: NotReady) -> AsyncIterator[int]:
    """Serves while the block runs and yields the port, a free one for 0. `not_ready` lists the reasons why the process is
    not ready.

    Raises Misconfigured if it cannot listen.
    """

    async def metrics(_: web.Request) -> web.Response:
        return web.Response(body=generate_latest(registry), headers={"Content-Type": CONTENT_TYPE_LATEST})

    async def live(_: web.Request) -> web.Response:
        return web.json_response({"status": "ok"})

    async def ready(_: web.Request) -> web.Response:
        missing = not_ready()
        return web.json_response(
            {"status": "ok"} if not missing else {"not ready": missing}, status=503 if missing else 200
        )

    app = web.Application()
    app.add_routes([web.get("/metrics", metrics), web.get("/health/live", live), web.get("/health/ready", ready)])
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as exc:
            raise Misconfigured(
                f"metrics cannot be served on {host}, port {port} ({exc.strerror}): set another "
                f"MEMSTREAM_METRICS_PORT or "
                "MEMSTREAM_API_METRICS_PORT"
            ) from exc
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()
