"""Hearing of what comes onto a topic from now on, in every process that wants to know: all partitions, without a group."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Any

from aiokafka import AIOKafkaConsumer
from aiokafka.errors import KafkaError

log = logging.getLogger(__name__)

AGAIN_S = 1.0  # after brokers that went away


class Tail:
    """`heard` is given the records as they come; `lapsed` is called when some may have been missed, and once at the start.

    Committed records only. What was there before is not read: who needs it asks PostgreSQL, after `lapsed`.
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
            self._topic, **self._client, enable_auto_commit=False, isolation_level="read_committed"
        )
        try:
            await consumer.start()
            await consumer.seek_to_end()
            self._lapsed()  # from here on nothing is missed
            while True:
                for records in (await consumer.getmany(timeout_ms=1_000)).values():
                    self._heard(records)
        finally:
            await consumer.stop()
