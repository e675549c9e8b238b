"""Searches with fixed results."""

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


class FakeMixedSearch:
    """Finds the given hits of both tiers that the caller may read, in their order, as many as are asked for. `limits` keeps
    these numbers."""

    def __init__(self, *hits: Hit | SaidHit) -> None:
        self.hits = hits
        self.limits: list[int] = []

    async def search(self, query: Query, may_read: MayRead = allow_all) -> Found:
        self.limits.append(query.limit)
        permitted = (hit for hit in self.hits if isinstance(hit, Hit) or may_read_any(may_read, hit.owners))
        mixed = tuple(permitted)[: query.limit]
        return Found(mixed=mixed, hits=tuple(hit for hit in mixed if isinstance(hit, Hit)), degraded=("vectors_slow",))


def texts(found: Found) -> list[str]:
    """The texts of the hits of both tiers."""
    return [hit.memory.text if isinstance(hit, Hit) else hit.passage.text for hit in found.mixed]
