"""The handler of the agent tools, limited to the namespaces of their access.

HTTP and MCP share this handler. Invalid input from a model returns a result with `is_error` and a remedy. No input reaches
another namespace.
"""

from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from agents.api.tools.access import ToolAccess, chosen_namespaces, readable_memory
from agents.api.tools.changes import MemoryChanges
from agents.api.tools.definitions import (
    CONTEXT_TOOLS,
    DELETE_TOOLS,
    TOOLS,
    WRITE_TOOLS,
    CreateMemory,
    DeleteMemory,
    GetContext,
    GetMemory,
    SearchMemories,
    ToolLimits,
    definition,
)
from agents.api.tools.ports import Blocks, ToolPorts
from agents.api.tools.results import ContextResult, Quote, ReadResult, SearchResult, memory_result, quote, quoted_hit
from agents.retrieval.read_rights import may_read_any
from schemas import codec
from schemas.errors import MemstreamError, Rejected, Retryable
from schemas.memories.memories import Memory
from schemas.passages.passages import PassageFilters
from schemas.retrieval.blocks import BlockQuery
from schemas.retrieval.searches import Filters, Query, Scale

if TYPE_CHECKING:  # importing the package takes seconds
    from anthropic.types import ToolParam

MAX_QUOTES: Final = 10
UNAVAILABLE: Final = "The memory is not available right now. Continue without it, and tell the user if that matters."


class ToolResult(Struct, frozen=True):
    """The result of a tool: JSON, or with `is_error` a sentence with a remedy."""

    text: str
    is_error: bool = False


class Tools:
    """The tools for one access."""

    def __init__(self, access: ToolAccess, ports: ToolPorts) -> None:
        self._access = access
        self._is_accessible = access.namespaces.__contains__
        self._ports = ports
        self._changes = MemoryChanges(access, ports)
        shapes = TOOLS if ports.blocks is None else {**TOOLS, **CONTEXT_TOOLS}
        self._shapes = {name: shape for name, shape in shapes.items() if access.writable or name not in WRITE_TOOLS}
        if access.deletable:
            self._shapes |= DELETE_TOOLS

    def definitions(self) -> "list[ToolParam]":
        """Returns the `tools` of a request to the Messages API."""
        access = self._access
        limits = ToolLimits(kinds=access.kinds, new_kinds=access.new_kinds, text_chars=access.text_chars)
        return [
            definition(name, shape, access.writable if name in WRITE_TOOLS else access.namespaces, limits)
            for name, shape in self._shapes.items()
        ]

    async def call(self, name: str, arguments: Any) -> ToolResult:
        """Runs a tool. Returns MemstreamErrors as results with `is_error` instead of raising them."""
        shape = self._shapes.get(name)
        if shape is None:
            return ToolResult(f"There is no tool {name!r}; the tools are: {', '.join(self._shapes)}.", is_error=True)
        try:
            converted = codec.convert(arguments, shape)
        except Rejected as rejected:
            reason = rejected.detail.removeprefix(f"not a {shape.__name__}: ")
            return ToolResult(f"This is no input of {name}: {reason}", is_error=True)
        try:
            return ToolResult(codec.encode(await self._answer(converted)).decode())
        except Retryable:
            return ToolResult(UNAVAILABLE, is_error=True)
        except Rejected as rejected:
            return ToolResult(rejected.detail, is_error=True)
        except MemstreamError as exc:
            return ToolResult(f"The tool failed: {type(exc).__name__}.", is_error=True)

    async def _answer(self, arguments: Struct) -> Struct:
        match arguments:
            case CreateMemory():
                return await self._changes.create(arguments)
            case GetMemory():
                return await self._get(arguments)
            case DeleteMemory():
                return await self._changes.delete(arguments)
            case SearchMemories():
                return await self._search(arguments)
            case GetContext() if self._ports.blocks is not None:
                return await self._context(arguments, self._ports.blocks)
        raise TypeError(f"no handler for {type(arguments).__name__}")

    async def _get(self, arguments: GetMemory) -> Struct:
        memory = await readable_memory(self._ports.memories, arguments.memory_id, self._access.namespaces)
        self._ports.note((memory,))
        return ReadResult(
            memory=memory_result(memory, full=arguments.full),
            said=await self._sources(memory) if arguments.full else (),
        )

    async def _sources(self, memory: Memory) -> tuple[Quote, ...]:
        """Returns the passages of the latest source messages that the caller may read."""
        messages = [(source.conversation_id, source.message_id) for source in memory.sources[-MAX_QUOTES:]]
        found = await self._ports.passages.of_messages(messages, (memory.namespace,), limit=MAX_QUOTES)
        return tuple(quote(each.passage) for each in found if may_read_any(self._is_accessible, each.owners))

    async def _search(self, arguments: SearchMemories) -> Struct:
        query = self._query(arguments)
        found = await self._ports.retrieval.search(query, self._is_accessible)
        self._ports.note([hit.memory for hit in found.hits])
        self._ports.count("search", query.namespaces, bool(found.hits or found.said))
        return SearchResult(
            memories=tuple(memory_result(hit.memory) for hit in found.hits),
            said=tuple(map(quoted_hit, found.said)),
            partial=bool(found.degraded),
        )

    def _query(self, arguments: SearchMemories) -> Query:
        scale = scale_of(arguments.min_importance, arguments.max_importance)
        filters = Filters(
            kinds=arguments.kinds,
            tags=arguments.tags,
            min_importance=arguments.min_importance or None,
            max_importance=arguments.max_importance,
            scale=scale,
            happened_from=start_of_day(arguments.since, "since"),
            happened_to=start_of_day(arguments.until, "until"),
        )
        try:
            return Query(
                namespaces=chosen_namespaces(arguments.namespace, self._access.namespaces),
                text=arguments.query or None,
                filters=filters,
                passage_filters=PassageFilters(speakers=(arguments.speaker,) if arguments.speaker else ()),
                tier=arguments.where,
                limit=arguments.limit,
            )
        except ValueError as exc:
            raise Rejected("invalid", f"{exc}.") from exc

    async def _context(self, arguments: GetContext, blocks: Blocks) -> Struct:
        """Builds a context block. A model may name any conversation, so the block uses it only if all namespaces that it
        feeds are accessible."""
        conversation = None
        if arguments.conversation_id:
            conversation = await blocks.conversations.find(arguments.conversation_id, self._is_accessible)
        query = BlockQuery(
            namespaces=chosen_namespaces(arguments.namespace, self._access.namespaces),
            conversation_id=arguments.conversation_id or None,
            text=arguments.query,
            max_tokens=arguments.max_tokens or None,
            profile=True,
        )
        block = await blocks.recall.block(query, conversation, self._is_accessible)
        self._ports.count("context", block.namespaces, bool(block.memories))
        profile = block.profile.text if block.profile else ""
        profile_memories = [each for line in block.profile.lines for each in line.memory_ids] if block.profile else []
        return ContextResult(
            context="\n\n".join(part for part in (profile, block.text) if part),
            memory_ids=tuple(dict.fromkeys((*profile_memories, *(memory.memory_id for memory in block.memories)))),
        )


def scale_of(*importances: float | None) -> Scale:
    """Returns the scale of the importances: earlier definitions used fractions, which are floats up to 1; points are
    integers."""
    arguments = [each for each in importances if each]
    return (
        "points" if arguments and not any(isinstance(each, float) and each <= 1 for each in arguments) else "fraction"
    )


def start_of_day(text: str, name: str) -> datetime | None:
    """Parses a date as its start in UTC. Raises Rejected."""
    try:
        return datetime.combine(date.fromisoformat(text), time(), UTC) if text else None
    except ValueError:
        raise Rejected("invalid", f"`{name}` is {text!r}; write a day such as 2026-03-02.") from None
