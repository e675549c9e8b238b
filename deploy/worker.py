"""The composition root of a worker: wires the stages it is asked to run, starts them, and stops them in order."""

import asyncio
import gc
import logging
import os
import socket
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from functools import partial

from msgspec import structs

from agents.archive_agent import ArchiveAgent
from agents.batch_agent import BatchAgent
from agents.compactor import Compactor
from agents.curation_agent import CurationAgent
from agents.curator import Curator
from agents.energy import BudgetedEnergy
from agents.extraction_agent import ExtractionAgent
from agents.extractor import Extractor
from agents.llm.batches import ModelBatches
from agents.llm.port import Provider
from agents.llm.staying import check_policies
from agents.outcomes import Outcomes
from agents.parked_agent import ParkedAgent
from agents.policies import CurrentPolicies
from agents.related import RelatedMemories
from agents.serving import Handle, serve
from agents.usage_notices import UsageNotices
from agents.window_agent import WindowAgent
from agents.window_projection import WindowProjection
from agents.window_terms import WindowTerms
from deploy import budgets, connections
from deploy.origins import fixed_origins
from deploy.settings import Settings
from deploy.slots import claimed
from schemas.errors import Misconfigured, Rejected, Retryable
from schemas.policies import Policies
from sinks.archive import Archive
from sinks.batches import Batches
from sinks.calibrations import Calibrations
from sinks.embeddings.port import Embedder
from sinks.extractions import Extractions
from sinks.memories import Memories
from sinks.migrate import migrate, pending
from sinks.outbox import Projector
from sinks.parked import Parking
from sinks.postgres import Pool
from sinks.qdrant import Vectors
from sinks.usage import UsageRecords
from sinks.windows import Windows
from streams.apps import STAGES, input_channel, stage_app
from streams.delivery.app import StageApp
from streams.publisher import KafkaPublisher
from streams.topics import changelog_problems, partition_counts, problems, specs

log = logging.getLogger(__name__)

TICK_S = 0.2
SWEEP_S = 5.0
EXPIRE_S = 30.0
RESUME_S = 1.0
BATCHES_S = 5.0
USAGE_S = 5.0
PROJECT_S = 1.0
FOLLOW_S = 0.2
CALIBRATE_S = 60.0
REPORT_S = 60.0
START_ENDS_WITHIN_S = 10.0  # beyond it a start is taken for one that never returns


class Worker:
    """Runs stages until it is told to stop, or until one of them cannot go on."""

    def __init__(self, settings: Settings, stages: Sequence[str] = tuple(STAGES)) -> None:
        self._settings = settings
        self._stages = stages
        self._topics = settings.topics()
        self._apps: list[StageApp] = []
        self._chores: list[asyncio.Task[None]] = []
        self._cluster = settings.cluster()
        self._name = f"{socket.gethostname()}/{os.getpid()}"

    async def run(self, stop: asyncio.Event, on_ready: Callable[[], object], on_stopping: Callable[[], object]) -> None:
        """Returns after a clean stop. Raises Misconfigured before anything starts, or what made a stage give up.

        `on_stopping` is called when stopping begins, for whatever reason: a crashed stage may keep it from ending.
        """
        async with AsyncExitStack() as resources:
            await self._check()
            slot = resources.enter_context(claimed(self._cluster.datadir))
            self._cluster = structs.replace(self._cluster, datadir=slot)
            await self._wire(resources)
            try:
                starting = asyncio.create_task(self._start())
                self._chores.append(starting)  # watched from here on: a start may wait for ever
                await self._until_ready(stop)
                await asyncio.wait({starting}, timeout=START_ENDS_WITHIN_S)  # stages stop best when they stand whole
                gc.collect()
                gc.freeze()  # what was imported stays: going through it all again takes a fifth of a second each time
                on_ready()
                self._chore("report", REPORT_S, self._report)
                await self._until_stopped(stop)
            finally:
                on_stopping()
                await self._stop()

    async def _check(self) -> None:
        dsn = self._settings.postgres_dsn.get_secret_value()
        if self._settings.migrate_at_start:
            await migrate(dsn)
        elif missing := await pending(dsn):
            raise Misconfigured(f"PostgreSQL lacks {len(missing)} migrations: run `memstream migrate`")
        wanted = specs(self._topics)
        found = await partition_counts(self._cluster.client(), wanted)
        wrong = problems(wanted, found)
        if not wrong and "windows" in self._stages:
            wrong = await changelog_problems(self._cluster.client(), self._topics.changelog)
        if wrong:
            raise Misconfigured("; ".join(wrong))

    async def _wire(self, resources: AsyncExitStack) -> None:
        pool = await resources.enter_async_context(connections.postgres(self._settings, max_size=16))
        publisher = await resources.enter_async_context(connections.kafka(self._settings))
        await self._wire_policies(resources, publisher)
        if "windows" in self._stages:
            await self._wire_windows(pool, publisher)
        if "archive" in self._stages:
            await self._add(
                "archive", pool, lambda app: ArchiveAgent(Archive(pool), publisher, self._policies, now).handle
            )
        if {"extraction", "curation"} & set(self._stages):
            keep_texts_here = partial(connections.refuse_if_texts_must_stay, self._settings)
            keep_texts_here(self._policies.now)
            self._policies.tell(keep_texts_here)  # a worker stops rather than embed elsewhere what has to stay
            embedder = await resources.enter_async_context(connections.embedder(self._settings))
            vectors = await resources.enter_async_context(connections.qdrant(self._settings, embedder))
            await vectors.ensure_collection()
            await self._wire_thinking(resources, pool, publisher, embedder, vectors)

    async def _wire_policies(self, resources: AsyncExitStack, publisher: KafkaPublisher) -> None:
        """Read to their end before anything is decided by them."""
        topic = await resources.enter_async_context(connections.policy_topic(self._settings))
        self._policies = CurrentPolicies(self._settings.policies(), topic, publisher, now)
        await self._policies.read()
        self._chore("policies", FOLLOW_S, self._policies.follow)

    async def _wire_windows(self, pool: Pool, publisher: KafkaPublisher) -> None:
        count_tokens = connections.token_counter(self._settings)
        limits, most = connections.model_limits(self._settings), connections.most_slice_tokens(self._settings)
        terms, calibrations = WindowTerms(self._policies.now, limits, most), Calibrations(pool)
        self._policies.tell(terms.governed)

        async def calibrate() -> None:
            terms.calibrated(await calibrations.all())

        def handle(app: StageApp) -> Handle:
            agent = WindowAgent(app, self._topics, terms, count_tokens, publisher)
            projection = WindowProjection(app, Windows(pool), terms)
            self._chore("window timers", TICK_S, agent.tick)
            self._chore("window projection", PROJECT_S, lambda: projection.tell(now()))
            self._chore("calibration", CALIBRATE_S, calibrate)
            return agent.handle

        await calibrate()

        await self._add("windows", pool, handle)

    async def _wire_thinking(
        self, resources: AsyncExitStack, pool: Pool, publisher: KafkaPublisher, embedder: Embedder, vectors: Vectors
    ) -> None:
        extractions = Extractions(pool)
        energy = self._energy(resources, pool, publisher)
        provider = connections.provider(self._settings, connections.token_counter(self._settings), energy)
        resources.push_async_callback(provider.close)
        check_policies(self._policies.now, provider)
        self._policies.tell(lambda changed: warn_of_leaving(changed, provider))
        if "extraction" in self._stages:
            extractor = Extractor(
                extractions,
                provider,
                RelatedMemories(embedder, vectors, Memories(pool)),
                publisher,
                self._policies,
                now,
                concurrency=self._settings.extraction_concurrency,
                background_concurrency=self._settings.background_concurrency,
                calibrations=Calibrations(pool),
            )

            outcomes, parking = Outcomes(extractions, publisher, now), Parking(pool)
            resuming = ParkedAgent(parking, extractor, outcomes, self._name, self._settings.slots())
            resources.push_async_callback(resuming.close)

            batches = connections.model_batches(provider)

            def handle(app: StageApp) -> Handle:
                agent = ExtractionAgent(
                    app,
                    extractor,
                    outcomes,
                    parking,
                    self._policies,
                    self._name,
                    now,
                    batches=batches,
                    in_flight=sum(self._settings.slots().values()),
                )
                resources.push_async_callback(agent.close)  # before what its running calls use is closed
                self._chore("parked requests", RESUME_S, resuming.tick)
                if batches is not None:
                    self._chore("batches", BATCHES_S, self._batch_agent(pool, extractor, outcomes, batches).tick)
                return agent.handle

            await self._add("extraction", pool, handle)
        if "curation" in self._stages:
            projector = Projector(pool, vectors, publisher)
            curator = Curator(
                pool,
                vectors,
                embedder,
                projector,
                self._policies,
                now,
                Compactor(provider, embedder),
                concurrency=self._settings.curation_concurrency,
            )

            def curating(app: StageApp) -> Handle:
                curation = CurationAgent(app, curator, self._topics, publisher, now)
                resources.push_async_callback(curation.close)
                return curation.handle

            await self._add("curation", pool, curating)
            self._chore("outbox sweep", SWEEP_S, projector.sweep)
            self._chore("expiry", EXPIRE_S, curator.expire)

    def _batch_agent(self, pool: Pool, extractor: Extractor, outcomes: Outcomes, batches: ModelBatches) -> BatchAgent:
        return BatchAgent(
            Batches(pool),
            batches,
            extractor,
            outcomes,
            Memories(pool),
            self._policies,
            self._name,
            now,
            bounds=self._settings.batch_bounds(),
            poll_s=self._settings.batch_poll_s,
        )

    def _energy(self, resources: AsyncExitStack, pool: Pool, publisher: KafkaPublisher) -> BudgetedEnergy:
        """What models may be asked for; what they consumed is booked and told beside the work."""
        energy = budgets.energy(self._settings, pool, self._policies.now, now)
        resources.push_async_callback(energy.close)
        self._chore("usage", USAGE_S, energy.book)
        self._chore("usage notices", USAGE_S, UsageNotices(UsageRecords(pool), publisher).tell)
        return energy

    def _chore(self, name: str, interval_s: float, chore: Callable[[], Awaitable[object]]) -> None:
        self._chores.append(asyncio.create_task(repeat(name, interval_s, chore)))

    async def _add(self, stage: str, pool: Pool, handle: Callable[[StageApp], Handle]) -> None:
        origins = await fixed_origins(stage, self._settings, pool)
        app = stage_app(stage, self._cluster, self._topics, origins)
        serve(app, input_channel(app, stage, self._topics), handle(app))
        app.finalize()
        self._apps.append(app)

    async def _start(self) -> None:
        for app in self._apps:
            await app.start()

    async def _until_ready(self, stop: asyncio.Event) -> None:
        """Every stage has joined its group once; which partitions it got is the group's business."""
        while not stop.is_set() and not all(app.fence.epoch for app in self._apps):
            self._raise_if_stuck()
            await asyncio.sleep(0.05)
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
        """A stage that crashed, a chore that died or a fence that stays shut: alive and idle would be the worst."""
        for app in self._apps:
            if app.crashed:
                raise app.crash_reason or RuntimeError(f"{app.conf.id} stopped by itself")
            app.check_fence(time.monotonic())
        for chore in self._chores:
            if chore.done():
                chore.result()

    async def _report(self) -> None:
        """What delivery has done so far, stage by stage."""
        for app in self._apps:
            log.info("%s delivered: %s", app.conf.id, app.told())

    async def _stop(self) -> None:
        for chore in self._chores:
            chore.cancel()
        await asyncio.gather(*self._chores, return_exceptions=True)
        stopped = await asyncio.gather(*(app.stop() for app in self._apps), return_exceptions=True)
        await self._report()
        for app, outcome in zip(self._apps, stopped, strict=True):
            if isinstance(outcome, BaseException):
                log.error("%s did not stop cleanly", app.conf.id, exc_info=outcome)


def warn_of_leaving(policies: Policies, provider: Provider) -> None:
    """A policy that comes while work goes on does not stop it: what it keeps here goes to the dead letters instead."""
    try:
        check_policies(policies, provider)
    except Misconfigured as exc:
        log.error("its conversations go to the dead letters: %s", exc)


async def repeat(name: str, interval_s: float, chore: Callable[[], Awaitable[object]]) -> None:
    """Does a chore again and again. What may pass is logged and tried at the next turn, and so is what one row alone is at fault
    for: it would stop every worker, one after the other."""
    while True:
        await asyncio.sleep(interval_s)
        try:
            await chore()
        except Retryable as exc:
            log.warning("%s: %s", name, exc)
        except Rejected as exc:
            log.error("%s: %s", name, exc)


def now() -> datetime:
    return datetime.now(UTC)
