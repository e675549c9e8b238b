"""A search with fixed results."""

from typing import Any

from agents.retrieval.read_rights import MayRead, allow_all, may_read_any
from schemas.memories.memories import Memory
from schemas.retrieval.searches import Found, Hit, Query, SaidHit


class FakeSearch:
    """A search that returns given hits; `queries` keeps the queries."""

    def __init__(self) -> None:
        self.memories: list[Memory] = []
        self.said: list[SaidHit] = []
        self.degraded: tuple[Any, ...] = ()
        self.queries: list[Query] = []

    async def search(self, query: Query, may_read: MayRead = allow_all) -> Found:
        self.queries.append(query)
        if query.tier == "said":
            said = [hit for hit in self.said if may_read_any(may_read, hit.owners)]
            return Found(said=tuple(said[: query.limit]), degraded=self.degraded)
        found = tuple(Hit(score=0.9, memory=memory) for memory in self.memories)
        return Found(hits=found[: query.limit], degraded=self.degraded)
