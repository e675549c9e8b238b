"""The topic of dead letters as commands read and write it."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from typing import Any, Final

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError
from msgspec import Struct

from agents.dead_letters.reader import Letter, LetterFilter, Source, letter_of, settlement_of
from deploy.cli.follow import follow
from deploy.settings import Settings
from schemas.errors import Rejected, Retryable
from schemas.kafka import topics

READ_WITHIN_S: Final = 30.0  # one record


class LetterStatus(Struct, frozen=True):
    """A letter and what became of it, if anything did."""

    letter: Letter
    became: str | None


async def letter_statuses(settings: Settings, wanted: LetterFilter) -> list[LetterStatus]:
    """The letters that are meant, oldest first, without their contents. Raises Retryable."""
    found: dict[str, Letter] = {}
    ends: dict[str, str] = {}
    async for record in follow(settings, topics.DEAD_LETTERS, from_beginning=True, until_end=True):
        if (end := settlement_of(record)) is not None:
            ends[end[0]] = end[1]
        elif (letter := letter_of(record)) in wanted:
            found[letter.place] = letter
    listed = sorted(found.values(), key=lambda letter: (letter.at, letter.partition, letter.offset))
    return [LetterStatus(letter, ends.get(letter.place)) for letter in listed]


async def contents(settings: Settings, letters: Collection[Letter]) -> AsyncIterator[tuple[Letter, Any]]:
    """Each letter with its own record, one partition after the other and in order. Raises Retryable."""
    by_place = {(letter.partition, letter.offset): letter for letter in letters}
    wanted: dict[int, set[int]] = {}
    for partition, offset in by_place:
        wanted.setdefault(partition, set()).add(offset)
    name = settings.topics().physical(topics.DEAD_LETTERS)
    async for record in records(settings, name, wanted):
        yield by_place[record.partition, record.offset], record


async def original(settings: Settings, letter: Letter, record: Any) -> Any:
    """What is to be replayed: the letter's record, or the source's where the letter only refers to it.

    Raises Rejected when the source is not there any more, and Retryable.
    """
    if not letter.by_reference:
        return record
    if (source := letter.source) is not None:
        async for found in records(settings, source.topic, {source.partition: {source.offset}}):
            return found
    raise Rejected(
        "gone", f"the letter {letter.place} was kept by reference, and {where(source)} does not hold it any more"
    )


def where(source: Source | None) -> str:
    return f"{source.topic}[{source.partition}]@{source.offset}" if source else "no topic"


async def records(settings: Settings, topic: str, wanted: Mapping[int, set[int]]) -> AsyncIterator[Any]:
    """The records at these offsets by partition, as far as they are still there; `topic` is a physical name. Raises Retryable."""
    client = settings.cluster().client() | {"max_partition_fetch_bytes": settings.topics().own_message_bytes}
    consumer = AIOKafkaConsumer(**client, enable_auto_commit=False, isolation_level="read_committed")
    try:
        await consumer.start()
        for partition, offsets in wanted.items():
            async for record in among(consumer, TopicPartition(topic, partition), offsets):
                yield record
    except (KafkaError, OSError, TimeoutError) as exc:
        raise Retryable(f"cannot read {topic} from {settings.bootstrap_servers}: {exc!r}") from exc
    finally:
        await consumer.stop()


async def among(consumer: AIOKafkaConsumer, tp: TopicPartition, offsets: set[int]) -> AsyncIterator[Any]:
    consumer.assign([tp])
    (beginning,) = (await consumer.beginning_offsets([tp])).values()
    (end,) = (await consumer.end_offsets([tp])).values()
    kept = [offset for offset in sorted(offsets) if beginning <= offset < end]
    if not kept:
        return
    consumer.seek(tp, kept[0])
    while (position := await consumer.position(tp)) <= kept[-1] and position < end:
        async with asyncio.timeout(READ_WITHIN_S):
            fetched = await consumer.getmany(tp, timeout_ms=1_000)
        for record in fetched.get(tp, ()):
            if record.offset in offsets:
                yield record
