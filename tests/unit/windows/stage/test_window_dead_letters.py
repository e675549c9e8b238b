"""Unusable records of the window stage become dead letters, and processing continues."""

import json

import pytest

from agents.dead_letters.writer import dead_letter_headers
from schemas import codec
from schemas.kafka import topics
from tests.fakes.chats import control, ended
from tests.unit.windows.stage.window_stage import CONTROL, ENDED, PARTITION, Stage, said


@pytest.fixture
async def stage() -> Stage:
    return await Stage().begin()


@pytest.mark.parametrize(
    ("value", "reason"),
    [(b"not json", "undecodable"), (None, "undecodable"), (b"{}", "invalid"), (b'{"role": "\\ud800"}', "invalid")],
)
async def test_a_record_that_cannot_be_decoded_is_dead_lettered_and_the_rest_is_processed(stage, value, reason):
    batch = await stage.say(said(1), value, said(2))
    await stage.end(ended())
    await stage.checkpoint()
    (letter,) = [effect for effect in stage.app.broker.effects if effect.topic == topics.DEAD_LETTERS]
    assert letter.value == value
    assert dead_letter_headers(letter.headers)["reason"] == reason
    assert dead_letter_headers(letter.headers)["offset"] == "1"
    assert [m.message_id for m in stage.requests[0].messages] == ["m1", "m2"]
    assert batch.acked


@pytest.mark.parametrize("length", [10, 100_000])
async def test_a_message_that_was_cut_within_an_emoji_is_read_whatever_its_length(stage, length):
    cut = json.dumps(json.loads(codec.encode(said(1))) | {"content": "x" * length + "\ud83d"}).encode()
    await stage.say(cut)
    await stage.end(ended())
    await stage.checkpoint()
    assert [message.content for message in stage.requests[0].messages] == ["x" * length + "\ufffd"]


@pytest.mark.parametrize("depth", [50, 300, 1_000])
async def test_tool_arguments_nested_too_deeply_to_be_encoded_again_are_dead_lettered(stage, depth):
    called = json.loads(codec.encode(said(1, role="assistant")))
    called["tool_calls"] = [{"id": "c", "name": "n", "arguments": "HERE"}]
    value = json.dumps(called).replace('"HERE"', "[" * depth + "]" * depth).encode()
    await stage.say(value, said(2))
    await stage.end(ended())
    await stage.checkpoint()
    dead_letters = [effect.value for effect in stage.app.broker.effects if effect.topic == topics.DEAD_LETTERS]
    kept = [m.message_id for request in stage.requests for m in request.messages]
    assert (dead_letters, kept) in [([value], ["m2"]), ([], ["m1", "m2"])]
    assert depth > 100 or dead_letters == []


@pytest.mark.parametrize("topic", [ENDED, CONTROL])
async def test_malformed_end_and_control_events_are_dead_lettered(stage, topic):
    await stage.deliver(topic, b"{", b'{"conversation_id": ""}')
    await stage.checkpoint()
    assert [dead_letter_headers(effect.headers)["reason"] for effect in stage.app.broker.effects] == [
        "undecodable",
        "invalid",
    ]


@pytest.mark.parametrize("kind", ["flush", "prune", "clear"])
async def test_a_control_event_for_a_missing_window_is_dead_lettered(stage, kind):
    await stage.tell(control(kind))
    await stage.checkpoint()
    assert stage.app.broker.rows(PARTITION) == {}
    (letter,) = stage.app.broker.effects
    assert dead_letter_headers(letter.headers)["reason"] == "no_window"
