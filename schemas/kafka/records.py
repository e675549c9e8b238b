"""A record on its way to Kafka, before a prefix or a producer is known, and the port that takes it there."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct


class Outgoing(Struct, frozen=True, kw_only=True):
    """`topic` is a logical name (schemas.kafka.topics); `partition` None leaves the choice to the key's hash (murmur2)."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...] = ()
    partition: int | None = None


class Publisher(Protocol):
    """Takes records to Kafka."""

    async def publish(self, records: Sequence[Outgoing]) -> None:
        """Returns once the broker has every record (acks=all), in the given order per partition.

        Raises Retryable, or Rejected `unpublishable` when one of them can never be sent: the others may or may not have been.
        """
