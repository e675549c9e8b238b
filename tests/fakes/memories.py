"""Memories in a dictionary, like sinks.memories.reader."""

from collections.abc import Collection

from schemas.errors import Retryable
from schemas.memories.memories import Memory
from sinks.memories.listing import Listing, Place
from sinks.memories.reader import MemoryVersion, with_contents
from sinks.vectors.port import Point, Vector


class FakeMemories:
    """`down`: every call raises Retryable."""

    def __init__(self, *memories: Memory) -> None:
        self.rows = {memory.memory_id: memory for memory in memories}
        self.version_rows: list[MemoryVersion] = []
        self.erased: dict[str, str] = {}  # namespaces by memory id
        self.vectors: dict[str, Vector] = {}
        self.down = False

    def put(self, *memories: Memory) -> None:
        self.rows |= {memory.memory_id: memory for memory in memories}

    async def get(self, memory_id: str) -> Memory | None:
        return (await self.by_ids([memory_id])).get(memory_id)

    async def by_ids(self, memory_ids: Collection[str]) -> dict[str, Memory]:
        self._check()
        return {each: self.rows[each] for each in memory_ids if each in self.rows}

    async def list_page(self, listing: Listing) -> tuple[Memory, ...]:
        self._check()
        wanted = [memory for memory in self.rows.values() if selects(listing, memory)]
        wanted.sort(key=lambda memory: memory.memory_id)
        wanted.sort(key=lambda memory: listing.place(memory).value, reverse=True)
        page = [memory for memory in wanted if is_behind(listing.place(memory), listing.after)][: listing.limit]
        return tuple(with_contents(memory, self._before_deletion(memory)) for memory in page)

    def _before_deletion(self, memory: Memory) -> Memory | None:
        befores = [each.before for each in self.version_rows if each.memory_id == memory.memory_id]
        said = [before for before in befores if before is not None and before.status != "deleted"]
        return said[-1] if memory.status == "deleted" and said else None

    async def versions_after(self, memory_id: str, version: int, limit: int) -> tuple[MemoryVersion, ...]:
        self._check()
        of_it = [each for each in self.version_rows if each.memory_id == memory_id and each.version > version]
        return tuple(sorted(of_it, key=lambda each: each.version))[:limit]

    async def erased_from(self, memory_id: str) -> str | None:
        self._check()
        return self.erased.get(memory_id)

    async def linking(
        self, namespace: str, memory_ids: Collection[str], limit: int | None = None
    ) -> tuple[Memory, ...]:
        self._check()
        there = [each for each in self.rows.values() if each.namespace == namespace and each.status != "deleted"]
        found = [each for each in there if any(link.memory_id in memory_ids for link in each.links)]
        return tuple(sorted(found, key=lambda each: each.memory_id))[:limit]

    async def from_messages(
        self, messages: Collection[tuple[str, str]], namespaces: Collection[str], limit: int = 20
    ) -> dict[tuple[str, str], tuple[str, ...]]:
        self._check()
        live = [each for each in self.rows.values() if each.namespace in namespaces and each.status == "active"]
        found = {
            message: tuple(
                each.memory_id
                for each in sorted(live, key=lambda each: each.memory_id)
                if message in {(source.conversation_id, source.message_id) for source in each.sources}
            )[:limit]
            for message in messages
        }
        return {message: memory_ids for message, memory_ids in found.items() if memory_ids}

    async def points(self, memory_ids: Collection[str], embedding_model: str) -> list[Point]:
        self._check()
        known = [self.rows[each] for each in memory_ids if each in self.vectors]
        return [Point.of(memory, self.vectors[memory.memory_id]) for memory in known if memory.status != "deleted"]

    def _check(self) -> None:
        if self.down:
            raise Retryable("PostgreSQL failed while reading memories: it is down")


def selects(listing: Listing, memory: Memory) -> bool:
    return (
        memory.namespace == listing.namespace
        and memory.status in listing.statuses
        and (not listing.kinds or not {memory.kind, *memory.kinds}.isdisjoint(listing.kinds))
        and (not listing.tags or not set(memory.tags).isdisjoint(listing.tags))
        and listing.least_importance <= memory.importance <= listing.most_importance
        and (listing.created_from is None or memory.created_at >= listing.created_from)
        and (listing.created_to is None or memory.created_at < listing.created_to)
    )


def is_behind(place: Place, after: Place | None) -> bool:
    if after is None:
        return True
    return place.value < after.value or (place.value == after.value and place.memory_id > after.memory_id)
