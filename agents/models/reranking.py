"""The adapter of a language model to the port of rerankers."""

import asyncio
from collections.abc import Sequence
from typing import Final, Protocol

from schemas.policies.policies import Policy, PolicySelector

CONCURRENCY: Final = 8  # calls at a time


class RerankingProvider(Protocol):
    """A provider that reranks, such as agents.models.model_provider.ModelProvider."""

    async def rerank(
        self, query: str, texts: Sequence[str], policy: Policy, namespaces: Sequence[str], *, local_only: bool
    ) -> list[int]: ...


class ModelReranker:
    """Reranks with a language model. The searched namespaces pay, by the budget of the policy that governs the first one.

    A cancelled search does not cancel its model call: the provider bills the call anyway, and only its answer contains the cost.
    """

    def __init__(self, provider: RerankingProvider, policies: PolicySelector) -> None:
        self._provider = provider
        self._policies = policies
        self._slots = asyncio.Semaphore(CONCURRENCY)
        self._running: set[asyncio.Task[list[int]]] = set()

    async def scores(self, query: str, texts: Sequence[str], namespaces: Sequence[str]) -> list[float]:
        """Scores from 1 for the best text down to 0 for those that the model left out. Raises Retryable, Rejected, Deferred,
        Misconfigured."""
        governing = [self._policies.governing(namespace) for namespace in namespaces]
        local_only = any(policy.local_only for policy in governing)
        await self._slots.acquire()  # outside of the task: a search that is cancelled here makes no call
        asking = self._provider.rerank(query, texts, governing[0], namespaces, local_only=local_only)
        call = asyncio.create_task(asking)
        self._running.add(call)
        call.add_done_callback(self._ended)
        places = await asyncio.shield(call)
        scores = [0.0] * len(texts)
        for rank, place in enumerate(places):
            scores[place] = 1.0 - rank / len(texts)
        return scores

    def _ended(self, call: "asyncio.Task[list[int]]") -> None:
        self._running.discard(call)
        self._slots.release()

    async def close(self) -> None:
        """Cancels running calls; their bills stay unknown."""
        for call in self._running:
            call.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
