"""The archive in memory and on PostgreSQL store and return the same."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

import pytest
from msgspec.structs import replace

from schemas.conversations.messages import Message, Scope
from schemas.conversations.windows import Gap
from schemas.erasure.erasures import Fence
from sinks.archive.messages import Archive, ArchivedMessage
from sinks.erasure.purges import Purges
from sinks.postgres.connection import connect
from tests.cases.hostile_text import HARD_TO_STORE
from tests.fakes.archive import FakeArchive

AnyArchive: TypeAlias = Archive | FakeArchive

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture(params=["fake", "postgres"])
async def archive(request: pytest.FixtureRequest, dsn: str) -> AsyncIterator[AnyArchive]:
    if request.param == "fake":
        yield FakeArchive()
        return
    pool = await connect(dsn, max_size=2)
    yield Archive(pool)
    await pool.close()


def said(talk: str, position: int, message_id: str = "", **fields: Any) -> ArchivedMessage:
    given = {"role": "user", "timestamp": NOON + timedelta(seconds=position), "content": "hello", "app_id": "app"}
    message = Message(conversation_id=talk, message_id=message_id or f"m{position}", **(given | fields))
    return ArchivedMessage(message=message, partition=2, position=position)


async def test_a_message_is_stored_once(archive: AnyArchive, name: str) -> None:
    assert await archive.store([said(name, 5, "same"), said(name, 9, "same")]) == 1
    assert await archive.store([said(name, 5, "same"), said(f"{name} 2", 5, "same")]) == 1
    assert await archive.page(name, beyond=None, limit=9) == (said(name, 5, "same"),)


async def test_unextracted_returns_the_latest_user_and_assistant_messages_within_its_bounds(
    archive: AnyArchive, name: str
) -> None:
    roles = ("system", "user", "assistant", "tool", "assistant", "user")
    for position, role in enumerate(roles):
        await archive.store([said(name, position, role=role, content="" if position == 4 else "hello")])

    async def waiting(**bounds: int) -> list[str]:
        return [message.message_id for message in await archive.unextracted(name, NOON, **bounds)]

    assert await waiting() == ["m1", "m2", "m5"]
    assert await waiting(limit=2) == ["m2", "m5"]
    assert await waiting(max_bytes=5) == ["m5"]
    assert await waiting(max_bytes=6) == ["m2", "m5"]


async def test_scopes_lists_each_distinct_scope_of_a_conversation_once_in_order_of_appearance(
    archive: AnyArchive, name: str
) -> None:
    people: tuple[dict[str, str], ...] = (
        {"user_id": "bob"},
        {},
        {"user_id": "ada", "mode": "chat"},
        {"user_id": "bob"},
    )
    for position, fields in enumerate(people):
        one = said(name, position)
        await archive.store([replace(one, message=replace(one.message, **fields))])
    assert await archive.scopes(name) == (
        Scope(conversation_id=name, app_id="app", user_id="bob"),
        Scope(conversation_id=name, app_id="app"),
        Scope(conversation_id=name, app_id="app", user_id="ada", mode="chat"),
    )
    assert await archive.scopes(f"{name} 2") == ()


async def test_names_lists_those_of_users_with_and_without_a_user_id(archive: AnyArchive, name: str) -> None:
    other = f"{name} 2"
    await archive.store(
        [
            said(name, 1, user_id="ada", name="Ada"),
            said(name, 2, name="Rob"),
            said(name, 3, role="assistant", name="Otto"),
            said(name, 4, user_id="ada"),
            said(other, 5, name="Mara"),
            said(f"{name} 3", 6, name="Eve"),
        ]
    )
    found = await archive.names([name, other, "none"])
    assert {key: sorted(names) for key, names in found.items()} == {
        name: [("Ada", True), ("Rob", False)],
        other: [("Mara", False)],
    }


async def test_pages_go_through_partitions_and_positions_forwards_and_backwards(archive: AnyArchive, name: str) -> None:
    there = [
        replace(said(name, position, f"{partition}-{position}"), partition=partition)
        for partition in (1, 2)
        for position in (5, 9)
    ]
    await archive.store(there)
    assert await archive.page(name, beyond=None, limit=3) == tuple(there[:3])
    assert await archive.page(name, beyond=(1, 9), limit=3) == tuple(there[2:])
    assert await archive.page(name, beyond=None, limit=3, backwards=True) == tuple(there[:0:-1])
    assert await archive.page(name, beyond=(1, 9), limit=3, backwards=True) == tuple(there[:1])
    assert await archive.page(name, beyond=(2, 9), limit=3) == ()


async def test_window_returns_messages_outside_of_gaps_and_truncated_latest_removed_ones(
    archive: AnyArchive, name: str
) -> None:
    long = "x" * 5_000
    await archive.store([said(name, position, content=long) for position in range(10)])
    await archive.store([replace(said(name, 50, "elsewhere"), partition=5)])
    gaps = (Gap(3, 4, 2, 9), Gap(6, 7, 2, 9))
    found = await archive.window(name, 2, 1, gaps, limit=3)
    assert [(each.position, len(each.message.content)) for each in found] == [
        *((position, 5_000) for position in (1, 2, 5)),
        *((7, 4_000), (8, 5_000), (9, 5_000)),
    ]
    assert len(await archive.window(name, 2, 0, ())) == 10


async def test_erased_reports_whether_any_of_the_namespaces_was_erased(
    archive: AnyArchive, name: str, dsn: str
) -> None:
    assert not await archive.erased((name, f"{name} 2"))
    if isinstance(archive, FakeArchive):
        archive.erased_namespaces.add(name)
    else:
        pool = await connect(dsn, max_size=1)
        await Purges(pool).fence(name, Fence(NOON))  # type: ignore[arg-type]
        await pool.close()
    assert await archive.erased((name, f"{name} 2"))
    assert not await archive.erased((f"{name} 2",))
    assert not await archive.erased(())


async def test_a_message_is_found_by_its_id_in_its_own_conversation(archive: AnyArchive, name: str) -> None:
    await archive.store([said(name, 5, "same"), said(f"{name} 2", 6, "other")])
    assert await archive.message(name, "same") == said(name, 5, "same")
    assert await archive.message(name, "other") is None


@pytest.mark.parametrize("text", HARD_TO_STORE)
async def test_queries_accept_any_text_as_conversation_id(archive: AnyArchive, name: str, text: str) -> None:
    hostile = f"{name}{text}"
    assert await archive.scopes(hostile) == ()
    assert await archive.names([hostile]) == {}
    assert await archive.message(hostile, hostile) is None
    assert await archive.unextracted(hostile, NOON) == ()
    assert await archive.window(hostile, 2, 0, ()) == ()
    assert await archive.page(hostile, beyond=(2**31 - 1, 2**63 - 1), limit=9) == ()
    assert not await archive.erased((hostile,))
