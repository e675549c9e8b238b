"""The consumer on a thread with scripted reads, for tests of single steps."""

import asyncio
from types import SimpleNamespace
from typing import Any

from aiokafka.errors import KafkaTimeoutError
from faust.types import TP

from streams.delivery.consumer import FencedConsumer
from streams.delivery.positions import Positions, Read
from tests.fakes.batches import record
from tests.unit.delivery.scripted_consumer import bare_app

MESSAGES, OTHER = TP("chat.messages", 0), TP("chat.messages", 1)


class StubThread:
    """aiokafka's side: `reads` are the fetcher's next results; positions are recorded. Without `broker_ends` the broker does not
    answer."""

    def __init__(self) -> None:
        self.reads: list[dict[TP, Read]] = []
        self.offsets: dict[TP, int | None] = {}
        self.fetched_ends: dict[TP, int] = {}
        self.broker_ends: dict[TP, int] | None = {}
        self.requested: list[set[TP]] = []
        self.placed: list[dict[TP, int]] = []
        self.paused: set[TP] = set()
        self.assigned = {MESSAGES, OTHER}
        self.meanwhile: Any = lambda: None

    async def read(self, tps: set[TP], timeout_s: float) -> dict[TP, Read]:
        self.requested.append(tps)
        await asyncio.sleep(0)
        self.meanwhile()
        return self.reads.pop(0)

    async def place(self, positions: dict[TP, int], paused: Any = ()) -> bool:
        await asyncio.sleep(0)
        if not self.assigned >= positions.keys():
            return False
        self.placed.append(dict(positions))
        self.paused |= set(paused)
        return True

    def log_end(self, tp: TP) -> int | None:
        return self.fetched_ends.get(tp)

    async def ends(self, tps: set[TP]) -> dict[TP, int]:
        await asyncio.sleep(0)
        if self.broker_ends is None:
            raise KafkaTimeoutError
        return {tp: self.broker_ends[tp] for tp in tps}

    async def committed(self, tps: set[TP]) -> dict[TP, int | None]:
        return {tp: self.offsets.get(tp) for tp in tps}


class BareConsumer(FencedConsumer):
    """Without a broker, an app or threads; `delivered` are the batches, `committed` the offsets, commit by commit."""

    def __init__(self, *, checkpoints: bool = False) -> None:
        self.app = bare_app(checkpoints=checkpoints)
        self.fence, self.positions, self.counters = self.app.fence, Positions(), self.app.counters
        self._thread = StubThread()
        self._committed_offset: dict[TP, int | None] = {}
        self._fetched_ends: dict[TP, int] = {}
        self._buffered_partitions = set()
        self.flow_active = True
        self.suspend_flow = asyncio.Event()
        self.diag = SimpleNamespace(set_flag=lambda _: None, unset_flag=lambda _: None)
        self.delivered: list[Any] = []
        self.committed: list[dict[TP, int]] = []

    async def callback(self, message: Any) -> None:
        assert message.generation_id == 9, "Faust's stream drops messages of another generation"
        self.delivered.append(message.value)

    async def wait_first(self, *coroutines: Any, **_: Any) -> None:
        first, rest = coroutines[0], coroutines[1:]
        await first
        for coroutine in rest:
            coroutine.close()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def earliest_offsets(self, *tps: TP) -> dict[TP, int]:
        return dict.fromkeys(tps, 7)

    async def _handle_attached(self, offsets: Any) -> None:
        """Faust sends here what was attached to messages; nothing ever is."""

    async def _commit_offsets(self, offsets: Any, start_new_transaction: bool = True) -> bool:
        await asyncio.sleep(0)
        self.committed.append(dict(offsets))
        self._committed_offset.update(offsets)
        return True

    def _get_active_partitions(self) -> set[TP]:
        return {MESSAGES, OTHER}

    async def drain(self, *reads: dict[TP, Read]) -> None:
        for read in reads:
            self._thread.reads.append(read)
            await self._drain_once()

    @property
    def extents(self) -> list[tuple[TP, int, int]]:
        return [(TP(batch.topic, batch.partition), batch.first, batch.end) for batch in self.delivered]


def read(tp: TP, start: int, end: int, *offsets: int) -> dict[TP, Read]:
    return {tp: Read(start, end, [record(tp.topic, offset, b"x", partition=tp.partition) for offset in offsets])}
