"""Wires the stages of a worker with their shared resources."""

from collections.abc import Collection
from contextlib import AsyncExitStack

from agents.archive.agent import ArchiveAgent
from agents.retention.sweeper import RecordRetention, Sweeper
from agents.stage.loop import Handle
from agents.windows.agent import WindowAgent
from agents.windows.deduplication import MessageDeduplicator
from agents.windows.erasures import WindowErasures
from agents.windows.projection import WindowProjection
from agents.windows.user_choices import UserChoices
from deploy.metrics.instrumented import MeasuredPublisher
from deploy.metrics.meters import Meters
from deploy.metrics.sampling import sample
from deploy.settings import Settings
from deploy.wiring import budgets, connections, model_stages, models, passages, policy_terms, schema_registry
from deploy.wiring.clock import now
from deploy.wiring.periodic import PeriodicTasks
from deploy.wiring.stage_parts import Wiring
from sinks.archive.messages import Archive
from sinks.archive.retention import Sweeps
from sinks.erasure.erasures import Erasures
from sinks.windows.projection import Windows
from sinks.windows.user_settings import UserSettings
from streams.delivery.app import StageApp
from streams.kafka.cluster import ClusterSettings
from streams.kafka.publisher import CausedPublisher

TICK_S = 0.2
PROJECT_S = 1.0
ERASE_S = 0.5
LOOK_S = 30.0
SWEEP_S = 1.0


async def wire_stages(
    stages: Collection[str],
    settings: Settings,
    cluster: ClusterSettings,
    worker: str,
    resources: AsyncExitStack,
    periodic_tasks: PeriodicTasks,
    meters: Meters,
) -> list[StageApp]:
    """The stages' apps, not started yet. Their background tasks run already; their resources close with `resources`."""
    pool = await resources.enter_async_context(connections.postgres(settings, max_size=16))
    outbox = MeasuredPublisher(await resources.enter_async_context(connections.kafka(settings)), meters)
    publisher = CausedPublisher(outbox)
    policies = await policy_terms.current_policies(settings, publisher, resources, periodic_tasks)
    wiring = Wiring(
        settings=settings,
        cluster=cluster,
        worker=worker,
        pool=pool,
        publisher=publisher,
        outbox=outbox,
        policies=policies,
        meters=meters,
        resources=resources,
        periodic_tasks=periodic_tasks,
        reading=await resources.enter_async_context(schema_registry.record_decoder(settings)),
    )
    if "windows" in stages:
        await add_windows(wiring)
    if "archive" in stages:
        await add_archive(wiring)
    if {"passages", "extraction", "curation"} & set(stages):
        embedders = model_stages.shared_embedders(wiring)
        if "passages" in stages:
            await passages.add(wiring, await embedders.of_passages())
        if {"extraction", "curation"} & set(stages):
            await model_stages.add(wiring, stages, await embedders.of_memories())
    if settings.metrics_port is not None and "curation" in stages:
        budget = budgets.overall(settings)
        periodic_tasks.add("metrics", LOOK_S, lambda: sample(meters, pool, budget))
    return wiring.apps


async def add_windows(wiring: Wiring) -> None:
    settings, periodic_tasks = wiring.settings, wiring.periodic_tasks
    count_tokens = models.token_counter(settings)
    terms = await policy_terms.window_terms(settings, wiring.policies, wiring.pool, periodic_tasks)

    def handle(app: StageApp) -> Handle:
        erasures = WindowErasures(app, Erasures(wiring.pool), terms, wiring.publisher)
        agent = WindowAgent(
            app,
            settings.topics(),
            terms,
            count_tokens,
            wiring.publisher,
            erasures=erasures,
            repeats=MessageDeduplicator(Archive(wiring.pool)),
            users=UserChoices(UserSettings(wiring.pool), terms),
        )
        projection = WindowProjection(app, Windows(wiring.pool), terms)
        periodic_tasks.add("window timers", TICK_S, agent.tick)
        periodic_tasks.add("erased windows", ERASE_S, erasures.tick)
        periodic_tasks.add("window projection", PROJECT_S, lambda: projection.project(now()))
        return agent.handle

    await wiring.add("windows", handle)


async def add_archive(wiring: Wiring) -> None:
    agent = ArchiveAgent(Archive(wiring.pool), wiring.publisher, wiring.audience(), now)
    await wiring.add("archive", lambda _app: agent.handle)
    settings = wiring.settings
    records = RecordRetention(usage_days=settings.usage_retention_days, pruning_days=settings.pruning_retention_days)
    wiring.periodic_tasks.add("retention", SWEEP_S, Sweeper(Sweeps(wiring.pool), wiring.policies, records, now).tick)
