"""A provider for any model: asks the questions of the port and checks the answers."""

from collections.abc import Sequence
from typing import TypeVar

from agents.models.answers.candidates import check_drafts
from agents.models.answers.replies import ExtractionReply, checked_ratings
from agents.models.answers.shared_answers import check_shared
from agents.models.answers.summaries import estimated_tokens, fitted_summary
from agents.models.billing import BudgetGuard, PricedWork, reserved_budget, split_usage
from agents.models.calls.breaker import BreakerState
from agents.models.calls.cost_bounds import CostBounds
from agents.models.calls.exchange import Exchange, ModelCalls, exchange
from agents.models.calls.guarded_calls import GuardedCalls
from agents.models.calls.metering import Meter
from agents.models.port import (
    Answer,
    Compaction,
    Context,
    MemoryToRate,
    Rating,
    Resolution,
    ShortText,
    Summary,
    merge_contexts,
)
from agents.models.prompts import compaction, rating, reranking, resolving, shortening
from agents.models.prompts.extraction import MAX_SLICE_TOKENS, with_memories_shown
from agents.models.prompts.questions import Question, extraction_question, shared_question, summary_question
from agents.models.prompts.transcript import tokens_of
from schemas.errors import Rejected
from schemas.extraction.candidates import Candidate, CandidateBatch
from schemas.extraction.requests import ExtractionRequest
from schemas.memories.memories import Memory
from schemas.policies.policies import Policy
from streams.windows.tokens.counting import TokenCount

T = TypeVar("T")


class ModelProvider:
    """Asks questions through `calls`, whose name is stored with the answers.

    With `count_tokens` answers include the tokens of their prompts; without it token numbers are estimated. A prompt shows
    at most about `max_tokens` of a slice. With `budget_guard` calls beyond a budget raise Deferred.
    """

    def __init__(
        self,
        calls: ModelCalls,
        count_tokens: TokenCount | None = None,
        max_tokens: int = MAX_SLICE_TOKENS,
        budget_guard: BudgetGuard | None = None,
    ) -> None:
        self.name = calls.name
        self.leaves_machine = calls.leaves_machine
        self.shares_calls = True
        self._calls = calls
        self._counting = count_tokens
        self._max_tokens = max_tokens
        self._meter = Meter(count_tokens) if count_tokens else None
        self._count_tokens = count_tokens or estimated_tokens
        self._bounds = CostBounds(self._count_tokens)
        self._budget_guard = budget_guard

    def breaker_state(self) -> BreakerState | None:
        """The breaker's state; None without a breaker."""
        return self._calls.breaker_state() if isinstance(self._calls, GuardedCalls) else None

    def with_calls(self, calls: ModelCalls, budget_guard: BudgetGuard | None) -> "ModelProvider":
        """A copy of this provider that makes other calls within other budgets."""
        return ModelProvider(calls, self._counting, self._max_tokens, budget_guard)

    async def extract(self, request: ExtractionRequest, context: Context) -> Answer:
        """Raises as the port says; Rejected `unreadable` or `truncated` after the second attempt."""
        context = with_memories_shown(context, request)
        exchange = await self._exchange(self.question(request, context))
        reply = exchange.reply
        checked = check_drafts(reply.drafts, request, context, self._count_tokens)
        return Answer(
            provider=self.name,
            model=exchange.model,
            proposals=checked.proposals,
            usage=exchange.usage,
            rejected=checked.rejected,
            ratings=checked_ratings(reply.ratings, request) if context.policy.window.rate_messages else {},
            calls=exchange.calls,
        )

    async def extract_together(self, slices: Sequence[tuple[ExtractionRequest, Context]]) -> tuple[Answer, ...]:
        """Raises as `extract` does, and Rejected `too_long`, before any call, if the slices do not fit one prompt. The cost
        is split by the slices' tokens."""
        requests = [request for request, _ in slices]
        if (tokens := sum(tokens_of(each) for request in requests for each in request.messages)) > self._max_tokens:
            raise Rejected("too_long", f"{tokens:,} tokens together, of which {self._max_tokens:,} would be shown")
        context = with_memories_shown(merge_contexts(context for _, context in slices), *requests)
        question = shared_question(requests, context, self._max_tokens, self._count_tokens)
        exchange = await self._exchange(question)
        checked = check_shared(exchange.reply.drafts, requests, context, self._count_tokens)
        usages = split_usage(exchange.usage, [sum(map(tokens_of, request.messages)) for request in requests])
        return tuple(
            Answer(
                provider=self.name,
                model=exchange.model,
                proposals=each.proposals,
                usage=usage,
                rejected=each.rejected,
                calls=exchange.calls if number == 0 else (),
            )
            for number, (each, usage) in enumerate(zip(checked, usages, strict=True))
        )

    async def summarise(self, request: ExtractionRequest, policy: Policy) -> Summary:
        """Raises as `extract` does. If the summary fails its checks, the earlier one stays."""
        exchange = await self._exchange(summary_question(request, policy, self._max_tokens))
        text = self._fitted(exchange.reply, policy) or self._fitted(request.summary, policy)
        return Summary(provider=self.name, model=exchange.model, text=text, usage=exchange.usage, calls=exchange.calls)

    def _fitted(self, text: str, policy: Policy) -> str:
        return fitted_summary(text, policy.window.summary_tokens, self._count_tokens, policy.privacy)

    async def compact(self, memories: Sequence[Memory], policy: Policy) -> Compaction:
        """Raises as the port says; `unreadable` is also the reason for a decision that breaks a rule twice."""
        shown = compaction.memories_to_show(memories)
        exchange = await self._exchange(compaction.question(shown, policy, self._count_tokens))
        step = exchange.reply
        return Compaction(
            provider=self.name,
            model=exchange.model,
            action=step.action,
            memory_id=step.memory_id,
            reason=step.reason,
            text=step.text,
            absorbs=step.absorbs,
            usage=exchange.usage,
            calls=exchange.calls,
        )

    async def score(self, subject: MemoryToRate, policy: Policy) -> Rating:
        """Raises as `compact` does."""
        exchange = await self._exchange(rating.question(subject, policy))
        return Rating(
            provider=self.name,
            model=exchange.model,
            points=exchange.reply.points,
            reason=exchange.reply.reason,
            usage=exchange.usage,
            calls=exchange.calls,
        )

    async def shorten(self, full_text: str, policy: Policy, namespace: str | None = None) -> ShortText:
        """Raises as `compact` does."""
        exchange = await self._exchange(shortening.question(full_text, policy, self._count_tokens, namespace))
        return ShortText(
            provider=self.name, model=exchange.model, text=exchange.reply, usage=exchange.usage, calls=exchange.calls
        )

    async def resolve(
        self, candidates: Sequence[Candidate], memories: Sequence[Memory], policy: Policy, batch: CandidateBatch
    ) -> Resolution:
        """Raises as `compact` does."""
        question = resolving.question(candidates, memories, policy, batch, self._count_tokens)
        exchange = await self._exchange(question)
        return Resolution(
            provider=self.name,
            model=exchange.model,
            verdicts=exchange.reply,
            usage=exchange.usage,
            calls=exchange.calls,
        )

    async def rerank(
        self, query: str, texts: Sequence[str], policy: Policy, namespaces: Sequence[str], *, local_only: bool
    ) -> list[int]:
        """The places in `texts` of those that help to answer the query, best first, from one model call. Raises as `compact`
        does."""
        question = reranking.question(query, texts, policy, namespaces, local_only=local_only)
        return (await self._exchange(question)).reply

    async def unavailable_reason(self) -> str | None:
        return await self._calls.unavailable_reason()

    async def _exchange(self, question: Question[T]) -> Exchange[T]:
        if self._budget_guard is None:
            return await exchange(self._calls, question, self._meter)
        async with reserved_budget(self._budget_guard, self.work(question)) as bills:
            return await exchange(self._calls, question, self._meter, bills)

    def question(self, request: ExtractionRequest, context: Context) -> Question[ExtractionReply]:
        """The question that `extract` asks."""
        return extraction_question(request, context, self._max_tokens, self._count_tokens)

    def work(self, question: Question[T]) -> PricedWork:
        """The maximum cost of a question, for budgets."""
        return PricedWork(
            operation=question.purpose,
            payer=question.payer,
            provider=self.name,
            model=self._calls.model(question),
            max_usage=self._bounds.of(self._calls, question),
        )
