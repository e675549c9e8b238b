"""Reads dead letters: headers, filters, the original record, and outcomes.

A dead letter is named by its position in the topic.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final, Literal

from msgspec import Struct

from agents.dead_letters.writer import REPLAYED, dead_letter_headers, written_at
from schemas.errors import Rejected
from schemas.kafka import topics
from schemas.kafka.dead_letters import PREFIX, UNKNOWN
from schemas.kafka.records import Outgoing

Outcome = Literal["replayed", "discarded"]

PLACES: Final = re.compile(r"(\d+):(\d+)(?:-(\d+))?")
# Policies are missing: a replayed one would overwrite a newer one.
REPLAYABLE: Final = (
    *(topics.MESSAGES, topics.ENDED, topics.WINDOW_CONTROL),
    *(topics.REQUESTS, topics.CANDIDATES, topics.COMMANDS),
)


class LetterSource(Struct, frozen=True):
    """The position of the original record; `topic` is the physical name."""

    topic: str
    partition: int
    offset: int

    def __str__(self) -> str:
        return f"{self.topic}[{self.partition}]@{self.offset}"


class DeadLetter(Struct, frozen=True, kw_only=True):
    """The headers of a dead letter; `at` is the time of the failure. `bytes` is the size of the value, which is not
    included.

    Without a `source` it cannot be replayed. `by_reference`: the value is only at the source.
    """

    partition: int
    offset: int
    reason: str
    stage: str
    detail: str
    at: datetime
    source: LetterSource | None
    bytes: int
    by_reference: bool

    @property
    def place(self) -> str:
        return f"{self.partition}:{self.offset}"


class DeadLetterFilter(Struct, frozen=True, kw_only=True):
    """Selects dead letters that match all fields. `parse_places` are like 3:17 or 3:17-25, both ends included."""

    places: tuple[tuple[int, int, int], ...] = ()
    reason: str | None = None
    stage: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    def __contains__(self, letter: DeadLetter) -> bool:
        return (
            (not self.places or any(self._holds(place, letter) for place in self.places))
            and self.reason in (None, letter.reason)
            and self.stage in (None, letter.stage)
            and (self.since is None or letter.at >= self.since)
            and (self.until is None or letter.at < self.until)
        )

    @staticmethod
    def _holds(place: tuple[int, int, int], letter: DeadLetter) -> bool:
        partition, first, last = place
        return partition == letter.partition and first <= letter.offset <= last


def parse_places(texts: Sequence[str]) -> tuple[tuple[int, int, int], ...]:
    """Parses places to (partition, first, last). Raises ValueError."""
    found = []
    for text in texts:
        if not (match := PLACES.fullmatch(text)):
            raise ValueError(
                f"{text!r} is not the place of a dead letter: write partition:offset, or partition:first-last"
            )
        first = int(match[2])
        found.append((int(match[1]), first, int(match[3] or first)))
    return tuple(found)


def parse_dead_letter(record: Any) -> DeadLetter:
    """Parses a record (aiokafka ConsumerRecord) of the dead-letter topic, from any producer."""
    headers = dead_letter_headers(record.headers)
    return DeadLetter(
        partition=record.partition,
        offset=record.offset,
        reason=headers.get("reason", ""),
        stage=headers.get("stage", ""),
        detail=headers.get("detail", ""),
        at=failure_time(headers.get("at"), record),
        source=source_of(headers),
        bytes=len(record.value or b""),
        by_reference="by-reference" in headers,
    )


def failure_time(at: str | None, record: Any) -> datetime:
    try:
        time = datetime.fromisoformat(at or "")
    except ValueError:
        return written_at(record)
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


def source_of(headers: dict[str, str]) -> LetterSource | None:
    try:
        source = LetterSource(headers["topic"], int(headers["partition"]), int(headers["offset"]))
    except (KeyError, ValueError):
        return None
    return None if UNKNOWN in (source.partition, source.offset) else source


def parse_settlement(record: Any) -> tuple[str, str] | None:
    """The place of the settled letter and its outcome; None for a record that is a letter itself."""
    headers = dead_letter_headers(record.headers)
    return (headers["letter"], headers["settled"]) if {"letter", "settled"} <= headers.keys() else None


def settlement(record: Any, letter: DeadLetter, outcome: Outcome, at: datetime) -> Outgoing:
    """The record that marks a letter as replayed or discarded."""
    ours = [(name, value) for name, value in record.headers if name.startswith(PREFIX)]
    headers = {"settled": outcome, "settled-at": at.isoformat(), "letter": letter.place}
    return Outgoing(
        topic=topics.DEAD_LETTERS,
        key=record.key,
        value=b"",
        headers=(*ours, *((PREFIX + name, value.encode()) for name, value in headers.items())),
        partition=letter.partition,
    )


def original_record(letter: DeadLetter, original: Any, prefix: str) -> Outgoing:
    """The original record, for its source partition, so that it keeps its identity and its conversation's partition.

    `original` is the letter's own record, or the source's for a letter by reference; `prefix` is that of topic names. Raises
    Rejected.
    """
    name, source = replay_topic(letter, prefix)
    headers = tuple((header, value) for header, value in original.headers if not header.startswith(PREFIX))
    if (letter.stage, letter.reason) == ("windows", "unforeseen"):
        headers = (*headers, (REPLAYED, b"true"))  # without it, the archived message would count as extracted
    return Outgoing(topic=name, key=original.key, value=original.value, headers=headers, partition=source.partition)


def replay_topic(letter: DeadLetter, prefix: str) -> tuple[str, LetterSource]:
    """The topic that the letter is replayed to, without the prefix, and its source. Raises Rejected, with the remedy."""
    source = letter.source
    if source is None:
        raise Rejected(
            "no_source",
            f"dead letter {letter.place} does not name its source topic: discard it once its cause is mended",
        )
    name = source.topic.removeprefix(prefix)
    if not source.topic.startswith(prefix) or name not in REPLAYABLE:
        remedy = "put a valid policy, then discard it" if name == topics.POLICIES else "discard it"
        raise Rejected(
            "no_source", f"dead letter {letter.place} came from {source.topic}, which cannot be replayed to: {remedy}"
        )
    return name, source
