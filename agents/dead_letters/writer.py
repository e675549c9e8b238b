"""What could not be processed, kept with its reason and the way back.

A dead letter carries the original key, value and headers (a header name that is not UTF-8 made legible), so that publishing
it to its source topic again is a replay; a very large one goes by reference, without its value and headers. Where it came
from and why it is here stand in headers of their own, legible with any Kafka tool.
"""

from datetime import UTC, datetime
from typing import Any, Final

from schemas.errors import Rejected
from schemas.kafka import topics
from schemas.kafka.records import Outgoing

PREFIX = "memstream-"
REPLAYED = PREFIX + "replayed"  # of a record that its window failed at before
LARGEST_KEY = 65_536
LARGEST_KEPT = (
    1_572_864  # bytes of key, value and headers; above, a letter may not fit its topic, and only says where it lies
)

EPOCH: Final = datetime.fromtimestamp(0, UTC)


def dead_letter(record: Any, stage: str, rejected: Rejected, at: datetime, *, by_reference: bool = False) -> Outgoing:
    """`record` is an aiokafka ConsumerRecord; the same record rejected twice gives the same letter but for its time."""
    told = {
        "reason": rejected.reason,
        "detail": rejected.detail,
        "stage": stage,
        "topic": record.topic,
        "partition": str(record.partition),
        "offset": str(record.offset),
        "timestamp-ms": str(record.timestamp),
        "at": at.isoformat(),
    }
    ours = tuple((PREFIX + name, value.encode("utf-8", "replace")) for name, value in told.items())
    theirs = tuple((name, value) for name, value in record.headers if not name.startswith(PREFIX))
    key, value = record.key, record.value
    size = len(value or b"") + len(key or b"") + sum(len(name) + len(each or b"") for name, each in theirs)
    if by_reference or size > LARGEST_KEPT:
        ours = (*ours, (PREFIX + "by-reference", b"true"))
        key, value, theirs = None if len(key or b"") > LARGEST_KEY else key, None, ()
    if value is None and key is None:
        value = b""  # Kafka's producers refuse a record without key and value
    return Outgoing(topic=topics.DEAD_LETTERS, key=key, value=value, headers=theirs + ours)


def letter_headers(headers: Any) -> dict[str, str]:
    """What a dead letter's headers say, by name without the prefix; those of others that are not text made legible."""
    return {
        name.removeprefix(PREFIX): (value or b"").decode(errors="replace")
        for name, value in headers
        if name.startswith(PREFIX)
    }


def written_at(record: Any) -> datetime:
    """By Kafka's timestamp, which a sender chooses. One that is no moment, as one in microseconds, counts as before everything,
    erasures included: to keep a letter's words needs a moment that says they came later."""
    try:
        return datetime.fromtimestamp(record.timestamp / 1_000, UTC)
    except (OverflowError, OSError, ValueError):
        return EPOCH


def position(record: Any) -> tuple[str, int, int]:
    """Topic, partition and offset of a record, for logs."""
    return record.topic, record.partition, record.offset
