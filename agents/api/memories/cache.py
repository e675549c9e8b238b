"""An in-process cache of memories. Memory events invalidate it; requests bypass it while events may be late.

An entry is served only while all events up to `max_event_lag_s` ago have arrived, and for at most `ttl_s`: if a worker crashes
between its commit and its events, another worker publishes these events later.
"""

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from sys import getsizeof
from typing import Final, Protocol, TypeAlias

from msgspec import Struct

from schemas.memories.memories import Memory
from sinks.memories.listing import Listing
from sinks.memories.reader import MemoryVersion

MAX_EVENT_LAG_S: Final = 0.8
TTL_S: Final = 10.0
MAX_BYTES: Final = 64 * 1024 * 1024
ENTRY_BYTES: Final = 600  # approximate overhead of a memory without its texts, of a list query, and of an entry
PART_BYTES: Final = 200  # of a source or a link without its ids

Key: TypeAlias = str | Listing  # a memory's id, or a list query


class MemorySource(Protocol):
    """The store behind the cache (agents.api.ports.MemoryReader)."""

    async def by_ids(self, memory_ids: Collection[str]) -> dict[str, Memory]: ...

    async def list_page(self, listing: Listing) -> tuple[Memory, ...]: ...

    async def versions_after(self, memory_id: str, version: int, limit: int) -> tuple[MemoryVersion, ...]: ...


class Entry(Struct, frozen=True):
    """The cached result of one query: memories, namespace, time of reading, size in bytes."""

    memories: tuple[Memory, ...]
    namespace: str
    at: float
    size: int


class CachedMemories:
    """Implements agents.api.ports.MemoryReader. `clock` returns seconds. `caught_up_to` returns the time up to which events
    have arrived. `on_read` is called per read with a flag for a cache hit and the namespace, or "" if the memory does not
    exist."""

    def __init__(
        self,
        source: MemorySource,
        clock: Callable[[], float],
        caught_up_to: Callable[[], float],
        *,
        max_event_lag_s: float = MAX_EVENT_LAG_S,
        ttl_s: float = TTL_S,
        max_bytes: int = MAX_BYTES,
        on_read: Callable[[bool, str], None] = lambda cached, namespace: None,
    ) -> None:
        self._source = source
        self._clock = clock
        self._caught_up_to = caught_up_to
        self._max_event_lag_s = max_event_lag_s
        self._ttl_s = ttl_s
        self._max_bytes = max_bytes
        self._on_read = on_read
        self._entries: OrderedDict[Key, Entry] = OrderedDict()
        self._by_namespace: dict[str, set[Key]] = {}
        self._loads: set[PendingRead] = set()
        self._bytes = 0

    async def get(self, memory_id: str) -> Memory | None:
        """Returns the memory, of any status and namespace. Raises Retryable."""
        return (await self.by_ids((memory_id,))).get(memory_id)

    async def by_ids(self, memory_ids: Collection[str]) -> dict[str, Memory]:
        """Returns the existing memories by id, of any status and namespace; reads only those that are not cached. Raises
        Retryable."""
        found = {each: entry.memories[0] for each in memory_ids if (entry := self._cached(each)) is not None}
        missing = [each for each in memory_ids if each not in found]
        if missing:
            with self._loading() as load:
                read = await self._source.by_ids(missing)
            for memory in read.values():
                self._store(load, memory.memory_id, (memory,), memory.namespace)
            for each in missing:
                self._on_read(False, read[each].namespace if each in read else "")
            found |= read
        return found

    async def list_page(self, listing: Listing) -> tuple[Memory, ...]:
        """Returns a page of a namespace's memories. Raises Retryable."""
        if (entry := self._cached(listing)) is not None:
            return entry.memories
        with self._loading() as load:
            memories = await self._source.list_page(listing)
        self._on_read(False, listing.namespace)
        self._store(load, listing, memories, listing.namespace)
        return memories

    async def versions_after(self, memory_id: str, version: int, limit: int) -> tuple[MemoryVersion, ...]:
        """Returns up to `limit` versions after `version`, oldest first. Versions are never cached. Raises Retryable."""
        return await self._source.versions_after(memory_id, version, limit)

    def forget(self, namespace: str) -> None:
        """Invalidates a namespace, including reads in progress."""
        for load in self._loads:
            load.changed.add(namespace)
        for key in tuple(self._by_namespace.get(namespace, ())):
            self._drop(key)

    def forget_all(self) -> None:
        """Invalidates the whole cache, including reads in progress."""
        for load in self._loads:
            load.all_changed = True
        self._entries.clear()
        self._by_namespace.clear()
        self._bytes = 0

    def _cached(self, key: Key) -> Entry | None:
        now, entry = self._clock(), self._entries.get(key)
        if entry is not None and now - entry.at >= self._ttl_s:
            self._drop(key)
            entry = None
        if entry is None or now - self._caught_up_to() >= self._max_event_lag_s:
            return None
        self._entries.move_to_end(key)
        self._on_read(True, entry.namespace)
        return entry

    def _store(self, load: "PendingRead", key: Key, memories: tuple[Memory, ...], namespace: str) -> None:
        if load.all_changed or namespace in load.changed:
            return
        self._drop(key)
        entry = Entry(memories, namespace, load.began, ENTRY_BYTES + key_size(key) + sum(map(size, memories)))
        self._entries[key] = entry
        self._by_namespace.setdefault(namespace, set()).add(key)
        self._bytes += entry.size
        while self._bytes > self._max_bytes:
            self._drop(next(iter(self._entries)))

    def _drop(self, key: Key) -> None:
        entry = self._entries.pop(key, None)
        if entry is None:
            return
        self._bytes -= entry.size
        keys = self._by_namespace[entry.namespace]
        keys.discard(key)
        if not keys:
            del self._by_namespace[entry.namespace]

    @contextmanager
    def _loading(self) -> Iterator["PendingRead"]:
        """Tracks a read in progress, because an event that arrives meanwhile may be newer than the result."""
        load = PendingRead(self._clock())
        self._loads.add(load)
        try:
            yield load
        finally:
            self._loads.discard(load)


class PendingRead:
    """A read in progress: its start, and the namespaces that changed since then."""

    def __init__(self, began: float) -> None:
        self.began = began
        self.changed: set[str] = set()
        self.all_changed = False


def size(memory: Memory) -> int:
    """Approximate size in bytes."""
    texts = (memory.text, memory.context or "", memory.full_text or "", *memory.kinds, *memory.tags)
    sources = (each for source in memory.sources for each in (source.conversation_id, source.message_id))
    links = (link.memory_id for link in memory.links)
    parts = PART_BYTES * (len(memory.sources) + len(memory.links))
    return ENTRY_BYTES + parts + texts_size((memory.namespace, memory.memory_id, *texts, *sources, *links))


def key_size(key: Key) -> int:
    """Approximate size in bytes. The filters of a list may be larger than its result."""
    if isinstance(key, str):
        return getsizeof(key)
    return ENTRY_BYTES + texts_size((key.namespace, *key.kinds, *key.tags, key.after.memory_id if key.after else ""))


def texts_size(texts: Iterable[str]) -> int:
    return sum(map(getsizeof, texts))
