"""The checkpointer: commits what each partition has applied, one checkpoint per partition at a time."""

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
    """Owns the ledgers of a table's partitions and commits them to the changelog.

    `interval_s` is the time between checkpoints of a changed partition; `request` brings the next one forward. A failed
    checkpoint shuts the fence and calls `on_failure`: Retryable means that a new epoch must begin. `on_committed` gets the
    partition and the keys of each committed checkpoint after the store has them; `on_sent` gets its effects.
    `max_pending_bytes` bounds applied and uncommitted changes of all partitions, to less than twice that. `stores` opens the
    store of a partition; `now` is Unix seconds, `clock` monotonic seconds.
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
        request_delay_s: float = 0.02,
        max_pending_bytes: int = 16_777_216,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._changelog = changelog
        self._fence = fence
        self._on_failure = on_failure
        self._interval_s = interval_s
        self._request_delay_s = request_delay_s
        self._max_pending_bytes = max_pending_bytes
        self._clock = clock
        self._now = now
        self._stores = stores
        self._ledgers: dict[int, Ledger] = {}
        self._running: dict[int, asyncio.Task[None]] = {}
        self._requested = asyncio.Event()
        self._requested_partitions: set[int] = set()
        self._progress = asyncio.Event()
        self.counters = counters or Counters()
        self.on_committed: Callable[[int, Iterable[bytes]], None] | None = None
        self.on_sent: Callable[[Sequence[Outgoing]], None] | None = None

    def __getitem__(self, partition: int) -> Ledger:
        """The ledger of a partition. Raises KeyError for one that is not held."""
        return self._ledgers[partition]

    @property
    def partitions(self) -> list[int]:
        return sorted(self._ledgers)

    def stored_bytes(self) -> int:
        """The approximate size of the committed rows of all held partitions."""
        return sum(ledger.stored_bytes() for ledger in self._ledgers.values())

    def record(self, batch: Batch, rows: Rows, effects: list[Outgoing]) -> None:
        """Notes the changes of an applied batch; the batch is acked when the broker has them. Awaits nothing: see
        Fence.admits."""
        self._ledgers[batch.partition].record(batch, rows, effects)

    def request(self, partition: int | None = None) -> None:
        """Requests a checkpoint of the partition, or of all, soon instead of at the next interval, as an effect is waited
        for."""
        self._requested_partitions |= self._ledgers.keys() if partition is None else {partition}
        self._requested.set()

    async def wait_for_room(self, partition: int) -> None:
        """Waits while more than `max_pending_bytes` are pending in total and the partition has more than its share: for its
        own checkpoint, never for another partition's."""
        while self._is_full(partition):
            self.request(partition)
            self._progress.clear()
            await self._progress.wait()

    def _is_full(self, partition: int) -> bool:
        if partition not in self._ledgers:
            return False
        own, most = self._ledgers[partition].pending_bytes, self._max_pending_bytes
        return own > most / len(self._ledgers) and sum(each.pending_bytes for each in self._ledgers.values()) > most

    async def restore(self, partitions: Iterable[int]) -> None:
        """Takes over partitions and restores their rows to the end of the changelog. Raises Retryable; may be repeated.

        Raises Misconfigured when a store cannot be opened or written.
        """
        taken_over = set(partitions)
        await self.abandon()
        await self._changelog.open(taken_over)
        for partition in self._ledgers.keys() - taken_over:
            self._ledgers.pop(partition).close()
        for partition in taken_over - self._ledgers.keys():
            self._ledgers[partition] = Ledger(self._stores(partition))
        source, now = await self._changelog.source(), self._now()

        def follow(partition: int, beginning: int, end: int) -> int:
            start = self._ledgers[partition].read_from(source, beginning, end, now)
            log.info("partition %d is restored from offset %d of %d to %d", partition, start, beginning, end)
            return start

        def restore(partition: int, rows: Rows, offset: int) -> None:
            self._ledgers[partition].restore(rows, offset)

        await self._changelog.read(taken_over, follow, restore)
        for partition in taken_over:
            self._ledgers[partition].mark_current(now)

    async def run(self) -> None:
        """Commits checkpoints until cancelled; a slow checkpoint of one partition delays no other."""
        all_due_at = self._clock() + self._interval_s
        while True:
            try:
                async with asyncio.timeout(max(0.0, all_due_at - self._clock())):
                    await self._requested.wait()
                    await asyncio.sleep(self._request_delay_s)  # concurrent requests share a transaction
            except TimeoutError:
                pass
            self._requested.clear()
            if self._clock() < all_due_at:
                self._start_due(self._requested_partitions)
            else:  # frequent requests must not delay other partitions
                all_due_at = self._clock() + self._interval_s
                self._start_due()

    def _start_due(self, partitions: Iterable[int] | None = None) -> None:
        """Starts the checkpoints of these changed partitions, or of all. A request for a running one is kept until it ends."""
        if self._fence.holds(self._fence.epoch):
            for partition in self._ledgers if partitions is None else self._ledgers.keys() & partitions:
                if partition not in self._running:
                    self._start(partition)

    def _start(self, partition: int) -> None:
        self._requested_partitions.discard(partition)
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
        if task.cancelled():  # cancelled by this class at the end of an epoch; otherwise by the client library
            error: BaseException | None = (
                Retryable(f"checkpoint of partition {partition} was cancelled") if held else None
            )
        else:
            error = task.exception()
        if error is None:
            if held and partition in self._requested_partitions and partition in self._ledgers:
                self._start(partition)
            return
        self._fence.shut()
        if held or not isinstance(error, Retryable):  # of several failures only the first is reported
            self._on_failure(error)

    async def _checkpoint(self, partition: int, ledger: Ledger, epoch: int) -> None:
        """Commits one partition. Raises Retryable when the broker's answer is in doubt, and any error that a retry does not
        help."""
        if not self._fence.holds(epoch):
            return
        begun, now = self._clock(), self._now()
        checkpoint = ledger.begin_checkpoint()
        try:
            end = await self._changelog.commit(partition, checkpoint)
        except Fenced:
            self.counters.fenced += 1
            if self._fence.holds(epoch):
                log.warning("another worker took over partition %d: waiting for the rebalance", partition)
                self._fence.shut()
            return
        if not self._fence.holds(epoch):
            return  # the changelog has it; the next epoch restores it from there
        ledger.mark_committed(end, now)
        for batch in checkpoint.batches:
            batch.ack()
        if self.on_committed is not None:
            self.on_committed(partition, checkpoint.rows)
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
        """Commits the last checkpoints of a closing epoch. The caller sets a time limit."""
        while self._fence.holds(self._fence.epoch):
            self._start_due()
            if not self._running:
                return
            await asyncio.wait(list(self._running.values()))

    async def abandon(self) -> None:
        """Drops uncommitted changes at the end of an epoch; the next owners of the partitions read the records again."""
        running = list(self._running.values())
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        for ledger in self._ledgers.values():
            ledger.drop_uncommitted()
        self._requested_partitions.clear()
        self._progress.set()
        await self._changelog.close()

    def close(self) -> None:
        """Closes the stores, after the last epoch."""
        while self._ledgers:
            self._ledgers.popitem()[1].close()
