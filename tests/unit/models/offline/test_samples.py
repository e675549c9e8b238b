"""The sample conversations give the memories of `expected.json`."""

import json
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agents.models.offline.provider import OfflineProvider
from agents.models.port import Proposal
from schemas.conversations.messages import ConversationEnded, Message
from schemas.extraction.requests import SliceMessage
from sinks.classification.sentences import OnnxSentenceClassifier
from tests.builders.slices import knowing, known, slice_of

SAMPLES = Path(__file__).parents[4] / "deploy" / "samples"
DAYS = (1, 2)
EXPECTED: dict[str, list[dict[str, Any]]] = json.loads((SAMPLES / "expected.json").read_text())


def events(day: int) -> list[dict[str, Any]]:
    """Day 3 holds only what comes late to conversations of day 2, and is read with it."""
    files = [SAMPLES / f"day-{number}.jsonl" for number in ((2, 3) if day == 2 else (day,))]
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


@cache
def conversations(day: int) -> dict[str, list[Message]]:
    """The valid messages of each conversation, each message_id once."""
    found: dict[str, dict[str, Message]] = defaultdict(dict)
    for event in events(day):
        if event["topic"] != "chat.messages" or "role" not in event.get("value", {}):
            continue
        message = msgspec.convert(event["value"], Message)
        found[event["key"]].setdefault(message.message_id, message)
    return {name: list(messages.values()) for name, messages in found.items()}


def as_slice(messages: list[Message]) -> list[SliceMessage]:
    names = set(SliceMessage.__struct_fields__) & set(Message.__struct_fields__)
    return [
        SliceMessage(position=position, **{name: getattr(message, name) for name in names})
        for position, message in enumerate(messages)
    ]


def as_expected(item: Proposal) -> dict[str, Any]:
    fields = {"kind": item.kind, "text": item.text, "message_ids": list(item.message_ids)}
    fields |= {name: value for name in ("repeats", "contradicts") if (value := getattr(item, name)) is not None}
    return fields | ({"event_time": item.event_time.isoformat()} if item.event_time else {})


@pytest.fixture(scope="module")
def classifier() -> Iterator[OnnxSentenceClassifier]:
    with closing(OnnxSentenceClassifier()) as opened:
        yield opened


@pytest.mark.parametrize("name", EXPECTED)
async def test_sample_conversation_is_remembered_as_expected(name: str, classifier: OnnxSentenceClassifier) -> None:
    day = next(day for day in DAYS if name in conversations(day))
    messages = conversations(day)[name]
    earlier = [
        known(item["text"], item["kind"])
        for other, said in (conversations(1) if day == 2 else {}).items()
        for item in EXPECTED[other]
        if said[0].user_id == messages[0].user_id
    ]
    provider = OfflineProvider(classifier=classifier)
    answer = await provider.extract(slice_of(*as_slice(messages)), knowing(*earlier))
    assert [as_expected(item) for item in answer.proposals] == EXPECTED[name]
    assert answer.rejected == {}


def test_every_sample_conversation_has_an_expectation() -> None:
    assert {name for day in DAYS for name in conversations(day)} == set(EXPECTED)


def test_samples_show_what_their_readme_promises() -> None:
    published = [event for day in DAYS for event in events(day)]
    ids = [event["value"]["message_id"] for event in published if "message_id" in event.get("value", {})]
    ends = [index for index, event in enumerate(published) if event["topic"] == "chat.conversations.ended"]
    after_end = {
        published[end]["key"]
        for end in ends
        if any(later["key"] == published[end]["key"] for later in published[end:][1:])
    }
    assert after_end >= {"support-priya-late", "notes-tom-race"}
    assert len(ids) - len(set(ids)) == 1
    assert [event["raw"] for event in published if "raw" in event] == ["{not json"]
    assert len({event["value"]["user_id"] for event in published if "user_id" in event.get("value", {})}) >= 5
    assert max(len(messages) for messages in conversations(1).values()) >= 25


def test_ends_of_conversations_are_valid_events() -> None:
    for day in DAYS:
        for event in events(day):
            if event["topic"] == "chat.conversations.ended":
                assert msgspec.convert(event["value"], ConversationEnded).conversation_id == event["key"]
