"""Recovery: the steps between an assignment and the first batch, with tables and without.

Faust has two ways out of recovery. Both resume partitions before they are sought, and a time-out on either leaves the worker
paused and alive. Here: take over and restore the tables by position, seek on the consumer's thread while everything is
paused, open the epoch, then resume. Failures are retried; lasting ones stop the worker.
"""

import asyncio
import itertools
import logging

from aiokafka.errors import IllegalStateError, KafkaError
from faust.tables.manager import TableManager
from faust.tables.recovery import Recovery
from mode import Service

from schemas.errors import Retryable
from streams.delivery import cancellation

log = logging.getLogger(__name__)

GIVE_UP_AFTER_S = 300.0
MAX_PAUSE_S = 5.0


class FencedRecovery(Recovery):
    """Restores and starts an epoch after each rebalance; the next revocation interrupts it."""

    _recovering: asyncio.Task[None] | None = None

    @Service.task
    async def _restart_recovery(self) -> None:
        while not self.should_stop:
            if await self.wait_for_stopped(self.signal_recovery_start):
                break
            self.signal_recovery_start.clear()
            await self.interrupt()  # two recoveries would close each other's producers
            if self.should_stop:
                break
            self._recovering = asyncio.create_task(self._recover(self._generation_id))
            self._recovering.add_done_callback(self._recovered)

    async def on_stop(self) -> None:
        await self.interrupt()
        await super().on_stop()

    def _recovered(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("starting an epoch failed for good, stopping this worker", exc_info=error)
            self.app.loop.create_task(self.app.crash(error))

    async def interrupt(self) -> None:
        """Ends a running recovery; called before its resources are closed."""
        recovering, self._recovering = self._recovering, None
        if recovering is not None and not recovering.done():
            recovering.cancel()
            await asyncio.gather(recovering, return_exceptions=True)

    @Service.task
    async def _slurp_changelogs(self) -> None:
        """Does nothing: the table's own reader reads changelogs."""

    @Service.task
    async def _publish_stats(self) -> None:
        """Does nothing: Faust's own recovery does not run."""

    async def _recover(self, generation: int) -> None:
        give_up_at = self.app.loop.time() + GIVE_UP_AFTER_S
        for attempt in itertools.count(1):
            try:
                await self._attempt(generation)
                return
            except IllegalStateError as exc:  # a KafkaError too
                log.info("another rebalance has started: %s", exc)
                return
            except (Retryable, KafkaError, TimeoutError) as exc:
                if self.app.loop.time() > give_up_at:
                    raise
                log.warning("%s: starting an epoch failed, attempt %d: %r", self.app.conf.id, attempt, exc)
                await asyncio.sleep(min(2.0**attempt / 10, MAX_PAUSE_S))

    async def _attempt(self, generation: int) -> None:
        """Runs one attempt. A CancelledError raised by a library must not end the recovery: nothing else would start it
        again."""
        try:
            await self._start_epoch(generation)
        except asyncio.CancelledError as exc:
            if cancellation.is_cancelling():
                raise
            raise Retryable("a task that the start of the epoch waited for was cancelled") from exc

    async def _start_epoch(self, generation: int) -> None:
        app, consumer = self.app, self.app.consumer
        if app.consumer_generation_id != generation:
            return  # a take-over would fence the current owner
        self._set_recovery_started()
        assigned = consumer.assignment()
        changelogs = {tp for tp in assigned if self._is_changelog_tp(tp)}
        sources = assigned - changelogs
        await app.restore({tp.partition for tp in sources})
        if app.consumer_generation_id != generation:
            return
        async with asyncio.timeout(app.conf.broker_request_timeout):
            if not await consumer.begin(sources, changelogs, app.origins):
                return
        self._set_recovery_ended()
        await app.on_rebalance_complete.send()
        consumer.resume_partitions(sources)
        app.flow_control.resume()
        consumer.resume_flow()
        await app._fetcher.maybe_start()
        self.completed.set()
        self.tables.on_actives_ready()
        self.tables.on_standbys_ready()
        app.on_rebalance_end()


class FencedTableManager(TableManager):
    """Faust's table manager with our recovery."""

    _recovery: Recovery | None

    @property
    def recovery(self) -> Recovery:
        if self._recovery is None:
            self._recovery = FencedRecovery(self.app, self, beacon=self.beacon, loop=self.loop)
        return self._recovery

    async def on_start(self) -> None:
        """As Faust's, without its second of sleep."""
        await self._update_channels()
        await self.recovery.start()
