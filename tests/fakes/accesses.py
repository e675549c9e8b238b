"""Counts of reads in a dictionary, kept as sinks.memories.access_counts keeps them."""

from collections.abc import Collection, Mapping

from schemas.errors import Retryable
from sinks.memories.access_counts import Access


class FakeAccesses:
    """`down`: every call raises Retryable. `there`: the memories that exist; None for all."""

    def __init__(self, there: Collection[str] | None = None) -> None:
        self.rows: dict[str, Access] = {}
        self.there = there
        self.down = False
        self.asked = 0

    async def add(self, counted: Mapping[str, Access]) -> None:
        self._check()
        for memory_id, access in counted.items():
            if self.there is None or memory_id in self.there:
                held = self.rows.get(memory_id)
                self.rows[memory_id] = access if held is None else held + access

    async def of(self, memory_ids: Collection[str]) -> dict[str, Access]:
        self._check()
        self.asked += 1
        return {each: self.rows[each] for each in memory_ids if each in self.rows}

    def _check(self) -> None:
        if self.down:
            raise Retryable("Postgres failed while counting what was read: it is down")
