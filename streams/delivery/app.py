"""The Faust app of a stage: fenced transport, one way out of recovery, and a stop that finishes what was begun."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import faust
from faust.types import TP
from msgspec import structs

from schemas import codec
from schemas.errors import Retryable
from streams.delivery.checkpoint import Checkpointer
from streams.delivery.consumer import FencedTransport
from streams.delivery.counters import Counters
from streams.delivery.fence import Fence, Phase
from streams.delivery.recovery import GIVE_UP_AFTER_S, FencedTableManager

log = logging.getLogger(__name__)

LEAST_IDLE_S = 60.0
LOOK_S = 0.05
FIRST_EPOCH_WITHIN_S = 150.0  # some tens of seconds on a busy machine


class StageApp(faust.App):
    """A consumer group of its own. `origins` says where partitions start that nobody has committed yet.

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
        self.beside: list[Callable[[], int]] = []  # count what the stage has under way besides its batches
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
        """An answer in doubt begins the epoch anew, which reads what arrived; anything else stops the worker."""
        if isinstance(error, Retryable):
            log.warning("%s: %s; the epoch begins anew", self.conf.id, error)
            self._start_task(self._restart())
        else:
            log.error("%s: a checkpoint failed for good, this worker stops", self.conf.id, exc_info=error)
            self._start_task(self.crash(error))

    def _start_task(self, errand: Coroutine[Any, Any, None]) -> None:
        """A task that nobody waits for; if it fails, the worker stops."""
        task = self.loop.create_task(errand)
        self._errands.add(task)
        task.add_done_callback(self._task_done)

    def _task_done(self, task: asyncio.Task[None]) -> None:
        self._errands.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("%s: beginning anew failed, this worker stops", self.conf.id, exc_info=error)
            self._start_task(self.crash(error))

    async def _restart(self) -> None:
        if not self.rebalancing and not self.should_stop:
            epoch = self.fence.epoch
            await self._consumer.end_epoch(1.0)
            # A whole rebalance may have come and gone meanwhile: its epoch is not to be recovered once more.
            if not self.rebalancing and not self.should_stop and self.fence.epoch == epoch:
                self.tables.recovery.signal_recovery_start.set()

    def counters_json(self) -> str:
        """The counters and the frontier's lag, as JSON."""
        lag = self._consumer.frontier_lag if self._consumer is not None else 0
        return codec.encode({**structs.asdict(self.counters), "frontier_lag": lag}).decode()

    def lags(self) -> dict[TP, int]:
        """Offsets of each held partition that are not below the frontier yet, as of the last fetch or `fetch_log_ends`."""
        return self._consumer.lags() if self._consumer is not None else {}

    async def fetch_log_ends(self) -> None:
        """Asks the brokers how far the held partitions go: of one whose buffer is full nothing is fetched, and so nothing known.

        Raises Retryable; then the ends that were known before stay.
        """
        if self._consumer is not None:
            await self._consumer.fetch_log_ends()

    def frontiers(self) -> dict[TP, int]:
        """The offset of each held partition below which everything is finished."""
        return self._consumer.frontiers() if self._consumer is not None else {}

    async def finish(self, bound_s: float) -> None:
        """Takes nothing new and waits for the end of what is under way, `bound_s` at most; meanwhile the partitions stay held.

        What is not finished then is delivered again, to whoever owns its partition next.
        """
        if self._consumer is None:
            return
        self._consumer.finishing = True
        try:
            async with asyncio.timeout(bound_s):
                while self._under_way():
                    if self.checkpointer is not None:
                        self.checkpointer.ask()
                    await asyncio.sleep(LOOK_S)
        except TimeoutError:
            log.warning("%s: %d are not finished within %g s", self.conf.id, self._under_way(), bound_s)

    def _under_way(self) -> int:
        return int(self._consumer.positions.in_flight()) + sum(count() for count in self.beside)

    async def settle(self) -> None:
        """Makes safe what was applied in the closing epoch."""
        if self.checkpointer is not None:
            await self.checkpointer.settle()

    async def abandon(self) -> None:
        """Drops what was not made safe: the epoch is over."""
        if self.checkpointer is not None:
            await self.checkpointer.abandon()

    def check_fence(self, now: float) -> None:
        """Stops a worker that is not given a new epoch: it would be alive and do nothing for ever.

        Raises RuntimeError when the fence has been shut for three session time-outs without a rebalance or recovery (at least
        a minute: a join may take long on a busy machine; longer before the first epoch, as Faust's own start may never return
        when the brokers go away meanwhile), or, with one that does not end, for longer than recovery itself goes on trying;
        `now` is monotonic, in seconds.
        """
        if self.fence.phase is not Phase.SHUT:
            self._shut_since = self._idle_since = None
            return
        self._shut_since = now if self._shut_since is None else self._shut_since
        if self.in_recovery or self.rebalancing:
            self._idle_since = None
        elif self._idle_since is None:
            self._idle_since = now
        least_s = LEAST_IDLE_S if self.fence.epoch else FIRST_EPOCH_WITHIN_S
        idle_bound_s = max(least_s, 3 * self.conf.broker_session_timeout)
        if self._idle_since is not None and now - self._idle_since > idle_bound_s:
            lost = "lost its partitions and was not given new ones" if self.fence.epoch else "was given no partitions"
            raise RuntimeError(f"{self.conf.id} {lost}")
        if now - self._shut_since > 2 * GIVE_UP_AFTER_S:
            raise RuntimeError(f"{self.conf.id} has not begun an epoch for {now - self._shut_since:.0f} s")

    async def _stop_consumer(self) -> None:
        """Before Faust pauses the consumer and stops the tables: finish the running checkpoint, commit, shut the fence."""
        if self._consumer is not None:
            await self._consumer.end_epoch(self.conf.broker_session_timeout * 0.6)
        if self.checkpointer is not None and self._checkpointing is not None:
            self._checkpointing.cancel()
            await asyncio.gather(self._checkpointing, return_exceptions=True)
            self.checkpointer.close()
        await super()._stop_consumer()
