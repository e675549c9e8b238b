"""The fence, changelog and running checkpointer of one worker."""

import asyncio
import contextlib

from schemas.kafka.records import Outgoing
from streams.delivery.checkpoint import Checkpointer
from streams.delivery.fence import Fence
from tests.fakes.batches import batch_of
from tests.fakes.changelog import Broker, FakeChangelog

TOPIC = "chat.messages"


def effect(name: str) -> Outgoing:
    return Outgoing(topic="memory.extraction-requests", key=None, value=name.encode())


class Stage:
    """One worker's fence, changelog and checkpointer, with its checkpoints running."""

    def __init__(self, broker: Broker | None = None, **options: float) -> None:
        self.fence = Fence()
        self.broker = broker or Broker()
        self.changelog = FakeChangelog(self.broker)
        self.failures: list[BaseException] = []
        self.checkpointer = Checkpointer(
            self.changelog,
            self.fence,
            self.failures.append,
            clock=asyncio.get_running_loop().time,
            **{"interval_s": 0.5, **options},
        )
        self.running = asyncio.create_task(self.checkpointer.run())

    async def begin(self, *partitions: int) -> None:
        await self.checkpointer.restore(partitions)
        self.fence.open()

    def apply(self, partition: int, offset: int, rows: dict, *effects: Outgoing, topic: str = TOPIC):
        given = batch_of(self.fence, topic, offset, [b"x"], partition=partition)
        self.checkpointer.record(given, rows, list(effects))
        return given

    async def end(self) -> None:
        self.fence.shut()
        await self.checkpointer.abandon()

    async def stop(self) -> None:
        self.running.cancel()
        await asyncio.gather(self.running, return_exceptions=True)
        await self.end()


@contextlib.asynccontextmanager
async def running(*partitions: int, **options):
    stage = Stage(**options)
    await stage.begin(*partitions)
    yield stage
    await stage.stop()
