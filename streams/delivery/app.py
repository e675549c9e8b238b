"""The Faust app of a stage: fenced transport, one way out of recovery, and a stop that finishes what was begun."""

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

import faust

from schemas.errors import Retryable
from streams.delivery.checkpoint import Checkpointer
from streams.delivery.consumer import FencedTransport
from streams.delivery.fence import Fence, Phase
from streams.delivery.recovery import FencedTableManager

log = logging.getLogger(__name__)


class StageApp(faust.App):
    """A consumer group of its own. `origins` says where partitions start that nobody has committed yet.

    A stage with a table has a `checkpointer`: its transactions carry the source offsets, and nothing else commits them.
    """

    def __init__(self, *args: Any, origins: Mapping[tuple[str, int], int], **options: Any) -> None:
        self.fence = Fence()
        self.origins = origins
        self.checkpointer: Checkpointer | None = None
        self._checkpointing: asyncio.Task[None] | None = None
        self._shut_since: float | None = None
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
            self.loop.create_task(self._begin_anew())
        else:
            log.error("%s: a checkpoint failed for good, this worker stops", self.conf.id, exc_info=error)
            self.loop.create_task(self.crash(error))

    async def _begin_anew(self) -> None:
        if not self.rebalancing and not self.should_stop:
            await self._consumer.end_epoch(1.0)
        if not self.rebalancing and not self.should_stop:
            self.tables.recovery.signal_recovery_start.set()

    async def settle(self) -> None:
        """Makes safe what was applied in the closing epoch."""
        if self.checkpointer is not None:
            await self.checkpointer.settle()

    async def abandon(self) -> None:
        """Drops what was not made safe: the epoch is over."""
        if self.checkpointer is not None:
            await self.checkpointer.abandon()

    def check_fence(self, now: float) -> None:
        """Stops a worker that was fenced and is not given a new epoch: it would be alive and do nothing for ever.

        Raises RuntimeError when the fence has been shut for three session time-outs; `now` is monotonic, in seconds.
        """
        if self.fence.phase is not Phase.SHUT or self.in_recovery or self.rebalancing:
            self._shut_since = None
        elif self._shut_since is None:
            self._shut_since = now
        elif now - self._shut_since > 3 * self.conf.broker_session_timeout:
            raise RuntimeError(f"{self.conf.id} lost its partitions and was not given new ones")

    async def _stop_consumer(self) -> None:
        """Before Faust pauses the consumer and stops the tables: finish the running checkpoint, commit, shut the fence."""
        if self._consumer is not None:
            await self._consumer.end_epoch(self.conf.broker_session_timeout * 0.6)
        if self._checkpointing is not None:
            self._checkpointing.cancel()
            await asyncio.gather(self._checkpointing, return_exceptions=True)
        await super()._stop_consumer()
