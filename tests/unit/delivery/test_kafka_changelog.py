"""The changelog on Kafka, with a producer that keeps its transactions to itself and is fenced as the broker does it."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka.errors import KafkaTimeoutError, MessageSizeTooLargeError, ProducerFenced

from schemas.errors import Retryable
from schemas.records import Outgoing
from streams.delivery import changelog as under_test
from streams.delivery.changelog import Fenced, KafkaChangelog
from streams.delivery.fence import Fence
from streams.delivery.ledger import Checkpoint
from tests.fakes.batches import batch_of


class Coordinator:
    """Epochs by transactional.id, and what was committed."""

    def __init__(self) -> None:
        self.epochs: dict[str, int] = {}
        self.committed: list[dict[str, Any]] = []
        self.failures: list[Exception] = []
        self.producers: list[StubProducer] = []


class StubProducer:
    """aiokafka's transactional producer, as far as the changelog uses it."""

    coordinator: Coordinator

    def __init__(self, **settings: Any) -> None:
        self.settings, self.stopped = settings, False
        self.coordinator.producers.append(self)

    async def start(self) -> None:
        name = self.settings["transactional_id"]
        self.epoch = self.coordinator.epochs[name] = self.coordinator.epochs.get(name, 0) + 1

    async def stop(self) -> None:
        self.stopped = True

    async def begin_transaction(self) -> None:
        self.sent: dict[str, Any] = {"records": [], "offsets": {}, "by": self}

    def create_batch(self) -> Any:
        records: list[tuple[bytes, bytes | None]] = []
        return SimpleNamespace(
            append=lambda key, value, timestamp: None if len(records) == 2 else records.append((key, value)) or 1,
            close=lambda: None,
            record_count=lambda: len(records),
            records=records,
        )

    def _arrived(self, topic: str) -> Any:
        future = asyncio.get_running_loop().create_future()
        future.set_result(SimpleNamespace(topic=topic, offset=100 + len(self.sent["records"])))
        return future

    async def send_batch(self, batch: Any, topic: str, *, partition: int) -> Any:
        self.sent["records"] += [(topic, partition, key, value) for key, value in batch.records]
        return self._arrived(topic)

    async def send(self, topic: str, *, key: Any, value: Any, partition: Any, headers: Any) -> Any:
        self.sent["records"].append((topic, partition, key, value))
        return self._arrived(topic)

    async def send_offsets_to_transaction(self, offsets: Any, group: str) -> None:
        self.sent["offsets"] = {(tp.topic, tp.partition, group): end for tp, end in offsets.items()}

    async def commit_transaction(self) -> None:
        await asyncio.sleep(0)
        if self.epoch != self.coordinator.epochs[self.settings["transactional_id"]]:
            raise ProducerFenced()
        if self.coordinator.failures:
            raise self.coordinator.failures.pop(0)
        self.coordinator.committed.append(self.sent)


@pytest.fixture
def coordinator(monkeypatch: pytest.MonkeyPatch) -> Coordinator:
    coordinator = Coordinator()
    monkeypatch.setattr(under_test, "AIOKafkaProducer", type("Bound", (StubProducer,), {"coordinator": coordinator}))
    return coordinator


def changelog() -> KafkaChangelog:
    return KafkaChangelog({}, "group", "changelog", lambda name: f"test.{name}")


def checkpoint(value: bytes = b"1") -> Checkpoint:
    fence = Fence()
    fence.open()
    effect = Outgoing(topic="requests", key=b"k", value=b"effect", partition=4)
    rows = {b"chunk-1": value, b"chunk-2": value, b"head": value, b"gone": None}
    return Checkpoint(rows, (effect,), (batch_of(fence, "messages", 6, [b"x"], partition=2),))


async def test_rows_effects_and_offsets_are_one_transaction_in_order(coordinator):
    log = changelog()
    await log.open([2])
    end = await log.commit(2, checkpoint())
    (sent,) = coordinator.committed
    assert [(topic, key) for topic, _, key, _ in sent["records"]] == [
        ("changelog", b"chunk-1"),
        ("changelog", b"chunk-2"),
        ("changelog", b"head"),
        ("changelog", b"gone"),
        ("test.requests", b"k"),
    ]
    assert sent["offsets"] == {("messages", 2, "group"): 7}
    assert end == 105, "the offset behind the last row; the effect lies elsewhere"


async def test_who_opens_a_partition_fences_the_old_owner(coordinator):
    old, new = changelog(), changelog()
    await old.open([2])
    await new.open([2])
    with pytest.raises(Fenced):
        await old.commit(2, checkpoint(b"old"))
    await new.commit(2, checkpoint(b"new"))
    assert len(coordinator.committed) == 1


async def test_an_old_owner_whose_last_commit_failed_does_not_take_the_partition_back(coordinator):
    old, new = changelog(), changelog()
    await old.open([2])
    coordinator.failures.append(KafkaTimeoutError())
    with pytest.raises(Retryable):
        await old.commit(2, checkpoint(b"old"))
    await new.open([2])  # the old owner stalls, and hears nothing of this
    await new.commit(2, checkpoint(b"new"))
    with pytest.raises(Fenced):
        await old.commit(2, checkpoint(b"old"))
    await new.commit(2, checkpoint(b"newer"))
    assert [sent["records"][0][3] for sent in coordinator.committed] == [b"new", b"newer"]


async def test_what_no_repetition_mends_is_not_called_retryable(coordinator):
    log = changelog()
    await log.open([2])
    coordinator.failures.append(MessageSizeTooLargeError())
    with pytest.raises(MessageSizeTooLargeError):
        await log.commit(2, checkpoint())


async def test_closing_stops_every_producer(coordinator):
    log = changelog()
    await log.open([1, 2])
    await log.close()
    assert [producer.stopped for producer in coordinator.producers] == [True, True]
    await log.open([1])
    assert len(coordinator.producers) == 3


async def test_each_partition_has_its_own_transactional_id(coordinator):
    await changelog().open([1, 2])
    assert {producer.settings["transactional_id"] for producer in coordinator.producers} == {"group-1", "group-2"}
