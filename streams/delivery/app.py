"""The Faust app of a stage: fenced transport, a single way out of recovery, and a stop that finishes running work."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import faust
from aiokafka.errors import KafkaError
from faust.types import TP
from msgspec import structs

from schemas import codec
from schemas.counts import counted
from schemas.errors import Retryable
from streams.delivery.checkpoint import Checkpointer
from streams.delivery.consumer import FencedTransport
from streams.delivery.counters import Counters
from streams.delivery.fence import Fence, Phase
from streams.delivery.recovery import GIVE_UP_AFTER_S, FencedTableManager

log = logging.getLogger(__name__)

MIN_IDLE_S = 60.0
LOOK_S = 0.05
FIRST_EPOCH_WITHIN_S = 150.0  # some tens of seconds on a busy machine


class StageApp(faust.App):
    """The app of a stage, with its own consumer group. `origins` has the start offsets of partitions without a committed
    offset.

    A stage with a table has a `checkpointer`: its transactions carry the source offsets, and nothing else commits them.
    """

    def __init__(self, *args: Any, origins: Mapping[tuple[str, int], int], **options: Any) -> None:
        self.fence = Fence()
        self.counters = Counters()
        self.origins = origins
        self.checkpointer: Checkpointer | None = None
        self._checkpointing: asyncio.Task[None] | None = None
        self._shut_since: float | None = None
        self._idle_since: float | None = None
        self._errands: set[asyncio.Task[None]] = set()
        self.beside: list[Callable[[], int]] = []  # counters of work in flight outside of batches
        super().__init__(*args, TableManager=FencedTableManager, **options)
        self.transport = FencedTransport(self.conf.broker_consumer, self)

    async def restore(self, partitions: set[int]) -> None:
        """Brings the stage's tables up to date for these partitions. Raises Retryable; may be called again."""
        if self.checkpointer is None:
            return
        await self.checkpointer.restore(partitions)
        if self._checkpointing is None:
            self._checkpointing = asyncio.create_task(self.checkpointer.run(), name=f"{self.conf.id}-checkpoints")

    def checkpoint_failed(self, error: BaseException) -> None:
        """Begins a new epoch if the broker's answer is in doubt, and stops the worker otherwise."""
        if isinstance(error, Retryable):
            log.warning("%s: %s; starting a new epoch", self.conf.id, error)
            self._start_task(self._restart())
        else:
            log.error("%s: a checkpoint failed for good, stopping this worker", self.conf.id, exc_info=error)
            self._start_task(self.crash(error))

    def _start_task(self, errand: Coroutine[Any, Any, None]) -> None:
        """Starts a background task; its failure stops the worker."""
        task = self.loop.create_task(errand)
        self._errands.add(task)
        task.add_done_callback(self._task_done)

    def _task_done(self, task: asyncio.Task[None]) -> None:
        self._errands.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("%s: starting a new epoch failed, stopping this worker", self.conf.id, exc_info=error)
            self._start_task(self.crash(error))

    async def _restart(self) -> None:
        if not self.rebalancing and not self.should_stop:
            epoch = self.fence.epoch
            await self._consumer.end_epoch(1.0)
            # Another rebalance may have completed meanwhile: do not recover its epoch again.
            if not self.rebalancing and not self.should_stop and self.fence.epoch == epoch:
                self.tables.recovery.signal_recovery_start.set()

    def counters_json(self) -> str:
        """The counters and the frontier's lag, as JSON."""
        lag = self._consumer.frontier_lag if self._consumer is not None else 0
        return codec.encode({**structs.asdict(self.counters), "frontier_lag": lag}).decode()

    def lags(self) -> dict[TP, int]:
        """Offsets of each held partition above the frontier, as of the last fetch or `fetch_log_ends`."""
        return self._consumer.lags() if self._consumer is not None else {}

    async def fetch_log_ends(self) -> None:
        """Asks the brokers for the ends of the held partitions: partitions with a full buffer are not fetched, so their ends
        are unknown.

        Raises Retryable; the earlier ends stay.
        """
        if self._consumer is not None:
            await self._consumer.fetch_log_ends()

    def frontiers(self) -> dict[TP, int]:
        """The frontier of each held partition: every record below it is finished."""
        return self._consumer.frontiers() if self._consumer is not None else {}

    async def finish(self, bound_s: float) -> None:
        """Takes no new work and waits at most `bound_s` seconds for running work; the partitions stay held meanwhile.

        Unfinished work is delivered again to the next owner of its partition.
        """
        if self._consumer is None:
            return
        self._consumer.finishing = True
        try:
            async with asyncio.timeout(bound_s):
                while self._under_way():
                    if self.checkpointer is not None:
                        self.checkpointer.request()
                    await asyncio.sleep(LOOK_S)
        except TimeoutError:
            log.warning(
                "%s: %s unfinished after %g s, to be delivered again",
                self.conf.id,
                counted(self._under_way(), "records"),
                bound_s,
            )

    def _under_way(self) -> int:
        return int(self._consumer.positions.in_flight()) + sum(count() for count in self.beside)

    async def settle(self) -> None:
        """Commits what was applied in the closing epoch."""
        if self.checkpointer is not None:
            await self.checkpointer.settle()

    async def abandon(self) -> None:
        """Drops uncommitted changes: the epoch is over."""
        if self.checkpointer is not None:
            await self.checkpointer.abandon()

    def check_fence(self, now: float) -> None:
        """Stops a worker that gets no new epoch: it would stay alive and idle for ever.

        Raises RuntimeError when the fence has been shut for three session time-outs without a rebalance or recovery (at
        least a minute, as joins are slow on a busy machine; longer before the first epoch, as Faust's start may hang when
        brokers go away), or when a recovery takes longer than recovery retries. `now` is monotonic, in seconds.
        """
        if self.fence.phase is not Phase.SHUT:
            self._shut_since = self._idle_since = None
            return
        self._shut_since = now if self._shut_since is None else self._shut_since
        if self.in_recovery or self.rebalancing:
            self._idle_since = None
        elif self._idle_since is None:
            self._idle_since = now
        least_s = MIN_IDLE_S if self.fence.epoch else FIRST_EPOCH_WITHIN_S
        idle_bound_s = max(least_s, 3 * self.conf.broker_session_timeout)
        if self._idle_since is not None and now - self._idle_since > idle_bound_s:
            lost = "lost its partitions and was not given new ones" if self.fence.epoch else "was given no partitions"
            raise RuntimeError(f"{self.conf.id} {lost}")
        if now - self._shut_since > 2 * GIVE_UP_AFTER_S:
            raise RuntimeError(f"{self.conf.id} has started no epoch for {now - self._shut_since:.0f} s")

    def check_membership(self) -> None:
        """Stops a worker whose client takes no more part in its group: it would keep partitions that others have by now, and
        commit nothing. Raises RuntimeError."""
        try:
            if self._consumer is not None:
                self._consumer.check_coordinator()
        except KafkaError as exc:
            raise RuntimeError(f"{self.conf.id} takes no more part in its consumer group: {exc!r}") from exc

    async def _stop_consumer(self) -> None:
        """Finishes the running checkpoint, commits and shuts the fence before Faust pauses the consumer and stops the
        tables."""
        if self._consumer is not None:
            await self._consumer.end_epoch(self.conf.broker_session_timeout * 0.6)
        if self.checkpointer is not None and self._checkpointing is not None:
            self._checkpointing.cancel()
            await asyncio.gather(self._checkpointing, return_exceptions=True)
            self.checkpointer.close()
        await super()._stop_consumer()

    def _on_rebalance_when_stopped(self) -> None:
        """Does nothing: the consumer leaves its group when its thread stops. Faust would close the thread's connections from
        this event loop, the request to leave would fail, and the group's other members would wait for this one until its
        session times out."""
