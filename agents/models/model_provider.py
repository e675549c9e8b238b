"""The provider behind which a model answers, wherever it runs: asks the port's questions and checks what comes back."""

from collections.abc import Sequence
from typing import TypeVar

from agents.models.answers.candidates import check
from agents.models.answers.ratings import checked_ratings
from agents.models.answers.replies import Reply
from agents.models.answers.summaries import estimated_tokens, fitted
from agents.models.billing import Energy, Work, spending
from agents.models.calls.breaker import BreakerState
from agents.models.calls.cost_bounds import Bounds
from agents.models.calls.exchange import Calls, Exchange, exchange
from agents.models.calls.guarded_calls import GuardedCalls
from agents.models.calls.metering import Meter
from agents.models.port import Answer, Compaction, Context, Rating, Resolution, ShortText, Subject, Summary
from agents.models.prompts import compaction, rating, reranking, resolving, shortening
from agents.models.prompts.extraction import MOST_TOKENS
from agents.models.prompts.questions import Question, extraction_question, summary_question
from schemas.extraction.candidates import Candidate
from schemas.extraction.requests import ExtractionRequest
from schemas.memories.memories import Memory
from schemas.policies.policies import Policy
from streams.windows.tokens.counting import TokenCount

T = TypeVar("T")


class ModelProvider:
    """Asks through `calls`, whose name is stored with what is answered.

    With `count_tokens` answers say what their calls sent; without it they do not, and tokens of texts are estimated. Of a
    slice about `most_tokens` are shown at most. With `energy` nothing is asked beyond a budget: Deferred is raised.
    """

    def __init__(
        self,
        calls: Calls,
        count_tokens: TokenCount | None = None,
        most_tokens: int = MOST_TOKENS,
        energy: Energy | None = None,
    ) -> None:
        self.name = calls.name
        self.leaves_machine = calls.leaves_machine
        self._calls = calls
        self._counting = count_tokens
        self._most_tokens = most_tokens
        self._meter = Meter(count_tokens) if count_tokens else None
        self._count_tokens = count_tokens or estimated_tokens
        self._bounds = Bounds(self._count_tokens)
        self._energy = energy

    def breaker_state(self) -> BreakerState | None:
        """None where nothing guards the calls."""
        return self._calls.breaker_state() if isinstance(self._calls, GuardedCalls) else None

    def through(self, calls: Calls, energy: Energy | None) -> "ModelProvider":
        """The same provider over other calls and budgets."""
        return ModelProvider(calls, self._counting, self._most_tokens, energy)

    async def extract(self, request: ExtractionRequest, context: Context) -> Answer:
        """Raises as the port says; `unreadable` and `truncated` are reasons of Rejected after the second attempt."""
        exchange = await self._exchange(self.question(request, context))
        reply = exchange.reply
        checked = check(reply.drafts, request, context, self._count_tokens)
        return Answer(
            provider=self.name,
            model=exchange.model,
            proposals=checked.proposals,
            usage=exchange.usage,
            rejected=checked.rejected,
            ratings=checked_ratings(reply.ratings, request) if context.policy.window.rate_messages else {},
            calls=exchange.calls,
        )

    async def summarise(self, request: ExtractionRequest, policy: Policy) -> Summary:
        """Raises as `extract` does. A summary of which nothing may be kept leaves what was said before."""
        exchange = await self._exchange(summary_question(request, policy, self._most_tokens))
        text = self._fitted(exchange.reply, policy) or self._fitted(request.summary, policy)
        return Summary(provider=self.name, model=exchange.model, text=text, usage=exchange.usage, calls=exchange.calls)

    def _fitted(self, text: str, policy: Policy) -> str:
        return fitted(text, policy.window.summary_tokens, self._count_tokens, policy.privacy)

    async def compact(self, memories: Sequence[Memory], policy: Policy) -> Compaction:
        """Raises as the port says; `unreadable` is also the reason for a decision that breaks a rule twice."""
        shown = compaction.candidates(memories)
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

    async def score(self, subject: Subject, policy: Policy) -> Rating:
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
        self, candidates: Sequence[Candidate], memories: Sequence[Memory], policy: Policy, namespace: str
    ) -> Resolution:
        """Raises as `compact` does."""
        asked = resolving.question(candidates, memories, policy, namespace, self._count_tokens)
        exchange = await self._exchange(asked)
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
        """The places of the texts that help to answer the query, the best first, in one model call. Raises as `compact` does."""
        asked = reranking.question(query, texts, policy, namespaces, local_only=local_only)
        return (await self._exchange(asked)).reply

    async def trouble(self) -> str | None:
        """As the port says."""
        return await self._calls.trouble()

    async def _exchange(self, question: Question[T]) -> Exchange[T]:
        if self._energy is None:
            return await exchange(self._calls, question, self._meter)
        async with spending(self._energy, self.work(question)) as tab:
            return await exchange(self._calls, question, self._meter, tab)

    def question(self, request: ExtractionRequest, context: Context) -> Question[Reply]:
        """What `extract` asks."""
        return extraction_question(request, context, self._most_tokens, self._count_tokens)

    def work(self, question: Question[T]) -> Work:
        """What a question may come to, for budgets."""
        return Work(
            operation=question.purpose,
            payer=question.payer,
            provider=self.name,
            model=self._calls.model(question),
            most=self._bounds.of(self._calls, question),
        )
