"""The passages agent: indexes every message of users and assistants for passage search."""

import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from agents.dead_letters.writer import PREFIX, dead_letter
from agents.passages.indexer import PassageIndexer
from agents.policies.audience import Audience
from schemas import codec
from schemas.conversations.messages import Message
from schemas.errors import Rejected
from schemas.kafka import topics
from schemas.kafka.records import Outgoing, Publisher
from sinks.archive.messages import Archive, ArchivedMessage
from sinks.passages.vectors import PassagePoint
from sinks.vectors.port import PointsRefused
from streams.delivery.batch import Batch

log = logging.getLogger(__name__)

STAGE = "passages"


class PassageAgent:
    """Archives a batch's messages as the archive agent does (whichever comes first), then indexes them and acks. The window
    agent writes dead letters for undecodable records, the archive agent for unstorable ones."""

    def __init__(
        self,
        archive: Archive,
        indexer: PassageIndexer,
        publisher: Publisher,
        audience: Audience,
        clock: Callable[[], datetime],
    ) -> None:
        self._archive = archive
        self._indexer = indexer
        self._publisher = publisher
        self._audience = audience
        self._clock = clock

    async def handle(self, batch: Batch) -> None:
        decoded = [(record, archived) for record in batch.records if (archived := self._decoded(record)) is not None]
        messages = await self._audience.with_namespaces([archived for _, archived in decoded])
        try:
            await self._index(messages)
        except Rejected:
            for (record, _), archived in zip(decoded, messages, strict=True):
                await self._index_alone(record, archived)
        batch.ack()

    async def _index(self, messages: Sequence[ArchivedMessage]) -> None:
        await self._archive.store(messages)
        await self._indexer.index(messages)

    async def _index_alone(self, record: Any, archived: ArchivedMessage) -> None:
        """Indexes one message; if that fails for good, it becomes a dead letter."""
        try:
            await self._archive.store([archived])
        except Rejected as rejected:
            log.warning(
                "message %s cannot be archived, so search does not find it: %s", archived.message.message_id, rejected
            )
            return
        try:
            await self._indexer.index([archived])
        except Rejected as rejected:
            await self._publisher.publish([dead_letter(record, STAGE, rejected, self._clock())])

    def _decoded(self, record: Any) -> ArchivedMessage | None:
        try:
            message = codec.decode_untrusted(record.value, Message)
        except Rejected:
            return None
        return ArchivedMessage(message=message, partition=record.partition, position=record.offset)


class RefusedPassages:
    """Writes a dead letter, without text, for each passage that Qdrant refuses. The passage stays in PostgreSQL, and search
    finds it by words alone."""

    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher

    async def publish(self, point: PassagePoint, refused: PointsRefused) -> None:
        await self._publisher.publish([refused_point_letter(point, refused)])


def refused_point_letter(point: PassagePoint, refused: PointsRefused) -> Outgoing:
    fields = {"reason": "refused", "detail": str(refused), "stage": "passages", "topic": "vectors"}
    headers = tuple((PREFIX + name, value.encode("utf-8", "replace")) for name, value in fields.items())
    return Outgoing(topic=topics.DEAD_LETTERS, key=point.passage_id.encode(), value=b"", headers=headers)
