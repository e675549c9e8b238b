"""Plans compactions: a model decides which memories of a namespace to delete or merge, outside of any transaction."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

from agents.curation.rules.commands import limits
from agents.curation.rules.commands.limits import PlannedStep
from agents.models.port import Compaction, Provider
from schemas.errors import MemstreamError
from schemas.memories.memories import Memory
from schemas.policies.policies import Policy
from sinks.embeddings.port import Embedder

log = logging.getLogger(__name__)

TIMEOUT_S: Final = 30.0  # for all steps of one plan
MAX_STEPS: Final = 5  # decided by a model in one plan; the rule decides the rest


class Compactor:
    """`provider` decides within `timeout_s` seconds; the embedder embeds new texts."""

    def __init__(self, provider: Provider, embedder: Embedder, timeout_s: float = TIMEOUT_S) -> None:
        self._provider = provider
        self._embedder = embedder
        self._timeout_s = timeout_s

    async def plan(self, free: Sequence[Memory], surplus: int, policy: Policy) -> tuple[PlannedStep, ...]:
        """Plans at most `surplus` steps, each of which removes one memory. `free` are the memories that may be removed,
        oldest first.

        Missing steps are decided later by a rule. Raises Retryable if the embedder fails.
        """
        compactions = await self._decide_steps(free, surplus, policy)
        texts = [compaction.text for compaction in compactions if compaction.text is not None]
        vectors = iter(await self._embedder.embed(texts) if texts else ())
        planned: list[PlannedStep] = []
        for compaction in compactions:
            seen = {each.memory_id: each.text for each in free if each.memory_id in involved_ids(compaction)}
            vector = None if compaction.text is None else next(vectors)
            planned.append(PlannedStep(compaction=compaction, seen=seen, vector=vector))
            free = limits.memories_after(free, compaction)
        return tuple(planned)

    async def _decide_steps(self, free: Sequence[Memory], surplus: int, policy: Policy) -> list[Compaction]:
        decided: list[Compaction] = []
        try:
            async with asyncio.timeout(self._timeout_s):
                while len(decided) < min(surplus, MAX_STEPS) and len(free) > 1:
                    decided.append(await self._provider.compact(free, policy))
                    free = limits.memories_after(free, decided[-1])
        except (MemstreamError, TimeoutError) as exc:
            why = exc if str(exc) else "no answer in time"
            log.warning(
                "policy %s: the built-in rule chooses which memories to remove, not the model: %s", policy.name, why
            )
        return decided


def involved_ids(compaction: Compaction) -> set[str | None]:
    return {compaction.memory_id, compaction.absorbs}
