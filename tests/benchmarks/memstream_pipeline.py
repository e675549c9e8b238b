"""The window stage of one worker as in deploy/wiring/stages.py, without PostgreSQL and Qdrant. Runs until it is
killed."""

import asyncio
import time
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import tiktoken

from agents.stage.loop import Handle, serve
from agents.windows.agent import WindowAgent
from agents.windows.erasures import Decoded
from agents.windows.projection import WindowProjection
from deploy.runtime.garbage_collection import collect_seldom
from deploy.wiring.periodic import repeat
from deploy.wiring.stages import PROJECT_S, TICK_S
from schemas import codec
from schemas.conversations.windows import WindowState
from streams.apps import input_channel, stage_app
from streams.delivery.app import StageApp
from streams.delivery.batch import Batch
from streams.kafka.cluster import ClusterSettings
from streams.kafka.publisher import KafkaPublisher
from streams.kafka.topics import STAGES, TopicSettings
from streams.windows.tokens.counting import TokenCounter
from tests.benchmarks.signals import COMMIT_INTERVAL_S, ENCODING, FirstRecord, Job, Opened, Tokenised, tell
from tests.benchmarks.windows_by_event import window_terms

TELL_S = 0.25


class RunTopics(TopicSettings, frozen=True, kw_only=True):
    """The same input topics for every run; a group, and so a changelog, of the run's own."""

    run: str

    def group(self, stage: str) -> str:
        return self.prefix + self.run


def topics_of(job: Job) -> RunTopics:
    return RunTopics(prefix=job.prefix, run=job.run, conversation_partitions=job.partitions, namespace_partitions=1)


def cluster_of(job: Job) -> ClusterSettings:
    return ClusterSettings(
        bootstrap_servers=job.bootstrap_servers,
        datadir=Path(job.directory),
        checkpoint_interval_s=COMMIT_INTERVAL_S,
    )


def window_app(job: Job) -> StageApp:
    """Reads every input from its beginning."""
    names = topics_of(job)
    inputs = [names.physical(name) for name in STAGES["windows"]]
    origins = {(topic, partition): 0 for topic in inputs for partition in range(job.partitions)}
    return stage_app("windows", cluster_of(job), names, origins)


def noting(first: FirstRecord, handle: Handle) -> Handle:
    async def noted(batch: Batch) -> None:
        if batch.records:
            first.seen()
        await handle(batch)

    return noted


def tell_opening(app: StageApp) -> None:
    """Tells of the first epoch. The rows are counted afterwards, which costs what no worker pays."""
    moments: list[float] = []

    async def assigned(*_args: Any, **_options: Any) -> None:
        moments.append(time.monotonic())

    async def opened(*_args: Any, **_options: Any) -> None:
        seconds, checkpointer = time.monotonic() - moments[0], app.checkpointer
        assert checkpointer is not None
        count = sum(1 for partition in checkpointer.partitions for _ in checkpointer[partition].scan())
        tell(Opened(round(seconds, 3), count))

    app.on_partitions_assigned.connect(assigned, weak=False)
    app.on_rebalance_complete.connect(opened, weak=False)


class TimedAgent(WindowAgent):
    """Takes the time of counting a batch's tokens, where it counts: beside a broker it takes longer than alone."""

    messages = nanoseconds = 0

    def counted_messages(self, messages: Iterable[Decoded]) -> list[int]:
        begun = time.thread_time_ns()
        counts = super().counted_messages(messages)
        self.nanoseconds += time.thread_time_ns() - begun
        self.messages += len(counts)
        return counts

    async def tell(self) -> None:
        if self.messages:
            process_us = time.process_time_ns() / 1_000
            tell(Tokenised(self.messages, self.nanoseconds / 1_000, process_us, time.monotonic()))


class Unsent:
    """Takes the projection as far as the statement for PostgreSQL, which this stage alone does not have."""

    async def project(self, states: Sequence[WindowState]) -> tuple[str, ...]:
        codec.encode(states)
        return ()

    async def forget(
        self, conversation_ids: Collection[str], partition: int, source: str, revision: int, at: datetime
    ) -> None:
        """Nothing is forgotten within a run."""

    async def forget_older(self, source: str, partition: int, revision: int, at: datetime) -> None:
        """Nothing was there before."""


async def run(job: Job) -> None:
    names, app = topics_of(job), window_app(job)
    counter = TokenCounter(tiktoken.get_encoding(ENCODING))
    terms = window_terms()
    async with KafkaPublisher(cluster_of(job).client(), names.physical) as publisher:
        agent = TimedAgent(app, names, terms, counter, publisher)
        projection = WindowProjection(app, Unsent(), terms)
        serve(app, input_channel(app, "windows", names), noting(FirstRecord(), agent.handle))
        app.finalize()
        tell_opening(app)
        await app.start()
        collect_seldom()  # as deploy/runtime/worker.py does
        async with asyncio.TaskGroup() as chores:
            chores.create_task(repeat("window timers", TICK_S, agent.tick))
            chores.create_task(repeat("tokenising", TELL_S, agent.tell))
            chores.create_task(repeat("window projection", PROJECT_S, lambda: projection.project(datetime.now(UTC))))


if __name__ == "__main__":
    asyncio.run(run(Job.given()))
