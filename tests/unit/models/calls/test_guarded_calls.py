"""Model calls within rate limits and a circuit breaker, in virtual time."""

import asyncio
import logging
from typing import Any

import pytest

from agents.models.calls.breaker import Breaker
from agents.models.calls.exchange import ChatTurn, ModelReply
from agents.models.calls.guarded_calls import MAX_WAIT_S, GuardedCalls
from agents.models.calls.rate_limits import Allowance, RateLimited
from agents.models.prompts.questions import Question, extraction_question
from schemas.errors import Misconfigured, Rejected, Retryable
from tests.builders.slices import knowing, slice_of
from tests.fakes.calls import FakeCalls

QUESTION: Question[Any] = extraction_question(slice_of("I live in Turin."), knowing())
TURNS = (ChatTurn("user", QUESTION.user_prompt),)
OUTAGE = Retryable("gone")


@pytest.fixture
def calls() -> FakeCalls:
    return FakeCalls()


def guarded(calls: FakeCalls, concurrency: int = 8, tokens_per_minute: int | None = None) -> GuardedCalls:
    return GuardedCalls(calls, concurrency, tokens_per_minute, Breaker(max_outages=3, cool_down_s=30.0))


async def ask(guarded: GuardedCalls) -> ModelReply:
    return await guarded.call(QUESTION, TURNS, 2_048)


async def broken(guarded: GuardedCalls, calls: FakeCalls) -> None:
    """Three outages, so that the breaker is open."""
    calls.failures.extend([OUTAGE] * 3)
    for _ in range(3):
        with pytest.raises(Retryable, match="gone"):
            await ask(guarded)


async def test_the_number_of_concurrent_calls_is_bounded(calls: FakeCalls) -> None:
    limited = guarded(calls, concurrency=2)
    await asyncio.gather(*(ask(limited) for _ in range(6)))
    assert calls.most == 2 and len(calls.asked_at) == 6


async def test_calls_wait_when_the_tokens_per_minute_limit_is_used_up(calls: FakeCalls) -> None:
    limited = guarded(calls, tokens_per_minute=6_000)
    for _ in range(9):
        await ask(limited)
    # 6,000 are there at once and 100 more a second; each call is billed 1,000 and takes a second.
    assert calls.asked_at[-1] >= 20.0


async def test_calls_wait_for_the_rate_limit_that_the_server_reports(calls: FakeCalls) -> None:
    limited = guarded(calls)
    calls.allowances = (Allowance("requests", 60, 0),)
    await ask(limited)
    await ask(limited)
    assert calls.asked_at[1] >= 2.0


async def test_a_call_that_would_wait_too_long_raises_rate_limited(calls: FakeCalls) -> None:
    limited = guarded(calls)
    calls.failures.append(RateLimited("slow down", wait_s=MAX_WAIT_S * 2))
    with pytest.raises(RateLimited, match="slow down"):
        await ask(limited)
    with pytest.raises(RateLimited, match="allows this call only in 120 s"):
        await ask(limited)
    assert len(calls.asked_at) == 1


async def test_the_pause_requested_by_the_server_is_respected(calls: FakeCalls) -> None:
    limited = guarded(calls)
    calls.failures.append(RateLimited("slow down", wait_s=20.0))
    with pytest.raises(RateLimited):
        await ask(limited)
    await ask(limited)
    assert calls.asked_at[1] >= 21.0


async def test_rate_limit_errors_do_not_open_the_breaker(calls: FakeCalls) -> None:
    limited = guarded(calls)
    calls.failures.extend(RateLimited("slow down") for _ in range(9))
    for _ in range(9):
        with pytest.raises(RateLimited):
            await ask(limited)
    assert (await ask(limited)).model == "fake-1"


async def test_a_provider_that_is_down_is_not_called_during_the_cool_down(calls: FakeCalls) -> None:
    limited = guarded(calls)
    await broken(limited, calls)
    with pytest.raises(Retryable, match="fake failed 3 times in a row: no calls for the next 30 s"):
        await ask(limited)
    assert len(calls.asked_at) == 3
    assert "no calls for the next" in str(await limited.unavailable_reason())


async def test_one_probe_decides_whether_calls_to_the_provider_resume(calls: FakeCalls) -> None:
    limited = guarded(calls)
    await broken(limited, calls)
    await asyncio.sleep(31)
    answers = await asyncio.gather(*(ask(limited) for _ in range(5)), return_exceptions=True)
    assert [isinstance(each, Retryable) for each in answers] == [False, True, True, True, True]
    assert len(calls.asked_at) == 4
    assert await limited.unavailable_reason() is None
    assert len(await asyncio.gather(*(ask(limited) for _ in range(5)))) == 5


@pytest.mark.parametrize("outcome", [Rejected("refused", "no"), None])
async def test_an_answer_or_a_rejection_between_outages_keeps_the_breaker_closed(
    calls: FakeCalls, outcome: Exception | None
) -> None:
    limited = guarded(calls)
    for _ in range(5):
        calls.failures.extend([OUTAGE, OUTAGE])
        for _ in range(2):
            with pytest.raises(Retryable):
                await ask(limited)
        if outcome is None:
            await ask(limited)
        else:
            calls.failures.append(outcome)
            with pytest.raises(type(outcome)):
                await ask(limited)
    assert await limited.unavailable_reason() is None


async def test_a_cancelled_probe_allows_another_probe(calls: FakeCalls) -> None:
    limited = guarded(calls)
    await broken(limited, calls)
    await asyncio.sleep(31)
    probe = asyncio.create_task(ask(limited))
    await asyncio.sleep(0.5)
    probe.cancel()
    await asyncio.gather(probe, return_exceptions=True)
    assert (await ask(limited)).model == "fake-1"


async def test_misconfiguration_errors_do_not_open_the_breaker(calls: FakeCalls) -> None:
    limited = guarded(calls)
    calls.failures.extend(Misconfigured("no such model") for _ in range(5))
    for _ in range(5):
        with pytest.raises(Misconfigured):
            await ask(limited)
    assert await limited.unavailable_reason() is None


async def test_each_call_is_logged_in_one_line_without_message_content(
    calls: FakeCalls, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    await ask(guarded(calls))
    (line,) = [record.getMessage() for record in caplog.records]
    assert line.startswith("fake extract: fake-1 took 1.0 s, tokens in 900, out 100")
    assert "Turin" not in line
