"""aiokafka's consumer on Faust's consumer thread: one assignor for every stage, committed records only, exact read
positions.

Heartbeats continue whatever an agent does on the main thread. All calls that move the fetcher (draining and seeking) happen
here, so the start of each read is known exactly.
"""

import asyncio
import logging
import math
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

import aiokafka
from aiokafka.consumer.fetcher import READ_UNCOMMITTED, OffsetResetStrategy
from aiokafka.errors import ConsumerStoppedError, KafkaError, LeaderNotAvailableError, for_code
from aiokafka.protocol.offset import OffsetRequest
from faust.transport.drivers import aiokafka as driver
from faust.types import TP

from streams.delivery.positions import Read
from streams.kafka import lenient_parser

log = logging.getLogger(__name__)

RETRY_S = 0.1
ENDS_WITHIN_S = 3.0  # a call holds one of the thread's two workers
# aiokafka leaves the group when nothing was fetched for so long, and joins it again only after a fetch. Nothing is fetched
# without a partition, nor while agents wait for a server that is down: such a member would never come back.
NEVER = math.inf


class FencedConsumerThread(driver.AIOKafkaConsumerThread):
    """Reads, seeks and asks for offsets. Public methods are called from the main thread."""

    def _create_worker_consumer(self, transport: Any) -> aiokafka.AIOKafkaConsumer:
        """Replaces Faust's settings: its round-robin assignor without tables splits co-partitioned topics, and it reads
        uncommitted records."""
        conf = self.app.conf
        self._assignor = self.app.assignor
        self._left_at: dict[Any, int] = {}
        return aiokafka.AIOKafkaConsumer(
            client_id=conf.broker_client_id,
            group_id=conf.id,
            bootstrap_servers=driver.server_list(transport.url, transport.default_port),
            partition_assignment_strategy=[self._assignor],
            enable_auto_commit=False,
            auto_offset_reset="earliest",  # positions are always sought; used only for offsets that retention deleted
            max_poll_records=conf.broker_max_poll_records,
            max_poll_interval_ms=NEVER,
            max_partition_fetch_bytes=conf.consumer_max_fetch_size,
            fetch_max_wait_ms=500,
            request_timeout_ms=int(conf.broker_request_timeout * 1000.0),
            session_timeout_ms=int(conf.broker_session_timeout * 1000.0),
            rebalance_timeout_ms=int(conf.broker_rebalance_timeout * 1000.0),
            heartbeat_interval_ms=int(conf.broker_heartbeat_interval * 1000.0),
            isolation_level="read_committed",
            metadata_max_age_ms=conf.consumer_metadata_max_age_ms,
            connections_max_idle_ms=conf.consumer_connections_max_idle_ms,
            **driver.credentials_to_aiokafka_auth(conf.broker_credentials, conf.ssl_context),
        )

    async def _commit(self, offsets: Mapping[TP, int]) -> bool:
        """False if all these partitions were revoked since the call: aiokafka raises ValueError for a commit of nothing, and
        Faust would crash."""
        if self.assignment().isdisjoint(offsets):
            return False
        return bool(await super()._commit(offsets))

    def check_coordinator(self) -> None:
        """Raises the error that has ended aiokafka's work for the group: it does not join again, and waits until the error is
        asked for, as only its own methods to read records do. Thread-safe."""
        coordinator = self._consumer and self._consumer._coordinator
        if coordinator is None:
            return
        if (error := coordinator._pending_exception) is not None:
            raise error
        if (task := coordinator._coordination_task).done() and not task.cancelled():
            task.result()

    async def read(self, tps: set[TP], timeout_s: float) -> dict[TP, Read]:
        """Drains the fetched records of these partitions; also reports where only control records were skipped."""
        reads: dict[TP, Read] = await self.call_thread(self._read, tps, timeout_s)
        return reads

    async def _read(self, tps: set[TP], timeout_s: float) -> dict[TP, Read]:
        consumer = self._ensure_consumer()
        if not self.consumer.flow_active:
            return {}
        if consumer._closed or consumer._fetcher._closed:
            raise ConsumerStoppedError
        with consumer._subscription.fetch_context():
            try:
                fetched = await consumer._fetcher.fetched_records(tps, timeout_s, consumer._max_poll_records)
            except lenient_parser.UNPARSED:
                failed = lenient_parser.unparsed(consumer, tps)
                if failed is None:
                    raise
                fetched = await self._fetch_record_by_record(consumer, tps, failed)
        # Do not await from here on: positions must stay as the drain left them.
        return {tp: read for tp in tps if (read := self._taken(consumer, tp, fetched.get(tp, []))) is not None}

    def _taken(self, consumer: aiokafka.AIOKafkaConsumer, tp: TP, records: list[Any]) -> Read | None:
        start, end = self._left_at.get(tp), lenient_parser.position(consumer, tp)
        if start is None or end is None or end == start:
            return None
        self._left_at[tp] = end
        return Read(start, end, records)

    async def _fetch_record_by_record(
        self, consumer: aiokafka.AIOKafkaConsumer, tps: set[TP], failed: TP
    ) -> dict[TP, list[Any]]:
        """Parses the records of a partition whose drain failed, leniently. Raises CorruptRecordException."""
        start = lenient_parser.position(consumer, failed)
        assert start is not None
        self._seek_back(consumer, tps - {failed})
        try:
            found = await lenient_parser.fetch(consumer, failed, start)
        except KafkaError as exc:
            log.warning("reading %s[%d] again from %d failed: %r", failed.topic, failed.partition, start, exc)
            consumer._client.force_metadata_update()
            await asyncio.sleep(RETRY_S)
            return {}
        if lenient_parser.position(consumer, failed) != start:
            return {}  # sought or revoked meanwhile
        records = list(islice(found, consumer._max_poll_records))
        consumer.seek(failed, found.next_fetch_offset)
        return {failed: records}

    def _seek_back(self, consumer: aiokafka.AIOKafkaConsumer, tps: set[TP]) -> None:
        """Seeks back to drained records that are not delivered."""
        for tp in tps & self._left_at.keys():
            if lenient_parser.position(consumer, tp) not in (None, self._left_at[tp]):
                consumer.seek(tp, self._left_at[tp])

    def log_end(self, tp: TP) -> int | None:
        """The offset after the partition's last committed record, as of the last fetch. Thread-safe."""
        subscription = self._consumer and self._consumer._subscription.subscription
        assignment = subscription and subscription.assignment
        if assignment is None or tp not in assignment.tps:
            return None
        end: int | None = assignment.state_value(tp).lso
        return end

    async def ends(self, tps: Iterable[TP]) -> dict[TP, int]:
        """The offset after each partition's last committed record, as the leaders report it. Raises KafkaError within seconds."""
        offsets: dict[TP, int] = await self.call_thread(self._ends, set(tps))
        return offsets

    async def _ends(self, tps: set[TP]) -> dict[TP, int]:
        found: dict[TP, int] = await self._ensure_consumer()._fetcher.end_offsets(tps, ENDS_WITHIN_S * 1000)
        return found

    async def place(self, positions: Mapping[TP, int], paused: Iterable[TP] = ()) -> bool:
        """Seeks partitions; False if one is no longer assigned. `paused` partitions are not fetched."""
        placed: bool = await self.call_thread(self._place, dict(positions), set(paused))
        return placed

    async def _place(self, positions: dict[TP, int], paused: set[TP]) -> bool:
        consumer = self._ensure_consumer()
        assigned = consumer.assignment()
        if not assigned >= positions.keys():
            return False
        consumer.pause(*(tp for tp in assigned if tp in paused))
        for tp, offset in positions.items():
            consumer.seek(tp, offset)
            self._left_at[tp] = offset
        return True

    async def committed(self, tps: Iterable[TP]) -> dict[TP, int | None]:
        """Committed offsets as the broker has them now."""
        offsets: dict[TP, int | None] = await self.call_thread(self._committed, set(tps))
        return offsets

    async def _committed(self, tps: set[TP]) -> dict[TP, int | None]:
        consumer = self._ensure_consumer()
        offsets = await asyncio.gather(*(consumer.committed(tp) for tp in tps))
        return dict(zip(tps, offsets, strict=True))

    async def highwater(self, tp: TP) -> int:
        """The offset after the partition's last record, of an open transaction or not, as its leader reports it.

        Raises KafkaError. aiokafka's `end_offsets` returns the last stable offset, which is below published records.
        """
        offset: int = await self.call_thread(self._highwater, tp)
        return offset

    async def _highwater(self, tp: TP) -> int:
        client = self._ensure_consumer()._client
        leader = client.cluster.leader_for_partition(tp)
        partitions = [(tp.topic, [(tp.partition, OffsetResetStrategy.LATEST)])]
        try:
            if leader is None or leader == -1:
                raise LeaderNotAvailableError(tp)
            answer = await client.send(leader, OffsetRequest(-1, READ_UNCOMMITTED, partitions))
            ((_, ((_, code, *_, offset),)),) = answer.topics
            if code:
                raise for_code(code)(tp)
        except KafkaError:
            client.force_metadata_update()
            raise
        return int(offset)
