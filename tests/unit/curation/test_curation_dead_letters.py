"""Candidates and commands that cannot be curated become dead letters without erased content, and count as answered."""

from collections import deque
from dataclasses import replace as replace_field
from datetime import timedelta

import pytest
from msgspec.structs import replace

from agents.dead_letters.writer import dead_letter_headers
from schemas import codec
from schemas.erasure.erasures import ConversationFence, Fence
from schemas.errors import Rejected, Retryable
from schemas.extraction.candidates import Source
from schemas.kafka import topics
from tests.fakes.batches import batch, record
from tests.fakes.chats import BEGAN
from tests.unit.curation.curation_stage import CANDIDATES, COMMANDS, Stage, command, part


async def test_a_record_that_fails_for_an_unforeseen_reason_is_dead_lettered_and_the_rest_goes_on(stage):
    stage.curator.failures["1"] = deque([ValueError("a bug")])
    given = stage.batch(part("a", "1"), part("a", "2"))
    await stage.agent.handle(given)
    await stage.settled()
    (letter,) = stage.publisher.on(topics.DEAD_LETTERS)
    assert dead_letter_headers(letter.headers)["reason"] == "unforeseen"
    assert [dropped.request_id for dropped, _ in stage.curator.dropped] == ["1"]
    assert stage.curator.done == [("a", "2")]
    assert given.acked


async def test_a_rejected_part_is_dead_lettered_and_counts_as_answered_and_the_others_are_processed(stage):
    stage.curator.failures["1"] = deque([Rejected("invalid", "no such kind")])
    given = stage.batch(part("a", "1", 2), part("a", "2"))
    await stage.agent.handle(given)
    await stage.settled()
    ((dropped, reason),) = stage.curator.dropped
    assert (dropped.request_id, dropped.part, dropped.parts, dropped.namespace, reason) == ("1", 2, 2, "a", "invalid")
    (letter,) = stage.publisher.on(topics.DEAD_LETTERS)
    assert dead_letter_headers(letter.headers)["reason"] == "invalid"
    assert stage.curator.done == [("a", "2")]
    assert given.acked


async def test_a_part_whose_candidates_do_not_decode_still_counts_as_answered(stage):
    value = codec.encode(part("a", "1")).replace(b'"confidence":0.5', b'"confidence":7')
    given = stage.batch((b"a", value), part("a", "2"))
    await stage.agent.handle(given)
    await stage.settled()
    ((dropped, reason),) = stage.curator.dropped
    assert (dropped.request_id, reason) == ("1", "invalid")
    assert stage.publisher.on(topics.DEAD_LETTERS)[0].value == value
    assert stage.curator.done == [("a", "2")]
    assert given.acked


@pytest.mark.parametrize("topic", [CANDIDATES, COMMANDS])
async def test_unparsable_and_empty_records_become_dead_letters(stage, topic):
    given = stage.batch((None, b"not json"), (b"a", None), topic=topic)
    await stage.agent.handle(given)
    await stage.settled()
    assert len(stage.publisher.on(topics.DEAD_LETTERS)) == 2
    assert stage.curator.dropped == []
    assert given.acked


async def test_a_part_counts_as_answered_only_after_its_dead_letter_is_published_on_retry(stage):
    stage.curator.failures["1"] = deque([Rejected("invalid", "no"), Rejected("invalid", "no")])
    stage.publisher.failures.append(Retryable("broker away"))
    given = stage.batch(part("a", "1"))
    await stage.agent.handle(given)
    await stage.settled()
    assert len(stage.publisher.on(topics.DEAD_LETTERS)) == len(stage.curator.dropped) == 1
    assert given.acked


async def test_candidates_for_a_reserved_namespace_go_to_the_dead_letters(stage):
    given = stage.batch(part("~0a1b2c3d/kitchen/ada", "1"))
    await stage.agent.handle(given)
    await stage.settled()
    (letter,) = stage.publisher.on(topics.DEAD_LETTERS)
    assert dead_letter_headers(letter.headers)["reason"] == "invalid"
    assert stage.curator.done == []


def by_reference(stage: Stage) -> list[str | None]:
    """Returns the by-reference header of each dead letter; none contains message content."""
    dead_letters = stage.publisher.on(topics.DEAD_LETTERS)
    assert not any(
        b"tea" in (letter.value or b"") or b"tea" in dict(letter.headers)["memstream-detail"] for letter in dead_letters
    )
    return [dead_letter_headers(letter.headers).get("by-reference") for letter in dead_letters]


async def test_rejected_candidates_that_were_erased_count_as_answered_without_a_dead_letter(stage):
    stage.curator.failures["1"] = deque([Rejected("invalid", "tea is no kind")])
    stage.curator.fences["a", "c"] = ConversationFence(Fence(BEGAN))
    given = stage.batch(part("a", "1"), part("a", "2"))
    await stage.agent.handle(given)
    await stage.settled()
    assert by_reference(stage) == []
    assert [(dropped.request_id, reason) for dropped, reason in stage.curator.dropped] == [("1", "invalid")]
    assert stage.curator.done == [("a", "2")]
    assert given.acked


async def test_partly_erased_candidates_become_a_dead_letter_without_content(stage):
    stage.curator.failures["1"] = deque([ValueError("tea")])
    stage.curator.fences["a", "c"] = ConversationFence(Fence(BEGAN - timedelta(hours=1), {1: 8}))
    batch_of_two = part("a", "1")
    (candidate,) = batch_of_two.candidates
    placed = [
        replace(candidate, sources=(Source(conversation_id="c", message_id="m", position=place, timestamp=BEGAN),))
        for place in (7, 8)
    ]
    await stage.agent.handle(stage.batch(replace(batch_of_two, candidates=tuple(placed))))
    await stage.settled()
    assert by_reference(stage) == ["true"]


@pytest.mark.parametrize("topic", [CANDIDATES, COMMANDS])
async def test_an_unreadable_record_older_than_an_erasure_becomes_a_dead_letter_without_content(stage, topic):
    stage.curator.fences["a", ""] = ConversationFence(Fence(BEGAN))
    await stage.agent.handle(stage.batch((b"a", b'{"text": "tea"'), topic=topic))
    await stage.settled()
    assert by_reference(stage) == ["true"]


@pytest.mark.parametrize("erased", [False, True])
async def test_an_unreadable_record_with_an_invalid_timestamp_counts_as_older_than_any_erasure(stage, erased):
    """A sender whose timestamps are in microseconds: of the year 55840, in milliseconds."""
    if erased:
        stage.curator.fences["a", ""] = ConversationFence(Fence(BEGAN))
    sent = replace_field(record(COMMANDS, 0, b'{"text": "tea"', key=b"a"), timestamp=1_700_000_000_000_000)
    given = batch(stage.fence, COMMANDS, [sent])
    await stage.agent.handle(given)
    await stage.settled()
    (letter,) = stage.publisher.on(topics.DEAD_LETTERS)
    assert (b"tea" in (letter.value or b"")) is not erased
    assert given.acked


async def test_a_failed_command_older_than_an_erasure_becomes_a_dead_letter_without_content(stage):
    stage.curator.failures = {name: deque([ValueError("tea")]) for name in ("old", "new")}
    stage.curator.fences["a", ""] = ConversationFence(Fence(BEGAN))
    given = stage.batch(
        command("a", "old"), replace(command("a", "new"), at=BEGAN + timedelta(seconds=1)), topic=COMMANDS
    )
    await stage.agent.handle(given)
    await stage.settled()
    dead_letters = stage.publisher.on(topics.DEAD_LETTERS)
    assert [b"tea" in (letter.value or b"") for letter in dead_letters] == [False, True]
