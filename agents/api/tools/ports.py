"""What agent tools reach for."""

from collections.abc import Callable, Collection, Iterable
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from agents.conversations.lookup import Conversation
from agents.curation.rules.outcome import Outcome
from agents.retrieval.rights import MayRead
from schemas.memories.commands import Command
from schemas.memories.memories import Memory
from schemas.passages.passages import ReadPassage
from schemas.retrieval.blocks import Block, BlockQuery
from schemas.retrieval.searches import Found, Query


def unnoted(memories: Iterable[Memory]) -> None:
    """Where reading is not counted."""


class Searching(Protocol):
    """agents.retrieval.tiers.Tiers."""

    async def search(self, asked: Query) -> Found: ...


class Reading(Protocol):
    """sinks.memories.reader.Memories."""

    async def by_ids(self, memory_ids: Collection[str]) -> dict[str, Memory]: ...


class ReadingPassages(Protocol):
    """agents.passages.reading.PassageReader."""

    async def of_messages(
        self, messages: Collection[tuple[str, str]], namespaces: Collection[str], *, limit: int = 20
    ) -> list[ReadPassage]: ...


class Commanding(Protocol):
    """agents.api.memories.commands.Commands."""

    async def send_and_wait(self, command: Command) -> Outcome | None:
        """What came of the command; None when that was not known in time. Raises Retryable, Rejected."""


class Finding(Protocol):
    """agents.conversations.lookup.Conversations."""

    async def find(self, conversation_id: str, allowed: Callable[[str], bool]) -> Conversation | None: ...


class Recalling(Protocol):
    """agents.retrieval.recall.Recall."""

    async def block(self, asked: BlockQuery, conversation: Conversation | None, may_read: MayRead = ...) -> Block: ...


class Blocks(Struct, frozen=True):
    """What context blocks are made with."""

    conversations: Finding
    recall: Recalling


class ToolPorts(Struct, frozen=True, kw_only=True):
    """What the tools of a wiring use. With `blocks` there is one more, for a context block; `note` is told what was read."""

    retrieval: Searching
    memories: Reading
    passages: ReadingPassages
    commands: Commanding
    clock: Callable[[], datetime]
    blocks: Blocks | None = None
    note: Callable[[Iterable[Memory]], object] = unnoted
