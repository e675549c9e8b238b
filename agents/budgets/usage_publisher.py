"""Publishes usage records to Kafka in batches, in the background."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Final, Protocol

from msgspec import to_builtins

from schemas import codec, ids
from schemas.budgets.usage import Consumed
from schemas.kafka import topics
from schemas.kafka.records import Outgoing, Publisher
from schemas.memories.events import CLOUD_EVENT, ActivityEvent

PAGE: Final = 200


class UnpublishedUsage(Protocol):
    """The store of usage records."""

    def unpublished(self, limit: int) -> AbstractAsyncContextManager[Sequence[Consumed]]:
        """Unpublished records; marks them as published when the block ends without an error."""


class UsagePublisher:
    """Publishes `memstream.usage.recorded` events. A crash between the broker and the mark repeats one with the same id."""

    def __init__(self, records: UnpublishedUsage, publisher: Publisher) -> None:
        self._records = records
        self._publisher = publisher

    async def publish(self) -> int:
        """Publishes all unpublished records and returns their number. Raises Retryable; the next call continues."""
        published = 0
        while True:
            async with self._records.unpublished(PAGE) as consumed:
                await self._publisher.publish([usage_record(each) for each in consumed])
            published += len(consumed)
            if len(consumed) < PAGE:
                return published


def usage_record(consumed: Consumed) -> Outgoing:
    """The event's record, keyed by its conversation, or else its first namespace."""
    event = ActivityEvent(
        id=ids.activity_id("usage", consumed.usage_id),
        type="memstream.usage.recorded",
        time=consumed.at,
        subject=consumed.subject,
        data=usage_payload(consumed),
    )
    return Outgoing(
        topic=topics.ACTIVITY, key=consumed.subject.encode(), value=codec.encode(event), headers=CLOUD_EVENT
    )


def usage_payload(consumed: Consumed) -> dict[str, Any]:
    """All fields, with nulls: consumers need no defaults."""
    return {name: to_builtins(getattr(consumed, name)) for name in consumed.__struct_fields__} | {
        "tokens": consumed.tokens
    }
