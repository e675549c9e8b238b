"""The Claude provider with the third-party Messages server llmock, which answers, fails and checks the retries.

llmock knows neither structured outputs nor the prompt cache: what is asked for there is checked by our own server.
"""

import json
from collections.abc import AsyncIterator

import pytest
from llmock.pytest_plugin import LLMock
from llmock.scenarios import Reply

from agents.models.claude.calls import ClaudeCalls
from agents.models.claude.provider import ClaudeProvider
from agents.models.port import Answer
from agents.models.prompts.questions import MIN_ANSWER_TOKENS
from schemas.errors import MemstreamError, Misconfigured, Rejected, Retryable
from tests.builders.slices import knowing, slice_of

MODEL = "claude-haiku-4-5-20251001"
PEANUTS = "User is allergic to peanuts."
SLICE = slice_of("I am allergic to peanuts.")
REPLY = json.dumps({"memories": [{"kind": "fact", "text": PEANUTS, "messages": [1], "confidence": 0.9}]})
RETRIES = 2


@pytest.fixture
async def provider(llmock: LLMock) -> AsyncIterator[ClaudeProvider]:
    """Finds address and key in the environment, as in production."""
    claude = ClaudeProvider(MODEL, timeout_s=5.0, max_retries=RETRIES)
    yield claude
    await claude.close()


async def extracted(provider: ClaudeProvider) -> Answer:
    return await provider.extract(SLICE, knowing())


async def raised(provider: ClaudeProvider) -> MemstreamError:
    with pytest.raises(MemstreamError) as caught:
        await extracted(provider)
    return caught.value


async def test_reply_is_parsed_into_proposals_with_the_reported_usage(llmock: LLMock, provider: ClaudeProvider) -> None:
    llmock.reply(REPLY)
    answer = await extracted(provider)
    assert [proposal.text for proposal in answer.proposals] == [PEANUTS]
    assert (answer.provider, answer.model) == ("claude", MODEL)
    assert answer.usage.input_tokens > 500 and answer.usage.output_tokens > 10
    (record,) = llmock.requests
    assert (record.provider, record.path, record.status) == ("anthropic", "/anthropic/v1/messages", 200)


@pytest.mark.parametrize("status", [429, 500, 503, 529])
async def test_temporary_failure_is_retried_after_its_retry_after_time(
    llmock: LLMock, provider: ClaudeProvider, status: int
) -> None:
    llmock.fail(status, times=2, retry_after=0.3).reply(REPLY)
    answer = await extracted(provider)
    assert len(answer.proposals) == 1
    assert [record.status for record in llmock.requests] == [status, status, 200]
    llmock.assert_resilient(strict=True)


async def test_provider_waits_for_the_rate_limit_in_the_headers_and_never_exceeds_it(
    llmock: LLMock, provider: ClaudeProvider
) -> None:
    calls = 16
    llmock.limits(rpm=calls - 1).reply(REPLY, times=None)
    answers = [await extracted(provider) for _ in range(calls)]
    assert all(len(answer.proposals) == 1 for answer in answers)
    statuses = [record.status for record in llmock.requests]
    assert statuses == [200] * calls
    llmock.assert_resilient(strict=True)


@pytest.mark.parametrize("status", [429, 500, 529])
async def test_outage_raises_retryable_after_the_maximum_number_of_retries(
    llmock: LLMock, provider: ClaudeProvider, status: int
) -> None:
    llmock.fail(status, times=None, retry_after=0.05)
    assert isinstance(await raised(provider), Retryable)
    assert len(llmock.requests) == 1 + RETRIES
    llmock.assert_resilient(strict=True)


@pytest.mark.parametrize(
    ("status", "error"),
    [(400, Rejected), (401, Misconfigured), (403, Misconfigured), (404, Misconfigured), (413, Rejected)],
)
async def test_permanent_failure_is_not_retried(
    llmock: LLMock, provider: ClaudeProvider, status: int, error: type[MemstreamError]
) -> None:
    llmock.fail(status, times=None)
    assert type(await raised(provider)) is error
    assert len(llmock.requests) == 1
    llmock.assert_resilient(strict=True)


async def test_slice_beyond_the_context_window_is_rejected(llmock: LLMock, provider: ClaudeProvider) -> None:
    llmock.limits(context_window=100)
    assert isinstance(await raised(provider), Rejected)
    assert len(llmock.requests) == 1


async def test_timeout_is_retryable(llmock: LLMock) -> None:
    llmock.delay(0.5, times=None)
    provider = ClaudeProvider(MODEL, timeout_s=0.1, max_retries=0)
    assert isinstance(await raised(provider), Retryable)
    await provider.close()


async def test_refusal_is_rejected(llmock: LLMock, provider: ClaudeProvider) -> None:
    llmock.add(Reply(text="I would rather not.", finish_reason="content_filter"))
    error = await raised(provider)
    assert isinstance(error, Rejected) and error.reason == "refused"


async def test_truncated_answer_is_requested_again_with_larger_max_tokens(
    llmock: LLMock, provider: ClaudeProvider
) -> None:
    llmock.add(Reply(text=REPLY[:40], finish_reason="length")).reply(REPLY)
    answer = await extracted(provider)
    assert len(answer.proposals) == 1
    assert [record.body["max_tokens"] for record in llmock.requests] == [
        MIN_ANSWER_TOKENS,
        ClaudeCalls.max_reply_tokens,
    ]


async def test_prose_answer_is_retried_once_and_then_rejected_as_unreadable(
    llmock: LLMock, provider: ClaudeProvider
) -> None:
    llmock.reply("The user mentioned peanuts.").reply(REPLY)
    assert len((await extracted(provider)).proposals) == 1
    llmock.reply("The user mentioned peanuts.", times=2)
    error = await raised(provider)
    assert isinstance(error, Rejected) and error.reason == "unreadable"
    assert len(llmock.requests) == 4


async def test_call_of_a_tool_that_was_not_offered_is_rejected_as_unreadable(
    llmock: LLMock, provider: ClaudeProvider
) -> None:
    llmock.call_tool("remember", {"text": PEANUTS}, times=2)
    error = await raised(provider)
    assert isinstance(error, Rejected) and error.reason == "unreadable"
