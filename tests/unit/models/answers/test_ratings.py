"""Importance ratings of messages by a model: requested by policy, checked, and optional."""

import json

import pytest

from agents.models.answers.replies import MAX_RATINGS, checked_ratings
from agents.models.model_provider import ModelProvider
from agents.models.port import Answer
from agents.models.prompts.extraction import RATINGS, answer_schema, policy_part
from schemas import codec
from schemas.conversations.window_settings import WindowSettings
from schemas.policies.policies import DEFAULT_POLICY, Policy
from tests.builders.slices import knowing, slice_of
from tests.fakes.calls import ScriptedCalls
from tests.unit.models.claude.claude_asking import draft

RATING = Policy(name="rating", window=WindowSettings(rate_messages=True))
SLICE = slice_of("We ship on Friday.", "Fine.", "Which port?")


def rated(message: object, importance: object) -> dict[str, object]:
    return {"message": message, "importance": importance}


def replying(*ratings: object) -> str:
    return json.dumps({"memories": [draft()], "ratings": ratings})


async def ratings_of(policy: Policy, *texts: str) -> dict[str, int]:
    return (await ModelProvider(ScriptedCalls(*texts)).extract(SLICE, knowing(policy=policy))).ratings


async def test_ratings_are_returned_by_message_id():
    assert await ratings_of(RATING, replying(rated(1, 9), rated(2, 0))) == {"m1": 9, "m2": 0}


@pytest.mark.parametrize("text", [json.dumps({"memories": []}), json.dumps({"memories": [], "ratings": None}), "[]"])
async def test_an_answer_without_ratings_is_accepted_without_a_second_call(text: str):
    calls = ScriptedCalls(text)
    answer = await ModelProvider(calls).extract(SLICE, knowing(policy=RATING))
    assert (answer.ratings, len(calls.received)) == ({}, 1)


async def test_ratings_that_the_policy_does_not_request_are_dropped():
    assert await ratings_of(DEFAULT_POLICY, replying(rated(1, 9))) == {}


async def test_ratings_in_the_continuation_of_a_truncated_answer_are_kept():
    assert await ratings_of(RATING, f"\u2026{replying()[:-20]}", replying(rated(3, 8))) == {"m3": 8}


@pytest.mark.parametrize(
    "wrong",
    [rated(0, 5), rated(4, 5), rated(1, 11), rated(1, -1), rated(1, 5.5), rated(True, 5), rated("1", 5), {}, 7, None],
)
def test_ratings_with_an_invalid_message_number_or_value_are_skipped(wrong: object):
    assert checked_ratings([wrong, rated(2, 3)], SLICE) == {"m2": 3}


def test_an_answer_rates_a_bounded_number_of_messages():
    long = slice_of(*("Yes." for _ in range(100)))
    assert len(checked_ratings([rated(number, 5) for number in range(1, 101)], long)) == MAX_RATINGS


def test_the_prompt_and_the_schema_ask_for_ratings_only_where_the_policy_does():
    assert RATINGS in policy_part(RATING) and RATINGS not in policy_part(DEFAULT_POLICY)
    assert "ratings" not in json.dumps(answer_schema(DEFAULT_POLICY))
    assert answer_schema(RATING)["required"] == ["memories", "ratings"]


def test_a_stored_answer_without_a_ratings_field_is_decoded():
    assert codec.decode(b'{"answers":"extraction","provider":"claude","model":"m"}', Answer).ratings == {}
