"""The passages agent: indexes every message of users and assistants for passage search."""

import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from agents.dead_letters.writer import dead_letter
from agents.passages.indexer import PassageIndexer
from agents.policies.audience import Audience
from schemas import codec
from schemas.conversations.messages import Message
from schemas.counts import counted
from schemas.errors import Rejected
from schemas.kafka.dead_letters import letter_without_source
from schemas.kafka.records import Publisher
from schemas.policies.policies import PolicySelector
from sinks.archive.messages import Archive, ArchivedMessage
from sinks.passages.store import Piece, point
from sinks.passages.vectors import PassagePoint
from sinks.vectors.port import PointsRefused
from streams.delivery.batch import Batch

log = logging.getLogger(__name__)

STAGE = "passages"
DAY_MS: Final = 86_400_000
IDS: Final = ("namespace", "conversation_id", "message_id", "user_id", "tenant_id", "app_id")


class Sent(NamedTuple):
    """A message with its Kafka record."""

    record: Any
    archived: ArchivedMessage


class PassageAgent:
    """Archives a batch's messages as the archive agent does (whichever comes first), then indexes them and acks. The window
    agent writes dead letters for undecodable records, the archive agent for unstorable ones.

    A record that is older than the retention of its policy comes late: retention may have deleted its message. Such a message
    is indexed if the archive has it, and not archived again.
    """

    def __init__(
        self,
        archive: Archive,
        indexer: PassageIndexer,
        publisher: Publisher,
        audience: Audience,
        policies: PolicySelector,
        clock: Callable[[], datetime],
    ) -> None:
        self._archive = archive
        self._indexer = indexer
        self._publisher = publisher
        self._audience = audience
        self._policies = policies
        self._clock = clock

    async def handle(self, batch: Batch) -> None:
        decoded = [(record, archived) for record in batch.records if (archived := self._decoded(record)) is not None]
        messages = await self._audience.with_namespaces([archived for _, archived in decoded])
        sent = [Sent(record, archived) for (record, _), archived in zip(decoded, messages, strict=True)]
        try:
            await self._indexer.index(await self._archived(sent))
        except Rejected:
            for each in sent:
                await self._index_alone(each)
        batch.ack()

    async def _index_alone(self, sent: Sent) -> None:
        """Indexes one message; if that fails for good, it becomes a dead letter."""
        try:
            archived = await self._archived([sent])
        except Rejected as rejected:
            message_id = sent.archived.message.message_id
            log.warning("message %s cannot be archived, so search does not find it: %s", message_id, rejected)
            return
        try:
            await self._indexer.index(archived)
        except Rejected as rejected:
            await self._publisher.publish([dead_letter(sent.record, STAGE, rejected, self._clock())])

    async def _archived(self, sent: Sequence[Sent]) -> list[ArchivedMessage]:
        """Archives the messages, and returns them without late ones that the archive does not have."""
        late = [each.archived for each in sent if self._is_late(each)]
        punctual = [each.archived for each in sent if not self._is_late(each)]
        await self._archive.store(punctual)
        present = await self._archive.present(late)
        if left_out := len(late) - len(present):
            log.warning(
                "not indexed: %s older than their retention and not in the archive: retention deleted them, or "
                "they are not archived yet; run `memstream backfill` once memstream-archive has no lag",
                counted(left_out, "messages"),
            )
        return [*present, *punctual]

    def _is_late(self, sent: Sent) -> bool:
        days = {self._policies.match(scope).retention_days for scope in sent.archived.scopes} - {0}
        if not days or sent.record.timestamp < 0:  # -1: Kafka has no timestamp
            return False
        age_ms: float = self._clock().timestamp() * 1_000 - sent.record.timestamp
        return age_ms >= min(days) * DAY_MS

    def _decoded(self, record: Any) -> ArchivedMessage | None:
        try:
            message = codec.decode_untrusted(record.value, Message)
        except Rejected:
            return None
        return ArchivedMessage(message=message, partition=record.partition, position=record.offset)


class RefusedPassages:
    """Writes a dead letter for each passage that Qdrant or the embedder refuses. Its value has the ids and the time of the
    message, by which an erasure finds it, and no text. The passage stays in PostgreSQL, and search finds it by words alone."""

    def __init__(self, publisher: Publisher, clock: Callable[[], datetime]) -> None:
        self._publisher = publisher
        self._clock = clock

    async def publish(self, passage: PassagePoint, refused: PointsRefused) -> None:
        await self._publish(passage, "refused", f"{named(passage)}: {refused}")

    async def publish_rejected(self, piece: Piece) -> None:
        """The embedder's answer may quote the text, so the log alone has it."""
        passage = point(piece)
        await self._publish(passage, "unembeddable", f"{named(passage)}: the embedder rejects the text")

    async def _publish(self, passage: PassagePoint, reason: str, detail: str) -> None:
        key, rejected = passage.passage_id.encode(), Rejected(reason, detail)
        ids = {name: value for name in IDS if (value := getattr(passage, name)) is not None}
        value = codec.encode(ids | {"timestamp": passage.said_at})
        letter = letter_without_source(key, STAGE, "vectors", rejected, self._clock(), value)
        await self._publisher.publish([letter])


def named(passage: PassagePoint) -> str:
    return f"a passage of message {passage.message_id} in conversation {passage.conversation_id}"
