"""Publishes records outside of checkpoints: one idempotent producer per process, confirmed by the broker."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaConnectionError, KafkaError, MessageSizeTooLargeError, RecordListTooLargeError

from schemas.errors import Rejected, Retryable
from schemas.kafka.records import Outgoing, Publisher
from schemas.observability import traces
from streams.kafka.producers import fail_waiting, stop_within

log = logging.getLogger(__name__)

CLOSED_WITHIN_S = 5.0
STARTED_WITHIN_S = 30.0  # another producer: it waits without a limit for brokers that answer, but give it no id
# Permanent errors of a record: too large, or for a partition that the topic does not have (aiokafka asserts that).
UNSENDABLE = (MessageSizeTooLargeError, RecordListTooLargeError, AssertionError, ValueError)


class KafkaPublisher:
    """Implements schemas.kafka.records.Publisher. Start and stop it with `async with`.

    A batch that a broker refuses leaves a gap in the sequence numbers of its partition. aiokafka does not close it, and brokers
    refuse everything behind it, so the producer is replaced.
    """

    def __init__(
        self, client: dict[str, Any], physical: Callable[[str], str], max_request_bytes: int = 4_194_304
    ) -> None:
        self._physical = physical
        self._client = client
        self._max_request_bytes = max_request_bytes
        self._replacing: asyncio.Task[None] | None = None
        self._closing: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> "KafkaPublisher":
        self._producer = await self._started()
        return self

    async def _started(self) -> AIOKafkaProducer:
        """A new producer. Raises Retryable."""
        producer = AIOKafkaProducer(
            **self._client,
            acks="all",
            enable_idempotence=True,
            linger_ms=2,
            max_batch_size=131_072,
            max_request_size=self._max_request_bytes,
        )
        try:
            await producer.start()
        except BaseException as exc:
            await stop_within(producer, CLOSED_WITHIN_S)
            if isinstance(exc, KafkaError | OSError):
                raise Retryable(f"cannot reach the brokers: {exc!r}") from exc
            raise
        return producer

    async def __aexit__(self, *exc_info: object) -> None:
        """Waits for records that are being sent, but not for a broker that is away: their publishers got no confirmation."""
        if self._replacing is not None:
            self._replacing.cancel()
            await asyncio.gather(self._replacing, return_exceptions=True)
        await asyncio.gather(*self._closing)
        if (problem := await stop_within(self._producer, CLOSED_WITHIN_S)) is not None:
            log.warning("closing the producer failed, the last records may not have arrived: %r", problem)

    async def publish(self, records: Sequence[Outgoing]) -> None:
        producer = self._producer
        try:
            await self._send(producer, records)
        except UNSENDABLE as exc:
            raise Rejected("unpublishable", repr(exc)) from exc
        except (KafkaError, OSError) as exc:
            raise Retryable(f"cannot publish: {exc!r}") from exc

    async def _send(self, producer: AIOKafkaProducer, records: Sequence[Outgoing]) -> None:
        """Sends the records and waits for their confirmations. Replaces the producer after a refusal."""
        sent: list[Awaitable[object]] = []
        try:
            for record in records:
                confirmation = await producer.send(
                    self._physical(record.topic),
                    key=record.key,
                    value=record.value,
                    partition=record.partition,
                    headers=list(record.headers),
                )
                sent.append(confirmation)
            await asyncio.gather(*sent)
        except KafkaError:
            # A record that was not accepted leaves no gap; a sender that has ended accepts none any more.
            if len(sent) == len(records) or producer._message_accumulator._exception is not None:
                await self._replace(producer)
            raise

    async def _replace(self, producer: AIOKafkaProducer) -> None:
        """Replaces a producer with a gap, once. Goes on in the background if the caller is cancelled."""
        if self._producer is not producer:
            return
        if self._replacing is None or self._replacing.done():
            self._replacing = asyncio.create_task(self._start_another())
        await asyncio.shield(self._replacing)

    async def _start_another(self) -> None:
        """Uses another producer and stops the present one; without a broker, this stays, and the next failure tries again."""
        try:
            async with asyncio.timeout(STARTED_WITHIN_S):
                started = await self._started()
        except (Retryable, TimeoutError) as exc:
            log.warning("the producer was not replaced after a refused batch: %r", exc)
            return
        stopping = asyncio.create_task(_stop(self._producer))
        self._closing.add(stopping)
        stopping.add_done_callback(self._closing.discard)
        self._producer = started


async def _stop(producer: AIOKafkaProducer) -> None:
    """Stops a replaced producer; who still waits for it gets an error."""
    if await stop_within(producer, CLOSED_WITHIN_S) is not None:
        fail_waiting(producer, KafkaConnectionError("the producer was replaced"))


class CausedPublisher:
    """Implements schemas.kafka.records.Publisher and adds the current trace to each record.

    Not for the outbox, whose records belong to the traces of their decisions.
    """

    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher

    async def publish(self, records: Sequence[Outgoing]) -> None:
        await self._publisher.publish([traces.with_traceparent(record) for record in records])
