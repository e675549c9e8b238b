"""Recorded exchanges with the API: responses are read completely, and the local server rejects the same requests in the
same words."""

import json
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import anthropic
import pytest

from agents.models.claude.calls import model_reply, usage_of, validated_message
from agents.models.claude.errors import translated
from schemas.errors import Rejected
from tests import public_data
from tests.servers.messages import KEY, MODELS, MessagesServer


@pytest.fixture(scope="module")
def recorded() -> list[dict[str, Any]]:
    """The recorded calls of the Messages API; the file also has a few calls of another API."""
    lines = public_data.required("langmem", "claude_calls.jsonl").read_text().splitlines()
    return [call for call in map(json.loads, lines) if call["uri"].endswith("/v1/messages")]


@pytest.fixture
async def client(server: MessagesServer) -> AsyncIterator[anthropic.AsyncAnthropic]:
    async with anthropic.AsyncAnthropic(api_key=KEY, base_url=server.url, max_retries=0) as made:
        yield made


async def replayed(
    server: MessagesServer, client: anthropic.AsyncAnthropic, call: dict[str, Any]
) -> anthropic.types.Message:
    """The recorded request sent, for a model of the server's, and the recorded response read."""
    server.script("json:" + json.dumps(call["response"]))
    return validated_message(await sent(client, call["request"]))


async def sent(client: anthropic.AsyncAnthropic, request: dict[str, Any]) -> anthropic.types.Message:
    # As it was recorded: `create` no longer takes everything that was sent then.
    body = request | {"model": MODELS[0]}
    return await client.post("/v1/messages", body=body, cast_to=anthropic.types.Message)


async def test_every_recorded_response_is_read_without_loss(
    recorded: list[dict[str, Any]], server: MessagesServer, client: anthropic.AsyncAnthropic
) -> None:
    answered = [call for call in recorded if call["status"] == 200]
    kinds: Counter[str] = Counter()
    for call in answered:
        response = call["response"]
        message = await replayed(server, client, call)
        assert message.to_dict(mode="json") == response, f"call {call['i']}"
        kinds.update(type(block).__name__ for block in message.content)
    assert kinds == Counter(TextBlock=9, ToolUseBlock=222)
    assert len(server.seen) == len(answered) == 159


async def test_usage_texts_and_stop_reasons_of_recorded_responses_are_parsed_completely(
    recorded: list[dict[str, Any]], server: MessagesServer, client: anthropic.AsyncAnthropic
) -> None:
    for call in (each for each in recorded if each["status"] == 200):
        response = call["response"]
        message = await replayed(server, client, call)
        read, usage = model_reply(message), usage_of(message)
        assert read.usage == usage and read.model == response["model"]
        assert read.text == "".join(block.get("text", "") for block in response["content"])
        assert not read.truncated and message.stop_reason == response["stop_reason"]
        total = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens + usage.output_tokens
        assert total == sum(value for value in response["usage"].values() if isinstance(value, int))


async def test_server_refuses_the_recorded_request_that_the_api_refused(
    recorded: list[dict[str, Any]], server: MessagesServer, client: anthropic.AsyncAnthropic
) -> None:
    (refused,) = [call for call in recorded if call["status"] != 200]
    with pytest.raises(anthropic.APIStatusError) as caught:
        await sent(client, refused["request"])
    assert caught.value.status_code == refused["status"]
    assert isinstance(caught.value.body, dict)
    assert caught.value.body["error"] == refused["response"]["error"]
    assert isinstance(translated(caught.value, MODELS[0]), Rejected)
