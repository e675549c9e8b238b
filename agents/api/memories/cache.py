"""An in-process cache of memories. Memory events invalidate it; requests bypass it while events may be late.

An entry is served only if all events until `fresh_s` ago have arrived, and for at most `lives_s`: when a worker crashes between
its commit and its events, another worker publishes these later.
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

FRESH_S: Final = 0.8
LIVES_S: Final = 10.0
MOST_BYTES: Final = 64 * 1024 * 1024
ENTRY_BYTES: Final = 600  # of a memory without its texts, of a question, and of an entry, about
PART_BYTES: Final = 200  # of a source or a link without its ids

Key: TypeAlias = str | Listing  # a memory's id, or what was asked of a list


class MemorySource(Protocol):
    """The store behind the cache (agents.api.ports.MemoryReader)."""

    async def by_ids(self, memory_ids: Collection[str]) -> dict[str, Memory]: ...

    async def list_page(self, asked: Listing) -> tuple[Memory, ...]: ...

    async def versions_after(self, memory_id: str, version: int, limit: int) -> tuple[MemoryVersion, ...]: ...


class Entry(Struct, frozen=True):
    """The cached result of one query: memories, namespace, time of reading, size in bytes."""

    memories: tuple[Memory, ...]
    namespace: str
    at: float
    size: int


class CachedMemories:
    """Implements agents.api.ports.MemoryReader. `clock` is in seconds; events up to `heard_to` have arrived. `told` hears
    of each read whether it was answered from the cache."""

    def __init__(
        self,
        source: MemorySource,
        clock: Callable[[], float],
        heard_to: Callable[[], float],
        *,
        fresh_s: float = FRESH_S,
        lives_s: float = LIVES_S,
        most_bytes: int = MOST_BYTES,
        told: Callable[[bool], None] = lambda kept: None,
    ) -> None:
        self._source = source
        self._clock = clock
        self._heard_to = heard_to
        self._fresh_s = fresh_s
        self._lives_s = lives_s
        self._most_bytes = most_bytes
        self._told = told
        self._entries: OrderedDict[Key, Entry] = OrderedDict()
        self._by_namespace: dict[str, set[Key]] = {}
        self._loads: set[PendingRead] = set()
        self._bytes = 0
        self.hits = 0
        self.misses = 0

    async def get(self, memory_id: str) -> Memory | None:
        """The memory, of any status and namespace. Raises Retryable."""
        return (await self.by_ids((memory_id,))).get(memory_id)

    async def by_ids(self, memory_ids: Collection[str]) -> dict[str, Memory]:
        """Existing memories, of any status and namespace; reads only those that are not cached. Raises Retryable."""
        found = {each: entry.memories[0] for each in memory_ids if (entry := self._kept(each)) is not None}
        missing = [each for each in memory_ids if each not in found]
        if missing:
            with self._loading() as load:
                read = await self._source.by_ids(missing)
            for memory in read.values():
                self._keep(load, memory.memory_id, (memory,), memory.namespace)
            found |= read
        return found

    async def list_page(self, asked: Listing) -> tuple[Memory, ...]:
        """A page of a namespace's memories. Raises Retryable."""
        if (entry := self._kept(asked)) is not None:
            return entry.memories
        with self._loading() as load:
            memories = await self._source.list_page(asked)
        self._keep(load, asked, memories, asked.namespace)
        return memories

    async def versions_after(self, memory_id: str, version: int, limit: int) -> tuple[MemoryVersion, ...]:
        """Versions above one, oldest first; never cached. Raises Retryable."""
        return await self._source.versions_after(memory_id, version, limit)

    def forget(self, namespace: str) -> None:
        """Invalidates the namespace, including reads in progress."""
        for load in self._loads:
            load.overtaken.add(namespace)
        for key in tuple(self._by_namespace.get(namespace, ())):
            self._drop(key)

    def forget_all(self) -> None:
        """Invalidates everything."""
        for load in self._loads:
            load.all_overtaken = True
        self._entries.clear()
        self._by_namespace.clear()
        self._bytes = 0

    def _kept(self, key: Key) -> Entry | None:
        now, entry = self._clock(), self._entries.get(key)
        if entry is not None and now - entry.at >= self._lives_s:
            self._drop(key)
            entry = None
        if entry is None or now - self._heard_to() >= self._fresh_s:
            self.misses += 1
            self._told(False)
            return None
        self._entries.move_to_end(key)
        self.hits += 1
        self._told(True)
        return entry

    def _keep(self, load: "PendingRead", key: Key, memories: tuple[Memory, ...], namespace: str) -> None:
        if load.all_overtaken or namespace in load.overtaken:
            return
        self._drop(key)
        entry = Entry(memories, namespace, load.began, ENTRY_BYTES + key_size(key) + sum(map(size, memories)))
        self._entries[key] = entry
        self._by_namespace.setdefault(namespace, set()).add(key)
        self._bytes += entry.size
        while self._bytes > self._most_bytes:
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
        """Tracks a read in progress: an event that arrives meanwhile may be newer than its result."""
        load = PendingRead(self._clock())
        self._loads.add(load)
        try:
            yield load
        finally:
            self._loads.discard(load)


class PendingRead:
    """A read in progress: when it began, and the namespaces that changed since."""

    def __init__(self, began: float) -> None:
        self.began = began
        self.overtaken: set[str] = set()
        self.all_overtaken = False


def size(memory: Memory) -> int:
    """About, in bytes."""
    said = (memory.text, memory.context or "", memory.full_text or "", *memory.kinds, *memory.tags)
    sources = (each for source in memory.sources for each in (source.conversation_id, source.message_id))
    links = (link.memory_id for link in memory.links)
    parts = PART_BYTES * (len(memory.sources) + len(memory.links))
    return ENTRY_BYTES + parts + texts_size((memory.namespace, memory.memory_id, *said, *sources, *links))


def key_size(key: Key) -> int:
    """About, in bytes: what is asked for may be much longer than what is found."""
    if isinstance(key, str):
        return getsizeof(key)
    return ENTRY_BYTES + texts_size((key.namespace, *key.kinds, *key.tags, key.after.memory_id if key.after else ""))


def texts_size(texts: Iterable[str]) -> int:
    return sum(map(getsizeof, texts))
