"""Exports a namespace as JSON Lines, a page at a time."""

from collections.abc import AsyncIterator, Sequence
from typing import Final, Protocol

from msgspec.structs import asdict

from schemas.codec import encode
from schemas.conversations.messages import Moment
from schemas.memories.memories import Memory, Status
from sinks.memories.reader import MemoryVersion

NDJSON: Final = "application/x-ndjson"
PAGE: Final = 200  # memories read at a time
PAGE_WITH_VERSIONS: Final = 10  # each may have been changed many times, and each version tells it twice


class Pages(Protocol):
    """Where memories are read page by page (sinks.memories.exports.Exports). Both raise Retryable."""

    async def page(
        self, namespace: str, after_id: str, statuses: Sequence[Status], limit: int
    ) -> tuple[Memory, ...]: ...

    async def versions(self, memory_ids: Sequence[str]) -> dict[str, tuple[MemoryVersion, ...]]: ...


class ExportedMemory(Memory, frozen=True, kw_only=True, omit_defaults=True):
    """A line of an export: a memory, when it was last said, and its versions if they were asked for, oldest first."""

    said_at: Moment | None = None
    versions: tuple[MemoryVersion, ...] = ()


async def exported(
    pages: Pages, namespace: str, statuses: Sequence[Status], *, with_versions: bool
) -> AsyncIterator[bytes]:
    """Lines in the order of the memories' ids, a page of them at a time. Raises Retryable."""
    after_id, limit = "", PAGE_WITH_VERSIONS if with_versions else PAGE
    versions: dict[str, tuple[MemoryVersion, ...]] = {}
    while page := await pages.page(namespace, after_id, statuses, limit):
        after_id = page[-1].memory_id
        if with_versions:
            versions = await pages.versions([memory.memory_id for memory in page])
        yield b"".join(encode(line(memory, versions.get(memory.memory_id, ()))) + b"\n" for memory in page)


def line(memory: Memory, versions: tuple[MemoryVersion, ...]) -> ExportedMemory:
    return ExportedMemory(**asdict(memory), said_at=memory.said_at, versions=versions)
