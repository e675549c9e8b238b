"""What the stages of one worker are made with, and how a stage becomes an app."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime

from agents.policies.audience import Audience
from agents.policies.reader import CurrentPolicies
from agents.stage.loop import Handle, serve
from deploy.metrics.meters import Meters
from deploy.settings import Settings
from deploy.wiring.periodic import PeriodicTasks
from deploy.wiring.schema_registry import read_first
from deploy.wiring.start_offsets import fixed_origins
from schemas.kafka.records import Publisher
from sinks.archive.participants import Participants
from sinks.postgres.connection import Pool
from streams.apps import input_channel, stage_app
from streams.delivery.app import StageApp
from streams.kafka.cluster import ClusterSettings
from streams.kafka.log import Reading, as_they_are


@dataclass(frozen=True, kw_only=True)
class Wiring:
    """What all stages share. `worker` names this process; `resources` are closed, last first, once the `apps` have stopped.
    Records of the outbox go out by `outbox`, which adds nothing to them, and all others by `publisher`.
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
    chores: PeriodicTasks
    reading: Reading = as_they_are
    apps: list[StageApp] = field(default_factory=list)

    def audience(self) -> Audience:
        return Audience(Participants(self.pool), self.policies)

    async def add(self, stage: str, handle: Callable[[StageApp], Handle]) -> None:
        """A stage whose batches go to what `handle` makes of its app; it is not started yet."""
        topics = self.settings.topics()
        origins = await fixed_origins(stage, self.settings, self.pool)
        app = stage_app(stage, self.cluster, topics, origins)
        handled = read_first(self.reading, self.settings, handle(app))
        serve(app, input_channel(app, stage, topics), self.meters.delivery.watched(app, handled))
        if app.checkpointer is not None:
            app.checkpointer.on_sent = self.meters.sent
        app.finalize()
        self.apps.append(app)


def now() -> datetime:
    return datetime.now(UTC)
