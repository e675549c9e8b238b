"""The port of search. Tiers, RerankedSearch and AdmittedSearch implement it."""

from typing import Protocol

from agents.retrieval.read_rights import MayRead, allow_all
from schemas.retrieval.searches import Found, Query


class SearchService(Protocol):
    """Searches memories, passages or both."""

    async def search(self, query: Query, may_read: MayRead = allow_all) -> Found:
        """Returns hits, best first. The caller has checked the rights to the query's namespaces; `may_read` checks the owners
        of passages. Raises Retryable."""
