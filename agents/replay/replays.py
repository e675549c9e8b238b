"""Generations as somebody follows them from outside: which there are, how they differ, switching to one and back."""

from typing import Final

from agents.replay.comparison import Difference
from agents.replay.cutover import Cutover, CutoverResult
from agents.replay.namespace_comparison import differences
from schemas.replay.generations import Generation, Progress
from sinks.postgres.connection import Pool
from sinks.replay.generations import Generations

AT_MOST: Final = 5_000  # memories of a side: compared in about a second, again for every page


class ReplayGenerations:
    """Every method raises Retryable."""

    def __init__(self, pool: Pool, cutover: Cutover, embedding_model: str) -> None:
        self._pool = pool
        self._generations = Generations(pool)
        self._cutover = cutover
        self._embedding_model = embedding_model

    async def latest(self, limit: int) -> tuple[Generation, ...]:
        """The youngest first."""
        return await self._generations.latest(limit)

    async def get(self, generation_id: str) -> Generation | None:
        return await self._generations.get(generation_id)

    async def progress(self, generation_id: str) -> Progress:
        return await self._generations.progress(generation_id)

    async def differences(self, generation: Generation, namespace: str) -> list[Difference]:
        """What the generation would change in a namespace now. Raises Misconfigured as well, where that is too much for a
        request."""
        return await differences(self._pool, generation, namespace, self._embedding_model, AT_MOST)

    async def cut_over(self, generation_id: str) -> CutoverResult:
        """Raises Misconfigured as well, where it is not ready."""
        return await self._cutover.cut_over(generation_id)

    async def undo(self, generation_id: str) -> CutoverResult:
        """Raises Misconfigured as well, where there is nothing to take back."""
        return await self._cutover.undo(generation_id)
