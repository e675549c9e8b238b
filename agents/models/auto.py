"""A provider that uses the first available of several providers."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeVar

from agents.models.local_only import require_local
from agents.models.port import (
    Answer,
    Compaction,
    Context,
    MemoryToRate,
    Provider,
    Rating,
    Resolution,
    ShortText,
    Summary,
)
from schemas.errors import Deferred, Misconfigured, Retryable
from schemas.extraction.candidates import Candidate, CandidateBatch
from schemas.extraction.requests import ExtractionRequest
from schemas.memories.memories import Memory
from schemas.policies.policies import Policy

T = TypeVar("T")
log = logging.getLogger(__name__)

CHECK_INTERVAL_S: Final = 5.0


class AutoProvider:
    """Tries `providers` in order. Skips a provider that is unavailable, cools down after outages, or fails temporarily. If all
    are skipped, a request raises Retryable.

    Without the offline rules at the end of the list, requests wait while every model is down instead of getting worse
    answers. A Rejected is final: the next provider would receive a slice that the first one refused, and the rules would mostly
    return an empty list, which looks like a conversation without memories. A dead letter can be replayed.

    If a budget is spent, a request raises Deferred, or goes to the providers on this machine if its policy allows that.
    """

    name = "auto"

    def __init__(self, providers: Sequence[Provider]) -> None:
        if not providers:
            raise Misconfigured("provider auto has no providers to choose from: name one in MEMSTREAM_PROVIDER_ORDER")
        self.providers = tuple(providers)
        self.leaves_machine = all(provider.leaves_machine for provider in providers)
        self.shares_calls = any(provider.shares_calls for provider in providers)
        self._checks = {provider.name: AvailabilityCheck(provider) for provider in providers}

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

    async def score(self, subject: MemoryToRate, policy: Policy) -> Rating:
        return await self._first(policy, lambda provider: provider.score(subject, policy))

    async def shorten(self, full_text: str, policy: Policy, namespace: str | None = None) -> ShortText:
        return await self._first(policy, lambda provider: provider.shorten(full_text, policy, namespace))

    async def resolve(
        self, candidates: Sequence[Candidate], memories: Sequence[Memory], policy: Policy, batch: CandidateBatch
    ) -> Resolution:
        return await self._first(policy, lambda provider: provider.resolve(candidates, memories, policy, batch))

    async def unavailable_reason(self) -> str | None:
        """The reasons of all providers; None if one is available."""
        reasons = [await self._checks[provider.name].unavailable_reason() for provider in self.providers]
        return None if None in reasons else "; ".join(str(each) for each in reasons)

    async def close(self) -> None:
        for provider in self.providers:
            await provider.close()

    async def _first(self, policy: Policy, ask: Callable[[Provider], Awaitable[T]]) -> T:
        """The answer of the first available provider. A `local_only` policy skips providers on other machines. Raises as the port
        says."""
        require_local(policy.local_only, self)
        skipped: list[str] = []
        spent: Deferred | None = None
        for provider in self.providers:
            if provider.leaves_machine and (policy.local_only or spent is not None):
                continue
            reason = await self._checks[provider.name].unavailable_reason()
            if reason is None:
                try:
                    return await ask(provider)
                except Deferred as exc:
                    if exc.reason != "budget" or policy.on_spent_budget == "wait":
                        raise
                    spent, reason = spent or exc, f"the budget has no room for {provider.name}"
                    log.info("%s: asking a provider on this machine instead", reason)
                except Retryable as exc:
                    reason = exc.plain
                    log.warning("skipping provider %s for this call: %s", provider.name, reason)
                except Misconfigured:
                    # The model may have been removed since the last check. A wrong key is raised: the provider would be skipped
                    # for ever without notice.
                    reason = await self._checks[provider.name].check_now()
                    if reason is None:
                        raise
            skipped.append(reason)
        if spent is not None:
            raise spent
        raise Retryable(f"no provider can answer: {'; '.join(skipped)}")


class AvailabilityCheck:
    """Caches a provider's availability for CHECK_INTERVAL_S seconds."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider
        self._checking = asyncio.Lock()
        self._valid_until = float("-inf")
        self._reason: str | None = None

    async def unavailable_reason(self) -> str | None:
        async with self._checking:
            return self._reason if loop_time() < self._valid_until else await self.check_now()

    async def check_now(self) -> str | None:
        """Checks without the cache, and logs a change of availability."""
        before, self._reason = self._reason, await self._provider.unavailable_reason()
        if self._reason is not None and before is None:
            log.warning("skipping provider %s until it is available: %s", self._provider.name, self._reason)
        elif self._reason is None and before is not None:
            log.info("provider %s is available again", self._provider.name)
        self._valid_until = loop_time() + CHECK_INTERVAL_S
        return self._reason


def loop_time() -> float:
    """The monotonic clock of the event loop, in seconds."""
    return asyncio.get_running_loop().time()
