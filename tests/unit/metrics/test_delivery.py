"""Metrics of lag, in messages and in seconds, and of delivery."""

from types import SimpleNamespace
from typing import Any

from prometheus_client import CollectorRegistry

from deploy.metrics.delivery import DeliveryCollector
from streams.delivery.batch import Batch
from tests.fakes.stage import FakeStage

GROUP, TOPIC = "memstream-windows", "chat.messages"
NOW_S = 1_000_000.0


class Watched:
    def __init__(self, lags: dict[tuple[str, int], int]) -> None:
        self.stage = FakeStage(GROUP, lags)
        self.handled: list[Batch] = []
        self.now_s = NOW_S
        self.collector = DeliveryCollector(lambda: self.now_s)
        self.handle = self.collector.watched(self.stage, self._handle)  # type: ignore[arg-type]
        self.registry = CollectorRegistry()
        self.registry.register(self.collector)

    async def _handle(self, batch: Batch) -> None:
        self.handled.append(batch)

    def value(self, name: str, **labels: str) -> float | None:
        return self.registry.get_sample_value(f"memstream_{name}", {"group": GROUP} | labels)

    def passed(self, seconds: int) -> None:
        """With a look each second, as a worker does."""
        for _ in range(seconds):
            self.now_s += 1
            self.collector.sample()

    @property
    def late_s(self) -> float | None:
        return self.value("consumer_lag_seconds", topic=TOPIC)

    async def handle_record(self, partition: int, at_s: float) -> None:
        record: Any = SimpleNamespace(timestamp=int(at_s * 1000))
        await self.handle(Batch(TOPIC, partition, 0, 1, [record], self.stage.fence, lambda: None))


async def test_the_lag_of_a_topic_is_the_sum_of_messages_and_the_maximum_of_seconds():
    watched = Watched({(TOPIC, 0): 5, (TOPIC, 1): 2, (TOPIC, 2): 0})
    await watched.handle_record(0, NOW_S - 30)
    await watched.handle_record(1, NOW_S - 90)
    await watched.handle_record(2, NOW_S - 500)
    assert watched.value("consumer_lag_messages", topic=TOPIC) == 7
    assert watched.value("consumer_lag_seconds", topic=TOPIC) == 90, "the third partition is read to its end"
    assert len(watched.handled) == 3


async def test_lag_after_an_idle_period_counts_from_the_arrival_of_the_message():
    watched = Watched({(TOPIC, 0): 0})
    await watched.handle_record(0, NOW_S)
    watched.passed(36_000)
    watched.stage.behind[TOPIC, 0] = 1
    watched.passed(1)
    assert watched.late_s == 1
    watched.passed(9)
    assert watched.late_s == 10, "nothing was handed out meanwhile"
    await watched.handle_record(0, watched.now_s - 9)
    assert watched.late_s == 9, "it was published a second after the last look that found no lag"


async def test_the_lag_of_a_worker_counts_from_the_assignment_and_then_from_its_last_record():
    watched = Watched({(TOPIC, 0): 100_000})
    watched.passed(1)
    assert watched.late_s == 0
    watched.passed(30)
    assert watched.late_s == 30
    await watched.handle_record(0, watched.now_s - 7_200)
    assert watched.late_s == 7_200
    watched.passed(1)
    assert watched.late_s == 7_201


async def test_the_lag_of_a_revoked_partition_is_dropped():
    watched = Watched({(TOPIC, 0): 5})
    await watched.handle_record(0, NOW_S - 500)
    assert watched.late_s == 500
    watched.stage.behind = {}
    watched.passed(10)
    watched.stage.behind = {(TOPIC, 0): 5}
    watched.passed(3)
    assert watched.late_s == 2, "the other one has come further meanwhile"


async def test_a_stage_is_ready_while_its_fence_is_open():
    watched = Watched({})
    assert watched.value("stage_ready") == 0
    watched.stage.fence.open()
    assert watched.value("stage_ready") == 1
    watched.stage.fence.close()
    assert watched.value("stage_ready") == 0


async def test_delivery_counters_are_exported():
    watched = Watched({})
    watched.stage.counters.records = 12
    watched.stage.counters.checkpoint_s = 1.5
    assert watched.value("delivery_records_total") == 12
    assert watched.value("delivery_checkpoint_seconds_total") == 1.5


def test_the_table_size_is_exported_only_for_stages_with_a_table():
    watched = Watched({})
    assert watched.value("table_bytes") == 4_096
    watched.stage.checkpointer = None
    assert watched.value("table_bytes") is None
