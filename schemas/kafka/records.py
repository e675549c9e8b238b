"""Records to publish, independent of topic prefix and producer, and the port that publishes them."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct


class Outgoing(Struct, frozen=True, kw_only=True):
    """A record to publish. `topic` is a logical name (schemas.kafka.topics); with `partition` None the key's hash (murmur2)
    decides."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...] = ()
    partition: int | None = None


class Publisher(Protocol):
    """Publishes records to Kafka."""

    async def publish(self, records: Sequence[Outgoing]) -> None:
        """Returns when the broker has every record (acks=all), in the given order per partition.

        Raises Retryable, or Rejected `unpublishable` if one of them can never be published; the others may or may not be
        published then.
        """
