"""The Faust consumer that delivers fenced batches; every method here replaces one of Faust's (see README.md)."""

import asyncio
import logging
from collections.abc import Iterator, Mapping
from typing import Any

from aiokafka.errors import KafkaError
from faust.transport.drivers import aiokafka as driver
from faust.types import TP, ConsumerMessage

from schemas.counts import counted
from schemas.errors import Misconfigured, Retryable
from streams.delivery import cancellation
from streams.delivery.batch import Batch
from streams.delivery.consumer_thread import FencedConsumerThread
from streams.delivery.counters import Counters
from streams.delivery.fence import Fence
from streams.delivery.positions import Positions, Read

log = logging.getLogger(__name__)


class FencedConsumer(driver.Consumer):
    """Delivers batches below Faust's per-event path; keeps positions and frontiers; opens and shuts the fence."""

    finishing = False  # once true, no new records are fetched: the stage is stopping

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fence: Fence = self.app.fence
        self.positions = Positions()
        self.counters: Counters = self.app.counters
        self._fetched_ends: dict[TP, int] = {}

    def _new_consumer_thread(self) -> FencedConsumerThread:
        return FencedConsumerThread(self, loop=self.loop, beacon=self.beacon)

    def check_coordinator(self) -> None:
        """See FencedConsumerThread.check_coordinator."""
        self._thread.check_coordinator()

    async def begin(self, tps: set[TP], idle: set[TP], origins: Mapping[tuple[str, int], int]) -> bool:
        """Opens an epoch: seeks every partition to its next offset, then lets batches be applied.

        A partition without a committed offset starts at its origin, or at its beginning if it was added later. `idle`
        partitions (changelogs) are never fetched here. Returns False if a rebalance came in between.
        """
        committed = await self._thread.committed(tps)
        fresh = [tp for tp, offset in committed.items() if offset is None and tuple(tp) not in origins]
        beginnings = await self.earliest_offsets(*fresh) if fresh else {}
        starts = {
            tp: offset if offset is not None else origins.get(tuple(tp), beginnings.get(tp, 0))
            for tp, offset in committed.items()
        }
        if not await self._thread.place(starts, paused=idle):
            return False
        self.positions.reset(starts)
        self._committed_offset.update(committed)
        epoch = self.fence.open()
        self.counters.epochs += 1
        log.info("%s: epoch %d begins with %s", self.app.conf.id, epoch, counted(len(starts), "partitions"))
        return True

    async def end_epoch(self, bound_s: float) -> None:
        """Ends the epoch in two phases: closing (finish and commit applied work, within `bound_s` seconds), then shut."""
        await self.app.tables.recovery.interrupt()
        self.fence.close()
        try:
            async with asyncio.timeout(bound_s):
                await self.app.settle()
                await self.force_commit()
        except Exception as exc:
            # The rebalance or the stop must continue after any error: uncommitted work is repeated.
            log.warning(
                "%s: committing the offsets of applied records failed: %r", self.app.conf.id, exc, exc_info=True
            )
        except asyncio.CancelledError:
            if cancellation.is_cancelling():
                raise
            log.warning("%s: the consumer's thread has ended, so no more offsets are committed", self.app.conf.id)
        finally:
            self.fence.shut()
            self.counters.stale_batches += self.positions.in_flight()
            self.positions.clear()
            await self.app.abandon()

    async def on_partitions_revoked(self, revoked: set[TP]) -> None:
        await self.end_epoch(self.app.conf.broker_session_timeout * 0.6)
        await super().on_partitions_revoked(revoked)

    async def verify_all_partitions_active(self) -> None:
        """Does nothing. Faust would log an error for each changelog, which is never fetched here, and for each partition whose
        agent is busy. A partition that does not move makes its worker not ready instead (`deploy/metrics/progress.py`)."""

    async def _drain_messages(self, fetcher: Any) -> None:
        """Replaces Faust's fetcher loop: reads, and delivers as batches the records that continue at each partition's
        position."""
        try:
            while not (self.should_stop or fetcher.should_stop):
                if not self.flow_active:
                    await self.wait(self.can_resume_flow)
                await self._drain_once()
                await asyncio.sleep(0)
        except (asyncio.CancelledError, *self.consumer_stopped_errors):
            if not self.app.should_stop:
                raise

    async def _drain_once(self) -> None:
        epoch = self.fence.epoch
        tps = {tp for tp in self._get_active_partitions() | self._buffered_partitions if tp in self.positions}
        if self.finishing or not tps:
            await self.sleep(0.05)
            return
        for tp, read in (await self._thread.read(tps, timeout_s=1.0)).items():
            if epoch == self.fence.epoch and self.flow_active and self.positions.continues(tp, read):
                await self._deliver(tp, read)
            else:
                await self._rewind(tp)

    async def _rewind(self, tp: TP) -> None:
        """Seeks back: the fetcher has moved past records that were not delivered."""
        if tp in self.positions:
            self.counters.rewinds += 1
            await self._thread.place({tp: self.positions.expected(tp)})

    async def _deliver(self, tp: TP, read: Read) -> None:
        if read.end < read.start:
            raise truncated_log(tp, read.end, read.start)
        extent = self.positions.take(tp, read)
        self._count(read)
        if not read.records and self.app.checkpointer is None:
            self.positions.finish(tp, extent)  # only control records: nothing to apply, but the frontier must advance
            return

        def ack() -> None:
            self.positions.finish(tp, extent)

        batch = Batch(tp.topic, tp.partition, read.start, read.end, read.records, self.fence, ack)
        await self.wait_first(
            self.callback(carrier_message(tp, batch, self.app.consumer_generation_id)), self.suspend_flow.wait()
        )

    def _count(self, read: Read) -> None:
        self.counters.batches += 1
        self.counters.records += len(read.records)
        if jumped := read.end - read.start - len(read.records):
            self.counters.jumps += 1
            self.counters.jumped_offsets += jumped

    @property
    def frontier_lag(self) -> int:
        """The number of delivered offsets that cannot be committed yet, over all partitions."""
        return self.positions.lag()

    def frontiers(self) -> dict[TP, int]:
        """See StageApp.frontiers."""
        found = {tp: self.positions.committable(tp) for tp in self.positions}
        return {tp: offset for tp, offset in found.items() if offset is not None}

    def lags(self) -> dict[TP, int]:
        """See StageApp.lags; partitions with an unknown end are missing."""
        known = ((tp, frontier, self._known_end(tp)) for tp, frontier in self.frontiers().items())
        return {tp: max(0, end - frontier) for tp, frontier, end in known if end is not None}

    def _known_end(self, tp: TP) -> int | None:
        """The highest known end: ends only grow."""
        known = (self._thread.log_end(tp), self._fetched_ends.get(tp))
        return max((end for end in known if end is not None), default=None)

    async def fetch_log_ends(self) -> None:
        """See StageApp.fetch_log_ends."""
        if not (tps := set(self.positions)):
            return
        try:
            self._fetched_ends = await self._thread.ends(tps)
        except KafkaError as exc:
            raise Retryable(f"cannot read the end offsets of {counted(len(tps), 'partitions')}: {exc!r}") from exc

    def read_to(self, topic: str, partition: int, applied: int | None) -> int | None:
        """See Positions.read_to; None when the partition is not held."""
        tp = TP(topic, partition)
        return self.positions.read_to(tp, applied) if tp in self.positions else None

    async def log_end(self, topic: str, partition: int) -> int:
        """The offset after the last published record of the partition, committed or not. Raises Retryable."""
        try:
            offset: int = await self._thread.highwater(TP(topic, partition))
            return offset
        except KafkaError as exc:
            raise Retryable(f"cannot read the end offset of {topic}[{partition}]: {exc!r}") from exc

    def _filter_tps_with_pending_acks(self, topics: Any = None) -> Iterator[TP]:
        """The partitions to commit: all held ones, unless checkpoints carry the offsets."""
        held = () if self.app.checkpointer is not None else self.positions
        return (tp for tp in list(held) if topics is None or tp in topics or tp.topic in topics)

    def _new_offset(self, tp: TP) -> int | None:
        return self.positions.committable(tp)


def truncated_log(tp: TP, end: int, read_to: int) -> Misconfigured:
    """The error for a topic that was truncated or recreated: new records have the offsets of applied ones and would be
    mistaken for them."""
    return Misconfigured(
        f"{tp.topic}[{tp.partition}] was read to offset {read_to} and ends at {end} now: the topic was recreated, or its broker "
        "lost records. Reset the group's offsets of this topic, and begin with an empty changelog and empty data directories"
    )


def carrier_message(tp: TP, batch: Batch, generation: int) -> ConsumerMessage:
    """Faust's message around a batch. A batch without records only advances the offset of a checkpoint.

    Faust's stream silently drops messages of another generation than the consumer's.
    """
    last = batch.records[-1] if batch.records else None
    return ConsumerMessage(
        topic=tp.topic,
        partition=tp.partition,
        offset=batch.end - 1,
        timestamp=last.timestamp / 1000.0 if last else 0.0,
        timestamp_type=last.timestamp_type if last else 0,
        headers=(),
        key=None,
        value=batch,
        checksum=None,
        tp=tp,
        generation_id=generation,
    )


class FencedTransport(driver.Transport):
    """Faust's aiokafka transport with the fenced consumer."""

    Consumer = FencedConsumer
