"""The lifecycle of a worker: checks its dependencies, starts its stages, and stops them in order."""

import asyncio
import logging
import os
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from msgspec import structs

from deploy.metrics.endpoint import serve_metrics
from deploy.metrics.meters import Meters
from deploy.metrics.progress import Progress
from deploy.runtime.data_directories import claimed_slot, remove_unheld
from deploy.runtime.garbage_collection import collect_seldom
from deploy.settings import Settings
from deploy.wiring import connections
from deploy.wiring.erasure import OLD_STORES_S
from deploy.wiring.periodic import PeriodicTasks
from deploy.wiring.stages import wire_stages
from schemas.counts import counted
from schemas.errors import Misconfigured, Retryable
from sinks.postgres.migrate import migrate, pending
from sinks.rebuild.rebuilds import unfinished
from streams.delivery.app import StageApp
from streams.delivery.fence import Phase
from streams.kafka.topics import STAGES, changelog_problems, partition_counts, problems, specs

log = logging.getLogger(__name__)

REPORT_S = 60.0
PROGRESS_S = 1.0
ENDS_S = 20.0
START_ENDS_WITHIN_S = 10.0  # after this time, a start counts as hanging


class Worker:
    """Runs stages until it is stopped, or one of them fails."""

    def __init__(self, settings: Settings, stages: Sequence[str] = tuple(STAGES)) -> None:
        self._settings = settings
        self._stages = stages
        self._apps: list[StageApp] = []
        self._periodic_tasks = PeriodicTasks()
        self._meters = Meters()
        self._progress = Progress(settings.stuck_s)
        self._stands = False
        self._name = f"{socket.gethostname()}/{os.getpid()}"

    async def run(self, stop: asyncio.Event, on_ready: Callable[[], object], on_stopping: Callable[[], object]) -> None:
        """Returns after a clean stop. Raises Misconfigured before anything starts, or the error of a failed stage.

        `on_stopping` is called when stopping begins, for any reason: a crashed stage may keep the process from ending.
        """
        stop_requested = False
        async with AsyncExitStack() as resources:
            await self._check()
            await self._log_addresses(resources)
            await self._wire(resources)
            try:
                starting = asyncio.create_task(self._start())
                self._periodic_tasks.watch(starting)  # watched from here on, as a start may wait forever
                await self._until_ready(stop)
                await asyncio.wait({starting}, timeout=START_ENDS_WITHIN_S)  # a fully started stage stops more cleanly
                collect_seldom()
                self._stands = True
                on_ready()
                self._periodic_tasks.add("report", REPORT_S, self._report)
                self._periodic_tasks.add("progress", PROGRESS_S, self._sample_metrics)
                for app in self._apps:
                    self._periodic_tasks.add(f"{app.conf.id}'s lag", ENDS_S, app.fetch_log_ends)
                await self._until_stopped(stop)
                stop_requested = True
            finally:
                self._stands = False
                on_stopping()
                await self._stop(self._settings.stop_s if stop_requested else 0.0)

    async def _check(self) -> None:
        dsn = self._settings.postgres_dsn.get_secret_value()
        if self._settings.migrate_at_start:
            await migrate(dsn)
        elif missing := await pending(dsn):
            raise Misconfigured(f"PostgreSQL lacks {counted(len(missing), 'migrations')}: run `memstream migrate`")
        await self._require_no_rebuild()
        names, client = self._settings.topics(), self._settings.cluster().client()
        wanted = specs(names)
        wrong = problems(wanted, await partition_counts(client, wanted))
        if not wrong and "windows" in self._stages:
            wrong = await changelog_problems(client, names.changelog)
        if wrong:
            raise Misconfigured("; ".join(wrong))

    async def _require_no_rebuild(self) -> None:
        """Raises Misconfigured during a rebuild: decisions would reuse sequences and create memories twice."""
        async with connections.postgres(self._settings, max_size=1) as pool:
            if await unfinished(pool):
                raise Misconfigured(
                    "PostgreSQL is being rebuilt, or that was interrupted: run `memstream rebuild` to its end"
                )

    async def _log_addresses(self, resources: AsyncExitStack) -> None:
        settings = self._settings
        if settings.metrics_port is not None:
            endpoint = serve_metrics(
                settings.metrics_host, settings.metrics_port, self._meters.registry, self._not_ready
            )
            port = await resources.enter_async_context(endpoint)
            log.info("metrics are at http://%s:%d/metrics", settings.metrics_host, port)

    def _not_ready(self) -> list[str]:
        if not self._stands:
            return ["the worker is starting or stopping"]
        unready = [app.conf.id for app in self._apps if app.fence.phase is not Phase.OPEN]
        return [*unready, *self._progress.stuck()]

    async def _wire(self, resources: AsyncExitStack) -> None:
        cluster = self._settings.cluster()
        slot = resources.enter_context(claimed_slot(cluster.datadir))
        cluster = structs.replace(cluster, datadir=slot)
        self._periodic_tasks.add("old stores", OLD_STORES_S, lambda: self._remove_unheld(slot))
        self._apps = await wire_stages(
            self._stages, self._settings, cluster, self._name, resources, self._periodic_tasks, self._meters
        )

    async def _remove_unheld(self, slot: Path) -> None:
        held = {"windows": [n for app in self._apps if app.checkpointer for n in app.checkpointer.partitions]}
        try:
            remove_unheld(slot, held)
        except OSError as exc:
            raise Retryable(f"stores of partitions that no worker holds cannot be removed: {exc}") from exc

    async def _start(self) -> None:
        for app in self._apps:
            await app.start()

    async def _until_ready(self, stop: asyncio.Event) -> None:
        """Waits until every stage has joined its group once, with or without partitions."""
        while not stop.is_set() and not all(app.fence.epoch for app in self._apps):
            self._raise_if_stuck()
            await asyncio.sleep(0.05)
        await (
            self._require_no_rebuild()
        )  # checked again: a rebuild that began meanwhile may not have seen this worker in the groups
        log.info("ready: %s", ", ".join(self._stages))

    async def _until_stopped(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            self._raise_if_stuck()
            try:
                async with asyncio.timeout(0.2):
                    await stop.wait()
            except TimeoutError:
                continue

    def _raise_if_stuck(self) -> None:
        """Raises if a stage crashed, is out of its group or gets no epoch, or a background task died: the worker must not stay
        alive and idle."""
        for app in self._apps:
            if app.crashed:
                raise app.crash_reason or RuntimeError(f"{app.conf.id} stopped by itself")
            app.check_membership()
            app.check_fence(time.monotonic())
        self._periodic_tasks.raise_if_failed()

    async def _sample_metrics(self) -> None:
        self._progress.sample(self._apps)
        self._meters.delivery.sample()

    async def _report(self) -> None:
        """Logs delivery counters by stage."""
        for app in self._apps:
            log.info("%s counters: %s", app.conf.id, app.counters_json())

    async def _stop(self, finish_s: float) -> None:
        """Finishes running work, then leaves the groups, so that others get the partitions at once."""
        await self._periodic_tasks.stop()
        if finish_s:
            await asyncio.gather(*(app.finish(finish_s) for app in self._apps))
        stopped = await asyncio.gather(*(app.stop() for app in self._apps), return_exceptions=True)
        await self._report()
        for app, outcome in zip(self._apps, stopped, strict=True):
            if isinstance(outcome, BaseException):
                log.error("%s did not stop cleanly", app.conf.id, exc_info=outcome)
