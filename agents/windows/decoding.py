"""Decodes the records of the window stage; records that cannot be decoded, or are too large, become dead letters."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

from agents.dead_letters.writer import dead_letter
from schemas import codec
from schemas.conversations.messages import ConversationEnded, Message
from schemas.errors import Rejected
from schemas.kafka.records import Outgoing
from schemas.windows.window_controls import WindowControl
from streams.delivery.batch import Batch

STAGE: Final = "windows"
SMALL_BYTES: Final = 65_536  # bytes; a record up to this size stays below every limit when re-encoded

Event = TypeVar("Event", Message, ConversationEnded, WindowControl)


class EventDecoder:
    """`largest` is the limit of a record in bytes (MEMSTREAM_MAX_MESSAGE_BYTES); `clock` returns Unix seconds."""

    def __init__(self, largest: int, clock: Callable[[], float]) -> None:
        self._largest = largest
        self._surely_fits = min(SMALL_BYTES, largest)
        self._clock = clock

    def events(self, batch: Batch, shape: type[Event], effects: list[Outgoing]) -> Iterable[tuple[Any, Event]]:
        """Each record with its event; a record that cannot be decoded becomes a dead letter among the effects."""
        for record in batch.records:
            try:
                if len(record.value or b"") > self._surely_fits:
                    self._require_size(record)
                yield record, codec.decode_untrusted(record.value, shape)
            except Rejected as rejected:
                effects.append(dead_letter(record, STAGE, rejected, datetime.fromtimestamp(self._clock(), UTC)))

    def _require_size(self, record: Any) -> None:
        """Raises Rejected `too_large` for a record that a row or request could not hold.

        The broker's limit counts compressed bytes, and re-encoded JSON may be longer: 1e15 is written out.
        """
        size = len(record.value or b"")
        if size > self._largest:
            raise Rejected("too_large", f"{size} bytes; the limit is {self._largest} (MEMSTREAM_MAX_MESSAGE_BYTES)")
        if size <= SMALL_BYTES:
            return
        reencoded_bytes = len(codec.encode(codec.parse(codec.without_lone_surrogates(record.value))))
        if reencoded_bytes > 3 * self._largest:
            raise Rejected("too_large", f"{reencoded_bytes} bytes when written again; the limit is {3 * self._largest}")
