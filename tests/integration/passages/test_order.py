"""Messages of a conversation are numbered by time, whatever the order or concurrency of indexing."""

import asyncio
from datetime import timedelta

from msgspec.structs import replace

from sinks.archive.messages import ArchivedMessage
from tests.integration.passages.conftest import MONDAY, Said


async def numbers(said: Said) -> dict[str, int]:
    rows = await said.pool.fetch("SELECT DISTINCT message_id, ordinal FROM passages")
    assert len(rows) == len({row["message_id"] for row in rows}), "a message has two numbers"
    return {row["message_id"]: row["ordinal"] for row in rows}


def in_order(numbered: dict[str, int]) -> list[str]:
    return sorted(numbered, key=lambda message_id: numbered[message_id])


async def test_a_late_message_is_numbered_by_its_timestamp(said: Said) -> None:
    first, late, last = said.message("One."), said.message("Two, late."), said.message("Three.")
    await said.said(first, last)
    await said.said(replace(late, position=99))
    assert in_order(await numbers(said)) == ["c1-1", "c1-2", "c1-3"]


async def test_older_messages_are_numbered_directly_before_indexed_ones(said: Said) -> None:
    messages = [said.message(f"Number {number}.") for number in range(6)]
    for some in (messages[4:], messages[2:4], messages[:2]):
        await said.said(*some)
    assert await numbers(said) == {f"c1-{number + 1}": number - 4 for number in range(6)}


async def test_messages_of_several_people_in_a_conversation_share_one_numbering(said: Said) -> None:
    await said.said(
        said.message("Where is the key?"), said.message("On the hook.", user="bob"), said.message("Thanks.")
    )
    assert await numbers(said) == {"c1-1": 0, "c1-2": 1, "c1-3": 2}


async def test_workers_indexing_the_same_conversation_concurrently_number_each_message_once(said: Said) -> None:
    messages = [said.message(f"Number {number} of the talk.") for number in range(40)]
    messages = await said.with_namespaces(messages)
    await said.archive.store(messages)
    overlapping: list[list[ArchivedMessage]] = [messages[start : start + 12] for start in range(30, -1, -6)]
    await asyncio.gather(*(said.indexer.index(some) for some in [*overlapping, *overlapping]))
    found = await numbers(said)
    assert in_order(found) == [each.message.message_id for each in messages]
    assert sorted(found.values()) == list(range(min(found.values()), min(found.values()) + 40))
    assert await said.rows() == await said.points()


async def test_workers_indexing_shared_conversations_in_opposite_order_do_not_deadlock(said: Said) -> None:
    """Conversations of two partitions, met in opposite order."""
    talk = [
        replace(said.message(f"Number {number}.", conversation=f"c{number % 4}"), partition=number % 2)
        for number in range(48)
    ]
    talk = await said.with_namespaces(talk)
    await said.archive.store(talk)
    await asyncio.gather(*(said.indexer.index(some) for some in (talk, talk[::-1], talk[::2], talk[1::2])))
    rows = await said.pool.fetch("SELECT conversation_id, count(DISTINCT ordinal) AS numbers FROM passages GROUP BY 1")
    assert {row["conversation_id"]: row["numbers"] for row in rows} == {f"c{number}": 12 for number in range(4)}
    assert await said.rows() == await said.points()


async def test_a_message_deleted_from_the_archive_during_indexing_is_not_indexed(said: Said) -> None:
    messages = [said.message(f"Number {number}.", at=MONDAY + timedelta(hours=number)) for number in range(20)]
    messages = await said.with_namespaces(messages)
    await said.archive.store(messages)
    leaving = said.pool.execute("DELETE FROM messages WHERE position % 2 = 0")
    await asyncio.gather(said.indexer.index(messages), leaving)
    await said.passages.drop_removed(said.vectors)
    left = {f"c1-{number}" for number in range(1, 21, 2)}
    assert set(await numbers(said)) == left
    assert await said.rows() == await said.points()
