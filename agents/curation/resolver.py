"""Asks a model what the candidates of a part are to the memories near them, once whatever is redelivered."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from agents.models.port import Provider, Verdict
from schemas.codec import convert
from schemas.errors import MemstreamError
from schemas.extraction.candidates import Candidate, CandidateBatch
from schemas.memories.memories import Memory
from schemas.policies.policies import Policy
from sinks.memories.resolutions import Resolutions

log = logging.getLogger(__name__)

PATIENCE_S: Final = 20.0


class Resolver:
    """`provider` is asked within `patience_s`. Where it does not answer, or has no budget, there are no verdicts, and the rules
    alone decide. What it answers is stored before anything is decided."""

    def __init__(
        self,
        provider: Provider,
        resolutions: Resolutions,
        clock: Callable[[], datetime],
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._provider = provider
        self._resolutions = resolutions
        self._clock = clock
        self._patience_s = patience_s

    async def resolve(
        self, batch: CandidateBatch, candidates: Sequence[Candidate], memories: Sequence[Memory], policy: Policy
    ) -> dict[str, Verdict]:
        """Verdicts by candidate id. Raises Retryable when the store is away."""
        stored = await self._resolutions.of(batch)
        if stored is not None:
            verdicts = convert(stored, tuple[Verdict, ...])
        else:
            verdicts = await self._ask(batch, candidates, memories, policy)
        return {each.candidate_id: each for each in verdicts}

    async def _ask(
        self, batch: CandidateBatch, candidates: Sequence[Candidate], memories: Sequence[Memory], policy: Policy
    ) -> tuple[Verdict, ...]:
        try:
            async with asyncio.timeout(self._patience_s):
                answer = await self._provider.resolve(candidates, memories, policy, batch.namespace)
        except (MemstreamError, TimeoutError) as exc:
            why = exc if str(exc) else "no answer in time"
            log.warning("candidates of policy %s are resolved by the rules alone: %s", policy.name, why)
            return ()
        await self._resolutions.keep(batch, answer.verdicts, self._clock())
        return answer.verdicts
