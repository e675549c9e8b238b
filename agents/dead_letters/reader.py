"""Reads dead letters: contents, filters, the original record, and what became of them.

A letter's name is its position in the topic.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final, Literal

from msgspec import Struct

from agents.dead_letters.writer import PREFIX, REPLAYED, letter_headers, written_at
from schemas.errors import Rejected
from schemas.kafka import topics
from schemas.kafka.records import Outgoing

How = Literal["replayed", "discarded"]

PLACES: Final = re.compile(r"(\d+):(\d+)(?:-(\d+))?")
# A policy put since would be put back by an older one that is replayed.
REPLAYABLE: Final = (
    *(topics.MESSAGES, topics.ENDED, topics.WINDOW_CONTROL),
    *(topics.REQUESTS, topics.CANDIDATES, topics.COMMANDS),
)


class LetterSource(Struct, frozen=True):
    """Where a record came from; `topic` is the physical name."""

    topic: str
    partition: int
    offset: int

    def __str__(self) -> str:
        return f"{self.topic}[{self.partition}]@{self.offset}"


class Letter(Struct, frozen=True, kw_only=True):
    """What the headers say; `at` is when it was given up. `bytes` is the size of the value, which is not here.

    Without a `source` there is no way back. `by_reference`: the value is where it came from, if anywhere.
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


class LetterFilter(Struct, frozen=True, kw_only=True):
    """Selects letters that match all fields. `places` are like 3:17 or 3:17-25, both ends included."""

    places: tuple[tuple[int, int, int], ...] = ()
    reason: str | None = None
    stage: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    def __contains__(self, letter: Letter) -> bool:
        return (
            (not self.places or any(self._holds(place, letter) for place in self.places))
            and self.reason in (None, letter.reason)
            and self.stage in (None, letter.stage)
            and (self.since is None or letter.at >= self.since)
            and (self.until is None or letter.at < self.until)
        )

    @staticmethod
    def _holds(place: tuple[int, int, int], letter: Letter) -> bool:
        partition, first, last = place
        return partition == letter.partition and first <= letter.offset <= last


def places(texts: Sequence[str]) -> tuple[tuple[int, int, int], ...]:
    """(partition, first, last) of each. Raises ValueError."""
    found = []
    for text in texts:
        if not (match := PLACES.fullmatch(text)):
            raise ValueError(
                f"{text!r} is no place of a dead letter: it takes partition:offset, or partition:first-last"
            )
        first = int(match[2])
        found.append((int(match[1]), first, int(match[3] or first)))
    return tuple(found)


def letter_of(record: Any) -> Letter:
    """`record` is a ConsumerRecord of the letters' topic, whoever wrote it."""
    said = letter_headers(record.headers)
    return Letter(
        partition=record.partition,
        offset=record.offset,
        reason=said.get("reason", ""),
        stage=said.get("stage", ""),
        detail=said.get("detail", ""),
        at=moment(said.get("at"), record),
        source=source_of(said),
        bytes=len(record.value or b""),
        by_reference="by-reference" in said,
    )


def moment(at: str | None, record: Any) -> datetime:
    try:
        said = datetime.fromisoformat(at or "")
    except ValueError:
        return written_at(record)
    return said if said.tzinfo is not None else said.replace(tzinfo=UTC)


def source_of(said: dict[str, str]) -> LetterSource | None:
    try:
        return LetterSource(said["topic"], int(said["partition"]), int(said["offset"]))
    except (KeyError, ValueError):
        return None


def settlement_of(record: Any) -> tuple[str, str] | None:
    """The place of the letter that this record follows, and what became of it; None for a letter."""
    said = letter_headers(record.headers)
    return (said["letter"], said["settled"]) if {"letter", "settled"} <= said.keys() else None


def settlement(record: Any, letter: Letter, how: How, at: datetime) -> Outgoing:
    """The record that says what became of a letter."""
    ours = [(name, value) for name, value in record.headers if name.startswith(PREFIX)]
    said = {"settled": how, "settled-at": at.isoformat(), "letter": letter.place}
    return Outgoing(
        topic=topics.DEAD_LETTERS,
        key=record.key,
        value=b"",
        headers=(*ours, *((PREFIX + name, value.encode()) for name, value in said.items())),
        partition=letter.partition,
    )


def original_record(letter: Letter, original: Any, prefix: str) -> Outgoing:
    """The record as it was, to the partition that it came from, so that it keeps its identity and its conversation's place.

    `original` is the letter's own record, or for one by reference the source's; `prefix` is that of topics. Raises Rejected.
    """
    if letter.source is None:
        raise Rejected("no_source", f"the letter {letter.place} does not say where it came from")
    name = letter.source.topic.removeprefix(prefix)
    if not letter.source.topic.startswith(prefix) or name not in REPLAYABLE:
        raise Rejected(
            "no_source", f"the letter {letter.place} came from {letter.source.topic}, which is no topic to replay to"
        )
    headers = tuple((header, value) for header, value in original.headers if not header.startswith(PREFIX))
    if (letter.stage, letter.reason) == ("windows", "unforeseen"):
        headers = (*headers, (REPLAYED, b"true"))  # it is in the archive, and would be taken for one that was extracted
    return Outgoing(
        topic=name, key=original.key, value=original.value, headers=headers, partition=letter.source.partition
    )
