"""The headers of dead letters, and letters without a source record.

A letter of a record of Kafka names that record's position. What memstream wrote from its database (a record of the outbox, the
point of a memory or passage) has no position in any topic: its letter has -1 there, as Kafka has for an unknown offset or
timestamp, and names the destination as its topic.
"""

from datetime import datetime
from typing import Final

from msgspec import Struct

from schemas.errors import Rejected
from schemas.kafka import topics
from schemas.kafka.records import Outgoing

PREFIX: Final = "memstream-"
UNKNOWN: Final = -1


class SourcePosition(Struct, frozen=True, kw_only=True):
    """The source of a dead letter. `timestamp_ms` is Kafka's, since 1970."""

    topic: str
    partition: int = UNKNOWN
    offset: int = UNKNOWN
    timestamp_ms: int = UNKNOWN


def letter_headers(
    stage: str, rejected: Rejected, at: datetime, source: SourcePosition
) -> tuple[tuple[str, bytes], ...]:
    """The headers that every dead letter has."""
    fields = {
        "reason": rejected.reason,
        "detail": rejected.detail,
        "stage": stage,
        "topic": source.topic,
        "partition": str(source.partition),
        "offset": str(source.offset),
        "timestamp-ms": str(source.timestamp_ms),
        "at": at.isoformat(),
    }
    return tuple((PREFIX + name, value.encode("utf-8", "replace")) for name, value in fields.items())


def letter_without_source(
    key: bytes | None, stage: str, destination: str, rejected: Rejected, at: datetime, value: bytes = b""
) -> Outgoing:
    """The dead letter of what could not be written to `destination`: a topic, or `vectors`."""
    headers = letter_headers(stage, rejected, at, SourcePosition(topic=destination))
    return Outgoing(topic=topics.DEAD_LETTERS, key=key, value=value, headers=headers)
