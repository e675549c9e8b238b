"""Generations for the API: lists, differences, cutover and undo."""

from typing import Final

from agents.replay.comparison import Difference
from agents.replay.cutover import Cutover, CutoverResult
from agents.replay.namespace_comparison import differences
from schemas.replay.generations import Generation, Progress
from sinks.postgres.connection import Pool
from sinks.replay.generations import Generations

MAX_COMPARED: Final = 5_000  # memories per side: a comparison takes about 1 s, and is repeated for every page


class ReplayGenerations:
    """Every method raises Retryable."""

    def __init__(self, pool: Pool, cutover: Cutover, embedding_model: str) -> None:
        self._pool = pool
        self._generations = Generations(pool)
        self._cutover = cutover
        self._embedding_model = embedding_model

    async def latest(self, limit: int) -> tuple[Generation, ...]:
        """The latest generations, newest first."""
        return await self._generations.latest(limit)

    async def get(self, generation_id: str) -> Generation | None:
        return await self._generations.get(generation_id)

    async def progress(self, generation_id: str) -> Progress:
        return await self._generations.progress(generation_id)

    async def differences(self, generation: Generation, namespace: str) -> list[Difference]:
        """The changes that a cutover would make in a namespace. Also raises Misconfigured if there are too many for a
        request."""
        return await differences(self._pool, generation, namespace, self._embedding_model, MAX_COMPARED)

    async def cut_over(self, generation_id: str) -> CutoverResult:
        """Also raises Misconfigured if the generation is not ready."""
        return await self._cutover.cut_over(generation_id)

    async def undo(self, generation_id: str) -> CutoverResult:
        """Also raises Misconfigured if there is no cutover."""
        return await self._cutover.undo(generation_id)
