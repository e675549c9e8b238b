"""Counts reads of memories in the process and writes the counts in batches."""

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime
from itertools import islice
from typing import Final, Protocol

from sinks.memories.access_counts import Access

FLUSH_INTERVAL_S: Final = 2.0  # interval between writes
CACHE_S: Final = 10.0  # maximum age of cached counts
MAX_MEMORIES: Final = 100_000  # memories with unwritten counts, and memories with cached counts
BATCH_SIZE: Final = 5_000


class AccessStore(Protocol):
    """Stores access counts (sinks.memories.access_counts.Accesses). Both methods raise Retryable."""

    async def add(self, counted: Mapping[str, Access]) -> None: ...

    async def of(self, memory_ids: Collection[str]) -> dict[str, Access]: ...


class HasMemoryId(Protocol):
    """Anything with a memory id, such as a memory or a part of one."""

    @property
    def memory_id(self) -> str: ...


class AccessCounter:
    """One instance per process. Counts are approximate: a crash loses the counts that are not written yet."""

    def __init__(self, store: AccessStore, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._clock = clock
        self._pending: dict[str, Access] = {}
        self._cached: dict[str, tuple[datetime, Access | None]] = {}

    def note(self, memories: Iterable[HasMemoryId]) -> None:
        """Counts a read of each memory. Does no I/O."""
        now = self._clock()
        for memory in memories:
            self._add(memory.memory_id, Access(1, now))

    async def of(self, memory_ids: Collection[str]) -> dict[str, Access]:
        """Returns access counts by memory id. Reads by other processes appear after some seconds. Raises Retryable."""
        now = self._clock()
        cached = {each: self._cached[each] for each in memory_ids if self._is_cached(each, now)}
        unknown = [each for each in memory_ids if each not in cached]
        if unknown:
            stored = await self._store.of(unknown)
            read = {each: (now, stored.get(each)) for each in unknown}
            if len(self._cached) + len(read) > MAX_MEMORIES:
                self._cached.clear()
            self._cached |= read
            cached |= read
        # A concurrent flush may have moved counts from `_pending` to `_cached`, so read both again.
        latest = {each: self._cached.get(each, stored_access) for each, stored_access in cached.items()}
        counts = {each: combined(stored_access, self._pending.get(each)) for each, (_, stored_access) in latest.items()}
        return {memory_id: access for memory_id, access in counts.items() if access is not None}

    async def flush(self) -> None:
        """Writes the counts. Raises Retryable and keeps the counts that it could not write."""
        while self._pending:
            batch = {memory_id: self._pending.pop(memory_id) for memory_id in list(islice(self._pending, BATCH_SIZE))}
            try:
                await self._store.add(batch)
            except BaseException:
                for memory_id, access in batch.items():
                    self._add(memory_id, access)
                raise
            for memory_id, access in batch.items():
                if memory_id in self._cached:
                    at, cached_access = self._cached[memory_id]
                    self._cached[memory_id] = (at, combined(cached_access, access))

    def _is_cached(self, memory_id: str, now: datetime) -> bool:
        cached = self._cached.get(memory_id)
        return cached is not None and (now - cached[0]).total_seconds() < CACHE_S

    def _add(self, memory_id: str, access: Access) -> None:
        if memory_id in self._pending or len(self._pending) < MAX_MEMORIES:
            previous = self._pending.get(memory_id)
            self._pending[memory_id] = access if previous is None else previous + access


def combined(one: Access | None, other: Access | None) -> Access | None:
    return one + other if one and other else one or other
