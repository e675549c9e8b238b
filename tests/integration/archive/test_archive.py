import asyncio
from datetime import UTC, datetime

from schemas.conversations.messages import Message, ToolCall
from sinks.archive.messages import Archive, ArchivedMessage
from sinks.postgres.connection import Pool


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


async def test_storing_a_batch_twice_creates_no_duplicates(pool: Pool) -> None:
    archive, batch = Archive(pool), [said(1), said(2)]
    assert await archive.store(batch) == 2
    assert await archive.store(batch) == 0
    assert await archive.store([*batch, said(3)]) == 1
    assert await archive.conversation("c") == (said(1), said(2), said(3))


async def test_a_message_published_twice_keeps_its_first_position(pool: Pool) -> None:
    archive = Archive(pool)
    assert await archive.store([said(5, "same"), said(9, "same")]) == 1
    assert await archive.conversation("c") == (said(5, "same"),)


async def test_storing_an_empty_batch_stores_nothing(pool: Pool) -> None:
    assert await Archive(pool).store([]) == 0


async def test_content_with_a_nul_character_is_stored_with_a_replacement_character(pool: Pool) -> None:
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
