"""Windows are evicted from memory and reloaded from their rows."""

from collections import Counter

import pytest

from agents.windows.cache import CACHED_WINDOWS
from tests.fakes.chats import ended
from tests.unit.windows.stage.window_stage import MESSAGES, PARTITION, Stage, said


@pytest.fixture
async def stage() -> Stage:
    return await Stage().begin()


async def test_windows_evicted_from_the_cache_are_reloaded_from_their_rows(stage, monkeypatch):
    monkeypatch.setattr("agents.windows.cache.CACHED_WINDOWS", 3)
    assert CACHED_WINDOWS > 3
    for name in "abcdef":
        await stage.say(said(1, conversation_id=name))
    await stage.say(*(said(2, conversation_id=name) for name in "abcdef"))
    assert len(stage.agent._cache._windows) <= 3
    await stage.end(*(ended(conversation_id=name) for name in "abcdef"))
    await stage.checkpoint()
    assert [(r.conversation_id, len(r.messages)) for r in stage.requests] == [(name, 2) for name in "abcdef"]


async def test_partitions_do_not_share_windows(stage):
    await stage.app.end_epoch()
    await stage.begin(frozenset({PARTITION, 3}))
    await stage.agent.handle(stage.batch(MESSAGES, [said(1)]))
    stage.offsets[MESSAGES] = 0
    await stage.agent.handle(stage.batch(MESSAGES, [said(1)], partition=3))
    await stage.checkpoint()
    assert len(stage.app.broker.rows(PARTITION)) == len(stage.app.broker.rows(3)) == 2


async def test_the_window_cache_is_bounded_by_its_size_in_bytes(stage, monkeypatch):
    monkeypatch.setattr("agents.windows.cache.CACHED_BYTES", 250_000)
    for turn in range(3):
        for name in "abcdef":
            await stage.say(said(turn, "x" * 50_000, conversation_id=name))
        assert stage.agent._cache._all_bytes <= 250_000
        assert set(stage.agent._cache._bytes) == set(stage.agent._cache._windows)
    await stage.end(*(ended(conversation_id=name) for name in "abcdef"))
    await stage.checkpoint()
    requested = Counter(request.conversation_id for request in stage.requests for _ in request.messages)
    assert requested == dict.fromkeys("abcdef", 3)
