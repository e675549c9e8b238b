"""Follows a topic from now on, in every process that needs it: all partitions, without a group."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Any

from aiokafka import AIOKafkaConsumer
from aiokafka.errors import KafkaError

from streams.kafka.lenient_parser import getmany

log = logging.getLogger(__name__)

RECONNECT_S = 1.0  # pause before reconnecting
POLL_TIMEOUT_MS = 200  # the brokers answer within this time even without records
LOOK_MS = 100


class Tail:
    """Passes new records to `on_records`; calls `on_gap` when some may have been missed, and once at the start.

    Committed records only. Earlier records are not read: after `on_gap`, read the state from PostgreSQL. `caught_up_to` is the
    time (Unix seconds, this machine's clock) up to which all records were passed on; it stands still while brokers do not
    answer.
    """

    def __init__(
        self,
        client: dict[str, Any],
        topic: str,
        on_records: Callable[[Sequence[Any]], object],
        on_gap: Callable[[], object],
        *,
        again_s: float = RECONNECT_S,
    ) -> None:
        self._client = client
        self._topic = topic
        self._on_records = on_records
        self._on_gap = on_gap
        self._again_s = again_s
        self.caught_up_to = 0.0

    async def run(self) -> None:
        """Follows the topic until cancelled; waits for brokers that are away."""
        while True:
            try:
                await self._listen()
            except (KafkaError, OSError) as exc:
                log.warning("reading %s failed, trying again: %r", self._topic, exc)
                await asyncio.sleep(self._again_s)

    async def _listen(self) -> None:
        consumer = AIOKafkaConsumer(
            self._topic,
            **self._client,
            enable_auto_commit=False,
            isolation_level="read_committed",
            fetch_max_wait_ms=POLL_TIMEOUT_MS,
        )
        try:
            await consumer.start()
            await consumer.seek_to_end()
            self._on_gap()  # no record is missed from here on
            while True:
                for records in (await getmany(consumer, timeout_ms=LOOK_MS)).values():
                    self._on_records(records)
                self.caught_up_to = await read_up_to(consumer) or self.caught_up_to
        finally:
            self.caught_up_to = 0.0
            await consumer.stop()


async def read_up_to(consumer: Any) -> float | None:
    """The earliest of the times at which the partitions were last asked; None while fetched records are unread."""
    moments_ms: list[int] = []
    for partition in consumer.assignment():
        polled_ms, end = consumer.last_poll_timestamp(partition), consumer.last_stable_offset(partition)
        if polled_ms is None or end is None or await consumer.position(partition) < end:
            return None
        moments_ms.append(polled_ms)
    return min(moments_ms, default=0) / 1_000
