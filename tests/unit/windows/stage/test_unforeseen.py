"""An unexpected failure of a window dead-letters the record, and its partition continues."""

import pytest
from msgspec.structs import replace

from agents.dead_letters.writer import dead_letter_headers
from schemas.conversations.window_settings import WindowSettings
from schemas.kafka import topics
from streams.windows.context import history
from streams.windows.rows import rows
from streams.windows.window import Window
from tests.fakes.chats import control, ended
from tests.unit.windows.stage.window_stage import MESSAGES, POLICY, Stage, said


@pytest.fixture
async def stage() -> Stage:
    return await Stage().begin()


@pytest.fixture
def poisoned(monkeypatch) -> None:
    """A message that says "poison" breaks its window after it changed."""
    add = Window.add

    def fails(window: Window, message, *args, **kwargs):
        effects = add(window, message, *args, **kwargs)
        if message.content == "poison":
            raise KeyError("nobody foresaw this")
        return effects

    monkeypatch.setattr(Window, "add", fails)


def dead_letters(stage: Stage) -> list[dict[str, str]]:
    effects = [effect for effect in stage.app.broker.effects if effect.topic == topics.DEAD_LETTERS]
    return [dead_letter_headers(effect.headers) for effect in effects]


async def test_a_message_that_fails_unexpectedly_is_dead_lettered_and_the_rest_of_its_batch_applied_once(
    stage, poisoned
):
    batch = await stage.say(said(1), said(2, "poison"), said(3))
    await stage.end(ended())
    await stage.checkpoint()
    (letter,) = dead_letters(stage)
    assert (letter["reason"], letter["stage"], letter["topic"]) == ("unforeseen", "windows", MESSAGES)
    assert (letter["partition"], letter["offset"]) == ("2", "1")
    assert [m.message_id for m in stage.requests[0].messages] == ["m1", "m3"]
    assert stage.window().head.received == 2
    assert batch.acked


async def test_a_batch_with_a_failing_message_sends_each_extraction_request_once(poisoned):
    triggers = replace(POLICY.triggers, on_exchange=True)
    stage = await Stage(policy=replace(POLICY, triggers=triggers)).begin()
    await stage.say(said(1), said(2, role="assistant"), said(3, "poison"), said(4), said(5, role="assistant"))
    await stage.checkpoint()
    requested_ids = [[m.message_id for m in request.messages] for request in stage.requests]
    assert requested_ids == [["m1", "m2"], ["m4", "m5"]]
    assert len({request.request_id for request in stage.requests}) == 2


async def test_a_failing_control_event_is_dead_lettered_unless_a_timer_repeats_it(stage, monkeypatch):
    await stage.say(said(1))

    def fails(*_, **__):
        raise KeyError("nobody foresaw this")

    monkeypatch.setattr(Window, "control", fails)
    batch = await stage.tell(control("flush"), control("due", read_to=1))
    await stage.checkpoint()
    assert [letter["offset"] for letter in dead_letters(stage)] == ["0"]
    assert batch.acked


async def test_unreadable_window_rows_dead_letter_only_the_messages_of_their_conversation(stage, monkeypatch):
    load = rows.load

    def fails(conversation_id: str, read):
        if conversation_id == "broken":
            raise RuntimeError("rows are missing")
        return load(conversation_id, read)

    monkeypatch.setattr(rows, "load", fails)
    batch = await stage.say(said(1), replace(said(2), conversation_id="broken"), said(3))
    await stage.checkpoint()
    assert [letter["offset"] for letter in dead_letters(stage)] == ["1"]
    assert list(stage.window().entries) == [0, 2]
    assert batch.acked


async def test_a_pruning_failure_leaves_the_context_unpruned_and_emits_an_event(monkeypatch):
    window = WindowSettings(max_messages=10)
    stage = await Stage(policy=replace(POLICY, window=window)).begin()

    def fails(*_, **__):
        raise ZeroDivisionError("nobody foresaw this")

    monkeypatch.setattr(history.pruning, "prune", fails)
    await stage.say(*(said(number) for number in range(12)))
    await stage.checkpoint()
    assert dead_letters(stage) == []
    assert len(stage.window().history.in_context) == 12
    assert {event.type for event in stage.activity} == {"memstream.window.pruning_failed"}
    assert stage.activity[0].data["error"] == "ZeroDivisionError('nobody foresaw this')"


async def test_a_held_end_that_fails_to_be_released_stops_no_other_message(stage, monkeypatch):
    await stage.say(said(1))
    stage.app.consumer.log_ends[MESSAGES, 2] = 2

    def fails(*_, **__):
        raise KeyError("nobody foresaw this")

    await stage.end(ended())
    monkeypatch.setattr(Window, "release", fails)
    batch = await stage.say(said(2), replace(said(3), conversation_id="other"))
    await stage.checkpoint()
    assert batch.acked and dead_letters(stage) == []
    assert list(stage.window().entries) == [0, 1]
