"""Log lines of a worker are JSON objects with ids and without message content."""

import json
from typing import Any

from tests.deployment import Event
from tests.integration.pipeline.samples.said import valid_messages


def lines(samples: Any) -> list[dict[str, str]]:
    return [json.loads(line) for line in samples.deployment.logs().splitlines()]


def test_every_log_line_is_a_json_object_with_time_level_logger_and_message(samples: Any):
    logged = lines(samples)
    assert len(logged) > 10
    assert all({"time", "level", "logger", "message"} <= line.keys() for line in logged)


def test_log_lines_about_a_request_contain_request_conversation_and_trace_ids(samples: Any):
    proposals = [line for line in lines(samples) if " proposed " in line["message"]]
    assert all(line.keys() >= {"conversation_id", "request_id", "trace_id"} for line in proposals)
    assert len(proposals) > 10


def test_no_message_content_is_logged(samples: Any, published: list[Event]):
    logged = samples.deployment.logs()
    contents = [message["content"] for message in valid_messages(published).values() if message.get("content")]
    sentences = {part.strip() for each in contents for part in each.replace("\n", ". ").split(". ") if len(part) > 12}
    assert len(sentences) > 100
    assert [sentence for sentence in sentences if sentence in logged or json.dumps(sentence)[1:-1] in logged] == []
