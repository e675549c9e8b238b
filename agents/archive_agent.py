"""The archive agent: every message into the short-term tier, in batches, once."""

from typing import Any

from schemas import codec
from schemas.errors import Rejected
from schemas.messages import Message
from sinks.archive import Archive, ArchivedMessage
from streams.delivery.batch import Batch


class ArchiveAgent:
    """Stores a batch in one statement, then acks it. What does not decode is the window agent's to dead-letter."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self.skipped = 0

    async def handle(self, batch: Batch) -> None:
        decoded = [self._decoded(record) for record in batch.records]
        await self._archive.store([message for message in decoded if message is not None])
        batch.ack()

    def _decoded(self, record: Any) -> ArchivedMessage | None:
        try:
            message = codec.decode(record.value, Message)
        except Rejected:
            self.skipped += 1
            return None
        return ArchivedMessage(message=message, partition=record.partition, position=record.offset)
