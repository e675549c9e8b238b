"""Detects messages repeated long after their extraction, when their windows have forgotten their ids and the archive has
not."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, Protocol, TypeAlias

from agents.dead_letters.writer import REPLAYED
from agents.windows.cache import WindowCache
from agents.windows.erasures import Decoded
from sinks.archive.messages import Place
from streams.delivery.batch import Batch

MessageKey: TypeAlias = tuple[str, str]  # conversation_id, message_id

MAX_LOOKUPS: Final = 1_000  # keys per statement


class ExtractedMessages(Protocol):
    """sinks.archive.messages.Archive."""

    async def extracted(self, keys: Collection[MessageKey]) -> Mapping[MessageKey, Place]: ...


class MessageDeduplicator:
    """Asks PostgreSQL about messages of conversations without a window, or whose window has forgotten ids: only these can be
    such repetitions."""

    def __init__(self, archive: ExtractedMessages) -> None:
        self._archive = archive

    async def without_duplicates(
        self, batch: Batch, events: Sequence[Decoded], cache: WindowCache
    ) -> Sequence[Decoded]:
        """The batch's messages that were not extracted from another position. Raises Retryable."""
        if not batch.current:
            return events
        cache.enter(batch.epoch)
        forgetful = {
            each
            for each in {message.conversation_id for _, message in events}
            if cache.may_have_forgotten(each, batch.partition)
        }
        keys = list(
            {
                (message.conversation_id, message.message_id)
                for record, message in events
                if message.conversation_id in forgetful and not is_replayed(record)
            }
        )
        places: dict[MessageKey, Place] = {}
        for first in range(0, len(keys), MAX_LOOKUPS):
            places |= await self._archive.extracted(keys[first : first + MAX_LOOKUPS])
        if not places:
            return events
        return [(record, message) for record, message in events if not _is_duplicate(places, batch, record, message)]


def is_replayed(record: Any) -> bool:
    """Whether the record is a replayed dead letter of this stage: archived, and never extracted."""
    return any(name == REPLAYED for name, _ in record.headers)


def _is_duplicate(places: Mapping[MessageKey, Place], batch: Batch, record: Any, message: Any) -> bool:
    if is_replayed(record):
        return False
    place = places.get((message.conversation_id, message.message_id))
    return place is not None and place != (batch.partition, record.offset)
