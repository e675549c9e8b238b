"""Spans of model calls follow OpenTelemetry's conventions and contain no message content."""

from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.trace import SpanKind, StatusCode

from agents.models.calls.exchange import ChatTurn, ModelReply
from agents.models.calls.guarded_calls import GuardedCalls
from agents.models.port import Usage
from agents.models.prompts.questions import Question, extraction_question
from schemas.errors import Retryable
from tests.builders.slices import knowing, slice_of
from tests.fakes.calls import FakeCalls
from tests.fakes.spans import Spans, recorded

SECRET = "I live in Turin."
QUESTION: Question[Any] = extraction_question(slice_of(SECRET), knowing())
USED = Usage(input_tokens=900, output_tokens=100, cache_read_tokens=40, cache_write_tokens=7)


class Cached(FakeCalls):
    """Reads and writes a provider's cache."""

    async def call(self, question: Question[Any], turns: object, max_tokens: int) -> ModelReply:
        spoken = await super().call(question, turns, max_tokens)
        return ModelReply(text=spoken.text, truncated=False, model="fake-1-dated", usage=USED, request_id="req-1")


@pytest.fixture
def spans() -> Iterator[Spans]:
    with recorded() as spans:
        yield spans


async def ask(calls: FakeCalls) -> None:
    await GuardedCalls(calls, 8, None).call(QUESTION, (ChatTurn("user", QUESTION.user_prompt),), 2_048)


async def test_a_call_span_records_the_model_and_all_input_tokens_including_cached_tokens(spans: Spans) -> None:
    await ask(Cached())
    span = spans.named("chat fake-1")
    assert span.kind is SpanKind.CLIENT
    assert dict(span.attributes or {}) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "fake",
        "gen_ai.request.model": "fake-1",
        "gen_ai.response.model": "fake-1-dated",
        "gen_ai.usage.input_tokens": 947,
        "gen_ai.usage.output_tokens": 100,
        "gen_ai.response.id": "req-1",
    }


async def test_a_failed_call_span_has_error_status_and_no_usage(spans: Spans) -> None:
    calls = FakeCalls()
    calls.failures.append(Retryable("gone"))
    with pytest.raises(Retryable):
        await ask(calls)
    span = spans.named("chat fake-1")
    assert span.status.status_code is StatusCode.ERROR
    assert not [name for name in span.attributes or {} if "usage" in name or "response" in name]


async def test_no_call_span_contains_message_content(spans: Spans) -> None:
    await ask(Cached())
    assert spans.names == ["chat fake-1"]
    assert SECRET not in str([span.to_json() for span in spans.ended])
