"""Counts reads of memories: in memory during the request, written in batches later."""

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime
from itertools import islice
from typing import Final, Protocol

from sinks.memories.access_counts import Access

FLUSH_S: Final = 2.0  # how often what was noted is written
KNOWN_S: Final = 10.0  # how old the counts of other processes may be
MOST: Final = 100_000  # memories noted while PostgreSQL is away, and memories whose counts are known
MOST_AT_ONCE: Final = 5_000


class AccessStore(Protocol):
    """Stores the counts (sinks.memories.access_counts.Accesses). Both methods raise Retryable."""

    async def add(self, counted: Mapping[str, Access]) -> None: ...

    async def of(self, memory_ids: Collection[str]) -> dict[str, Access]: ...


class HasMemoryId(Protocol):
    """A memory that was read, in full or in part."""

    @property
    def memory_id(self) -> str: ...


class AccessCounter:
    """One instance a process. Counts that a crashed process had not written are lost, so counts are approximate."""

    def __init__(self, counted: AccessStore, clock: Callable[[], datetime]) -> None:
        self._counted = counted
        self._clock = clock
        self._noted: dict[str, Access] = {}
        self._known: dict[str, tuple[datetime, Access | None]] = {}

    def note(self, memories: Iterable[HasMemoryId]) -> None:
        """Counts a read of each memory. Does not wait."""
        now = self._clock()
        for memory in memories:
            self._add(memory.memory_id, Access(1, now))

    async def of(self, memory_ids: Collection[str]) -> dict[str, Access]:
        """Access counts by memory id; reads by other processes appear after some seconds. Raises Retryable."""
        now = self._clock()
        known = {each: self._known[each] for each in memory_ids if self._knows(each, now)}
        unknown = [each for each in memory_ids if each not in known]
        if unknown:
            kept = await self._counted.of(unknown)
            read = {each: (now, kept.get(each)) for each in unknown}
            if len(self._known) + len(read) > MOST:
                self._known.clear()
            self._known |= read
            known |= read
        # What was written meanwhile is no longer noted: it is known, unless that was cleared.
        latest = {each: self._known.get(each, held) for each, held in known.items()}
        counts = {each: combined(held, self._noted.get(each)) for each, (_, held) in latest.items()}
        return {memory_id: access for memory_id, access in counts.items() if access is not None}

    async def flush(self) -> None:
        """Writes the counts. Raises Retryable and keeps the counts that it could not write."""
        while self._noted:
            some = {memory_id: self._noted.pop(memory_id) for memory_id in list(islice(self._noted, MOST_AT_ONCE))}
            try:
                await self._counted.add(some)
            except BaseException:
                for memory_id, access in some.items():
                    self._add(memory_id, access)
                raise
            for memory_id, access in some.items():
                if memory_id in self._known:
                    at, known = self._known[memory_id]
                    self._known[memory_id] = (at, combined(known, access))

    def _knows(self, memory_id: str, now: datetime) -> bool:
        known = self._known.get(memory_id)
        return known is not None and (now - known[0]).total_seconds() < KNOWN_S

    def _add(self, memory_id: str, access: Access) -> None:
        if memory_id in self._noted or len(self._noted) < MOST:
            held = self._noted.get(memory_id)
            self._noted[memory_id] = access if held is None else held + access


def combined(one: Access | None, other: Access | None) -> Access | None:
    return one + other if one and other else one or other
