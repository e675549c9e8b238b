"""The parts of a stage's app that agents use, without Faust."""

import asyncio
from types import SimpleNamespace

from streams.delivery.checkpoint import Checkpointer
from streams.delivery.fence import Fence
from streams.delivery.positions import Positions, Read
from tests.fakes.changelog import Broker, FakeChangelog


class StubConsumer:
    """Answers from real Positions; `log_ends` are the broker's log ends."""

    def __init__(self) -> None:
        self.positions = Positions()
        self.log_ends: dict[tuple[str, int], int] = {}
        self.requested = asyncio.Event()
        self.answer = asyncio.Event()
        self.answer.set()
        self.failures: list[Exception] = []

    async def log_end(self, topic: str, partition: int) -> int:
        self.requested.set()
        await self.answer.wait()
        if self.failures:
            raise self.failures.pop(0)
        return self.log_ends.get((topic, partition), 0)

    def read_to(self, topic: str, partition: int, applied: int | None) -> int | None:
        tp = (topic, partition)
        return self.positions.read_to(tp, applied) if tp in self.positions else None

    def handed(self, topic: str, partition: int, end: int, *, records: bool = True) -> None:
        """Marks the partition as fetched up to `end`."""
        tp = (topic, partition)
        self.positions.take(tp, Read(self.positions.expected(tp), end, ["a record"] if records else []))


class StubApp:
    """A windows stage with a checkpointer on a fake changelog, which other stages ignore."""

    def __init__(self, broker: Broker | None = None, **checkpointing: float) -> None:
        self.fence = Fence()
        self.conf = SimpleNamespace(id="stub")
        self.consumer = StubConsumer()
        self.crashes: list[BaseException] = []
        self.changelog = FakeChangelog(broker or Broker())
        self.checkpointer = Checkpointer(self.changelog, self.fence, self.crashes.append, **checkpointing)

    @property
    def broker(self) -> Broker:
        return self.changelog.broker

    async def crash(self, error: BaseException) -> None:
        self.crashes.append(error)

    async def start_epoch(self, partitions: set[int], starts: dict[tuple[str, int], int]) -> None:
        await self.checkpointer.restore(partitions)
        self.consumer.positions.reset(starts)
        self.fence.open()

    async def end_epoch(self) -> None:
        self.fence.close()
        await self.checkpointer.settle()
        self.fence.shut()
        self.consumer.positions.clear()
        await self.checkpointer.abandon()
