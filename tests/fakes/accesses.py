"""Access counts in memory, like sinks.memories.access_counts."""

from collections.abc import Collection, Mapping

from schemas.errors import Retryable
from sinks.memories.access_counts import Access
from sinks.memories.retrieval_counts import Counted, Counts


class FakeAccesses:
    """`down`: every call raises Retryable. `there`: the existing memories; None for all."""

    def __init__(self, there: Collection[str] | None = None) -> None:
        self.rows: dict[str, Access] = {}
        self.there = there
        self.down = False
        self.calls = 0

    async def add(self, counted: Mapping[str, Access]) -> None:
        self._check()
        for memory_id, access in counted.items():
            if self.there is None or memory_id in self.there:
                held = self.rows.get(memory_id)
                self.rows[memory_id] = access if held is None else held + access

    async def of(self, memory_ids: Collection[str]) -> dict[str, Access]:
        self._check()
        self.calls += 1
        return {each: self.rows[each] for each in memory_ids if each in self.rows}

    def _check(self) -> None:
        if self.down:
            raise Retryable("PostgreSQL failed while storing access counts: it is down")


class FakeRetrievalCounts:
    """`down`: a call raises Retryable."""

    def __init__(self) -> None:
        self.rows: dict[Counted, Counts] = {}
        self.down = False

    async def add(self, counted: Mapping[Counted, Counts]) -> None:
        if self.down:
            raise Retryable("PostgreSQL failed while counting questions: it is down")
        for key, (retrievals, found) in counted.items():
            before = self.rows.get(key, (0, 0))
            self.rows[key] = (before[0] + retrievals, before[1] + found)
