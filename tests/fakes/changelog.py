"""A changelog in memory: atomic transactions, fencing by owner, and failures at every await."""

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping

from schemas.kafka.records import Outgoing
from streams.delivery.changelog import Fenced, Follow, Restore
from streams.delivery.ledger import Checkpoint

Happening = BaseException | asyncio.Event | None


class Broker:
    """The state that all workers share: the log of each partition, with the offsets and effects committed with it.

    The index of a record in its log is its offset; None marks a compacted record.
    """

    def __init__(self) -> None:
        self.log: dict[int, list[tuple[bytes, bytes | None] | None]] = defaultdict(list)
        self.committed: dict[tuple[str, int], int] = {}
        self.effects: list[Outgoing] = []
        self.transactions: list[tuple[int, Checkpoint]] = []
        self.owners: dict[int, object] = {}
        self.name = "cluster/changelog"
        self.beginning = 0

    def append(self, partition: int, checkpoint: Checkpoint) -> int:
        self.log[partition] += checkpoint.rows.items()
        self.effects += checkpoint.effects
        self.transactions.append((partition, checkpoint))
        for topic, end in checkpoint.offsets().items():
            self.committed[topic, partition] = end
        return len(self.log[partition])

    def rows(self, partition: int) -> dict[bytes, bytes]:
        """The partition's state as a worker restores it."""
        latest = dict(record for record in self.log[partition] if record is not None)
        return {key: value for key, value in latest.items() if value is not None}

    def compact(self, partition: int, *, tombstones: bool = False) -> None:
        """Removes records with a later one for their key, and tombstones after `delete.retention.ms`."""
        latest = {record[0]: offset for offset, record in enumerate(self.log[partition]) if record is not None}
        for offset, record in enumerate(self.log[partition]):
            if record is not None and (latest[record[0]] > offset or (tombstones and record[1] is None)):
                self.log[partition][offset] = None


class Gates:
    """Awaits that a schedule releases one at a time, or fails."""

    def __init__(self) -> None:
        self.open = False
        self._waiting: list[tuple[str, asyncio.Future[BaseException | None]]] = []

    async def reach_point(self, point: str) -> None:
        """Waits until the schedule releases this point. Raises the failure that it plans."""
        if self.open:
            await asyncio.sleep(0)
            return
        gate: asyncio.Future[BaseException | None] = asyncio.get_running_loop().create_future()
        self._waiting.append((point, gate))
        failure = await gate
        if failure is not None:
            raise failure

    @property
    def waiting(self) -> list[str]:
        self._waiting = [(point, gate) for point, gate in self._waiting if not gate.done()]
        return [point for point, _ in self._waiting]

    def let_pass(self, which: int = 0, failure: BaseException | None = None) -> None:
        if self.waiting:
            self._waiting.pop(which % len(self._waiting))[1].set_result(failure)

    def fail(self, failures: Mapping[str, Callable[[], BaseException]]) -> None:
        """Fails the first waiting await with its failure."""
        for index, point in enumerate(self.waiting):
            if point in failures:
                self.let_pass(index, failures[point]())
                return


class FakeChangelog:
    """One worker's connection to the broker. `on("commit", ...)` sets what happens at the next awaits of a kind:

    `open`, `read`, `close`: at the operation; `commit`: before the transaction arrives; `committed`: after it has arrived,
    before the response. An exception is raised, an Event is awaited, None continues.
    """

    def __init__(self, broker: Broker) -> None:
        self.broker = broker
        self.calls: list[tuple[str, int]] = []
        self.read_from: list[tuple[int, int]] = []
        self._script: dict[tuple[str, int | None], deque[Happening]] = defaultdict(deque)
        self._tokens: dict[int, object] = {}

    def on(self, point: str, *happenings: Happening, partition: int | None = None) -> None:
        self._script[point, partition].extend(happenings)

    async def reach_point(self, point: str, partition: int) -> None:
        self.calls.append((point, partition))
        await asyncio.sleep(0)
        planned = self._script[point, partition] or self._script[point, None]
        happening = planned.popleft() if planned else None
        if isinstance(happening, asyncio.Event):
            await happening.wait()
        elif happening is not None:
            raise happening

    async def open(self, partitions: Iterable[int]) -> None:
        await self.close()
        for partition in partitions:
            await self.reach_point("open", partition)
            self._tokens[partition] = self.broker.owners[partition] = object()

    async def commit(self, partition: int, checkpoint: Checkpoint) -> int:
        token = self._tokens.get(partition)
        await self.reach_point("commit", partition)
        if token is None or self.broker.owners.get(partition) is not token:
            raise Fenced(f"partition {partition} has a new owner")
        end = self.broker.append(partition, checkpoint)
        await self.reach_point("committed", partition)
        return end

    async def source(self) -> str:
        return self.broker.name

    async def read(self, partitions: Iterable[int], follow: Follow, restore: Restore) -> None:
        for partition in partitions:
            log = self.broker.log[partition]
            end = len(log)
            start = follow(partition, self.broker.beginning, end)
            self.read_from.append((partition, start))
            for offset in range(start, end):
                await self.reach_point("read", partition)
                record = log[offset]
                restore(partition, {} if record is None else {record[0]: record[1]}, offset + 1)
            if start == end:
                await self.reach_point("read", partition)

    async def close(self) -> None:
        self._tokens = {}
        self.calls.append(("close", -1))


class GatedChangelog(FakeChangelog):
    """Every await waits until the schedule releases or fails it."""

    def __init__(self, broker: Broker, gates: Gates) -> None:
        super().__init__(broker)
        self.gates = gates

    async def reach_point(self, point: str, partition: int) -> None:
        await self.gates.reach_point(point)
