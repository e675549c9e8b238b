"""Runs the API: checks first, serves until stopped, and shuts down in order.

Only `memstream serve` imports this module: importing the web framework takes longer than most commands run.
"""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack

from agents.api.app import create_app
from deploy.metrics.api_meters import ApiMeters
from deploy.metrics.endpoint import serve_metrics
from deploy.metrics.measured_services import MeasuredRequests
from deploy.runtime.http_server import bracketed, listener, run
from deploy.settings import Settings
from deploy.wiring.api import wire_ports
from deploy.wiring.periodic import PeriodicTasks
from schemas.addresses import is_loopback
from schemas.counts import counted
from schemas.errors import Misconfigured
from sinks.postgres.migrate import migrate, pending

ANSWER_S = 10.0  # time limit of a request, in addition to the waits of a change


async def serve(
    settings: Settings,
    stop: asyncio.Event,
    *,
    keyed: bool,
    on_ready: Callable[[str], object],
    on_stopping: Callable[[], object],
) -> None:
    """Serves until `stop` is set or a signal comes; `on_ready` gets the address. Without keys on loopback only.

    Raises Misconfigured before anything starts, Retryable when a dependency is away, and the error of a failed background
    task.
    """
    if not keyed and not is_loopback(f"http://{bracketed(settings.api_host)}"):
        raise Misconfigured(
            f"MEMSTREAM_API_HOST={settings.api_host}: without keys the API listens on this machine alone: "
            "choose 127.0.0.1, or make keys with `memstream keys create`"
        )
    await require_migrated(settings)
    periodic_tasks, meters, missing = PeriodicTasks(), ApiMeters(), ["the API is starting"]
    async with AsyncExitStack() as resources:
        listening = resources.enter_context(listener(settings.api_host, settings.api_port))
        if settings.api_metrics_port is not None:
            endpoint = serve_metrics(settings.metrics_host, settings.api_metrics_port, meters.registry, lambda: missing)
            await resources.enter_async_context(endpoint)
        try:
            ports = await wire_ports(settings, resources, periodic_tasks, meters, keyed=keyed)
            within_s = ANSWER_S + 2 * settings.api_wait_s  # for Kafka, and for the outcome
            app = create_app(ports, timeout_s=within_s, local=not keyed)
            app.add_middleware(MeasuredRequests, meters=meters)
            watch = periodic_tasks.raise_if_failed

            def started(address: str) -> None:
                missing.clear()
                on_ready(address)

            def stopping() -> None:
                missing.append("the API is stopping")
                ports.change_notifier.close()
                on_stopping()

            await run(app, listening, settings.stop_s, stop, watch, started, stopping)
        finally:
            await periodic_tasks.stop()  # before their connections are closed


async def require_migrated(settings: Settings) -> None:
    dsn = settings.postgres_dsn.get_secret_value()
    if settings.migrate_at_start:
        await migrate(dsn)
    elif missing := await pending(dsn):
        raise Misconfigured(f"PostgreSQL lacks {counted(len(missing), 'migrations')}: run `memstream migrate`")
