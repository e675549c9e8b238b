"""Caches the rows of memories that were found recently or just created.

Each read asks PostgreSQL which cached rows are still current, so changed or erased memories are never returned, even without
events. The cache saves reading and decoding the other rows. Memory events remove outdated rows early.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final, Protocol

from msgspec import Struct

from agents.api.memories.cache import size
from schemas import codec
from schemas.errors import Rejected
from schemas.memories.memories import Memory
from sinks.memories.reader import MemoryRow
from sinks.vectors.port import Vector

MAX_BYTES: Final = 64 * 1024 * 1024
MAX_QUEUED: Final = 1_000  # created memories that are not read yet; the oldest are dropped
WARM_BATCH: Final = 200
ALL_MEMORIES: Final = ""  # no memory's id
CREATED: Final = "memstream.memory.created"


class MemoryRows(Protocol):
    """sinks.memories.reader.Memories. Every method raises Retryable."""

    async def rows_unless(self, known: Mapping[str, int]) -> tuple[dict[str, MemoryRow], frozenset[str]]: ...

    async def vectors(self, memory_ids: Collection[str], embedding_model: str) -> dict[str, Vector]: ...


class MemoryEventHead(Struct, frozen=True):
    """The fields of a memory event that the cache needs: its type, and the memory id as `subject`."""

    type: str
    subject: str


class MemoryRowCache:
    """Implements agents.retrieval.search.MemorySource as an LRU cache of at most `max_bytes`. Each read calls `on_read`
    twice: with the number of cached memories and with the number of uncached ones."""

    def __init__(
        self,
        source: MemoryRows,
        *,
        max_bytes: int = MAX_BYTES,
        on_read: Callable[[bool, int], None] = lambda cached, n: None,
    ) -> None:
        self._source = source
        self._max_bytes = max_bytes
        self._on_read = on_read
        self._rows: OrderedDict[str, MemoryRow] = OrderedDict()
        self._sizes: dict[str, int] = {}
        self.bytes = 0
        self._created: deque[str] = deque(maxlen=MAX_QUEUED)
        self._reads: dict[int, set[str]] = {}  # ids that changed during each read in progress, by id() of the set

    async def by_ids(self, memory_ids: Collection[str]) -> dict[str, Memory]:
        """Returns the existing memories in their current state, of any status and namespace. Raises Retryable."""
        found, cached = await self._read(memory_ids)
        self._on_read(True, cached)
        self._on_read(False, len(memory_ids) - cached)
        return found

    async def vectors(self, memory_ids: Collection[str], embedding_model: str) -> dict[str, Vector]:
        """Raises Retryable."""
        return await self._source.vectors(memory_ids, embedding_model)

    def apply_events(self, records: Iterable[Any]) -> None:
        """Applies records of `memory.events`: queues created memories for `warm`, and drops changed ones."""
        for record in records:
            try:
                event = codec.decode_untrusted(record.value, MemoryEventHead)
            except Rejected:
                continue  # not a memory event; searches read current rows anyway
            if event.type == CREATED:
                self._created.append(event.subject)
            else:
                self._forget((event.subject,))

    def forget_all(self) -> None:
        """Drops all rows: events may have been missed."""
        self._forget((*self._rows, ALL_MEMORIES))

    async def warm(self) -> int:
        """Reads created memories into the cache and returns their number. Raises Retryable."""
        created = [self._created.popleft() for _ in range(min(WARM_BATCH, len(self._created)))]
        return len((await self._read(created))[0]) if created else 0

    async def _read(self, memory_ids: Collection[str]) -> tuple[dict[str, Memory], int]:
        """Returns the memories by id, and how many cached ones were current."""
        cached_rows = {each: self._rows[each] for each in memory_ids if each in self._rows}
        known = {each: cached_rows[each].written_by if each in cached_rows else 0 for each in memory_ids}
        changed_meanwhile: set[str] = set()
        self._reads[id(changed_meanwhile)] = changed_meanwhile
        try:
            changed, unchanged = await self._source.rows_unless(known)
        finally:
            del self._reads[id(changed_meanwhile)]
        for memory_id in cached_rows.keys() - unchanged - changed.keys():
            self._drop(memory_id)
        for memory_id in () if ALL_MEMORIES in changed_meanwhile else changed.keys() - changed_meanwhile:
            self._store(memory_id, changed[memory_id])
        for memory_id in unchanged & self._rows.keys():
            self._rows.move_to_end(memory_id)
        found = {each: cached_rows[each].memory for each in unchanged} | {
            each: row.memory for each, row in changed.items()
        }
        return found, len(unchanged)

    def _forget(self, memory_ids: Iterable[str]) -> None:
        for memory_id in memory_ids:
            self._drop(memory_id)
            for changed_meanwhile in self._reads.values():
                changed_meanwhile.add(memory_id)

    def _store(self, memory_id: str, row: MemoryRow) -> None:
        self._drop(memory_id)
        self._rows[memory_id], self._sizes[memory_id] = row, size(row.memory)
        self.bytes += self._sizes[memory_id]
        while self.bytes > self._max_bytes:
            self._drop(next(iter(self._rows)))

    def _drop(self, memory_id: str) -> None:
        if self._rows.pop(memory_id, None) is not None:
            self.bytes -= self._sizes.pop(memory_id)
