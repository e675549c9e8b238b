"""Windows listed by their last message, in memory and on PostgreSQL."""

from schemas.conversations.messages import Message, Scope
from sinks.archive.messages import Archive, ArchivedMessage
from sinks.postgres.connection import connect
from sinks.windows.projection import Windows
from tests.contract.windows.either import NOON, AnyWindows
from tests.fakes.windows import AT_S, FakeWindows, a_state


async def said(windows: AnyWindows, name: str, user_id: str) -> None:
    """Somebody says something in a conversation of another."""
    if isinstance(windows, FakeWindows):
        windows.said.setdefault(name, set()).add(user_id)
        return
    message = Message(conversation_id=name, message_id="m", role="user", content="Hi.", timestamp=NOON, user_id=user_id)
    await Archive(windows._pool).store([ArchivedMessage(message=message, partition=3, position=1)])


async def listed(windows: AnyWindows, name: str, limit: int = 500) -> list[str]:
    """The test's own conversations in the order of the list."""
    found = await windows.latest(limit)
    return [each.scope.conversation_id for each in found if each.scope.conversation_id.startswith(name)]


async def test_windows_are_listed_by_latest_message_and_then_by_greater_conversation_id(
    windows: AnyWindows, name: str
) -> None:
    times = {"a": 5.0, "b": 86_400.0, "c": 5.000001, "d": 700.0, "e": 5.0}
    await windows.project([a_state(f"{name} {each}", last_message_at=AT_S + at) for each, at in times.items()])
    assert await listed(windows, name) == [f"{name} {each}" for each in "bdcea"]


async def test_pages_of_the_list_continue_without_gaps_or_repetitions(windows: AnyWindows, name: str) -> None:
    await windows.project([a_state(f"{name} {n}", last_message_at=AT_S + n * 0.25) for n in range(20)])
    found, place = [], None
    while page := await windows.latest(7, place):
        found += [each.scope.conversation_id for each in page]
        place = page[-1].place
    assert [each for each in found if each.startswith(name)] == [f"{name} {n}" for n in reversed(range(20))]


async def test_only_the_authoritative_one_of_two_windows_of_a_conversation_is_listed(
    windows: AnyWindows, name: str
) -> None:
    await windows.project([a_state(name, 5, partition=2, last_message_at=AT_S)])
    await windows.project([stray := a_state(name, 9, partition=3, phase="ended", last_message_at=AT_S + 9)])
    (found,) = [each for each in await windows.latest(500) if each.scope.conversation_id == name]
    assert (found.phase, found.statistics, found.active_at) == ("ended", stray.statistics, AT_S + 9)


async def test_latest_among_lists_conversations_in_which_the_users_spoke_and_those_given_by_id(
    windows: AnyWindows, name: str
) -> None:
    ada, bob = f"ada {name}", f"bob {name}"
    for number, user in enumerate((ada, bob, bob)):
        each = f"{name} {number}"
        scope = Scope(conversation_id=each, user_id=user)
        await windows.project([a_state(each, scope=scope, last_message_at=AT_S + number)])
    await said(windows, f"{name} 1", ada)

    async def ids(*key_lists: list[str], after: tuple[float, str] | None = None) -> list[str]:
        return [each.scope.conversation_id for each in await windows.latest_among(*key_lists, 10, after)]

    assert await ids([ada], []) == [f"{name} 1", f"{name} 0"]
    assert await ids([ada], [], after=(AT_S + 1, f"{name} 1")) == [f"{name} 0"]
    assert await ids([], [f"{name} 2", "of nobody"]) == [f"{name} 2"]
    assert await ids([ada, bob], []) == [f"{name} 2", f"{name} 1", f"{name} 0"]


async def test_updating_a_window_within_ten_minutes_is_a_hot_update_without_index_changes(dsn: str, name: str) -> None:
    begun = AT_S - AT_S % 600
    pool = await connect(dsn, max_size=1)  # what one connection counted is seen by it at once

    async def spared() -> int:
        await pool.execute("SELECT pg_stat_force_next_flush()")
        return int(await pool.fetchval("SELECT n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'windows'"))

    windows = Windows(pool)
    await windows.project([a_state(name, 1, last_message_at=begun)])
    before = await spared()
    for second in range(1, 6):
        await windows.project([a_state(name, 1 + second, last_message_at=begun + second)])
    assert await spared() == before + 5
    await windows.project([a_state(name, 9, last_message_at=begun + 601)])
    assert await spared() == before + 5
    await pool.close()
