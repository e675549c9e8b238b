"""Wires the stages that a worker is asked to run, with what they share."""

from collections.abc import Collection
from contextlib import AsyncExitStack

from agents.archive_agent import ArchiveAgent
from agents.policies import CurrentPolicies
from agents.serving import Handle
from agents.window_agent import WindowAgent
from agents.window_projection import WindowProjection
from agents.window_terms import WindowTerms
from deploy import connections, models, thinking
from deploy.chores import Chores
from deploy.settings import Settings
from deploy.wiring import Wiring, now
from sinks.archive import Archive
from sinks.calibrations import Calibrations
from sinks.windows import Windows
from streams.cluster import ClusterSettings
from streams.delivery.app import StageApp
from streams.publisher import KafkaPublisher

TICK_S = 0.2
PROJECT_S = 1.0
FOLLOW_S = 0.2
CALIBRATE_S = 60.0


async def wired(
    stages: Collection[str],
    settings: Settings,
    cluster: ClusterSettings,
    worker: str,
    resources: AsyncExitStack,
    chores: Chores,
) -> list[StageApp]:
    """The stages' apps, not started yet. Their chores run from here on; what they use is closed with `resources`."""
    pool = await resources.enter_async_context(connections.postgres(settings, max_size=16))
    publisher = await resources.enter_async_context(connections.kafka(settings))
    policies = await current_policies(settings, publisher, resources, chores)
    wiring = Wiring(
        settings=settings,
        cluster=cluster,
        worker=worker,
        pool=pool,
        publisher=publisher,
        policies=policies,
        resources=resources,
        chores=chores,
    )
    if "windows" in stages:
        await add_windows(wiring)
    if "archive" in stages:
        await add_archive(wiring)
    if {"extraction", "curation"} & set(stages):
        await thinking.add(wiring, stages)
    return wiring.apps


async def current_policies(
    settings: Settings, publisher: KafkaPublisher, resources: AsyncExitStack, chores: Chores
) -> CurrentPolicies:
    """Read to their end before anything is decided by them."""
    topic = await resources.enter_async_context(connections.policy_topic(settings))
    policies = CurrentPolicies(settings.policies(), topic, publisher, now)
    await policies.read()
    chores.add("policies", FOLLOW_S, policies.follow)
    return policies


async def add_windows(wiring: Wiring) -> None:
    settings, chores = wiring.settings, wiring.chores
    count_tokens = models.token_counter(settings)
    limits, most = models.model_limits(settings), models.most_slice_tokens(settings)
    terms, calibrations = WindowTerms(wiring.policies.now, limits, most), Calibrations(wiring.pool)
    wiring.policies.tell(terms.governed)

    async def calibrate() -> None:
        terms.calibrated(await calibrations.all())

    def handle(app: StageApp) -> Handle:
        agent = WindowAgent(app, settings.topics(), terms, count_tokens, wiring.publisher)
        projection = WindowProjection(app, Windows(wiring.pool), terms)
        chores.add("window timers", TICK_S, agent.tick)
        chores.add("window projection", PROJECT_S, lambda: projection.tell(now()))
        chores.add("calibration", CALIBRATE_S, calibrate)
        return agent.handle

    await calibrate()
    await wiring.add("windows", handle)


async def add_archive(wiring: Wiring) -> None:
    agent = ArchiveAgent(Archive(wiring.pool), wiring.publisher, wiring.policies, now)
    await wiring.add("archive", lambda _app: agent.handle)
