"""The topic of dead letters: lists them with their status, and replays or discards them.

Headers are cached, so that a repeated listing reads only new records.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Mapping
from datetime import datetime
from typing import Any, Protocol

from msgspec import Struct

from agents.dead_letters.reader import (
    DeadLetter,
    DeadLetterFilter,
    Outcome,
    original_record,
    parse_dead_letter,
    parse_settlement,
    replay_topic,
    settlement,
)
from schemas.errors import Rejected
from schemas.kafka import topics
from schemas.kafka.records import Publisher
from streams.kafka.log import Chunk

ALL_DEAD_LETTERS = DeadLetterFilter()


class DeadLetterStatus(Struct, frozen=True):
    """A dead letter and its outcome: replayed, discarded, or None."""

    letter: DeadLetter
    outcome: str | None


class DeadLetterStatuses(Protocol):
    """Lists dead letters with their outcomes (DeadLetterQueue). Raises Retryable and Misconfigured."""

    async def statuses(self) -> list[DeadLetterStatus]: ...


class TopicLog(Protocol):
    """Reads topics by their physical names (streams.kafka.log.Log). Raises Retryable and Misconfigured."""

    async def beginnings(self, topic: str) -> dict[int, int]: ...

    def chunks(self, topic: str, positions: Mapping[int, int]) -> AsyncGenerator[Chunk, None]: ...

    def at(self, topic: str, offsets_by_partition: Mapping[int, Collection[int]]) -> AsyncGenerator[Any, None]: ...


class DeadLetterQueue:
    """The dead letters of a deployment; `prefix` is that of topic names. Every method raises Retryable, and Misconfigured if
    the topic is missing."""

    def __init__(self, log: TopicLog, publisher: Publisher, prefix: str, clock: Callable[[], datetime]) -> None:
        self._log = log
        self._publisher = publisher
        self._prefix = prefix
        self._topic = prefix + topics.DEAD_LETTERS
        self._clock = clock
        self._positions: dict[int, int] = {}
        self._known: dict[tuple[int, int], DeadLetter] = {}
        self._outcomes: dict[str, str] = {}
        self._read_lock = asyncio.Lock()

    async def statuses(self, selection: DeadLetterFilter = ALL_DEAD_LETTERS) -> list[DeadLetterStatus]:
        """The selected dead letters, oldest first, without contents."""
        async with self._read_lock:
            await self._read_new()
        found = [letter for letter in self._known.values() if letter in selection]
        found.sort(key=lambda letter: (letter.at, letter.partition, letter.offset))
        return [DeadLetterStatus(letter, self._outcomes.get(letter.place)) for letter in found]

    async def contents(self, dead_letters: Collection[DeadLetter]) -> AsyncIterator[tuple[DeadLetter, Any]]:
        """Each existing dead letter with its record, by partition and in order."""
        by_place = {(letter.partition, letter.offset): letter for letter in dead_letters}
        offsets: dict[int, set[int]] = {}
        for partition, offset in by_place:
            offsets.setdefault(partition, set()).add(offset)
        async for record in self._log.at(self._topic, offsets):
            yield by_place[record.partition, record.offset], record

    async def original(self, letter: DeadLetter, record: Any) -> Any:
        """The record to replay: the letter's own, or its source's for a letter by reference.

        Raises Rejected if the source does not exist any more.
        """
        if not letter.by_reference:
            return record
        if (source := letter.source) is not None:
            async for found in self._log.at(source.topic, {source.partition: {source.offset}}):
                return found
        raise Rejected(
            "gone",
            f"dead letter {letter.place} refers to a record that {source or 'its topic'} no longer holds",
        )

    def check(self, letter: DeadLetter, outcome: Outcome) -> None:
        """Raises Rejected, with the remedy, for a letter that can only be discarded."""
        if outcome == "replayed":
            replay_topic(letter, self._prefix)

    async def settle(self, letter: DeadLetter, record: Any, outcome: Outcome) -> None:
        """Replays or discards a dead letter. Raises Rejected if it cannot be replayed."""
        outgoing = [settlement(record, letter, outcome, self._clock())]
        if outcome == "replayed":
            outgoing.insert(0, original_record(letter, await self.original(letter, record), self._prefix))
        for each in outgoing:  # the outcome is written after the replay
            await self._publisher.publish([each])

    async def _read_new(self) -> None:
        beginnings = await self._log.beginnings(self._topic)
        self._forget_before(beginnings)
        from_here = {
            partition: max(first, self._positions.get(partition, 0)) for partition, first in beginnings.items()
        }
        async for chunk in self._log.chunks(self._topic, from_here):
            for record in chunk.records:
                self._apply(record)
            self._positions[chunk.partition] = chunk.position

    def _apply(self, record: Any) -> None:
        if (end := parse_settlement(record)) is not None:
            self._outcomes[end[0]] = end[1]
        else:
            letter = parse_dead_letter(record)
            self._known[letter.partition, letter.offset] = letter

    def _forget_before(self, beginnings: Mapping[int, int]) -> None:
        """Forgets letters that retention or an erasure removed from the topic."""
        gone = [place for place in self._known if place[1] < beginnings.get(place[0], 0)]
        for place in gone:
            self._outcomes.pop(self._known.pop(place).place, None)
