"""Streams of memory events: positions, frames, buffers, heartbeats and the end."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from fastapi.sse import KEEPALIVE_COMMENT
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.api.live import positions
from agents.api.live.change_notifier import ChangeNotifier
from agents.api.live.event_stream import PAGE_SIZE, stream_events
from schemas.errors import Rejected
from sinks.memories.event_history import RecordedEvent
from tests.fakes.event_history import FakeEventHistory


def fields(frame: bytes) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in frame.decode().strip().splitlines())


async def following(frames: AsyncIterator[bytes], count: int) -> list[dict[str, str]]:
    return [fields(await anext(frames)) for _ in range(count)]


@settings(deadline=None)
@given(
    st.dictionaries(
        st.text(st.characters(codec="utf-8"), min_size=1, max_size=40), st.integers(0, positions.MAX_SEQUENCE)
    )
)
def test_stream_positions_survive_formatting_and_parsing_as_one_printable_line(given_places: dict[str, int]) -> None:
    text = positions.format_positions(given_places)
    assert text.isascii() and not set("\r\n\0 ") & set(text)
    assert positions.parse_positions(text) == given_places


@pytest.mark.parametrize(
    "text",
    ["12", "n=", "n=-1", "n=1.5", "n=1_0", f"n={2**63}", "n=1&n=2", "=", "&", "n=\u0661", "n=%ff%fe=1", "n=1" * 9_000],
)
def test_an_invalid_event_id_is_rejected(text: str) -> None:
    with pytest.raises(Rejected, match="not the id of an event"):
        positions.parse_positions(text)


async def test_the_first_frame_carries_the_start_position_as_its_event_id() -> None:
    frames = stream_events(FakeEventHistory(n=3), ChangeNotifier(), {"n": 3})
    first = await anext(frames)
    assert fields(first) == {"id": "n=3", "retry": "1000"} and first.endswith(b"\n\n")


async def test_events_after_the_start_position_come_in_order_with_the_position_behind_each() -> None:
    frames = stream_events(FakeEventHistory(n=4, m=2), ChangeNotifier(), {"n": 2, "m": 1})
    _, *received = await following(frames, 4)
    assert [each["id"] for each in received] == ["n=3&m=1", "n=4&m=1", "n=4&m=2"]
    assert {each["event"] for each in received} == {"memstream.namespace.erased"}


async def test_resuming_from_the_event_id_of_any_frame_yields_exactly_the_remaining_events() -> None:
    history = FakeEventHistory(n=5, m=3)
    whole = await following(stream_events(history, ChangeNotifier(), {"n": 0, "m": 0}), 9)
    for met in range(9):
        rest = await following(
            stream_events(history, ChangeNotifier(), positions.parse_positions(whole[met]["id"])), 9 - met
        )
        assert [each.get("data") for each in rest[1:]] == [each["data"] for each in whole[met + 1 :]]


async def test_a_long_history_is_streamed_completely_with_pages_of_namespaces_interleaved() -> None:
    frames = stream_events(FakeEventHistory(n=PAGE_SIZE * 3, m=1), ChangeNotifier(), {"n": 0, "m": 0})
    received = await following(frames, PAGE_SIZE * 3 + 2)
    assert received[-1]["id"] == f"n={PAGE_SIZE * 3}&m=1"
    assert next(number for number, each in enumerate(received) if each["id"].endswith("m=1")) == PAGE_SIZE + 1


async def test_a_notification_triggers_a_read_and_one_for_another_namespace_does_not() -> None:
    history, notifier = FakeEventHistory(n=0), ChangeNotifier()
    frames = stream_events(history, notifier, {"n": 0})
    await anext(frames)
    waiting = asyncio.ensure_future(anext(frames))
    await asyncio.sleep(0)
    calls = history.calls
    notifier.notify("other")
    await asyncio.sleep(0)
    assert (history.calls, waiting.done()) == (calls, False)
    history.at["n"] = 1
    notifier.notify("n")
    assert fields(await waiting)["id"] == "n=1"


async def test_a_notification_during_a_read_is_not_lost() -> None:
    notifier = ChangeNotifier()

    class Late(FakeEventHistory):
        async def events_after(self, *arguments: Any) -> tuple[RecordedEvent, ...]:
            found = await super().events_after(*arguments)
            if not found and not self.at:
                self.at["n"] = 1  # committed right after we looked
                notifier.notify("n")
            return found

    frames = stream_events(Late(), notifier, {"n": 0}, heartbeat_s=60)
    async with asyncio.timeout(5):
        assert (await following(frames, 2))[1]["id"] == "n=1"


async def test_an_idle_stream_sends_heartbeats_and_checks_for_new_events_at_each() -> None:
    history = FakeEventHistory(n=0)
    frames = stream_events(history, ChangeNotifier(), {"n": 0}, heartbeat_s=0.01)
    await anext(frames)
    assert [await anext(frames) for _ in range(3)] == [KEEPALIVE_COMMENT] * 3
    history.at["n"] = 1  # and nobody rang
    assert fields(await anext(frames))["id"] == "n=1"


async def test_a_stream_survives_an_outage_of_the_event_store() -> None:
    history = FakeEventHistory(n=1)
    history.away = 2
    frames = stream_events(history, ChangeNotifier(), {"n": 0}, heartbeat_s=0.01)
    await anext(frames)
    assert [await anext(frames) for _ in range(2)] == [KEEPALIVE_COMMENT] * 2
    assert fields(await anext(frames))["id"] == "n=1"


async def test_closing_the_notifier_ends_all_streams_and_removes_their_subscriptions() -> None:
    notifier = ChangeNotifier()
    streams = [stream_events(FakeEventHistory(), notifier, {"n": 0, "m": 0}) for _ in range(3)]
    assert len([await anext(stream) for stream in streams]) == notifier.subscribers == 3
    ends = [asyncio.ensure_future(rest(stream)) for stream in streams]
    await asyncio.sleep(0)
    notifier.close()
    async with asyncio.timeout(5):
        assert await asyncio.gather(*ends) == [[], [], []]
    assert (notifier.subscribers, notifier._events_by_namespace) == (0, {})


async def rest(frames: AsyncIterator[bytes]) -> list[bytes]:
    """The frames to the stream's end."""
    return [frame async for frame in frames]
