"""Two workers, one partition, any schedule: each record is applied exactly once in what the broker keeps.

The changelog is compacted at any time, and a worker is killed at any time and comes back with its store, or without.

A worker here is what Faust's consumer and recovery are in production, reduced to their awaits: it restores, asks for the
committed offset, opens its fence, is handed batches, applies them, checkpoints, and is revoked at any of those awaits, or
stalls and hears of nothing. Rows list the offsets that were applied, so that a repetition or a hole shows.
"""

import asyncio
import json
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from schemas.errors import Retryable
from schemas.records import Outgoing
from streams.delivery.batch import Batch
from streams.delivery.changelog import Fenced
from streams.delivery.checkpoint import Checkpointer
from streams.delivery.fence import Fence
from streams.delivery.ledger import Checkpoint
from streams.delivery.positions import Positions, Read
from streams.delivery.store import MemoryStore
from tests.fakes.changelog import Broker, FakeChangelog
from tests.fakes.clock import VirtualLoop, settled

TP = ("chat.messages", 0)
KEYS = 3
CLOSING_S = 6.0


class Cluster(Broker):
    """The broker with the source partition, and transactions whose fate their sender does not know."""

    def __init__(self) -> None:
        super().__init__()
        self.produced = 0
        self.limbo: list[tuple[object, Checkpoint]] = []
        self.history: list[tuple[bytes, bytes | None]] = []

    def append(self, partition: int, checkpoint: Checkpoint) -> int:
        self.history += checkpoint.rows.items()
        return super().append(partition, checkpoint)

    def limbo_arrives(self) -> None:
        """What a client gave up on may still be carried out, as long as nobody has taken the partition over."""
        waiting, self.limbo = self.limbo, []
        for token, checkpoint in waiting:
            if self.owners.get(0) is token:
                self.append(0, checkpoint)

    def applied(self) -> list[int]:
        return sorted(offset for row in self.rows(0).values() for offset in json.loads(row))

    def check(self) -> None:
        committed = self.committed.get(TP, 0)
        assert self.applied() == list(range(committed)), f"applied {self.applied()}, committed {committed}"
        assert sorted(int(effect.value or b"") for effect in self.effects) == list(range(committed))

    def check_store(self, store: MemoryStore) -> None:
        """A store is never ahead of the changelog, and at its end it is the same."""
        rows = dict(store.scan())
        assert rows.items() <= set(self.history[: store.mark.offset])
        if store.mark.offset == len(self.history):
            assert rows == self.rows(0)


class Gated(FakeChangelog):
    """Every await waits for the schedule to let it pass (None) or fail."""

    broker: Cluster

    def __init__(self, broker: Cluster) -> None:
        super().__init__(broker)
        self.waiting: list[asyncio.Future[Exception | None]] = []
        self.gates_open = False

    async def reach(self, point: str, partition: int) -> None:
        if self.gates_open:
            await asyncio.sleep(0)
            return
        gate: asyncio.Future[Exception | None] = asyncio.get_running_loop().create_future()
        self.waiting.append(gate)
        failure = await gate
        if failure is not None:
            raise failure

    def let_pass(self, failure: Exception | None = None) -> None:
        self.waiting = [gate for gate in self.waiting if not gate.done()]
        if self.waiting:
            self.waiting.pop(0).set_result(failure)

    async def commit(self, partition: int, checkpoint: Checkpoint) -> int:
        token = self._tokens.get(partition)
        try:
            await self.reach("commit", partition)
        except (Retryable, asyncio.CancelledError):
            self.broker.limbo.append((token, checkpoint))
            raise
        if token is None or self.broker.owners.get(partition) is not token:
            raise Fenced("a new owner")
        end = self.broker.append(partition, checkpoint)
        await self.reach("committed", partition)
        return end


class Worker:
    """One process. `assign` and `lose` are what the group tells it, if it hears. `disk` is what a process before it left."""

    def __init__(self, cluster: Cluster, disk: MemoryStore | None = None) -> None:
        self.cluster = cluster
        self.disk = disk or MemoryStore()
        self.fence, self.positions, self.changelog = Fence(), Positions(), Gated(cluster)
        self.checkpointer = Checkpointer(
            self.changelog, self.fence, self.failed, interval_s=1e9, stores=lambda _: self.disk, now=lambda: 0.0
        )
        self.queue: list[Batch] = []
        self.tasks: set[asyncio.Task[Any]] = set()
        self.recovering: asyncio.Task[None] | None = None
        self.callbacks = asyncio.Lock()  # rebalance callbacks of one consumer come one after the other

    async def die(self) -> None:
        """kill -9: whatever its tasks would still do reaches nobody."""
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
        assert isinstance(error, Retryable), error
        self.spawn(self.begin_anew())

    async def begin_anew(self) -> None:
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
        while True:
            try:
                await self.checkpointer.restore({0})
                await self.changelog.reach("offsets", 0)
                break
            except Retryable:
                await asyncio.sleep(0)
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
            key = f"key-{offset % KEYS}".encode()
            before = json.loads(rows.get(key) or ledger.read(key) or b"[]")
            rows[key] = json.dumps([*before, offset]).encode()
        effects = [Outgoing(topic="effects", key=None, value=str(offset).encode()) for offset in batch.records]
        self.checkpointer.record(batch, rows, effects)

    def checkpoint(self) -> None:
        self.checkpointer._start_due()

    def check(self) -> None:
        self.cluster.check_store(self.disk)
        committable = self.positions.committable(TP)
        assert committable is None or committable <= self.cluster.committed.get(TP, 0), "acked before it was kept"


async def step(cluster: Cluster, workers: list[Worker], what: str, which: int) -> None:
    worker = workers[which % len(workers)]
    match what:
        case "produce":
            cluster.produced += 1 + which
        case "read":
            worker.read(1 + which // 2)
        case "apply":
            worker.apply()
        case "work":
            worker.read(2)
            worker.apply()
            worker.checkpoint()
        case "checkpoint":
            worker.checkpoint()
        case "pass":
            worker.changelog.let_pass()
        case "all pass":
            for _ in range(6):
                worker.changelog.let_pass()
                await settled(6)
        case "fail":
            worker.changelog.let_pass(Retryable("broker away"))
        case "assign":
            worker.spawn(worker.assign())
        case "lose":
            worker.spawn(worker.lose())
        case "kill":
            await worker.die()
            workers[which % len(workers)] = Worker(cluster, worker.disk if which < len(workers) else None)
        case "compact":
            cluster.compact(0)
        case "limbo":
            cluster.limbo_arrives()
        case "time":
            await asyncio.sleep(2 * CLOSING_S)
    await settled(12)


async def play(schedule: list[tuple[str, int]]) -> None:
    cluster = Cluster()
    workers = [Worker(cluster), Worker(cluster)]
    for what, which in schedule:
        await step(cluster, workers, what, which)
        cluster.check()
        for worker in workers:
            worker.check()
    await end_well(cluster, workers)


async def end_well(cluster: Cluster, workers: list[Worker]) -> None:
    """All gates open; the last owner does what is left, while the other one does not know that it is over."""
    for worker in workers:
        worker.changelog.gates_open = True
        while [gate for gate in worker.changelog.waiting if not gate.done()]:
            worker.changelog.let_pass()
            await settled(12)
    await asyncio.sleep(2 * CLOSING_S)
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
    assert cluster.committed.get(TP, 0) == cluster.produced, "not everything was applied in the end"
    await asyncio.gather(*(worker.lose() for worker in workers))
    await asyncio.gather(*(task for worker in workers for task in worker.tasks), return_exceptions=True)


STEPS = ["produce", "read", "apply", "work", "work", "checkpoint", "pass", "pass", "all pass", "fail"]
RARE = ["assign", "lose", "limbo", "time", "kill", "compact"]
steps = st.tuples(st.sampled_from(STEPS + STEPS + RARE), st.integers(0, 3))
begun = [("produce", 3), ("produce", 3), ("assign", 0), ("all pass", 0)]

# An owner whose checkpoint is in doubt stalls; another takes over and goes on; the first wakes up.
STALE_OWNER = [
    *[("work", 0), ("fail", 0), ("assign", 1), ("pass", 1), ("pass", 1), ("pass", 1)],
    *[("work", 1), ("pass", 1), ("pass", 1), ("checkpoint", 0), ("pass", 0), ("pass", 0), ("pass", 0)],
    *[("work", 0), ("pass", 0), ("pass", 0), ("work", 1), ("pass", 1), ("pass", 1)],
]
LOST_ANSWER = [("work", 0), ("pass", 0), ("fail", 0), ("pass", 0), ("pass", 0), ("pass", 0), ("work", 0), ("pass", 0)]
ARRIVES_LATE = [("work", 0), ("fail", 0), ("limbo", 0), ("pass", 0), ("limbo", 0), ("pass", 0), ("pass", 0)]
REVOKED_MIDWAY = [
    ("work", 0),
    ("lose", 0),
    ("assign", 1),
    ("pass", 1),
    ("pass", 0),
    ("pass", 1),
    ("time", 0),
    ("limbo", 0),
]
# More was applied while a checkpoint was on its way that then failed: none of it may be seen in the next epoch.
APPLIED_MEANWHILE = [("work", 0), ("work", 0), ("fail", 0), ("all pass", 0), ("work", 0), ("all pass", 0)]

# The broker has the checkpoint, the worker is killed before its store has it; it comes back with what it has, and goes on.
BACK = [("assign", 0), ("all pass", 0), ("work", 0), ("all pass", 0)]
KILLED = [("work", 0), ("all pass", 0), ("work", 0), ("pass", 0), ("kill", 0), ("compact", 0), *BACK]
KILLED_IN_RECOVERY = [
    ("work", 0),
    ("all pass", 0),
    ("kill", 2),
    ("assign", 0),
    ("pass", 0),
    ("pass", 0),
    ("kill", 0),
    *BACK,
]


@settings(max_examples=250)
@given(st.lists(steps, max_size=60))
@example(STALE_OWNER)
@example(LOST_ANSWER)
@example(ARRIVES_LATE)
@example(REVOKED_MIDWAY)
@example(APPLIED_MEANWHILE)
@example(KILLED)
@example(KILLED_IN_RECOVERY)
def test_whatever_the_schedule_each_record_is_applied_once_and_no_offset_is_committed_before_it(schedule):
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(play(begun + schedule))
