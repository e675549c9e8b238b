"""How many questions a process answers at a time: the others wait in a short line, and are turned away where it is full."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, Protocol

from schemas.errors import Overloaded
from schemas.retrieval.searches import Found, Query

WAITING: Final = 2  # for each question that is being answered


class Searching(Protocol):
    """agents.retrieval.tiers.Tiers."""

    async def search(self, asked: Query) -> Found: ...


class Admission:
    """`at_once` questions are answered at a time, and twice as many wait, first come, first served.

    Without it all share the connections to PostgreSQL: each question then takes as long as all of them, and those that are
    given up at the time limit of a request have cost as much as an answer.
    """

    def __init__(self, at_once: int) -> None:
        self._places = asyncio.Semaphore(at_once)
        self._most_waiting = WAITING * at_once
        self._waiting = 0

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """A place among those that are answered. Raises Overloaded."""
        if self._places.locked() and self._waiting >= self._most_waiting:
            raise Overloaded(
                f"{self._most_waiting} searches and context blocks wait already: ask again, or another process"
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
    """A search that takes a place. Raises Overloaded, and what the search raises."""

    def __init__(self, searching: Searching, admission: Admission) -> None:
        self._searching = searching
        self._admission = admission

    async def search(self, asked: Query) -> Found:
        async with self._admission.place():
            return await self._searching.search(asked)
