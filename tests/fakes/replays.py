"""Generations in memory, with differences set by the test. Cutovers change only their status."""

from collections.abc import Sequence

from msgspec.structs import replace

from agents.replay.comparison import Difference
from agents.replay.cutover import CutoverResult, require_status, unknown_generation
from agents.replay.namespace_comparison import require_within_limit
from agents.replay.replays import MAX_COMPARED
from schemas.replay.generations import Generation, GenerationStatus, Progress


class FakeReplays:
    def __init__(self) -> None:
        self.at_most = MAX_COMPARED
        self.by_id: dict[str, Generation] = {}
        self.found: dict[tuple[str, str], list[Difference]] = {}

    def put(self, generation: Generation, **differences: list[Difference]) -> None:
        """Adds a generation with its differences by namespace (`_` stands for `/`)."""
        self.by_id[generation.generation_id] = generation
        for name, found in differences.items():
            self.found[(generation.generation_id, name.replace("_", "/"))] = found

    async def latest(self, limit: int) -> tuple[Generation, ...]:
        return tuple(sorted(self.by_id.values(), key=lambda each: each.created_at, reverse=True))[:limit]

    async def get(self, generation_id: str) -> Generation | None:
        return self.by_id.get(generation_id)

    async def progress(self, generation_id: str) -> Progress:
        return Progress(conversations=2, done=2, slices=3, namespaces=1)

    async def differences(self, generation: Generation, namespace: str) -> list[Difference]:
        found = self.found.get((generation.generation_id, namespace), [])
        require_within_limit(len(found), generation, namespace, self.at_most)
        return found

    async def cut_over(self, generation_id: str) -> CutoverResult:
        return self._become(generation_id, "cutover", ("ready", "undone", "cutover"))

    async def undo(self, generation_id: str) -> CutoverResult:
        return self._become(generation_id, "undone", ("cutover",))

    def _become(
        self, generation_id: str, status: GenerationStatus, statuses: Sequence[GenerationStatus]
    ) -> CutoverResult:
        generation = self.by_id.get(generation_id)
        require_status(generation, generation_id, statuses)
        if generation is None:
            raise unknown_generation(generation_id)
        self.by_id[generation_id] = replace(generation, status=status)
        return CutoverResult(namespaces=1, changes=2)
