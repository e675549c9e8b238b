"""Admission control: limits the searches that a process answers at a time; others wait in a bounded queue."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from agents.retrieval.ports import SearchService
from agents.retrieval.read_rights import MayRead, allow_all
from schemas.errors import Overloaded
from schemas.retrieval.searches import Found, Query

QUEUE_FACTOR: Final = 2  # waiting calls per running call


class Admission:
    """Admits `at_once` searches at a time; twice as many wait, first come, first served.

    Without it, concurrent searches share the connections to PostgreSQL: each takes as long as all, and those that time out
    cost as much as an answer.
    """

    def __init__(self, at_once: int) -> None:
        self._places = asyncio.Semaphore(at_once)
        self._max_waiting = QUEUE_FACTOR * at_once
        self._waiting = 0

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Takes a place. Raises Overloaded."""
        if self._places.locked() and self._waiting >= self._max_waiting:
            raise Overloaded(
                f"{self._max_waiting} searches and context blocks are waiting, the limit of this process: "
                "try again, or ask another process"
            )
        self._waiting += 1
        try:
            await self._places.acquire()
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._places.release()


class AdmittedSearch:
    """A search behind admission control. Raises Overloaded, and the errors of the search."""

    def __init__(self, search_service: SearchService, admission: Admission) -> None:
        self._search_service = search_service
        self._admission = admission

    async def search(self, query: Query, may_read: MayRead = allow_all) -> Found:
        async with self._admission.place():
            return await self._search_service.search(query, may_read)
