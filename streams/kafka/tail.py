"""Hearing of what comes onto a topic from now on, in every process that wants to know: all partitions, without a group."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Any

from aiokafka import AIOKafkaConsumer
from aiokafka.errors import KafkaError

log = logging.getLogger(__name__)

AGAIN_S = 1.0  # after brokers that went away
ANSWERED_MS = 200  # within which brokers answer though nothing is there
LOOK_MS = 100


class Tail:
    """`heard` is given the records as they come; `lapsed` is called when some may have been missed, and once at the start.

    Committed records only. What was there before is not read: who needs it asks PostgreSQL, after `lapsed`. `heard_to` is the
    moment (in s since 1970, by this machine's clock) up to which all that was there was heard: while brokers do not answer, it
    stays where it is.
    """

    def __init__(
        self,
        client: dict[str, Any],
        topic: str,
        heard: Callable[[Sequence[Any]], object],
        lapsed: Callable[[], object],
        *,
        again_s: float = AGAIN_S,
    ) -> None:
        self._client = client
        self._topic = topic
        self._heard = heard
        self._lapsed = lapsed
        self._again_s = again_s
        self.heard_to = 0.0

    async def run(self) -> None:
        """Listens until it is cancelled; brokers that go away are waited for."""
        while True:
            try:
                await self._listen()
            except (KafkaError, OSError) as exc:
                log.warning("cannot follow %s, trying again: %r", self._topic, exc)
                await asyncio.sleep(self._again_s)

    async def _listen(self) -> None:
        consumer = AIOKafkaConsumer(
            self._topic,
            **self._client,
            enable_auto_commit=False,
            isolation_level="read_committed",
            fetch_max_wait_ms=ANSWERED_MS,
        )
        try:
            await consumer.start()
            await consumer.seek_to_end()
            self._lapsed()  # from here on nothing is missed
            while True:
                for records in (await consumer.getmany(timeout_ms=LOOK_MS)).values():
                    self._heard(records)
                self.heard_to = await read_up_to(consumer) or self.heard_to
        finally:
            self.heard_to = 0.0
            await consumer.stop()


async def read_up_to(consumer: Any) -> float | None:
    """When the partitions were asked last, the one that was first; None while something that they have is still to be read."""
    moments_ms: list[int] = []
    for partition in consumer.assignment():
        asked_ms, end = consumer.last_poll_timestamp(partition), consumer.last_stable_offset(partition)
        if asked_ms is None or end is None or await consumer.position(partition) < end:
            return None
        moments_ms.append(asked_ms)
    return min(moments_ms, default=0) / 1_000
