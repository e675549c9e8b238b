"""The checkpointer: takes what each partition has applied to the broker, one checkpoint a partition at a time."""

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from schemas.errors import Retryable
from schemas.kafka.records import Outgoing
from streams.delivery.batch import Batch
from streams.delivery.changelog import Changelog, Fenced
from streams.delivery.counters import Counters
from streams.delivery.fence import Fence
from streams.delivery.ledger import Checkpoint, Ledger, size
from streams.delivery.store import MemoryStore, Rows, Store, Stores

log = logging.getLogger(__name__)


def in_memory(partition: int) -> Store:
    return MemoryStore()


class Checkpointer:
    """Owns the ledgers of a table's partitions and their way to the changelog.

    `interval_s` is the time between checkpoints of a partition that has changes; `ask` brings the next one forward.
    A checkpoint that fails shuts the fence and is told to `on_failure`: Retryable means that the epoch must be begun anew.
    `on_safe` is told the partition and the keys of each checkpoint that arrived, once the store has them; `on_sent` its effects.
    `max_pending_bytes` bounds what all partitions may have applied and not yet made safe, to less than twice that: see `room`.
    `stores` opens a partition's store; `now` is Unix seconds, `clock` monotonic ones.
    """

    def __init__(
        self,
        changelog: Changelog,
        fence: Fence,
        on_failure: Callable[[BaseException], None],
        *,
        stores: Stores = in_memory,
        counters: Counters | None = None,
        interval_s: float = 0.5,
        asked_interval_s: float = 0.02,
        max_pending_bytes: int = 16_777_216,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._changelog = changelog
        self._fence = fence
        self._on_failure = on_failure
        self._interval_s = interval_s
        self._asked_interval_s = asked_interval_s
        self._max_pending_bytes = max_pending_bytes
        self._clock = clock
        self._now = now
        self._stores = stores
        self._ledgers: dict[int, Ledger] = {}
        self._running: dict[int, asyncio.Task[None]] = {}
        self._asked = asyncio.Event()
        self._wanted: set[int] = set()
        self._progress = asyncio.Event()
        self.counters = counters or Counters()
        self.on_safe: Callable[[int, Iterable[bytes]], None] | None = None
        self.on_sent: Callable[[Sequence[Outgoing]], None] | None = None

    def __getitem__(self, partition: int) -> Ledger:
        """Raises KeyError for a partition that is not held."""
        return self._ledgers[partition]

    @property
    def partitions(self) -> list[int]:
        return sorted(self._ledgers)

    def stored_bytes(self) -> int:
        """What the safe rows of all held partitions come to, about."""
        return sum(ledger.stored_bytes() for ledger in self._ledgers.values())

    def record(self, batch: Batch, rows: Rows, effects: list[Outgoing]) -> None:
        """Notes what applying a batch changed; it is acked when the broker has it. Awaits nothing: see Fence.admits."""
        self._ledgers[batch.partition].record(batch, rows, effects)

    def ask(self, partition: int | None = None) -> None:
        """Somebody waits for an effect: checkpoint the partition, or all, soon instead of at the next interval."""
        self._wanted |= self._ledgers.keys() if partition is None else {partition}
        self._asked.set()

    async def wait_for_room(self, partition: int) -> None:
        """Waits while more than `max_pending_bytes` are on their way, and of the partition's own more than its share of them: for
        its own checkpoint, never for another's."""
        while self._is_full(partition):
            self.ask(partition)
            self._progress.clear()
            await self._progress.wait()

    def _is_full(self, partition: int) -> bool:
        if partition not in self._ledgers:
            return False
        own, most = self._ledgers[partition].pending_bytes, self._max_pending_bytes
        return own > most / len(self._ledgers) and sum(each.pending_bytes for each in self._ledgers.values()) > most

    async def restore(self, partitions: Iterable[int]) -> None:
        """Takes partitions over and brings their rows up to the changelog's end. Raises Retryable; may be called again.

        Raises Misconfigured when a store cannot be opened or written.
        """
        wanted = set(partitions)
        await self.abandon()
        await self._changelog.open(wanted)
        for partition in self._ledgers.keys() - wanted:
            self._ledgers.pop(partition).close()
        for partition in wanted - self._ledgers.keys():
            self._ledgers[partition] = Ledger(self._stores(partition))
        source, now = await self._changelog.source(), self._now()

        def follow(partition: int, beginning: int, end: int) -> int:
            start = self._ledgers[partition].follow(source, beginning, end, now)
            log.info("partition %d is restored from offset %d of %d to %d", partition, start, beginning, end)
            return start

        def restore(partition: int, rows: Rows, offset: int) -> None:
            self._ledgers[partition].restore(rows, offset)

        await self._changelog.read(wanted, follow, restore)
        for partition in wanted:
            self._ledgers[partition].followed(now)

    async def run(self) -> None:
        """Checkpoints until cancelled; one partition's slow checkpoint does not hold up another's."""
        all_due_at = self._clock() + self._interval_s
        while True:
            try:
                async with asyncio.timeout(max(0.0, all_due_at - self._clock())):
                    await self._asked.wait()
                    await asyncio.sleep(self._asked_interval_s)  # those who ask at the same time share a transaction
            except TimeoutError:
                pass
            self._asked.clear()
            if self._clock() < all_due_at:
                self._start_due(self._wanted)
            else:  # however many ask, nobody else waits longer for it
                all_due_at = self._clock() + self._interval_s
                self._start_due()

    def _start_due(self, wanted: Iterable[int] | None = None) -> None:
        """Starts the checkpoints of these partitions, or of all, that have changes. One that runs keeps its wish till it ends."""
        if self._fence.holds(self._fence.epoch):
            for partition in self._ledgers if wanted is None else self._ledgers.keys() & wanted:
                if partition not in self._running:
                    self._start(partition)

    def _start(self, partition: int) -> None:
        self._wanted.discard(partition)
        ledger, epoch = self._ledgers[partition], self._fence.epoch
        if ledger.dirty:
            sending = self._checkpoint(partition, ledger, epoch)
            task = asyncio.create_task(sending, name=f"checkpoint-{partition}")
            self._running[partition] = task
            task.add_done_callback(partial(self._finished, partition, epoch))

    def _finished(self, partition: int, epoch: int, task: asyncio.Task[None]) -> None:
        del self._running[partition]
        self._progress.set()
        held = self._fence.holds(epoch)
        if task.cancelled():  # by us once the epoch is over; in an epoch that is not, by the client library
            error: BaseException | None = (
                Retryable(f"checkpoint of partition {partition} was cancelled") if held else None
            )
        else:
            error = task.exception()
        if error is None:
            if held and partition in self._wanted and partition in self._ledgers:
                self._start(partition)
            return
        self._fence.shut()
        if held or not isinstance(error, Retryable):  # of several checkpoints in doubt the first one tells
            self._on_failure(error)

    async def _checkpoint(self, partition: int, ledger: Ledger, epoch: int) -> None:
        """Raises Retryable when the broker's answer is in doubt, and whatever no repetition mends."""
        if not self._fence.holds(epoch):
            return
        begun, now = self._clock(), self._now()
        checkpoint = ledger.leave()
        try:
            end = await self._changelog.commit(partition, checkpoint)
        except Fenced:
            self.counters.fenced += 1
            if self._fence.holds(epoch):
                log.warning("partition %d was taken over by another worker: waiting for the rebalance", partition)
                self._fence.shut()
            return
        if not self._fence.holds(epoch):
            return  # it is in the changelog; this epoch's ledger is forgotten and will be read from there
        ledger.arrived(end, now)
        for batch in checkpoint.batches:
            batch.ack()
        if self.on_safe is not None:
            self.on_safe(partition, checkpoint.rows)
        if self.on_sent is not None:
            self.on_sent(checkpoint.effects)
        self._count(checkpoint, self._clock() - begun)

    def _count(self, checkpoint: Checkpoint, seconds: float) -> None:
        self.counters.checkpoints += 1
        self.counters.checkpoint_rows += len(checkpoint.rows)
        self.counters.checkpoint_bytes += size(checkpoint.rows, checkpoint.effects)
        self.counters.checkpoint_s += seconds
        self.counters.longest_checkpoint_s = max(self.counters.longest_checkpoint_s, seconds)

    async def settle(self) -> None:
        """Makes safe whatever was applied: the last checkpoints of a closing epoch. The caller bounds the time."""
        while self._fence.holds(self._fence.epoch):
            self._start_due()
            if not self._running:
                return
            await asyncio.wait(list(self._running.values()))

    async def abandon(self) -> None:
        """The epoch is over: what has not arrived is dropped, and read again by whoever owns the partitions next."""
        running = list(self._running.values())
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        for ledger in self._ledgers.values():
            ledger.forget()
        self._wanted.clear()
        self._progress.set()
        await self._changelog.close()

    def close(self) -> None:
        """After the last epoch: gives the stores up."""
        while self._ledgers:
            self._ledgers.popitem()[1].close()
