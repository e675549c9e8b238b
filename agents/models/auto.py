"""The provider that asks the first of several that can answer."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeVar

from agents.models.local_only import require_staying
from agents.models.port import Answer, Compaction, Context, Provider, Rating, Resolution, ShortText, Subject, Summary
from schemas.errors import Deferred, Misconfigured, Retryable
from schemas.extraction.candidates import Candidate
from schemas.extraction.requests import ExtractionRequest
from schemas.memories.memories import Memory
from schemas.policies.policies import Policy

T = TypeVar("T")
log = logging.getLogger(__name__)

LOOK_AGAIN_S: Final = 5.0


class AutoProvider:
    """Asks `providers` in their order. One that is not available, is left alone after outages, or fails in a way that may pass
    is passed over; when none is left the request waits.

    Without the rules at its end an outage of every model makes requests wait rather than be answered by less. What a model
    rejects is rejected: it read the slice and declined it, or could not make an answer of it. The next one would be sent what
    the first refused, and rules would answer most of it with an empty list, which nobody could tell from nothing worth
    keeping; a dead letter can be replayed.

    Where a budget is spent the request waits, unless its policy has providers that stay on this machine answer instead.
    """

    name = "auto"

    def __init__(self, providers: Sequence[Provider], clock: Callable[[], float] | None = None) -> None:
        if not providers:
            raise Misconfigured("auto has no provider to ask: name one in MEMSTREAM_PROVIDER_ORDER")
        self.providers = tuple(providers)
        self.leaves_machine = all(provider.leaves_machine for provider in providers)
        self._checks = {provider.name: AvailabilityCheck(provider, clock or now) for provider in providers}

    def __repr__(self) -> str:
        return f"AutoProvider({', '.join(provider.name for provider in self.providers)})"

    async def extract(self, request: ExtractionRequest, context: Context) -> Answer:
        return await self._first(context.policy, lambda provider: provider.extract(request, context))

    async def summarise(self, request: ExtractionRequest, policy: Policy) -> Summary:
        return await self._first(policy, lambda provider: provider.summarise(request, policy))

    async def compact(self, memories: Sequence[Memory], policy: Policy) -> Compaction:
        return await self._first(policy, lambda provider: provider.compact(memories, policy))

    async def score(self, subject: Subject, policy: Policy) -> Rating:
        return await self._first(policy, lambda provider: provider.score(subject, policy))

    async def shorten(self, full_text: str, policy: Policy, namespace: str | None = None) -> ShortText:
        return await self._first(policy, lambda provider: provider.shorten(full_text, policy, namespace))

    async def resolve(
        self, candidates: Sequence[Candidate], memories: Sequence[Memory], policy: Policy, namespace: str
    ) -> Resolution:
        return await self._first(policy, lambda provider: provider.resolve(candidates, memories, policy, namespace))

    async def trouble(self) -> str | None:
        """What is wrong with each of them, unless one is available."""
        troubles = [await self._checks[provider.name].trouble() for provider in self.providers]
        return None if None in troubles else "; ".join(str(each) for each in troubles)

    async def close(self) -> None:
        for provider in self.providers:
            await provider.close()

    async def _first(self, policy: Policy, ask: Callable[[Provider], Awaitable[T]]) -> T:
        """What the first provider answers. A policy that is `local_only` is never brought before one that leaves the machine."""
        require_staying(policy.local_only, self)
        passed: list[str] = []
        spent: Deferred | None = None
        for provider in self.providers:
            if provider.leaves_machine and (policy.local_only or spent is not None):
                continue
            trouble = await self._checks[provider.name].trouble()
            if trouble is None:
                try:
                    return await ask(provider)
                except Deferred as exc:
                    if exc.reason != "budget" or policy.on_spent_budget == "wait":
                        raise
                    spent, trouble = spent or exc, f"the budget has no room for {provider.name}"
                    log.info("%s: a provider that stays on this machine is asked instead", trouble)
                except Retryable as exc:
                    trouble = exc.plain
                    log.warning("%s is passed over: %s", provider.name, trouble)
                except Misconfigured:
                    # Its model may have been removed since it was looked at. A wrong key is not passed over: it would be so
                    # for ever, and nobody would know.
                    trouble = await self._checks[provider.name].look()
                    if trouble is None:
                        raise
            passed.append(trouble)
        if spent is not None:
            raise spent
        raise Retryable(f"no provider can answer: {'; '.join(passed)}")


class AvailabilityCheck:
    """Whether a provider is available, looked at no more often than every LOOK_AGAIN_S seconds."""

    def __init__(self, provider: Provider, clock: Callable[[], float]) -> None:
        self._provider = provider
        self._clock = clock
        self._looking = asyncio.Lock()
        self._until = float("-inf")
        self._trouble: str | None = None

    async def trouble(self) -> str | None:
        async with self._looking:
            return self._trouble if self._clock() < self._until else await self.look()

    async def look(self) -> str | None:
        """Looks now, and says so where it is not as it was: every request asks."""
        was, self._trouble = self._trouble, await self._provider.trouble()
        if self._trouble is not None and was is None:
            log.warning("%s is passed over until it is available: %s", self._provider.name, self._trouble)
        elif self._trouble is None and was is not None:
            log.info("%s is available again", self._provider.name)
        self._until = self._clock() + LOOK_AGAIN_S
        return self._trouble


def now() -> float:
    return asyncio.get_running_loop().time()
