"""Messages that come again long after they were extracted: their windows have forgotten their ids, the archive has not."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, Protocol, TypeAlias

from agents.dead_letters.writer import REPLAYED
from agents.windows.cache import WindowCache
from agents.windows.erasures import Decoded
from sinks.archive.messages import Place
from streams.delivery.batch import Batch

MessageKey: TypeAlias = tuple[str, str]  # a conversation and a message of it

MOST_ASKED: Final = 1_000  # in one statement


class ExtractedMessages(Protocol):
    """sinks.archive.messages.Archive."""

    async def extracted(self, keys: Collection[MessageKey]) -> Mapping[MessageKey, Place]: ...


class WindowRepeats:
    """PostgreSQL is asked about messages of conversations that have no window, or whose window has forgotten ids: no others can
    be such repetitions."""

    def __init__(self, archive: ExtractedMessages) -> None:
        self._archive = archive

    async def without_repeated(self, batch: Batch, heard: Sequence[Decoded], cache: WindowCache) -> Sequence[Decoded]:
        """Of a batch's messages those that were not extracted from another place. Raises Retryable."""
        if not batch.current:
            return heard
        cache.enter(batch.epoch)
        forgetful = {
            each
            for each in {message.conversation_id for _, message in heard}
            if cache.may_have_forgotten(each, batch.partition)
        }
        asked = list(
            {
                (message.conversation_id, message.message_id)
                for record, message in heard
                if message.conversation_id in forgetful and not is_replayed(record)
            }
        )
        places: dict[MessageKey, Place] = {}
        for first in range(0, len(asked), MOST_ASKED):
            places |= await self._archive.extracted(asked[first : first + MOST_ASKED])
        if not places:
            return heard
        return [(record, message) for record, message in heard if not _is_elsewhere(places, batch, record, message)]


def is_replayed(record: Any) -> bool:
    """Whether its window failed at it before: it was archived, and never extracted."""
    return any(name == REPLAYED for name, _ in record.headers)


def _is_elsewhere(places: Mapping[MessageKey, Place], batch: Batch, record: Any, message: Any) -> bool:
    if is_replayed(record):
        return False
    place = places.get((message.conversation_id, message.message_id))
    return place is not None and place != (batch.partition, record.offset)
