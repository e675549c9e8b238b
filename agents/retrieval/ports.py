"""The port of search. MemorySearch, Tiers, RerankedSearch and AdmittedSearch implement it."""

from typing import Protocol

from schemas.retrieval.searches import Found, Query


class SearchService(Protocol):
    """Searches memories, passages or both."""

    async def search(self, query: Query) -> Found:
        """Returns hits, best first. Raises Retryable."""
