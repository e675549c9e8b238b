"""Shared parts of a worker's stages, and the construction of stage apps."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from agents.policies.audience import Audience
from agents.policies.reader import CurrentPolicies
from agents.stage.loop import Handle, serve
from deploy.metrics.meters import Meters
from deploy.settings import Settings
from deploy.wiring.periodic import PeriodicTasks
from deploy.wiring.schema_registry import decode_first
from deploy.wiring.start_offsets import start_offsets
from schemas.kafka.records import Publisher
from sinks.archive.participants import Participants
from sinks.postgres.connection import Pool
from streams.apps import input_channel, stage_app
from streams.delivery.app import StageApp
from streams.kafka.cluster import ClusterSettings
from streams.kafka.log import Reading, as_they_are


@dataclass(frozen=True, kw_only=True)
class Wiring:
    """The resources that all stages share. `worker` names this process; `resources` are closed, last first, once the `apps`
    have stopped.

    The outbox publishes through `outbox`, which adds nothing to records; everything else publishes through `publisher`.
    """

    settings: Settings
    cluster: ClusterSettings
    worker: str
    pool: Pool
    publisher: Publisher
    outbox: Publisher
    policies: CurrentPolicies
    meters: Meters
    resources: AsyncExitStack
    periodic_tasks: PeriodicTasks
    reading: Reading = as_they_are
    apps: list[StageApp] = field(default_factory=list)

    def audience(self) -> Audience:
        return Audience(Participants(self.pool), self.policies)

    async def add(self, stage: str, handle: Callable[[StageApp], Handle]) -> None:
        """Adds a stage, not started yet; `handle` makes the batch handler from the app."""
        topics = self.settings.topics()
        origins = await start_offsets(stage, self.settings, self.pool)
        app = stage_app(stage, self.cluster, topics, origins)
        handled = decode_first(self.reading, self.settings, handle(app))
        serve(app, input_channel(app, stage, topics), self.meters.delivery.watched(app, handled))
        if app.checkpointer is not None:
            app.checkpointer.on_sent = self.meters.sent
        app.finalize()
        self.apps.append(app)
