"""Asks a model how the candidates of a part relate to nearby memories, once for any number of redeliveries."""

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

TIMEOUT_S: Final = 20.0


class Resolver:
    """`provider` answers within `timeout_s` seconds. Without an answer, or without a budget, there are no verdicts and the
    rules decide alone. Verdicts are stored before any decision."""

    def __init__(
        self,
        provider: Provider,
        resolutions: Resolutions,
        clock: Callable[[], datetime],
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._provider = provider
        self._resolutions = resolutions
        self._clock = clock
        self._timeout_s = timeout_s

    async def resolve(
        self, batch: CandidateBatch, candidates: Sequence[Candidate], memories: Sequence[Memory], policy: Policy
    ) -> dict[str, Verdict]:
        """Verdicts by candidate id. Raises Retryable if the store fails."""
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
            async with asyncio.timeout(self._timeout_s):
                answer = await self._provider.resolve(candidates, memories, policy, batch)
        except (MemstreamError, TimeoutError) as exc:
            why = exc if str(exc) else "no answer in time"
            log.warning(
                "policy %s: the rules alone compare candidates with memories, not the model: %s", policy.name, why
            )
            return ()
        await self._resolutions.keep(batch, answer.verdicts, self._clock())
        return answer.verdicts
