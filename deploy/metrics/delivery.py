"""Delivery metrics of each stage: progress and lag, read at each scrape."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from agents.stage.loop import Handle
from streams.delivery.app import StageApp
from streams.delivery.batch import Batch
from streams.delivery.fence import Phase

Place: TypeAlias = tuple[str, str, int]  # group, topic, partition

COUNTED = {
    "batches": "Batches handed to the agent.",
    "records": "Records handed to the agent.",
    "rewinds": "Reads that did not continue at the partition's position and were repeated.",
    "stale_batches": "Batches that were unfinished when their epoch ended; they are delivered again.",
    "epochs": "Epochs begun, one per assignment of a partition.",
    "fenced": "Checkpoints that the broker refused because another worker owns the partition.",
    "checkpoints": "Checkpoints that the broker committed.",
    "checkpoint_bytes": "Bytes of window rows in checkpoints.",
}


class MessageLateness:
    """How old the newest processed record of each held partition is: zero without lag, otherwise the age of the newest
    record handed to the agent.

    Before the first batch it counts from the assignment of the partition, as the age of the waiting records is unknown.
    `now` is Unix seconds.
    """

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._got_s: dict[Place, float] = {}
        self._reached_s: dict[Place, float] = {}

    def sample(self, held: Iterable[Place], lags: Mapping[Place, int]) -> None:
        """Updates the lags; call it regularly, with all held partitions. Partitions that are not held any more are
        forgotten."""
        now = self._now()
        self._got_s = {place: self._got_s.get(place, now) for place in held}
        self._reached_s = {place: at for place, at in self._reached_s.items() if place in self._got_s}
        for place, lag in lags.items():
            if not lag:
                self._reached_s[place] = now

    def handed(self, place: Place, timestamp_ms: int) -> None:
        """Notes that the agent got a batch whose last record has this timestamp."""
        self._reached_s[place] = max(timestamp_ms / 1000, self._reached_s.get(place, 0.0))

    def age_s(self, place: Place) -> float:
        now = self._now()
        return max(0.0, now - self._reached_s.get(place, self._got_s.get(place, now)))


class DeliveryCollector(Collector):
    """Collects the metrics of the watched apps at each scrape. `now` is Unix seconds."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._apps: list[StageApp] = []
        self._lateness = MessageLateness(now)

    def watched(self, app: StageApp, handle: Handle) -> Handle:
        """Wraps the app's handler to note how far each batch reaches."""
        self._apps.append(app)

        async def noting(batch: Batch) -> None:
            if batch.records:
                self._lateness.handed((app.conf.id, batch.topic, batch.partition), batch.records[-1].timestamp)
            await handle(batch)

        return noting

    def sample(self) -> None:
        """Call about every second: a lag in time counts from the last moment without lag."""
        held = [(app.conf.id, topic, partition) for app in self._apps for topic, partition in app.frontiers()]
        lags = {(app.conf.id, *tp): lag for app in self._apps for tp, lag in app.lags().items()}
        self._lateness.sample(held, lags)

    def collect(self) -> Iterator[Metric]:
        self.sample()
        yield from self._counted()
        yield from self._lags()

    def _counted(self) -> Iterator[Metric]:
        seconds = CounterMetricFamily(
            "memstream_delivery_checkpoint_seconds", "Time spent on checkpoints.", labels=("group",)
        )
        ready = GaugeMetricFamily(
            "memstream_stage_ready", "Whether the stage has its partitions and recovered them.", labels=("group",)
        )
        table = GaugeMetricFamily(
            "memstream_table_bytes",
            "Approximate size of the window rows of this worker's partitions on its disk.",
            labels=("group",),
        )
        for app in self._apps:
            if app.checkpointer is not None:
                table.add_metric((app.conf.id,), app.checkpointer.stored_bytes())
            seconds.add_metric((app.conf.id,), app.counters.checkpoint_s)
            ready.add_metric((app.conf.id,), float(app.fence.phase is Phase.OPEN))
        yield from (seconds, ready, table)
        for name, meaning in COUNTED.items():
            family = CounterMetricFamily(f"memstream_delivery_{name}", meaning, labels=("group",))
            for app in self._apps:
                family.add_metric((app.conf.id,), getattr(app.counters, name))
            yield family

    def _lags(self) -> Iterator[Metric]:
        """By topic: the sum of messages, and the longest time in seconds."""
        labels = ("group", "topic")
        messages = GaugeMetricFamily(
            "memstream_consumer_lag_messages",
            "Offsets of this worker's partitions that are not processed yet.",
            labels=labels,
        )
        seconds = GaugeMetricFamily(
            "memstream_consumer_lag_seconds",
            "Age of the newest record that the stage received, of the partition that is furthest behind; 0 "
            "without a lag.",
            labels=labels,
        )
        for app in self._apps:
            behind: dict[str, list[tuple[int, float]]] = {}
            for (topic, partition), lag in app.lags().items():
                age_s = self._lateness.age_s((app.conf.id, topic, partition)) if lag else 0.0
                behind.setdefault(topic, []).append((lag, age_s))
            for topic, lags in behind.items():
                messages.add_metric((app.conf.id, topic), sum(lag for lag, _ in lags))
                seconds.add_metric((app.conf.id, topic), max(age_s for _, age_s in lags))
        yield from (messages, seconds)
