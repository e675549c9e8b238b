"""The checkpointer: takes what each partition has applied to the broker, one checkpoint a partition at a time."""

import asyncio
import logging
import time
from collections.abc import Callable, Iterable
from functools import partial

from msgspec import Struct

from schemas.errors import Retryable
from schemas.records import Outgoing
from streams.delivery.batch import Batch
from streams.delivery.changelog import Changelog, Fenced
from streams.delivery.fence import Fence
from streams.delivery.ledger import Ledger, Rows

log = logging.getLogger(__name__)


class Counters(Struct):
    """What happened to checkpoints since the process started; durations in seconds."""

    checkpoints: int = 0
    rows: int = 0
    fenced: int = 0
    last_duration_s: float = 0.0


class Checkpointer:
    """Owns the ledgers of a table's partitions and their way to the changelog.

    `interval_s` is the time between checkpoints of a partition that has changes; `ask` brings the next one forward.
    A checkpoint that fails shuts the fence and is told to `on_failure`: Retryable means that the epoch must be begun anew.
    `max_pending_bytes` bounds what a partition may have applied and not yet made safe: `room` waits above it.
    """

    def __init__(
        self,
        changelog: Changelog,
        fence: Fence,
        on_failure: Callable[[BaseException], None],
        *,
        interval_s: float = 0.5,
        asked_interval_s: float = 0.02,
        max_pending_bytes: int = 16_777_216,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._changelog = changelog
        self._fence = fence
        self._on_failure = on_failure
        self._interval_s = interval_s
        self._asked_interval_s = asked_interval_s
        self._max_pending_bytes = max_pending_bytes
        self._clock = clock
        self._ledgers: dict[int, Ledger] = {}
        self._running: dict[int, asyncio.Task[None]] = {}
        self._asked = asyncio.Event()
        self._progress = asyncio.Event()
        self.counters = Counters()

    def __getitem__(self, partition: int) -> Ledger:
        """Raises KeyError for a partition that is not held."""
        return self._ledgers[partition]

    @property
    def partitions(self) -> list[int]:
        return sorted(self._ledgers)

    def record(self, batch: Batch, rows: Rows, effects: list[Outgoing]) -> None:
        """Notes what applying a batch changed; it is acked when the broker has it. Awaits nothing: see Fence.admits."""
        self._ledgers[batch.partition].record(batch, rows, effects)

    def ask(self) -> None:
        """Somebody waits for an effect: checkpoint soon instead of at the next interval."""
        self._asked.set()

    async def room(self, partition: int) -> None:
        """Waits while the partition has more than `max_pending_bytes` on its way."""
        while partition in self._ledgers and self._ledgers[partition].pending_bytes > self._max_pending_bytes:
            self.ask()
            self._progress.clear()
            await self._progress.wait()

    async def restore(self, partitions: Iterable[int]) -> None:
        """Takes partitions over and brings their rows up to the changelog's end. Raises Retryable; may be called again."""
        wanted = set(partitions)
        await self._changelog.open(wanted)
        self._ledgers = {p: ledger for p, ledger in self._ledgers.items() if p in wanted}
        for partition in wanted:
            self._ledgers.setdefault(partition, Ledger())
        starts = {partition: ledger.safe_to for partition, ledger in self._ledgers.items()}
        ends = await self._changelog.read(starts, lambda partition, rows: self._ledgers[partition].restore(rows))
        for partition, end in ends.items():
            self._ledgers[partition].safe_to = end

    async def run(self) -> None:
        """Checkpoints until cancelled; one partition's slow checkpoint does not hold up another's."""
        while True:
            try:
                async with asyncio.timeout(self._interval_s):
                    await self._asked.wait()
                await asyncio.sleep(self._asked_interval_s)  # those who ask at the same time share a transaction
            except TimeoutError:
                pass
            self._asked.clear()
            self._start_due()

    def _start_due(self) -> None:
        epoch = self._fence.epoch
        if not self._fence.holds(epoch):
            return
        for partition, ledger in self._ledgers.items():
            if ledger.dirty and partition not in self._running:
                sending = self._checkpoint(partition, ledger, epoch)
                task = asyncio.create_task(sending, name=f"checkpoint-{partition}")
                self._running[partition] = task
                task.add_done_callback(partial(self._finished, partition, epoch))

    def _finished(self, partition: int, epoch: int, task: asyncio.Task[None]) -> None:
        del self._running[partition]
        self._progress.set()
        error = None if task.cancelled() else task.exception()
        if error is None:
            return
        held = self._fence.holds(epoch)
        self._fence.shut()
        if held or not isinstance(error, Retryable):  # of several checkpoints in doubt the first one tells
            self._on_failure(error)

    async def _checkpoint(self, partition: int, ledger: Ledger, epoch: int) -> None:
        """Raises Retryable when the broker's answer is in doubt, and whatever no repetition mends."""
        if not self._fence.holds(epoch):
            return
        begun = self._clock()
        checkpoint = ledger.leave()
        try:
            safe_to = await self._changelog.commit(partition, checkpoint)
        except Fenced:
            self.counters.fenced += 1
            if self._fence.holds(epoch):
                log.warning("partition %d was taken over by another worker: waiting for the rebalance", partition)
                self._fence.shut()
            return
        if not self._fence.holds(epoch):
            return  # it is in the changelog; this epoch's ledger is forgotten and will be read from there
        ledger.arrived(safe_to)
        for batch in checkpoint.batches:
            batch.ack()
        self.counters.checkpoints += 1
        self.counters.rows += len(checkpoint.rows)
        self.counters.last_duration_s = self._clock() - begun

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
        self._progress.set()
        await self._changelog.close()
