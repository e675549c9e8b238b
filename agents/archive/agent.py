"""The archive agent: stores each message once in the short-term tier, in batches."""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from agents.dead_letters.writer import dead_letter
from agents.policies.audience import Audience
from schemas import codec
from schemas.conversations.messages import Message
from schemas.errors import Rejected
from schemas.kafka.records import Publisher
from sinks.archive.messages import Archive, ArchivedMessage
from streams.delivery.batch import Batch

STAGE = "archive"


class ArchiveAgent:
    """Stores a batch in one statement, then acknowledges it. The windows stage dead-letters undecodable records."""

    def __init__(
        self, archive: Archive, publisher: Publisher, audience: Audience, clock: Callable[[], datetime]
    ) -> None:
        self._archive = archive
        self._audience = audience
        self._publisher = publisher
        self._clock = clock
        self.skipped = 0

    async def handle(self, batch: Batch) -> None:
        decoded = [(record, message) for record in batch.records if (message := self._decoded(record)) is not None]
        messages = await self._audience.with_namespaces([message for _, message in decoded])
        try:
            await self._archive.store(messages)
        except Rejected:
            await self._store_singly(zip((record for record, _ in decoded), messages, strict=True))
        batch.ack()

    async def _store_singly(self, decoded: Iterable[tuple[Any, ArchivedMessage]]) -> None:
        """Stores messages one by one: one that cannot be stored becomes a dead letter."""
        for record, message in decoded:
            try:
                await self._archive.store([message])
            except Rejected as rejected:
                await self._publisher.publish([dead_letter(record, STAGE, rejected, self._clock())])

    def _decoded(self, record: Any) -> ArchivedMessage | None:
        try:
            message = codec.decode_untrusted(record.value, Message)
        except Rejected:
            self.skipped += 1
            return None
        return ArchivedMessage(message=message, partition=record.partition, position=record.offset)
