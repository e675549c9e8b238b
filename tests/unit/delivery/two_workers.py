"""A model of two workers of a stage with a table, one partition and its broker, in which a schedule decides every
await.

A worker here is what Faust's consumer and recovery are in production, reduced to their awaits: it restores, asks for the
committed offset, opens its fence, is handed batches, applies them, checkpoints, and is revoked at any of those awaits, or
stalls and hears of nothing. Rows list the offsets that were applied since the row was last deleted, so that a repetition, a
hole and a deletion that was undone all show.
"""

import asyncio
import json
from typing import Any

from schemas.errors import Misconfigured, Retryable
from schemas.kafka.records import Outgoing
from streams.delivery.batch import Batch
from streams.delivery.changelog import Fenced
from streams.delivery.checkpoint import Checkpointer
from streams.delivery.fence import Fence
from streams.delivery.ledger import Checkpoint
from streams.delivery.positions import Positions, Read
from streams.delivery.store import Mark, MemoryStore, Rows
from streams.kafka.topics import TOMBSTONES_KEPT_MS
from tests.fakes.changelog import Broker, GatedChangelog, Gates
from tests.fakes.clock import settled, unix_s

TP = ("chat.messages", 0)
KEYS = 3
DELETING = 5  # every fifth offset deletes its row instead of adding to it
CLOSING_S = 6.0


def changed(row: bytes | None, offset: int) -> bytes | None:
    """The row of an offset's key once the offset was applied."""
    return None if offset % DELETING == DELETING - 1 else json.dumps([*json.loads(row or b"[]"), offset]).encode()


def key_of(offset: int) -> bytes:
    return b"key-%d" % (offset % KEYS)


class Cluster(Broker):
    """The broker with the source partition, and transactions whose fate their sender does not know."""

    def __init__(self) -> None:
        super().__init__()
        self.produced = 0
        self.limbo: list[tuple[object, Checkpoint]] = []
        self.history: list[tuple[bytes, bytes | None]] = []
        self.written_at: list[float] = []

    def append(self, partition: int, checkpoint: Checkpoint) -> int:
        self.history += checkpoint.rows.items()
        self.written_at += [unix_s()] * len(checkpoint.rows)
        return super().append(partition, checkpoint)

    def limbo_arrives(self) -> None:
        """Applies calls that timed out in the client, unless the partition was taken over."""
        waiting, self.limbo = self.limbo, []
        for token, checkpoint in waiting:
            if self.owners.get(0) is token:
                self.append(0, checkpoint)

    def compact(self, partition: int, *, tombstones: bool = False) -> None:
        """Deletions go once they were kept for as long as the topic says."""
        super().compact(partition, tombstones=tombstones)
        for offset, entry in enumerate(self.log[partition]):
            old = unix_s() - self.written_at[offset] > TOMBSTONES_KEPT_MS / 1000
            if entry is not None and entry[1] is None and old:
                self.log[partition][offset] = None

    def recreate(self, name: str) -> None:
        """Recreates the changelog: all messages are processed again, from the first one."""
        self.name = name
        self.log.clear()
        self.committed, self.effects, self.history, self.written_at, self.limbo = {}, [], [], [], []

    def check(self) -> None:
        committed = self.committed.get(TP, 0)
        expected: dict[bytes, bytes | None] = {}
        for offset in range(committed):
            expected[key_of(offset)] = changed(expected.get(key_of(offset)), offset)
        assert self.rows(0) == {key: row for key, row in expected.items() if row is not None}, f"committed {committed}"
        assert sorted(int(effect.value or b"") for effect in self.effects) == list(range(committed))

    def check_store(self, disk: "Disk") -> None:
        """A store is never ahead of the changelog, and at its end it is the same."""
        if disk.mark.source != self.name:
            return
        rows = dict(disk.scan())
        assert disk.mark.offset <= len(self.history)
        assert rows.items() <= set(self.history[: disk.mark.offset])
        if disk.mark.offset == len(self.history):
            assert rows == self.rows(0)


class Disk(MemoryStore):
    """A store that survives its process. The next process clears a store that has failed, as RocksStore does."""

    fails_next = broken = False

    def write(self, rows: Rows, mark: Mark) -> None:
        if self.fails_next:
            self.fails_next, self.broken = False, True
            raise Misconfigured("the store failed: is the disk full or damaged?")
        super().write(rows, mark)

    def reopened(self) -> "Disk":
        if self.broken:
            self.clear()
            self.broken = False
        return self


class Doubtful(GatedChangelog):
    """A changelog whose failed commits may still reach the broker later."""

    broker: Cluster

    async def commit(self, partition: int, checkpoint: Checkpoint) -> int:
        token = self._tokens.get(partition)
        try:
            await self.reach_point("commit", partition)
        except (Retryable, asyncio.CancelledError):
            self.broker.limbo.append((token, checkpoint))
            raise
        if token is None or self.broker.owners.get(partition) is not token:
            raise Fenced("a new owner")
        end = self.broker.append(partition, checkpoint)
        await self.reach_point("committed", partition)
        return end


class Worker:
    """One process. `assign` and `lose` are what the group tells it, if it hears. `disk` is what a process before it left."""

    def __init__(self, cluster: Cluster, disk: Disk | None = None) -> None:
        self.cluster = cluster
        self.disk = disk.reopened() if disk is not None else Disk()
        self.fence, self.positions, self.gates = Fence(), Positions(), Gates()
        self.changelog = Doubtful(cluster, self.gates)
        self.checkpointer = Checkpointer(
            self.changelog, self.fence, self.failed, interval_s=1e9, stores=lambda _: self.disk, now=unix_s
        )
        self.queue: list[Batch] = []
        self.tasks: set[asyncio.Task[Any]] = set()
        self.recovering: asyncio.Task[None] | None = None
        self.callbacks = asyncio.Lock()  # rebalance callbacks of one consumer come one after the other
        self.given_up = False

    async def die(self) -> None:
        """As by SIGKILL: its tasks have no further effects."""
        self.fence.shut()
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        await self.checkpointer.abandon()

    def spawn(self, coroutine: Any) -> asyncio.Task[Any]:
        task = asyncio.create_task(coroutine)
        self.tasks.add(task)
        return task

    def failed(self, error: BaseException) -> None:
        if isinstance(error, Misconfigured):
            self.given_up = True
            return
        assert isinstance(error, Retryable), error
        self.spawn(self.restart_epoch())

    async def restart_epoch(self) -> None:
        if not self.callbacks.locked():
            await self.end_epoch(0.0)
            self.recover()

    async def assign(self) -> None:
        async with self.callbacks:
            await self.end_epoch(CLOSING_S)
            self.recover()

    async def lose(self) -> None:
        async with self.callbacks:
            await self.end_epoch(CLOSING_S)

    async def end_epoch(self, bound_s: float) -> None:
        await self.interrupt()
        self.fence.close()
        try:
            async with asyncio.timeout(bound_s):
                await self.checkpointer.settle()
        except TimeoutError:
            pass
        finally:
            self.fence.shut()
            self.positions.clear()
            await self.checkpointer.abandon()

    async def interrupt(self) -> None:
        recovering, self.recovering = self.recovering, None
        if recovering is not None and not recovering.done():
            recovering.cancel()
            await asyncio.gather(recovering, return_exceptions=True)

    def recover(self) -> None:
        if self.recovering is None or self.recovering.done():
            self.recovering = self.spawn(self._recover())

    async def _recover(self) -> None:
        while not self.given_up:
            try:
                await self.checkpointer.restore({0})
                await self.gates.reach_point("offsets")
                break
            except Retryable:
                await asyncio.sleep(0)
            except Misconfigured:
                self.given_up = True
                return
        self.positions.reset({TP: self.cluster.committed.get(TP, 0)})
        self.fence.open()

    def read(self, count: int) -> None:
        if TP not in self.positions:
            return
        start = self.positions.expected(TP)
        end = min(start + count, self.cluster.produced)
        if start < end:
            read = Read(start, end, list(range(start, end)))
            assert self.positions.continues(TP, read)
            extent = self.positions.take(TP, read)
            ack = lambda: self.positions.finish(TP, extent)  # noqa: E731
            self.queue.append(Batch(*TP, start, end, read.records, self.fence, ack))

    def apply(self) -> None:
        if not self.queue:
            return
        batch = self.queue.pop(0)
        if not batch.current:
            return
        ledger, rows = self.checkpointer[0], {}
        for offset in batch.records:
            key = key_of(offset)
            rows[key] = changed(rows[key] if key in rows else ledger.read(key), offset)
        effects = [Outgoing(topic="effects", key=None, value=str(offset).encode()) for offset in batch.records]
        self.checkpointer.record(batch, rows, effects)

    def checkpoint(self) -> None:
        self.checkpointer._start_due()

    def check(self) -> None:
        self.cluster.check_store(self.disk)
        committable = self.positions.committable(TP)
        assert committable is None or committable <= self.cluster.committed.get(TP, 0), "acked before it was kept"
        for task in self.tasks:
            if task.done() and not task.cancelled():
                task.result()


async def end_well(cluster: Cluster, workers: list[Worker]) -> None:
    """All gates open; the last owner does what is left, while the other one does not know that it is over."""
    for worker in workers:
        worker.gates.open = True
        while worker.gates.waiting:
            worker.gates.let_pass()
            await settled(12)
    await asyncio.sleep(2 * CLOSING_S)
    for index, worker in enumerate(workers):
        if worker.given_up:
            await worker.die()
            workers[index] = Worker(cluster, worker.disk)
        workers[index].gates.open = True
        workers[index].disk.fails_next = False
    stale, last = workers
    await last.assign()
    await settled()
    for worker in (stale, last, stale):
        for _ in range(cluster.produced + len(worker.queue) + 1):
            worker.read(3)
            worker.apply()
        worker.checkpoint()
        await settled()
        cluster.check()
        worker.check()
    assert cluster.committed.get(TP, 0) == cluster.produced, "not everything was applied in the end"
    await asyncio.gather(*(worker.lose() for worker in workers))
    await asyncio.gather(*(task for worker in workers for task in worker.tasks), return_exceptions=True)
