"""What each stage's delivery has done and how far behind it is, read at each scrape from where it is kept anyway."""

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
    "rewinds": "Reads that did not continue where the partition was left, and were read again.",
    "stale_batches": "Batches not finished when their epoch ended; they are delivered again.",
    "epochs": "Epochs begun, one at each rebalance.",
    "fenced": "Checkpoints that the broker refused because another worker owns the partition.",
    "checkpoints": "Checkpoints that arrived.",
    "checkpoint_bytes": "Bytes of window rows in checkpoints.",
}


class MessageLateness:
    """What each held partition has come to: the present while it has no lag, else the newest record that was handed to the agent.

    Before a first batch it counts from when the partition was got: how old what waits there is, is not known yet.
    `now` is Unix seconds.
    """

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._got_s: dict[Place, float] = {}
        self._reached_s: dict[Place, float] = {}

    def look(self, held: Iterable[Place], lags: Mapping[Place, int]) -> None:
        """To be called now and then, with all that this worker holds; what it holds no more is forgotten."""
        now = self._now()
        self._got_s = {place: self._got_s.get(place, now) for place in held}
        self._reached_s = {place: at for place, at in self._reached_s.items() if place in self._got_s}
        for place, lag in lags.items():
            if not lag:
                self._reached_s[place] = now

    def handed(self, place: Place, timestamp_ms: int) -> None:
        """The agent gets a batch that ends with a record of this time."""
        self._reached_s[place] = max(timestamp_ms / 1000, self._reached_s.get(place, 0.0))

    def age_s(self, place: Place) -> float:
        now = self._now()
        return max(0.0, now - self._reached_s.get(place, self._got_s.get(place, now)))


class DeliveryCollector(Collector):
    """Of the apps that it watches, as they are at a scrape. `now` is Unix seconds."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._apps: list[StageApp] = []
        self._lateness = MessageLateness(now)

    def watched(self, app: StageApp, handle: Handle) -> Handle:
        """The app's handler, which notes of each batch how far it reaches."""
        self._apps.append(app)

        async def noting(batch: Batch) -> None:
            if batch.records:
                self._lateness.handed((app.conf.id, batch.topic, batch.partition), batch.records[-1].timestamp)
            await handle(batch)

        return noting

    def look(self) -> None:
        """To be called about every second: a lag in time counts from the last time that there was none."""
        held = [(app.conf.id, topic, partition) for app in self._apps for topic, partition in app.frontiers()]
        lags = {(app.conf.id, *tp): lag for app in self._apps for tp, lag in app.lags().items()}
        self._lateness.look(held, lags)

    def collect(self) -> Iterator[Metric]:
        self.look()
        yield from self._counted()
        yield from self._lags()

    def _counted(self) -> Iterator[Metric]:
        seconds = CounterMetricFamily(
            "memstream_delivery_checkpoint_seconds", "Time that checkpoints took.", labels=("group",)
        )
        ready = GaugeMetricFamily(
            "memstream_stage_ready", "Whether the stage has its partitions and recovered them.", labels=("group",)
        )
        table = GaugeMetricFamily(
            "memstream_table_bytes",
            "Window rows of this worker's partitions, about, as its disk holds them.",
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
        """By topic: the sum of messages, and the longest time."""
        labels = ("group", "topic")
        messages = GaugeMetricFamily(
            "memstream_consumer_lag_messages",
            "Offsets of this worker's partitions that are not processed yet.",
            labels=labels,
        )
        seconds = GaugeMetricFamily(
            "memstream_consumer_lag_seconds",
            "How long ago that was published which the stage has come to, where it is furthest behind; 0 without a lag.",
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
