"""Writes dead letters: records that could not be processed, with the reason and their source.

A dead letter has the original key, value and headers (header names that are not UTF-8 are made legible), so publishing it to
its source topic is a replay. A very large record is stored by reference, without value and headers. Source and reason are in
separate headers, legible with any Kafka tool.
"""

from datetime import UTC, datetime
from typing import Any, Final

from schemas.errors import Rejected
from schemas.kafka import topics
from schemas.kafka.dead_letters import PREFIX, SourcePosition, letter_headers
from schemas.kafka.records import Outgoing

REPLAYED = PREFIX + "replayed"  # header of a replayed record that its window could not apply
MAX_KEY_BYTES = 65_536
# bytes of key, value and headers; a larger record may not fit the topic and is stored by reference
MAX_COPIED_BYTES = 1_572_864

EPOCH: Final = datetime.fromtimestamp(0, UTC)


def dead_letter(record: Any, stage: str, rejected: Rejected, at: datetime, *, by_reference: bool = False) -> Outgoing:
    """The dead letter of an aiokafka ConsumerRecord; equal records and reasons give equal letters, except for the time."""
    source = SourcePosition(
        topic=record.topic, partition=record.partition, offset=record.offset, timestamp_ms=record.timestamp
    )
    ours = letter_headers(stage, rejected, at, source)
    theirs = tuple((name, value) for name, value in record.headers if not name.startswith(PREFIX))
    key, value = record.key, record.value
    size = len(value or b"") + len(key or b"") + sum(len(name) + len(each or b"") for name, each in theirs)
    if by_reference or size > MAX_COPIED_BYTES:
        ours = (*ours, (PREFIX + "by-reference", b"true"))
        key, value, theirs = None if len(key or b"") > MAX_KEY_BYTES else key, None, ()
    if value is None and key is None:
        value = b""  # producers refuse a record with neither key nor value
    return Outgoing(topic=topics.DEAD_LETTERS, key=key, value=value, headers=theirs + ours)


def dead_letter_headers(headers: Any) -> dict[str, str]:
    """The headers of a dead letter by name, without the prefix; foreign ones that are not text are made legible."""
    return {
        name.removeprefix(PREFIX): (value or b"").decode(errors="replace")
        for name, value in headers
        if name.startswith(PREFIX)
    }


def written_at(record: Any) -> datetime:
    """Kafka's timestamp of the record, which its sender chooses. An implausible one, such as in microseconds, counts as
    older than everything, erasures included: only a plausible later time protects a letter from an erasure."""
    try:
        return datetime.fromtimestamp(record.timestamp / 1_000, UTC)
    except (OverflowError, OSError, ValueError):
        return EPOCH


def position(record: Any) -> tuple[str, int, int]:
    """Topic, partition and offset of a record, for logs."""
    return record.topic, record.partition, record.offset
