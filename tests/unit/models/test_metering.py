"""Token metering compares sent text with billed tokens, call by call."""

import json
from collections import Counter
from collections.abc import AsyncIterator

import pytest

from agents.models.calls.metering import MAX_CHARS, MIN_TOKENS, Meter
from agents.models.claude.provider import ClaudeProvider
from agents.models.port import MeasuredCall, Usage
from agents.models.prompts.questions import REPAIR
from schemas.policies.policies import DEFAULT_POLICY
from streams.windows.tokens.calibration import request_tokens
from tests.builders.slices import knowing, slice_of
from tests.servers.messages import KEY, MessagesServer

LONG = slice_of("I live in Turin.", *["It rains a lot in these weeks of the year. " * 20] * 10)
BILLED = Usage(input_tokens=3_000, output_tokens=99, cache_read_tokens=200, cache_write_tokens=10)


class Counting:
    """A token for four characters, and how often each text was counted."""

    def __init__(self) -> None:
        self.counted: Counter[str] = Counter()

    def __call__(self, text: str) -> int:
        self.counted[text] += 1
        return -(-len(text) // 4)


@pytest.fixture
def count() -> Counting:
    return Counting()


@pytest.fixture
async def provider(server: MessagesServer, count: Counting) -> AsyncIterator[ClaudeProvider]:
    claude = ClaudeProvider("claude-test-1", api_key=KEY, base_url=server.url, timeout_s=5.0, count_tokens=count)
    yield claude
    await claude.close()


def sent(body: dict) -> int:
    """Tokens of a request, counted by hand."""
    texts = [*(block["text"] for block in body["system"]), *(message["content"] for message in body["messages"])]
    texts.append(json.dumps(body["output_config"]["format"]["schema"]))
    return request_tokens(sum(-(-len(text) // 4) for text in texts), len(body["messages"]))


async def test_a_call_counts_system_schema_and_messages_against_all_billed_input_tokens(
    server: MessagesServer, provider: ClaudeProvider
) -> None:
    answer = await provider.extract(LONG, knowing())
    usage = answer.usage
    billed = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    assert answer.calls == (MeasuredCall(counted_tokens=sent(server.seen[0]), billed_tokens=billed),)
    assert billed > usage.input_tokens


async def test_a_repair_is_measured_as_a_separate_call_including_the_previous_answer(
    server: MessagesServer, provider: ClaudeProvider
) -> None:
    server.script("text:sorry")
    first, second = (await provider.extract(LONG, knowing())).calls
    assert [each.counted_tokens for each in (first, second)] == [sent(body) for body in server.seen]
    assert second.counted_tokens > first.counted_tokens + len(REPAIR) // 4


async def test_a_truncated_answer_is_measured_as_a_billed_call(
    server: MessagesServer, provider: ClaudeProvider
) -> None:
    server.script("truncated")
    calls = (await provider.extract(LONG, knowing())).calls
    assert [each.counted_tokens for each in calls] == [sent(body) for body in server.seen]
    assert len(calls) == 2


async def test_summary_calls_are_measured(server: MessagesServer, provider: ClaudeProvider) -> None:
    (call,) = (await provider.summarise(LONG, DEFAULT_POLICY)).calls
    assert call.counted_tokens == sent(server.seen[0])


async def test_text_shared_by_calls_is_counted_once(provider: ClaudeProvider, count: Counting) -> None:
    await provider.extract(LONG, knowing())
    await provider.extract(LONG, knowing())
    assert sorted(count.counted.values()) == [1, 1, 1, 2]


async def test_no_call_is_measured_without_a_token_counter(server: MessagesServer) -> None:
    claude = ClaudeProvider("claude-test-1", api_key=KEY, base_url=server.url)
    assert (await claude.extract(LONG, knowing())).calls == ()
    await claude.close()


async def test_a_short_request_dominated_by_schema_overhead_is_not_measured(provider: ClaudeProvider) -> None:
    assert (await provider.extract(slice_of("I live in Turin."), knowing())).calls == ()


@pytest.mark.parametrize(("chars", "measured"), [(4 * MIN_TOKENS - 100, 0), (4 * MIN_TOKENS, 1)])
def test_requests_below_the_minimum_tokens_are_not_measured(count: Counting, chars: int, measured: int) -> None:
    assert len(Meter(count).measured((), ("a" * chars,), BILLED)) == measured


def test_tokens_read_from_or_written_to_the_cache_are_billed(count: Counting) -> None:
    (call,) = Meter(count).measured(("system",), ("a" * 10_000,), BILLED)
    assert call.billed_tokens == 3_210


def test_a_text_too_long_to_count_without_blocking_the_event_loop_is_not_counted(count: Counting) -> None:
    assert Meter(count).measured((), ("a" * (MAX_CHARS + 1),), BILLED) == ()
    assert not count.counted
