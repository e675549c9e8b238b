"""Ports of the agent tools."""

from collections.abc import Callable, Collection, Iterable
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from agents.conversations.lookup import Conversation
from agents.curation.rules.ledger.outcomes import Outcome
from agents.retrieval.ports import SearchService
from agents.retrieval.read_rights import MayRead
from schemas.memories.commands import Command
from schemas.memories.memories import Memory
from schemas.passages.passages import ReadPassage
from schemas.retrieval.blocks import Block, BlockQuery
from sinks.memories.retrieval_counts import Operation


def count_nothing(operation: Operation, namespaces: Iterable[str], found: bool) -> None:
    """The default for tools without retrieval counts."""


def note_nothing(memories: Iterable[Memory]) -> None:
    """The default for tools without access counts."""


class MemoryReader(Protocol):
    """Reads memories (sinks.memories.reader.Memories)."""

    async def by_ids(self, memory_ids: Collection[str]) -> dict[str, Memory]: ...


class PassageReader(Protocol):
    """Reads passages (agents.passages.passage_reader.PassageReader)."""

    async def of_messages(
        self, messages: Collection[tuple[str, str]], namespaces: Collection[str], *, limit: int = 20
    ) -> list[ReadPassage]: ...


class CommandSender(Protocol):
    """Sends commands to the curator (agents.api.memories.commands.Commands)."""

    async def send_and_wait(self, command: Command) -> Outcome | None:
        """Returns the outcome; None if it is unknown after the time limit. Raises Retryable and Rejected."""


class ConversationFinder(Protocol):
    """Finds conversations (agents.conversations.lookup.Conversations)."""

    async def find(self, conversation_id: str, allowed: Callable[[str], bool]) -> Conversation | None: ...


class ContextBlocks(Protocol):
    """Builds context blocks (agents.retrieval.recall.Recall)."""

    async def block(self, query: BlockQuery, conversation: Conversation | None, may_read: MayRead = ...) -> Block: ...


class Blocks(Struct, frozen=True):
    """The ports of the tool `get_context`."""

    conversations: ConversationFinder
    recall: ContextBlocks


class ToolPorts(Struct, frozen=True, kw_only=True):
    """The ports of a tool set. `blocks` adds the tool `get_context`. `note` receives the memories that were read; `count`
    receives the operation, the namespaces and whether it found something."""

    retrieval: SearchService
    memories: MemoryReader
    passages: PassageReader
    commands: CommandSender
    clock: Callable[[], datetime]
    blocks: Blocks | None = None
    note: Callable[[Iterable[Memory]], object] = note_nothing
    count: Callable[[Operation, Iterable[str], bool], object] = count_nothing
