"""A provider's calls within its limits and behind its breaker, in virtual time."""

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
from tests.fakes.calls import FakeCalls
from tests.slices import knowing, slice_of

QUESTION: Question[Any] = extraction_question(slice_of("I live in Turin."), knowing())
TURNS = (ChatTurn("user", QUESTION.user_prompt),)
OUTAGE = Retryable("gone")


@pytest.fixture
def calls() -> FakeCalls:
    return FakeCalls()


def guarded(calls: FakeCalls, concurrency: int = 8, tokens_per_minute: int | None = None) -> GuardedCalls:
    return GuardedCalls(calls, concurrency, tokens_per_minute, Breaker(most_outages=3, cool_down_s=30.0))


async def ask(guarded: GuardedCalls) -> ModelReply:
    return await guarded.call(QUESTION, TURNS, 2_048)


async def broken(guarded: GuardedCalls, calls: FakeCalls) -> None:
    """Three outages, so that the breaker is open."""
    calls.failures.extend([OUTAGE] * 3)
    for _ in range(3):
        with pytest.raises(Retryable, match="gone"):
            await ask(guarded)


async def test_no_more_calls_run_at_a_time_than_may(calls: FakeCalls) -> None:
    limited = guarded(calls, concurrency=2)
    await asyncio.gather(*(ask(limited) for _ in range(6)))
    assert calls.most == 2 and len(calls.asked_at) == 6


async def test_calls_wait_for_tokens_of_the_minute(calls: FakeCalls) -> None:
    limited = guarded(calls, tokens_per_minute=6_000)
    for _ in range(9):
        await ask(limited)
    # 6,000 are there at once and 100 more a second; each call is billed 1,000 and takes a second.
    assert calls.asked_at[-1] >= 20.0


async def test_calls_wait_as_the_server_tells_rather_than_run_into_its_limit(calls: FakeCalls) -> None:
    limited = guarded(calls)
    calls.allowances = (Allowance("requests", 60, 0),)
    await ask(limited)
    await ask(limited)
    assert calls.asked_at[1] >= 2.0


async def test_call_that_would_wait_for_long_is_not_held(calls: FakeCalls) -> None:
    limited = guarded(calls)
    calls.failures.append(RateLimited("slow down", wait_s=MAX_WAIT_S * 2))
    with pytest.raises(RateLimited, match="slow down"):
        await ask(limited)
    with pytest.raises(RateLimited, match="allows this call only in 120 s"):
        await ask(limited)
    assert len(calls.asked_at) == 1


async def test_pause_that_the_server_asks_for_is_kept(calls: FakeCalls) -> None:
    limited = guarded(calls)
    calls.failures.append(RateLimited("slow down", wait_s=20.0))
    with pytest.raises(RateLimited):
        await ask(limited)
    await ask(limited)
    assert calls.asked_at[1] >= 21.0


async def test_being_asked_for_fewer_calls_is_no_outage(calls: FakeCalls) -> None:
    limited = guarded(calls)
    calls.failures.extend(RateLimited("slow down") for _ in range(9))
    for _ in range(9):
        with pytest.raises(RateLimited):
            await ask(limited)
    assert (await ask(limited)).model == "fake-1"


async def test_provider_that_is_down_is_not_asked_until_it_had_time(calls: FakeCalls) -> None:
    limited = guarded(calls)
    await broken(limited, calls)
    with pytest.raises(Retryable, match="fake failed 3 times in a row: no calls for the next 30 s"):
        await ask(limited)
    assert len(calls.asked_at) == 3
    assert "no calls for the next" in str(await limited.unavailable_reason())


async def test_one_probe_decides_whether_it_is_asked_again(calls: FakeCalls) -> None:
    limited = guarded(calls)
    await broken(limited, calls)
    await asyncio.sleep(31)
    answers = await asyncio.gather(*(ask(limited) for _ in range(5)), return_exceptions=True)
    assert [isinstance(each, Retryable) for each in answers] == [False, True, True, True, True]
    assert len(calls.asked_at) == 4
    assert await limited.unavailable_reason() is None
    assert len(await asyncio.gather(*(ask(limited) for _ in range(5)))) == 5


@pytest.mark.parametrize("outcome", [Rejected("refused", "no"), None])
async def test_what_answers_is_up(calls: FakeCalls, outcome: Exception | None) -> None:
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


async def test_probe_that_is_cancelled_leaves_room_for_another(calls: FakeCalls) -> None:
    limited = guarded(calls)
    await broken(limited, calls)
    await asyncio.sleep(31)
    probe = asyncio.create_task(ask(limited))
    await asyncio.sleep(0.5)
    probe.cancel()
    await asyncio.gather(probe, return_exceptions=True)
    assert (await ask(limited)).model == "fake-1"


async def test_wrong_set_up_says_nothing_of_whether_it_is_up(calls: FakeCalls) -> None:
    limited = guarded(calls)
    calls.failures.extend(Misconfigured("no such model") for _ in range(5))
    for _ in range(5):
        with pytest.raises(Misconfigured):
            await ask(limited)
    assert await limited.unavailable_reason() is None


async def test_each_call_is_one_line_of_the_log_without_what_was_said(
    calls: FakeCalls, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    await ask(guarded(calls))
    (line,) = [record.getMessage() for record in caplog.records]
    assert line.startswith("fake extract: fake-1 took 1.0 s, tokens in 900, out 100")
    assert "Turin" not in line
