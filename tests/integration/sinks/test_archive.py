import asyncio
from datetime import UTC, datetime

from msgspec.structs import replace

from schemas.messages import Message, Scope, ToolCall
from schemas.windows import Gap
from sinks.archive import Archive, ArchivedMessage
from sinks.postgres import Pool


def said(position: int, message_id: str | None = None, content: str = "hello") -> ArchivedMessage:
    message = Message(
        conversation_id="c",
        message_id=message_id or f"m{position}",
        role="assistant",
        timestamp=datetime(2026, 3, 1, tzinfo=UTC),
        content=content,
        app_id="app",
        tool_calls=(ToolCall(id="t", name="search", arguments={"q": 1}),),
        metadata={"a": [1, None]},
    )
    return ArchivedMessage(message=message, partition=2, position=position)


async def test_a_batch_stored_twice_is_there_once(pool: Pool) -> None:
    archive, batch = Archive(pool), [said(1), said(2)]
    assert await archive.store(batch) == 2
    assert await archive.store(batch) == 0
    assert await archive.store([*batch, said(3)]) == 1
    assert await archive.conversation("c") == (said(1), said(2), said(3))


async def test_a_message_published_twice_keeps_its_first_position(pool: Pool) -> None:
    archive = Archive(pool)
    assert await archive.store([said(5, "same"), said(9, "same")]) == 1
    assert await archive.conversation("c") == (said(5, "same"),)


async def test_nothing_stored_is_nothing(pool: Pool) -> None:
    assert await Archive(pool).store([]) == 0


async def test_content_with_a_nul_is_stored_all_the_same(pool: Pool) -> None:
    archive = Archive(pool)
    assert await archive.store([said(1, content="a\x00b")]) == 1
    (found,) = await archive.conversation("c")
    assert found.message.content == "a\ufffdb"


async def test_writers_with_overlapping_batches_in_any_order_do_not_deadlock(pool: Pool) -> None:
    archive, batch = Archive(pool), [said(position) for position in range(300)]
    stored = await asyncio.gather(*(archive.store(batch if n % 2 else batch[::-1]) for n in range(8)))
    assert sum(stored) == 300


async def test_a_conversation_is_read_from_a_position_or_from_its_end(pool: Pool) -> None:
    archive = Archive(pool)
    await archive.store([said(position) for position in range(10)])
    assert [found.position for found in await archive.conversation("c", after=6)] == [7, 8, 9]
    assert [found.position for found in await archive.conversation("c", after=2, limit=2)] == [3, 4]
    assert [found.position for found in await archive.latest("c", 3)] == [7, 8, 9]


async def test_whose_a_conversation_is_is_told_once_for_each_combination_the_first_one_first(pool: Pool) -> None:
    archive = Archive(pool)
    people: tuple[dict[str, str], ...] = (
        {"user_id": "bob"},
        {},
        {"user_id": "ada", "mode": "chat"},
        {"user_id": "bob"},
    )
    for position, fields in enumerate(people):
        one = said(position)
        await archive.store([replace(one, message=replace(one.message, **fields))])
    assert await archive.scopes("c") == (
        Scope(conversation_id="c", app_id="app", user_id="bob"),
        Scope(conversation_id="c", app_id="app"),
        Scope(conversation_id="c", app_id="app", user_id="ada", mode="chat"),
    )
    assert await archive.scopes("another") == ()


async def test_pages_go_through_partitions_and_positions_forwards_and_backwards(pool: Pool) -> None:
    archive = Archive(pool)
    there = [
        replace(said(position, f"{partition}-{position}"), partition=partition)
        for partition in (1, 2)
        for position in (5, 9)
    ]
    await archive.store(there)
    assert await archive.page("c", beyond=None, limit=3) == tuple(there[:3])
    assert await archive.page("c", beyond=(1, 9), limit=3) == tuple(there[2:])
    assert await archive.page("c", beyond=None, limit=3, backwards=True) == tuple(there[:0:-1])
    assert await archive.page("c", beyond=(1, 9), limit=3, backwards=True) == tuple(there[:1])
    assert await archive.page("c", beyond=(2, 9), limit=3) == ()


async def test_a_window_has_what_no_gap_holds_and_the_beginnings_of_the_latest_that_left(pool: Pool) -> None:
    archive, long = Archive(pool), "x" * 5_000
    await archive.store([said(position, content=long) for position in range(10)])
    await archive.store([replace(said(50, "elsewhere"), partition=5)])
    gaps = (Gap(3, 4, 2, 9), Gap(6, 7, 2, 9))
    found = await archive.window("c", 2, 1, gaps, limit=3)
    assert [(each.position, len(each.message.content)) for each in found] == [
        *((position, 5_000) for position in (1, 2, 5)),
        *((7, 4_000), (8, 5_000), (9, 5_000)),
    ]
    assert len(await archive.window("c", 2, 0, ())) == 10
