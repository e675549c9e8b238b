"""A search with fixed results."""

from typing import Any

from schemas.memories.memories import Memory
from schemas.retrieval.searches import Found, Hit, Query, SaidHit


class FakeSearch:
    """A search that returns given hits; `asked` keeps the queries."""

    def __init__(self) -> None:
        self.memories: list[Memory] = []
        self.said: list[SaidHit] = []
        self.degraded: tuple[Any, ...] = ()
        self.asked: list[Query] = []

    async def search(self, asked: Query) -> Found:
        self.asked.append(asked)
        if asked.tier == "said":
            return Found(said=tuple(self.said[: asked.limit]), degraded=self.degraded)
        found = tuple(Hit(score=0.9, memory=memory) for memory in self.memories)
        return Found(hits=found[: asked.limit], degraded=self.degraded)
