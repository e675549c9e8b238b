"""The topic of dead letters: what is in it, what became of each, and replaying or discarding one.

What headers say is kept, so that asking again reads only what came since.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Mapping
from datetime import datetime
from typing import Any, Protocol

from msgspec import Struct

from agents.dead_letters.reader import (
    How,
    Letter,
    LetterFilter,
    letter_of,
    original_record,
    settlement,
    settlement_of,
)
from schemas.errors import Rejected
from schemas.kafka import topics
from schemas.kafka.records import Publisher
from streams.kafka.log import Chunk

EVERY = LetterFilter()


class LetterStatus(Struct, frozen=True):
    """A letter and what became of it, if anything did."""

    letter: Letter
    became: str | None


class TopicLog(Protocol):
    """Reads topics by their physical names (streams.kafka.log.Log). Raises Retryable and Misconfigured."""

    async def beginnings(self, topic: str) -> dict[int, int]: ...

    def chunks(self, topic: str, positions: Mapping[int, int]) -> AsyncGenerator[Chunk, None]: ...

    def at(self, topic: str, wanted: Mapping[int, Collection[int]]) -> AsyncGenerator[Any, None]: ...


class Letters:
    """`prefix` is that of topics. Every method raises Retryable, and Misconfigured where the topic is missing."""

    def __init__(self, log: TopicLog, publisher: Publisher, prefix: str, clock: Callable[[], datetime]) -> None:
        self._log = log
        self._publisher = publisher
        self._prefix = prefix
        self._topic = prefix + topics.DEAD_LETTERS
        self._clock = clock
        self._positions: dict[int, int] = {}
        self._known: dict[tuple[int, int], Letter] = {}
        self._became: dict[str, str] = {}
        self._reading = asyncio.Lock()

    async def statuses(self, wanted: LetterFilter = EVERY) -> list[LetterStatus]:
        """The letters that are meant, oldest first, without their contents."""
        async with self._reading:
            await self._read_on()
        found = [letter for letter in self._known.values() if letter in wanted]
        found.sort(key=lambda letter: (letter.at, letter.partition, letter.offset))
        return [LetterStatus(letter, self._became.get(letter.place)) for letter in found]

    async def contents(self, letters: Collection[Letter]) -> AsyncIterator[tuple[Letter, Any]]:
        """Each letter that is still there with its own record, one partition after the other and in order."""
        by_place = {(letter.partition, letter.offset): letter for letter in letters}
        wanted: dict[int, set[int]] = {}
        for partition, offset in by_place:
            wanted.setdefault(partition, set()).add(offset)
        async for record in self._log.at(self._topic, wanted):
            yield by_place[record.partition, record.offset], record

    async def original(self, letter: Letter, record: Any) -> Any:
        """What is to be replayed: the letter's record, or the source's where the letter only refers to it.

        Raises Rejected when the source is not there any more.
        """
        if not letter.by_reference:
            return record
        if (source := letter.source) is not None:
            async for found in self._log.at(source.topic, {source.partition: {source.offset}}):
                return found
        raise Rejected(
            "gone",
            f"the letter {letter.place} was kept by reference, and {source or 'no topic'} does not hold it any more",
        )

    async def settle(self, letter: Letter, record: Any, how: How) -> None:
        """Publishes a letter's record again, or only says that it is discarded. Raises Rejected when there is no way back."""
        outgoing = [settlement(record, letter, how, self._clock())]
        if how == "replayed":
            outgoing.insert(0, original_record(letter, await self.original(letter, record), self._prefix))
        for each in outgoing:  # what became of it is said once it is so
            await self._publisher.publish([each])

    async def _read_on(self) -> None:
        beginnings = await self._log.beginnings(self._topic)
        self._forget_before(beginnings)
        from_here = {
            partition: max(first, self._positions.get(partition, 0)) for partition, first in beginnings.items()
        }
        async for chunk in self._log.chunks(self._topic, from_here):
            for record in chunk.records:
                self._take(record)
            self._positions[chunk.partition] = chunk.position

    def _take(self, record: Any) -> None:
        if (end := settlement_of(record)) is not None:
            self._became[end[0]] = end[1]
        else:
            letter = letter_of(record)
            self._known[letter.partition, letter.offset] = letter

    def _forget_before(self, beginnings: Mapping[int, int]) -> None:
        """What retention, or an erasure, took out of the topic."""
        gone = [place for place in self._known if place[1] < beginnings.get(place[0], 0)]
        for place in gone:
            self._became.pop(self._known.pop(place).place, None)
