"""Truncated answers: complete items are kept, and the rest is requested once."""

import json

import pytest

from agents.models.calls.exchange import exchange
from agents.models.prompts.questions import CONTINUE, MIN_ANSWER_TOKENS, Question, extraction_question
from schemas.errors import Rejected
from tests.builders.slices import knowing, slice_of
from tests.fakes.calls import ScriptedCalls


def memory(number: int) -> dict[str, object]:
    return {"kind": "fact", "text": f"User has cat {number}.", "messages": [1], "confidence": 0.9, "importance": 0.5}


def reply(*numbers: int) -> str:
    return json.dumps({"memories": [memory(number) for number in numbers]})


def asking(said: str = "I have cats.") -> Question:
    return extraction_question(slice_of(said), knowing())


async def texts_of(calls: ScriptedCalls, question: Question) -> list[str]:
    return [draft["text"] for draft in (await exchange(calls, question)).reply.drafts]


async def test_only_the_missing_rest_of_a_truncated_answer_is_requested():
    calls = ScriptedCalls(f"…{reply(1, 2)[:-20]}", reply(2, 3))
    assert await texts_of(calls, asking()) == ["User has cat 1.", "User has cat 2.", "User has cat 3."]
    _, (turns, _) = calls.received
    assert [turn.role for turn in turns] == ["user", "assistant", "user"]
    assert (turns[1].text, turns[2].text) == (reply(1).replace(": ", ":").replace(", ", ","), CONTINUE)


async def test_a_truncated_answer_without_a_complete_draft_is_requested_again_with_more_tokens():
    calls = ScriptedCalls(f"…{reply(1)[:-20]}", reply(1))
    assert await texts_of(calls, asking()) == ["User has cat 1."]
    assert [(len(turns), room) for turns, room in calls.received] == [(1, MIN_ANSWER_TOKENS), (1, 8_192)]


async def test_a_second_truncated_answer_is_rejected_without_a_third_call():
    calls = ScriptedCalls(f"…{reply(1, 2)[:-20]}", f"…{reply(3, 4)[:-20]}")
    with pytest.raises(Rejected) as caught:
        await exchange(calls, asking())
    assert caught.value.reason == "truncated" and len(calls.received) == 2


@pytest.mark.parametrize(("words", "room"), [(100, MIN_ANSWER_TOKENS), (3_000, 4_500), (90_000, 8_192)])
async def test_the_output_token_limit_grows_with_the_slice(words: int, room: int):
    calls = ScriptedCalls(reply(1))
    await exchange(calls, asking("a cat " * words))
    ((_, given),) = calls.received
    assert given == pytest.approx(room, rel=0.35) and given <= calls.max_reply_tokens
