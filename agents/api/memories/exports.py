"""Exports a namespace as JSON Lines, page by page."""

from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from typing import Final, Protocol

from msgspec import Struct
from msgspec.structs import asdict

from schemas.codec import encode
from schemas.conversations.messages import Moment
from schemas.memories.memories import Memory, Status
from sinks.memories.reader import MemoryVersion

PAGE_SIZE: Final = 200  # memories per query
PAGE_SIZE_WITH_VERSIONS: Final = 10  # a memory may have many versions, each with two states


class MemoryPages(Protocol):
    """Reads memories page by page (sinks.memories.exports.Exports). Every method raises Retryable."""

    async def existing(self, namespaces: Collection[str]) -> tuple[str, ...]: ...

    async def page(
        self, namespace: str, after_id: str, statuses: Sequence[Status], limit: int
    ) -> tuple[Memory, ...]: ...

    async def versions(self, memory_ids: Sequence[str]) -> dict[str, tuple[MemoryVersion, ...]]: ...


class ExportedMemory(Memory, frozen=True, kw_only=True, omit_defaults=True):
    """A line of an export: a memory, the time of its latest source message, and on request its versions, oldest first."""

    said_at: Moment | None = None
    versions: tuple[MemoryVersion, ...] = ()


async def export_pages(
    pages: MemoryPages, namespace: str, statuses: Sequence[Status], *, with_versions: bool
) -> AsyncIterator[bytes]:
    """Yields the JSON lines of one page at a time, ordered by memory id. Raises Retryable."""
    async for page in exported_memories(pages, namespace, statuses, with_versions=with_versions):
        yield json_lines(page)


def json_lines(records: Iterable[Struct]) -> bytes:
    return b"".join(encode(each) + b"\n" for each in records)


async def exported_memories(
    pages: MemoryPages, namespace: str, statuses: Sequence[Status], *, with_versions: bool
) -> AsyncIterator[list[ExportedMemory]]:
    """Yields one page at a time, ordered by memory id. Raises Retryable."""
    after_id, limit = "", PAGE_SIZE_WITH_VERSIONS if with_versions else PAGE_SIZE
    versions: dict[str, tuple[MemoryVersion, ...]] = {}
    while page := await pages.page(namespace, after_id, statuses, limit):
        after_id = page[-1].memory_id
        if with_versions:
            versions = await pages.versions([memory.memory_id for memory in page])
        yield [exported_memory(memory, versions.get(memory.memory_id, ())) for memory in page]


def exported_memory(memory: Memory, versions: tuple[MemoryVersion, ...]) -> ExportedMemory:
    return ExportedMemory(**asdict(memory), said_at=memory.said_at, versions=versions)
