"""Guards the calls to a provider: limits how many run at once, obeys rate limits, and stops while a circuit breaker is open."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from opentelemetry.trace import Span, SpanKind

from agents.models.answers.summaries import estimated_tokens
from agents.models.calls.breaker import Breaker, BreakerState
from agents.models.calls.exchange import ChatTurn, ModelCalls, ModelReply
from agents.models.calls.rate_limits import RateLimited, RateLimits, actual_cost, expected_cost
from agents.models.prompts.questions import Question
from schemas.errors import Rejected, Retryable
from schemas.observability import traces

log = logging.getLogger(__name__)

MAX_WAIT_S: Final = 60.0  # for a rate limit


class GuardedCalls:
    """Makes at most `concurrency` calls at a time, within `tokens_per_minute` and the limits that the server reports.

    No call is made while `breaker` is open. A wait for a rate limit of more than `max_wait_s` seconds raises Retryable: the
    request is retried later, or goes to the next provider.
    """

    def __init__(
        self,
        calls: ModelCalls,
        concurrency: int,
        tokens_per_minute: int | None = None,
        breaker: Breaker | None = None,
        clock: Callable[[], float] | None = None,
        max_wait_s: float = MAX_WAIT_S,
    ) -> None:
        self.name = calls.name
        self.leaves_machine = calls.leaves_machine
        self.max_reply_tokens = calls.max_reply_tokens
        self._calls = calls
        self._slots = asyncio.Semaphore(concurrency)
        self._tokens_per_minute = tokens_per_minute
        self._breaker = breaker or Breaker()
        self._limits: dict[str, RateLimits] = {}
        self._clock = clock or (lambda: asyncio.get_running_loop().time())

        self._max_wait_s = max_wait_s

    def model(self, question: Question[Any]) -> str:
        return self._calls.model(question)

    def fixed_texts(self, question: Question[Any]) -> tuple[str, ...]:
        return self._calls.fixed_texts(question)

    def breaker_state(self) -> BreakerState:
        return self._breaker.state(self._clock())

    async def unavailable_reason(self) -> str | None:
        wait_s = self._breaker.wait_s(self._clock())
        return self._circuit_open(wait_s) if wait_s else await self._calls.unavailable_reason()

    async def call(self, question: Question[Any], turns: Sequence[ChatTurn], max_tokens: int) -> ModelReply:
        """Raises as the calls do; also Retryable while the breaker is open, or if the wait for the rate limit would be long."""
        texts = [*self.fixed_texts(question), *(turn.text for turn in turns)]
        expected = expected_cost(sum(map(estimated_tokens, texts)))
        limits = self._limits.setdefault(self.model(question), RateLimits(self._tokens_per_minute))
        async with self._slots:
            while (wait_s := limits.wait_s(self._clock(), expected)) > 0:
                if wait_s > self._max_wait_s:
                    raise RateLimited(f"the rate limit of {self.name} allows this call only in {wait_s:.0f} s", wait_s)
                await asyncio.sleep(wait_s)
            if wait_s := self._breaker.wait_s(self._clock()):
                raise Retryable(self._circuit_open(wait_s))
            limits.take(self._clock(), expected)
            started_at = self._clock()
            with traces.span(
                f"chat {self.model(question)}", span_attributes(self.name, self.model(question)), kind=SpanKind.CLIENT
            ) as span:
                reply = await self._reported_to_breaker(limits, self._calls.call(question, turns, max_tokens))
                add_usage_attributes(span, reply)
        log.info("%s", call_summary(self.name, question, reply, self._clock() - started_at))
        limits.correct(self._clock(), expected, actual_cost(reply.usage))
        limits.set_remaining(self._clock(), reply.allowances)
        return reply

    async def _reported_to_breaker(self, limits: RateLimits, call: Awaitable[ModelReply]) -> ModelReply:
        """Awaits a call and reports its result to the breaker, and what the server says about rate limits to `limits`."""
        self._breaker.started()
        try:
            reply = await call
        except RateLimited as throttled:
            self._breaker.answered()
            limits.set_remaining(self._clock(), throttled.allowances)
            limits.block(self._clock(), throttled.wait_s or 0.0)
            raise
        except Retryable:
            self._failed()
            raise
        except Rejected:
            self._breaker.answered()
            raise
        except BaseException:  # a wrong configuration or a cancelled call says nothing about the provider's state
            self._breaker.abandoned()
            raise
        self._breaker.answered()
        return reply

    def _failed(self) -> None:
        now = self._clock()
        was_open = self._breaker.state(now) != "closed"
        self._breaker.failed(now)
        if not was_open and self._breaker.state(now) == "open":
            log.warning("%s", self._circuit_open(self._breaker.wait_s(now)))

    def _circuit_open(self, wait_s: float) -> str:
        return f"{self.name} failed {self._breaker.outages} times in a row: no calls for the next {wait_s:.0f} s"


def call_summary(provider: str, question: Question[Any], reply: ModelReply, took_s: float) -> str:
    """A log line about an answered call, without text of conversations."""
    used = reply.usage
    return (
        f"{provider} {question.purpose}: {reply.model} took {took_s:.1f} s, tokens in {used.input_tokens}, "
        f"out {used.output_tokens}, cache read {used.cache_read_tokens}, cache write {used.cache_write_tokens}, "
        f"request {reply.request_id or 'without an id'}"
    )


def span_attributes(provider: str, model: str) -> dict[str, str]:
    """Span attributes by OpenTelemetry's conventions for generative AI."""
    return {"gen_ai.operation.name": "chat", "gen_ai.provider.name": provider, "gen_ai.request.model": model}


def add_usage_attributes(span: Span, reply: ModelReply) -> None:
    """Adds a call's usage to its span, without text of conversations."""
    used = reply.usage
    span.set_attribute("gen_ai.response.model", reply.model)
    span.set_attribute(
        "gen_ai.usage.input_tokens", used.input_tokens + used.cache_read_tokens + used.cache_write_tokens
    )
    span.set_attribute("gen_ai.usage.output_tokens", used.output_tokens)
    if reply.request_id:
        span.set_attribute("gen_ai.response.id", reply.request_id)
