"""Requests of the Claude provider through the real SDK: model, cache marks, limits and log line."""

import logging
from typing import Any

import pytest
from aiohttp import web
from msgspec import structs

from agents.models.answers.summaries import estimated_tokens
from agents.models.calls.exchange import ChatTurn, ModelReply
from agents.models.calls.rate_limits import Allowance, RateLimited
from agents.models.claude.calls import ClaudeCalls
from agents.models.claude.provider import ClaudeProvider, client_at
from agents.models.prompts.questions import Question, extraction_question, summary_question
from agents.models.prompts.resolving import question as resolving_question
from schemas.errors import MemstreamError, Misconfigured, Retryable
from schemas.policies.policies import DEFAULT_POLICY, Policy
from tests.builders.slices import BATCH, knowing, slice_of
from tests.servers.messages import FAULTS, KEY, MessagesServer, Rates
from tests.servers.messages.faults import bad_request

SLICE = slice_of("I live in Turin.")
QUESTION = extraction_question(SLICE, knowing())


async def reply_of(server: MessagesServer, question: Question[Any] = QUESTION) -> ModelReply:
    async with client_at(server.url, KEY, 5.0, 0) as client:
        calls = ClaudeCalls(client, "claude-test-1", 5.0, "claude-test-2")
        return await calls.call(question, (ChatTurn("user", question.user_prompt),), 2_048)


async def raised(server: MessagesServer, step: str) -> MemstreamError:
    server.script(step)
    with pytest.raises(MemstreamError) as caught:
        await reply_of(server)
    return caught.value


async def test_prompt_is_cached_up_to_the_end_of_the_policys_part(server: MessagesServer) -> None:
    await reply_of(server)
    await reply_of(server, summary_question(SLICE, DEFAULT_POLICY))
    await reply_of(server, resolving_question([], [], DEFAULT_POLICY, BATCH, estimated_tokens))
    assert len(server.seen) == 3
    for body in server.seen:
        assert ["cache_control" in block for block in body["system"]] == [False, True]


async def test_prompts_of_infrequent_purposes_are_not_written_to_the_cache(server: MessagesServer) -> None:
    for purpose in ("compact", "score", "shorten"):
        await reply_of(server, structs.replace(QUESTION, purpose=purpose))
    assert not any("cache_control" in block for body in server.seen for block in body["system"])


async def test_policies_with_the_same_prompt_share_the_cache(server: MessagesServer) -> None:
    provider = ClaudeProvider("claude-test-1", api_key=KEY, base_url=server.url)
    usages = [
        (await provider.extract(SLICE, knowing(policy=policy))).usage
        for policy in (Policy(name="one"), Policy(name="two"), Policy(name="short", max_text_chars=80))
    ]
    await provider.close()
    assert [usage.cache_read_tokens > 0 for usage in usages] == [False, True, False]


async def test_compaction_uses_a_separate_model(server: MessagesServer) -> None:
    await reply_of(server, structs.replace(QUESTION, purpose="compact"))
    await reply_of(server)
    assert [body["model"] for body in server.seen] == ["claude-test-2", "claude-test-1"]


async def test_thinking_is_disabled_in_the_request(server: MessagesServer) -> None:
    await reply_of(server)
    assert server.seen[0]["thinking"] == {"type": "disabled"}


async def test_a_model_that_cannot_disable_thinking_is_misconfigured(
    server: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = bad_request("thinking.type: `disabled` is not supported by this model")
    monkeypatch.setitem(FAULTS, "thinks", said)
    error = await raised(server, "thinks")
    assert isinstance(error, Misconfigured) and "'claude-test-1' cannot be asked without thinking" in str(error)


async def test_a_reply_contains_the_rate_limits_and_the_request_id() -> None:
    async with MessagesServer(rates=Rates(requests=50, input_tokens=50_000, output_tokens=10_000)) as server:
        spoken = await reply_of(server)
    assert spoken.request_id == "req_0001"
    limits = {each.kind: each.per_minute for each in spoken.allowances}
    assert limits == {"requests": 50, "input_tokens": 50_000, "output_tokens": 10_000, "tokens": 60_000}


async def test_a_rate_limit_error_contains_the_wait_time_and_the_allowances(server: MessagesServer) -> None:
    error = await raised(server, "rate_limited")
    assert isinstance(error, RateLimited) and error.wait_s == 0.01
    assert Allowance("requests", 50_000, 49_999) in error.allowances


@pytest.mark.parametrize("fault", ["server_error", "overloaded", "rate_limited", "bad_request", "forbidden"])
async def test_errors_contain_the_request_id(server: MessagesServer, fault: str) -> None:
    assert "req_0001" in str(await raised(server, fault))


async def test_calls_wait_for_the_reported_rate_limit_instead_of_exceeding_it() -> None:
    async with MessagesServer(rates=Rates(requests=600)) as server:
        server.rates.requests.take(599)
        provider = ClaudeProvider("claude-test-1", api_key=KEY, base_url=server.url, max_retries=0)
        for _ in range(5):  # one is left, and another ten a second
            assert (await provider.extract(SLICE, knowing())).proposals
        await provider.close()
    assert len(server.seen) == 5


async def test_each_call_is_logged_in_one_line_with_token_usage_and_request_id(
    server: MessagesServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="agents.models")
    provider = ClaudeProvider("claude-test-1", api_key=KEY, base_url=server.url)
    server.script("text:sorry")
    usage = (await provider.extract(SLICE, knowing())).usage
    await provider.close()
    first, second = (record.getMessage() for record in caplog.records if record.name.startswith("agents"))
    assert first.endswith("request req_0001") and second.endswith("request req_0002")
    assert f"cache write {usage.cache_write_tokens}" in first and f"cache read {usage.cache_read_tokens}" in second
    assert "Turin" not in caplog.text


async def test_a_local_server_that_redirects_elsewhere_is_misconfigured() -> None:
    async def elsewhere(request: web.Request) -> web.Response:
        return web.Response(status=307, headers={"location": "http://127.0.0.1:9/v1/messages"})

    app = web.Application()
    app.router.add_post("/v1/messages", elsewhere)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    provider = ClaudeProvider("claude-test-1", api_key=KEY, base_url=url)
    with pytest.raises(Misconfigured, match="answered 307"):
        await provider.extract(SLICE, knowing())
    await provider.close()
    await runner.cleanup()


async def test_circuit_breaker_opens_after_consecutive_outages_and_stops_calls(server: MessagesServer) -> None:
    provider = ClaudeProvider("claude-test-1", api_key=KEY, base_url=server.url, max_retries=0, cool_down_s=75.0)
    server.script(*["overloaded"] * 5)
    for _ in range(8):
        with pytest.raises(Retryable):
            await provider.extract(SLICE, knowing())
    assert len(server.seen) == 5
    assert "no calls for the next 75 s" in str(await provider.unavailable_reason())
    await provider.close()
