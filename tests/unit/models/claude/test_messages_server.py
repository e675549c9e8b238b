"""The local Messages server works with the real SDK: tools, counts, rate limits, batches and faults."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import anthropic
import pytest

from tests.servers.messages import KEY, MODELS, MessagesServer, Rates
from tests.servers.rule_answers import least

SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
    "additionalProperties": False,
}
TOOL = {"name": "record", "description": "Records an answer.", "input_schema": SCHEMA}


@pytest.fixture
async def client(server: MessagesServer) -> AsyncIterator[anthropic.AsyncAnthropic]:
    async with client_of(server) as made:
        yield made


def client_of(server: MessagesServer) -> anthropic.AsyncAnthropic:
    return anthropic.AsyncAnthropic(api_key=KEY, base_url=server.url, max_retries=0, timeout=5.0)


def question(text: str = "What is it?", **more: Any) -> dict[str, Any]:
    return {"model": MODELS[0], "max_tokens": 64, "messages": [{"role": "user", "content": text}]} | more


def batched(*names: str) -> list[Any]:
    return [{"custom_id": name, "params": question(name)} for name in names]


async def results_of(client: anthropic.AsyncAnthropic, batch_id: str) -> dict[str, Any]:
    return {line.custom_id: line.result async for line in await client.messages.batches.results(batch_id)}


async def test_a_forced_tool_choice_returns_tool_use_with_input_that_matches_the_schema(
    client: anthropic.AsyncAnthropic,
) -> None:
    message = await client.messages.create(**question(tools=[TOOL], tool_choice={"type": "any"}))
    (block,) = message.content
    assert (message.stop_reason, block.type, block.name, block.input) == (
        "tool_use",
        "tool_use",
        "record",
        {"answer": ""},
    )


async def test_the_turn_ends_after_a_tool_result_is_sent(client: anthropic.AsyncAnthropic) -> None:
    first = await client.messages.create(**question(tools=[TOOL]))
    result = {"type": "tool_result", "tool_use_id": first.content[0].id, "content": "noted"}
    turns = [first.to_param(), {"role": "user", "content": [result]}]
    body = question(tools=[TOOL])
    second = await client.messages.create(**body | {"messages": body["messages"] + turns})
    assert (second.stop_reason, [block.type for block in second.content]) == ("end_turn", ["text"])


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"tools": [TOOL | {"name": "no spaces"}]}, "tools.0.custom.name"),
        ({"tools": [TOOL | {"input_schema": {}}]}, "tools.0.custom.input_schema"),
        ({"tools": [TOOL], "tool_choice": {"type": "tool", "name": "other"}}, "'other' not found"),
        ({"tool_choice": {"type": "any"}}, "tool_choice"),
        ({"stream": True}, "stream: Extra inputs"),
        ({"output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}}}, "additionalProperties"),
    ],
)
async def test_request_that_the_api_would_refuse_is_refused(
    client: anthropic.AsyncAnthropic, wrong: dict[str, Any], said: str
) -> None:
    with pytest.raises(anthropic.BadRequestError, match=said):
        await client.messages.create(**question(**wrong))


async def test_a_request_with_tool_use_but_no_tool_result_is_refused(client: anthropic.AsyncAnthropic) -> None:
    first = await client.messages.create(**question(tools=[TOOL]))
    body = question(tools=[TOOL])
    body["messages"] += [first.to_param(), {"role": "user", "content": "And?"}]
    with pytest.raises(anthropic.BadRequestError, match="tool_result"):
        await client.messages.create(**body)


async def test_counted_tokens_equal_the_billed_input_tokens(client: anthropic.AsyncAnthropic) -> None:
    request = question("How many tokens are these?", system="Count.", tools=[TOOL])
    counted = await client.messages.count_tokens(
        **{name: request[name] for name in ("model", "messages", "system", "tools")}
    )
    message = await client.messages.create(**request)
    assert counted.input_tokens == message.usage.input_tokens > 0


async def test_each_answer_is_billed_once_even_if_the_connection_breaks_and_faults_are_not_billed(
    server: MessagesServer, client: anthropic.AsyncAnthropic
) -> None:
    server.script("rules", "reset", "overloaded")
    usage = (await client.messages.create(**question("first"))).usage
    for error in (anthropic.APIConnectionError, anthropic.InternalServerError):
        with pytest.raises(error):
            await client.messages.create(**question("later"))
    assert [bill.body["messages"][0]["content"] for bill in server.bills] == ["first", "later"]
    assert server.bills[0].tokens == usage.input_tokens + usage.output_tokens > 0


async def test_counting_tokens_for_an_unknown_model_returns_not_found(client: anthropic.AsyncAnthropic) -> None:
    with pytest.raises(anthropic.NotFoundError):
        await client.messages.count_tokens(model="no-such-model", messages=[{"role": "user", "content": "?"}])


async def test_response_headers_report_the_remaining_rate_limits() -> None:
    now = datetime(2026, 3, 2, 9, 0, tzinfo=UTC).timestamp()
    async with MessagesServer(rates=Rates(60, 6_000, 600, lambda: now)) as server, client_of(server) as client:
        raw = await client.messages.with_raw_response.create(**question())
    said = {name.removeprefix("anthropic-ratelimit-"): value for name, value in raw.headers.items()}
    usage = (await raw.parse()).usage
    assert (said["requests-limit"], said["requests-remaining"]) == ("60", "59")
    assert said["requests-reset"] == "2026-03-02T09:00:01Z"
    assert int(said["input-tokens-remaining"]) == 6_000 - usage.input_tokens
    assert int(said["output-tokens-remaining"]) == 600 - usage.output_tokens
    assert int(said["tokens-limit"]) == 6_600
    assert int(said["tokens-remaining"]) == 6_600 - usage.input_tokens - usage.output_tokens


async def test_an_exhausted_rate_limit_returns_429_until_the_limit_refills() -> None:
    clock = [0.0]
    async with MessagesServer(rates=Rates(2, now=lambda: clock[0])) as server, client_of(server) as client:
        for _ in range(2):
            await client.messages.create(**question())
        with pytest.raises(anthropic.RateLimitError) as caught:
            await client.messages.create(**question())
        assert caught.value.response.headers["retry-after"] == "30"
        clock[0] = 30.0
        assert (await client.messages.create(**question())).stop_reason == "end_turn"


async def test_a_batch_ends_at_the_configured_poll(server: MessagesServer, client: anthropic.AsyncAnthropic) -> None:
    server.batches.ends_at_poll = 2
    made = await client.messages.batches.create(requests=batched("a", "b"))
    assert (made.processing_status, made.request_counts.processing, made.results_url) == ("in_progress", 2, None)
    statuses = [(await client.messages.batches.retrieve(made.id)).processing_status for _ in range(2)]
    assert statuses == ["in_progress", "ended"]
    results = await results_of(client, made.id)
    assert {name: result.type for name, result in results.items()} == {"a": "succeeded", "b": "succeeded"}
    assert results["a"].message.usage.service_tier == "batch"


async def test_a_batch_without_a_configured_poll_ends_only_when_ended_manually(
    server: MessagesServer, client: anthropic.AsyncAnthropic
) -> None:
    server.batches.ends_at_poll = None
    made = await client.messages.batches.create(requests=batched("a"))
    with pytest.raises(anthropic.AnthropicError, match="finished processing"):
        await client.messages.batches.results(made.id)
    server.batches.end(made.id)
    assert (await client.messages.batches.retrieve(made.id)).ended_at is not None


async def test_each_request_of_a_batch_has_a_result_of_its_own(
    server: MessagesServer, client: anthropic.AsyncAnthropic
) -> None:
    server.batches.script("rules", "overloaded", "expired", "canceled", "truncated")
    requests = [
        *batched("fine", "error", "late", "dropped", "cut"),
        {"custom_id": "wrong", "params": {"model": MODELS[0]}},
    ]
    made = await client.messages.batches.create(requests=requests)
    counts = (await client.messages.batches.retrieve(made.id)).request_counts
    assert (counts.succeeded, counts.errored, counts.expired, counts.canceled, counts.processing) == (2, 2, 1, 1, 0)
    results = await results_of(client, made.id)
    assert list(results) == ["wrong", "cut", "dropped", "late", "error", "fine"], "in no order that may be relied upon"
    assert results["error"].error.error.type == "overloaded_error"
    assert "max_tokens" in results["wrong"].error.error.message


async def test_cancelled_batch_ends_at_the_next_poll_with_nothing_answered(
    server: MessagesServer, client: anthropic.AsyncAnthropic
) -> None:
    server.batches.ends_at_poll = None
    made = await client.messages.batches.create(requests=batched("a", "b"))
    assert (await client.messages.batches.cancel(made.id)).processing_status == "canceling"
    ended = await client.messages.batches.retrieve(made.id)
    assert (ended.processing_status, ended.request_counts.canceled) == ("ended", 2)
    assert {result.type for result in (await results_of(client, made.id)).values()} == {"canceled"}


async def test_batches_are_listed_newest_first_page_by_page(client: anthropic.AsyncAnthropic) -> None:
    made = [(await client.messages.batches.create(requests=batched("a"))).id for _ in range(5)]
    assert [batch.id async for batch in client.messages.batches.list(limit=2)] == made[::-1]
    before = await client.messages.batches.list(before_id=made[0], limit=2)
    assert ([batch.id for batch in before.data], before.has_more) == ([made[2], made[1]], True)


async def test_batch_is_deleted_only_when_it_has_ended(
    server: MessagesServer, client: anthropic.AsyncAnthropic
) -> None:
    made = await client.messages.batches.create(requests=batched("a"))
    with pytest.raises(anthropic.BadRequestError, match="has not ended"):
        await client.messages.batches.delete(made.id)
    server.batches.end(made.id)
    assert (await client.messages.batches.delete(made.id)).type == "message_batch_deleted"
    with pytest.raises(anthropic.NotFoundError):
        await client.messages.batches.retrieve(made.id)


@pytest.mark.parametrize(
    ("requests", "said"),
    [
        ([], "at least 1"),
        (batched("a", "a"), "unique"),
        (batched("a:b"), "custom_id"),
        (batched("a" * 65), "custom_id"),
    ],
)
async def test_batch_that_the_api_would_refuse_is_refused(
    client: anthropic.AsyncAnthropic, requests: list[Any], said: str
) -> None:
    with pytest.raises(anthropic.BadRequestError, match=said):
        await client.messages.batches.create(requests=requests)


async def test_calls_of_the_batches_api_fail_with_the_scripted_faults(
    server: MessagesServer, client: anthropic.AsyncAnthropic
) -> None:
    server.batches.faults.extend(["overloaded", "fine", "server_error"])
    with pytest.raises(anthropic.APIStatusError) as caught:
        await client.messages.batches.create(requests=batched("a"))
    assert caught.value.status_code == 529
    made = await client.messages.batches.create(requests=batched("a"))
    with pytest.raises(anthropic.InternalServerError):
        await client.messages.batches.retrieve(made.id)
    assert len(server.batches.made) == 1


def test_the_minimal_value_of_a_schema_contains_only_required_fields() -> None:
    schema = {
        "type": "object",
        "properties": {
            "kind": {"enum": ["delete", "edit"]},
            "number": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "words": {"type": "array", "items": {"type": "string"}},
            "optional": {"type": "string"},
        },
        "required": ["kind", "number", "words"],
    }
    assert least(schema) == {"kind": "delete", "number": 0, "words": []}
