"""Exports what is stored about a user as JSON Lines: memories of all namespaces, and messages."""

from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from typing import Final, Protocol

from msgspec import Struct
from msgspec.structs import replace

from agents.api.access.erasure import ErasureScope, pages_of
from agents.api.memories.exports import ExportedMemory, MemoryPages, exported_memories, json_lines
from schemas.conversations.messages import Message, Scope
from schemas.conversations.user_settings import User
from schemas.erasure.erasures import belongs_to
from schemas.memories.memories import EVERY_STATUS
from sinks.archive.messages import ArchivedMessage, Place
from streams.windows.extraction.speakers import is_guest_name

PAGE_SIZE: Final = 200  # messages per query


class ArchivePages(Protocol):
    """Reads messages (sinks.archive.messages.Archive). Both methods raise Retryable."""

    async def names(self, conversations: Collection[str]) -> dict[str, list[tuple[str, bool]]]: ...

    async def page(self, conversation_id: str, *, beyond: Place | None, limit: int) -> tuple[ArchivedMessage, ...]: ...


class ExportedData(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line of a user's export: a memory, or a message as it was published."""

    memory: ExportedMemory | None = None
    message: Message | None = None


async def user_export_pages(
    pages: MemoryPages, archive: ArchivePages, user: User, scope: ErasureScope
) -> AsyncIterator[bytes]:
    """Yields the JSON lines of one page at a time: the user's memories, then the user's messages. Raises Retryable."""
    conversations = frozenset(scope.conversations)
    async for namespace in existing(pages, scope.own):
        async for memories in exported_memories(pages, namespace, EVERY_STATUS, with_versions=True):
            yield json_lines(ExportedData(memory=each) for each in memories if not is_told_by_others(user, each))
    async for namespace in existing(pages, scope.shared):
        async for memories in exported_memories(pages, namespace, EVERY_STATUS, with_versions=False):
            theirs = (part_told_by(user, each, conversations) for each in memories)
            yield json_lines(ExportedData(memory=each) for each in theirs if each is not None)
    for ids in pages_of(scope.conversations):
        names = await archive.names(ids)
        for conversation_id in ids:
            is_alone = conversation_id not in scope.with_others and not has_guests(names.get(conversation_id, ()))
            async for messages in message_pages(archive, conversation_id):
                said = (each for each in messages if is_said_by(user, each, is_alone=is_alone))
                yield json_lines(ExportedData(message=each) for each in said)


async def existing(pages: MemoryPages, namespaces: Sequence[str]) -> AsyncIterator[str]:
    """Yields the namespaces that have memories: a user may concern many that have none, one for each conversation."""
    for names in pages_of(namespaces):
        for namespace in await pages.existing(names):
            yield namespace


def is_told_by_others(user: User, memory: ExportedMemory) -> bool:
    """Whether all sources of a memory are messages of guests or other users."""
    of_others = [each.guest_id is not None or each.user_id not in (None, user.user_id) for each in memory.sources]
    return bool(of_others) and all(of_others)


def part_told_by(user: User, memory: ExportedMemory, conversations: Collection[str]) -> ExportedMemory | None:
    """A memory of a shared namespace without the names and messages of others who told it. None if the user did not tell it,
    in one of these conversations if the memory has sources."""
    of_user = (each for each in memory.sources if each.user_id == user.user_id)
    sources = tuple(each for each in of_user if each.conversation_id in conversations)
    if not (sources if memory.sources else user.user_id in memory.told_by):
        return None
    return replace(memory, sources=sources, told_by=(user.user_id,))


async def message_pages(archive: ArchivePages, conversation_id: str) -> AsyncIterator[list[Message]]:
    beyond: Place | None = None
    is_last = False
    while not is_last and (page := await archive.page(conversation_id, beyond=beyond, limit=PAGE_SIZE)):
        beyond, is_last = (page[-1].partition, page[-1].position), len(page) < PAGE_SIZE
        yield [each.message for each in page]


def has_guests(names: Iterable[tuple[str, bool]]) -> bool:
    """Whether a conversation of one user has messages of guests, by the rule of its windows. `names` are those of its
    speakers, each with whether a user id is given beside it."""
    own: set[str] = set()
    unknown: set[str] = set()
    for name, is_of_user in names:
        (own if is_of_user else unknown).add(name)
    return any(is_guest_name(name, own) for name in unknown)


def is_said_by(user: User, message: Message, *, is_alone: bool) -> bool:
    """Whether the user wrote a message; a message without a user counts as the user's if nobody else speaks in the
    conversation."""
    if message.user_id is None:
        return is_alone
    return belongs_to(Scope.of(message), user.user_id, user.tenant_id, user.app_id)
