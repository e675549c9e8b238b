"""A language model as a reranker."""

from collections.abc import Sequence
from typing import Protocol

from schemas.policies.policies import Policy, PolicySelector


class RerankingProvider(Protocol):
    """Implemented by agents.models.model_provider.ModelProvider."""

    async def rerank(
        self, query: str, texts: Sequence[str], policy: Policy, namespaces: Sequence[str], *, local_only: bool
    ) -> list[int]: ...


class ModelReranker:
    """Reranks with a language model. The searched namespaces pay, by the budget of the policy that governs the first one."""

    def __init__(self, provider: RerankingProvider, policies: PolicySelector) -> None:
        self._provider = provider
        self._policies = policies

    async def scores(self, query: str, texts: Sequence[str], namespaces: Sequence[str]) -> list[float]:
        """Scores from 1 for the best text down to 0 for those that the model left out. Raises Retryable, Rejected, Deferred,
        Misconfigured."""
        governing = [self._policies.governing(namespace) for namespace in namespaces]
        local_only = any(policy.local_only for policy in governing)
        places = await self._provider.rerank(query, texts, governing[0], namespaces, local_only=local_only)
        scores = [0.0] * len(texts)
        for behind, place in enumerate(places):
            scores[place] = 1.0 - behind / len(texts)
        return scores
