"""Message ratings pass from the model's answer to the requesting window."""

import asyncio

import pytest
from msgspec.structs import replace

from agents.extraction.erasure_filter import proposals_without_erased
from agents.extraction.records import answer_records
from agents.models.port import Answer
from schemas import codec
from schemas.kafka import topics
from schemas.windows.window_controls import WindowControl
from tests.builders.slices import MONDAY
from tests.unit.extraction.extraction_stage import PARTITION, Worker, numbered_request

ANSWER = Answer(provider="fake", model="m", ratings={"m10": 9, "m11": 1})


def rated(answer: Answer) -> list[WindowControl]:
    records = answer_records(numbered_request(), codec.encode(answer), MONDAY)
    return [codec.decode(each.value, WindowControl) for each in records if each.topic == topics.WINDOW_CONTROL]


def test_ratings_are_sent_to_the_window_in_addition_to_the_candidates():
    records = answer_records(numbered_request(), codec.encode(ANSWER), MONDAY)
    *candidates, rating = records
    assert {each.topic for each in candidates} == {topics.CANDIDATES}
    assert (rating.topic, rating.key, rating.partition) == (
        topics.WINDOW_CONTROL,
        b"conversation-1",
        PARTITION,
    )
    (control,) = rated(ANSWER)
    assert (control.kind, control.ratings, control.request_id) == (
        "rated",
        ANSWER.ratings,
        numbered_request().request_id,
    )


def test_an_answer_without_ratings_sends_no_control_event_to_the_window():
    assert rated(replace(ANSWER, ratings={})) == []


def test_ratings_of_erased_messages_are_removed():
    request = numbered_request()
    partly = replace(request, messages=request.messages[:1])
    assert proposals_without_erased(request, ANSWER, {}).ratings == ANSWER.ratings
    assert proposals_without_erased(partly, ANSWER, {}).ratings == {"m10": 9}


@pytest.mark.parametrize("deliveries", [1, 2])
async def test_a_redelivered_request_sends_the_same_ratings_again(deliveries: int):
    worker = Worker()
    worker.provider.ratings = ANSWER.ratings
    for _ in range(deliveries):
        await worker.take(numbered_request())
        await asyncio.sleep(2)
    ratings = [each.ratings for each in worker.controls if each.kind == "rated"]
    assert ratings == [ANSWER.ratings] * deliveries
    assert worker.provider.call_counts == {numbered_request().request_id: 1}
