"""A provider that uses the first available of several providers."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeVar

from agents.models.local_only import require_local
from agents.models.port import Answer, Compaction, Context, Provider, Rating, Resolution, ShortText, Subject, Summary
from schemas.errors import Deferred, Misconfigured, Retryable
from schemas.extraction.candidates import Candidate, CandidateBatch
from schemas.extraction.requests import ExtractionRequest
from schemas.memories.memories import Memory
from schemas.policies.policies import Policy

T = TypeVar("T")
log = logging.getLogger(__name__)

CHECK_INTERVAL_S: Final = 5.0


class AutoProvider:
    """Tries `providers` in order. Skips one that is unavailable, cooling down after outages, or fails temporarily. If none
    is left the request waits.

    Without the offline rules at the end of the list, requests wait while every model is down instead of getting worse
    answers. A Rejected is final: the next provider would receive what the first one refused, and the rules would mostly
    return an empty list, which looks like a conversation without memories. A dead letter can be replayed.

    If a budget is spent the request waits, unless its policy allows providers on this machine then.
    """

    name = "auto"

    def __init__(self, providers: Sequence[Provider], clock: Callable[[], float] | None = None) -> None:
        if not providers:
            raise Misconfigured("provider auto has no providers to choose from: name one in MEMSTREAM_PROVIDER_ORDER")
        self.providers = tuple(providers)
        self.leaves_machine = all(provider.leaves_machine for provider in providers)
        self.shares_calls = any(provider.shares_calls for provider in providers)
        self._checks = {provider.name: AvailabilityCheck(provider, clock or now) for provider in providers}

    def __repr__(self) -> str:
        return f"AutoProvider({', '.join(provider.name for provider in self.providers)})"

    async def extract(self, request: ExtractionRequest, context: Context) -> Answer:
        return await self._first(context.policy, lambda provider: provider.extract(request, context))

    async def extract_together(self, slices: Sequence[tuple[ExtractionRequest, Context]]) -> tuple[Answer, ...]:
        return await self._first(slices[0][1].policy, lambda provider: provider.extract_together(slices))

    async def summarise(self, request: ExtractionRequest, policy: Policy) -> Summary:
        return await self._first(policy, lambda provider: provider.summarise(request, policy))

    async def compact(self, memories: Sequence[Memory], policy: Policy) -> Compaction:
        return await self._first(policy, lambda provider: provider.compact(memories, policy))

    async def score(self, subject: Subject, policy: Policy) -> Rating:
        return await self._first(policy, lambda provider: provider.score(subject, policy))

    async def shorten(self, full_text: str, policy: Policy, namespace: str | None = None) -> ShortText:
        return await self._first(policy, lambda provider: provider.shorten(full_text, policy, namespace))

    async def resolve(
        self, candidates: Sequence[Candidate], memories: Sequence[Memory], policy: Policy, batch: CandidateBatch
    ) -> Resolution:
        return await self._first(policy, lambda provider: provider.resolve(candidates, memories, policy, batch))

    async def unavailable_reason(self) -> str | None:
        """The reasons of all providers; None if one is available."""
        troubles = [await self._checks[provider.name].unavailable_reason() for provider in self.providers]
        return None if None in troubles else "; ".join(str(each) for each in troubles)

    async def close(self) -> None:
        for provider in self.providers:
            await provider.close()

    async def _first(self, policy: Policy, ask: Callable[[Provider], Awaitable[T]]) -> T:
        """The answer of the first available provider. A `local_only` policy skips providers on other machines."""
        require_local(policy.local_only, self)
        passed: list[str] = []
        spent: Deferred | None = None
        for provider in self.providers:
            if provider.leaves_machine and (policy.local_only or spent is not None):
                continue
            trouble = await self._checks[provider.name].unavailable_reason()
            if trouble is None:
                try:
                    return await ask(provider)
                except Deferred as exc:
                    if exc.reason != "budget" or policy.on_spent_budget == "wait":
                        raise
                    spent, trouble = spent or exc, f"the budget has no room for {provider.name}"
                    log.info("%s: asking a provider on this machine instead", trouble)
                except Retryable as exc:
                    trouble = exc.plain
                    log.warning("skipping provider %s for this call: %s", provider.name, trouble)
                except Misconfigured:
                    # The model may have been removed since the last check. A wrong key is raised: the provider would be skipped
                    # for ever without notice.
                    trouble = await self._checks[provider.name].look()
                    if trouble is None:
                        raise
            passed.append(trouble)
        if spent is not None:
            raise spent
        raise Retryable(f"no provider can answer: {'; '.join(passed)}")


class AvailabilityCheck:
    """Caches a provider's availability for CHECK_INTERVAL_S seconds."""

    def __init__(self, provider: Provider, clock: Callable[[], float]) -> None:
        self._provider = provider
        self._clock = clock
        self._looking = asyncio.Lock()
        self._until = float("-inf")
        self._trouble: str | None = None

    async def unavailable_reason(self) -> str | None:
        async with self._looking:
            return self._trouble if self._clock() < self._until else await self.look()

    async def look(self) -> str | None:
        """Checks now, and logs a change of availability."""
        was, self._trouble = self._trouble, await self._provider.unavailable_reason()
        if self._trouble is not None and was is None:
            log.warning("skipping provider %s until it is available: %s", self._provider.name, self._trouble)
        elif self._trouble is None and was is not None:
            log.info("provider %s is available again", self._provider.name)
        self._until = self._clock() + CHECK_INTERVAL_S
        return self._trouble


def now() -> float:
    return asyncio.get_running_loop().time()
