"""Publishes records outside of checkpoints: one idempotent producer per process, confirmed by the broker."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Any

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, MessageSizeTooLargeError, RecordListTooLargeError

from schemas.errors import Rejected, Retryable
from schemas.kafka.records import Outgoing, Publisher
from schemas.observability import traces
from streams.kafka.producers import stop_within

log = logging.getLogger(__name__)

CLOSED_WITHIN_S = 5.0
# Permanent errors of a record: too large, or for a partition that the topic does not have (aiokafka asserts that).
UNSENDABLE = (MessageSizeTooLargeError, RecordListTooLargeError, AssertionError, ValueError)


class KafkaPublisher:
    """Implements schemas.kafka.records.Publisher. Start and stop it with `async with`."""

    def __init__(
        self, client: dict[str, Any], physical: Callable[[str], str], max_request_bytes: int = 4_194_304
    ) -> None:
        self._physical = physical
        self._client = client
        self._max_request_bytes = max_request_bytes

    async def __aenter__(self) -> "KafkaPublisher":
        self._producer = AIOKafkaProducer(
            **self._client,
            acks="all",
            enable_idempotence=True,
            linger_ms=2,
            max_batch_size=131_072,
            max_request_size=self._max_request_bytes,
        )
        try:
            await self._producer.start()
        except (KafkaError, OSError) as exc:
            await stop_within(self._producer, CLOSED_WITHIN_S)
            raise Retryable(f"cannot reach the brokers: {exc!r}") from exc
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        """Waits for records that are being sent, but not for a broker that is away: their publishers got no confirmation."""
        if (problem := await stop_within(self._producer, CLOSED_WITHIN_S)) is not None:
            log.warning("closing the producer failed, the last records may not have arrived: %r", problem)

    async def publish(self, records: Sequence[Outgoing]) -> None:
        try:
            sent = [
                await self._producer.send(
                    self._physical(record.topic),
                    key=record.key,
                    value=record.value,
                    partition=record.partition,
                    headers=list(record.headers),
                )
                for record in records
            ]
            await asyncio.gather(*sent)
        except UNSENDABLE as exc:
            raise Rejected("unpublishable", repr(exc)) from exc
        except (KafkaError, OSError) as exc:
            raise Retryable(f"cannot publish: {exc!r}") from exc


class CausedPublisher:
    """Implements schemas.kafka.records.Publisher and adds the current trace to each record.

    Not for the outbox, whose records belong to the traces of their decisions.
    """

    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher

    async def publish(self, records: Sequence[Outgoing]) -> None:
        await self._publisher.publish([traces.with_traceparent(record) for record in records])
