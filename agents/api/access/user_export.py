"""Exports what is stored about a user as JSON Lines: memories of all namespaces, and messages."""

from collections.abc import AsyncIterator
from typing import Final, Protocol

from msgspec import Struct
from msgspec.structs import replace

from agents.api.access.erasure import ErasureScope
from agents.api.memories.exports import ExportedMemory, MemoryPages, exported_memories, json_lines
from schemas.conversations.messages import Message, Scope
from schemas.conversations.user_settings import User
from schemas.erasure.erasures import belongs_to
from schemas.memories.memories import EVERY_STATUS
from sinks.archive.messages import ArchivedMessage, Place

PAGE_SIZE: Final = 200  # messages per query


class ArchivePages(Protocol):
    """Reads the messages of a conversation page by page (sinks.archive.messages.Archive). Raises Retryable."""

    async def page(self, conversation_id: str, *, beyond: Place | None, limit: int) -> tuple[ArchivedMessage, ...]: ...


class ExportedData(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line of a user's export: a memory, or a message as it was published."""

    memory: ExportedMemory | None = None
    message: Message | None = None


async def user_export_pages(
    pages: MemoryPages, archive: ArchivePages, user: User, scope: ErasureScope
) -> AsyncIterator[bytes]:
    """Yields the JSON lines of one page at a time: the user's memories, then the user's messages. Raises Retryable."""
    for namespace in (*scope.own, *scope.shared):
        is_own = namespace in scope.own
        async for memories in exported_memories(pages, namespace, EVERY_STATUS, with_versions=is_own):
            theirs = memories if is_own else [told_by(user, each) for each in memories if is_told_by(user, each, scope)]
            yield json_lines(ExportedData(memory=each) for each in theirs)
    for conversation_id in scope.conversations:
        beyond: Place | None = None
        is_shared = conversation_id in scope.with_others
        while page := await archive.page(conversation_id, beyond=beyond, limit=PAGE_SIZE):
            beyond = page[-1].partition, page[-1].position
            messages = [each.message for each in page if is_said_by(user, each.message, is_shared=is_shared)]
            yield json_lines(ExportedData(message=each) for each in messages)


def is_told_by(user: User, memory: ExportedMemory, scope: ErasureScope) -> bool:
    """Whether the user told a memory of a shared namespace, in a conversation of the scope if the memory has sources."""
    if not memory.sources:
        return user.user_id in memory.told_by
    return any(each.user_id == user.user_id and each.conversation_id in scope.conversations for each in memory.sources)


def told_by(user: User, memory: ExportedMemory) -> ExportedMemory:
    """The memory without the names and messages of the others who told it."""
    sources = tuple(each for each in memory.sources if each.user_id == user.user_id)
    return replace(memory, sources=sources, told_by=(user.user_id,))


def is_said_by(user: User, message: Message, *, is_shared: bool) -> bool:
    """Whether the user wrote a message; of messages without a user, those of conversations without other users and guests."""
    if message.user_id is not None:
        return belongs_to(Scope.of(message), user.user_id, user.tenant_id, user.app_id)
    is_guest = message.role == "user" and message.name is not None
    return not is_shared and not is_guest
