"""What a worker logs of the samples: JSON lines with ids, and nothing of what was said."""

import json
from typing import Any

from tests.deployment import Event
from tests.integration.pipeline.samples.said import valid_messages


def lines(samples: Any) -> list[dict[str, str]]:
    return [json.loads(line) for line in samples.deployment.logs().splitlines()]


def test_every_line_is_an_object_that_says_when_how_grave_and_by_whom(samples: Any):
    logged = lines(samples)
    assert len(logged) > 10
    assert all({"time", "level", "logger", "message"} <= line.keys() for line in logged)


def test_lines_about_a_request_name_it_its_conversation_and_its_trace(samples: Any):
    told = [line for line in lines(samples) if " proposes " in line["message"]]
    assert all(line.keys() >= {"conversation_id", "request_id", "trace_id"} for line in told)
    assert len(told) > 10


def test_nothing_that_was_said_is_logged(samples: Any, published: list[Event]):
    logged = samples.deployment.logs()
    contents = [message["content"] for message in valid_messages(published).values() if message.get("content")]
    sentences = {part.strip() for each in contents for part in each.replace("\n", ". ").split(". ") if len(part) > 12}
    assert len(sentences) > 100
    assert [sentence for sentence in sentences if sentence in logged or json.dumps(sentence)[1:-1] in logged] == []
