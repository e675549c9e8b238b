"""A provider's calls, within its limits and not while it is down: whatever is asked of it goes through here."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from opentelemetry.trace import Span, SpanKind

from agents.models.answers.summaries import estimated_tokens
from agents.models.calls.breaker import Breaker, BreakerState
from agents.models.calls.exchange import Calls, ChatTurn, ModelReply
from agents.models.calls.rate_limits import Limits, RateLimited, actual_cost, expected_cost
from agents.models.prompts.questions import Question
from schemas.errors import Rejected, Retryable
from schemas.observability import traces

log = logging.getLogger(__name__)

# A request that has to wait for longer is not held here: it goes back to whoever asks, and to the next provider of several.
LONGEST_WAIT_S: Final = 60.0


class GuardedCalls:
    """`calls` with at most `concurrency` at a time, within `tokens_per_minute` and what the server tells of its limits.

    While `breaker` is open nothing is asked.
    """

    def __init__(
        self,
        calls: Calls,
        concurrency: int,
        tokens_per_minute: int | None = None,
        breaker: Breaker | None = None,
        clock: Callable[[], float] | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.name = calls.name
        self.leaves_machine = calls.leaves_machine
        self.larger_max_tokens = calls.larger_max_tokens
        self._calls = calls
        self._slots = asyncio.Semaphore(concurrency)
        self._tokens_per_minute = tokens_per_minute
        self._breaker = breaker or Breaker()
        self._limits: dict[str, Limits] = {}
        self._clock = clock or (lambda: asyncio.get_running_loop().time())
        self._sleep = sleep

    def model(self, question: Question[Any]) -> str:
        return self._calls.model(question)

    def fixed(self, question: Question[Any]) -> tuple[str, ...]:
        return self._calls.fixed(question)

    def breaker_state(self) -> BreakerState:
        return self._breaker.state(self._clock())

    async def trouble(self) -> str | None:
        wait_s = self._breaker.wait_s(self._clock())
        return self._left_alone(wait_s) if wait_s else await self._calls.trouble()

    async def call(self, question: Question[Any], turns: Sequence[ChatTurn], max_tokens: int) -> ModelReply:
        """Raises as the calls do; Retryable also while the provider is left alone, Throttled where the wait would be long."""
        texts = [*self.fixed(question), *(turn.text for turn in turns)]
        expected = expected_cost(sum(map(estimated_tokens, texts)))
        limits = self._limits.setdefault(self.model(question), Limits(self._tokens_per_minute))
        async with self._slots:
            while (wait_s := limits.wait_s(self._clock(), expected)) > 0:
                if wait_s > LONGEST_WAIT_S:
                    raise RateLimited(f"{self.name} has no room for this within {wait_s:.0f} s", wait_s)
                await self._sleep(wait_s)
            if wait_s := self._breaker.wait_s(self._clock()):
                raise Retryable(self._left_alone(wait_s))
            limits.take(self._clock(), expected)
            begun = self._clock()
            with traces.span(
                f"chat {self.model(question)}", asked(self.name, self.model(question)), kind=SpanKind.CLIENT
            ) as span:
                spoken = await self._with_timeout(limits, self._calls.call(question, turns, max_tokens))
                describe(span, spoken)
        log.info("%s", error_text(self.name, question, spoken, self._clock() - begun))
        limits.correct(self._clock(), expected, actual_cost(spoken.usage))
        limits.set_remaining(self._clock(), spoken.allowances)
        return spoken

    async def _with_timeout(self, limits: Limits, call: Awaitable[ModelReply]) -> ModelReply:
        """Tells the breaker how the call ended."""
        self._breaker.started()
        try:
            spoken = await call
        except RateLimited as throttled:
            self._breaker.answered()
            limits.set_remaining(self._clock(), throttled.allowances)
            limits.close(self._clock(), throttled.wait_s or 0.0)
            raise
        except Retryable:
            self._failed()
            raise
        except Rejected:
            self._breaker.answered()
            raise
        except BaseException:  # a wrong set-up or a cancelled call: neither up nor down
            self._breaker.abandoned()
            raise
        self._breaker.answered()
        return spoken

    def _failed(self) -> None:
        now = self._clock()
        was_open = self._breaker.state(now) != "closed"
        self._breaker.failed(now)
        if not was_open and self._breaker.state(now) == "open":
            log.warning("%s", self._left_alone(self._breaker.wait_s(now)))

    def _left_alone(self, wait_s: float) -> str:
        return f"{self.name} failed {self._breaker.outages} times in a row and is left alone for another {wait_s:.0f} s"


def error_text(provider: str, question: Question[Any], spoken: ModelReply, took_s: float) -> str:
    """One line a call: nothing of what was said."""
    used = spoken.usage
    return (
        f"{provider} {question.purpose}: {spoken.model} took {took_s:.1f} s, tokens in {used.input_tokens}, "
        f"out {used.output_tokens}, cache read {used.cache_read_tokens}, cache write {used.cache_write_tokens}, "
        f"request {spoken.request_id or 'without an id'}"
    )


def asked(provider: str, model: str) -> dict[str, str]:
    """By OpenTelemetry's conventions for generative AI."""
    return {"gen_ai.operation.name": "chat", "gen_ai.provider.name": provider, "gen_ai.request.model": model}


def describe(span: Span, spoken: ModelReply) -> None:
    """What a call used: nothing of what was said."""
    used = spoken.usage
    span.set_attribute("gen_ai.response.model", spoken.model)
    span.set_attribute(
        "gen_ai.usage.input_tokens", used.input_tokens + used.cache_read_tokens + used.cache_write_tokens
    )
    span.set_attribute("gen_ai.usage.output_tokens", used.output_tokens)
    if spoken.request_id:
        span.set_attribute("gen_ai.response.id", spoken.request_id)
