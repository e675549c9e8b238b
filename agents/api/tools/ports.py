"""What agent tools reach for."""

from collections.abc import Callable, Collection
from typing import Protocol

from msgspec import Struct

from agents.conversations.lookup import Conversation
from agents.curation.rules.outcome import Outcome
from schemas.extraction.requests import Command
from schemas.memories.memories import Memory
from schemas.retrieval.blocks import Block, BlockQuery
from schemas.retrieval.searches import Found, Query


class Searching(Protocol):
    """agents.retrieval.search.Retrieval."""

    async def search(self, asked: Query) -> Found: ...


class Reading(Protocol):
    """sinks.memories.reader.Memories."""

    async def by_ids(self, memory_ids: Collection[str]) -> dict[str, Memory]: ...


class Commanding(Protocol):
    """agents.api.memories.commands.Commands."""

    async def send_and_wait(self, command: Command) -> Outcome | None:
        """What came of the command; None when that was not known in time. Raises Retryable, Rejected."""


class Finding(Protocol):
    """agents.conversations.lookup.Conversations."""

    async def find(self, conversation_id: str, allowed: Callable[[str], bool]) -> Conversation | None: ...


class Recalling(Protocol):
    """agents.retrieval.recall.Recall."""

    async def block(self, asked: BlockQuery, conversation: Conversation | None) -> Block: ...


class Blocks(Struct, frozen=True):
    """What context blocks are made with."""

    conversations: Finding
    recall: Recalling
