"""Agent tools: what a model may ask of the memories, within the namespaces that whoever wires the tools allows.

The same handler stands behind the SDK's tool loop, HTTP and MCP. What a model gets wrong comes back as a result with
`is_error` that says what to do instead; nothing a model says reaches another namespace.
"""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Any, Final, Protocol
from uuid import uuid4

from anthropic.types import ToolParam, ToolResultBlockParam, ToolUseBlock
from msgspec import Struct

from agents.api.tool_inputs import TOOLS, WRITING, CreateMemory, GetMemory, SearchMemories, definition
from agents.api.tool_results import Kept, Read, Searched, Waiting, seen
from agents.curation.outcome import Outcome
from schemas import codec
from schemas.errors import MemstreamError, Rejected, Retryable
from schemas.kinds import DEFAULT_KINDS, Kind
from schemas.memories import Memory
from schemas.requests import Command
from schemas.searches import Filters, Found, Query

AWAY: Final = "The memory cannot be reached right now. Go on without it, and say so if it matters."


class Searching(Protocol):
    """agents.retrieval.search.Retrieval."""

    async def search(self, asked: Query) -> Found: ...


class Reading(Protocol):
    """sinks.memories.Memories."""

    async def by_ids(self, memory_ids: Collection[str]) -> dict[str, Memory]: ...


class Commanding(Protocol):
    """The gateway to `memory.commands`."""

    async def carried_out(self, command: Command) -> Outcome | None:
        """What came of the command; None when that was not known in time. Raises Retryable."""


class Reach(Struct, frozen=True, kw_only=True):
    """What whoever wires the tools allows: in which namespaces, the first of them where nothing else is said, and whether
    something may be remembered there. `actor` is who is said to have done it."""

    namespaces: tuple[str, ...]
    may_write: bool = True
    actor: str = "agent"
    kinds: tuple[Kind, ...] = DEFAULT_KINDS


class Answer(Struct, frozen=True):
    """What a tool says: JSON, or with `is_error` a sentence that says what to do."""

    text: str
    is_error: bool = False


class Tools:
    """The tools of one wiring. `named` are the inputs of the tools it has, by name."""

    def __init__(
        self,
        reach: Reach,
        retrieval: Searching,
        memories: Reading,
        commands: Commanding,
        clock: Callable[[], datetime],
        named: Mapping[str, type[Struct]] = TOOLS,
    ) -> None:
        self._reach = reach
        self._retrieval = retrieval
        self._memories = memories
        self._commands = commands
        self._clock = clock
        self._named = {name: shape for name, shape in named.items() if reach.may_write or name not in WRITING}

    def definitions(self) -> list[ToolParam]:
        """For the `tools` of a request to the Messages API."""
        reach = self._reach
        return [definition(name, shape, reach.namespaces, reach.kinds) for name, shape in self._named.items()]

    async def result(self, used: ToolUseBlock) -> ToolResultBlockParam:
        """The block that answers a tool use, for the very next message."""
        answer = await self.call(used.name, used.input)
        return {
            "type": "tool_result",
            "tool_use_id": used.id,
            "content": answer.text,
            "is_error": answer.is_error,
        }

    async def call(self, name: str, given: Any) -> Answer:
        """Never raises what memstream raises: a model is told."""
        if name not in self._named:
            return Answer(f"There is no tool {name!r}; there are: {', '.join(self._named)}.", is_error=True)
        try:
            return Answer(codec.encode(await self._answer(codec.shaped(given, self._named[name]))).decode())
        except Retryable:
            return Answer(AWAY, is_error=True)
        except Rejected as rejected:
            return Answer(rejected.detail, is_error=True)
        except MemstreamError as exc:
            return Answer(f"This cannot be done: {type(exc).__name__}.", is_error=True)

    async def _answer(self, given: Struct) -> Struct:
        match given:
            case CreateMemory():
                return await self._create(given)
            case GetMemory():
                return await self._get(given)
            case SearchMemories():
                return await self._search(given)
        raise TypeError(f"nothing answers {type(given).__name__}")

    async def _create(self, given: CreateMemory) -> Struct:
        command = Command(
            command_id=str(uuid4()),
            kind="create",
            namespace=self._namespace(given.namespace),
            at=self._clock(),
            actor=self._reach.actor,
            reason="as a tool",
            text=given.text,
            memory_kind=self._kind(given.kind),
            tags=given.tags,
            context=given.context or None,
            full_text=given.full_text or None,
            importance=given.importance,
        )
        outcome = await self._commands.carried_out(command)
        if outcome is None:
            return Waiting(command_id=command.command_id)
        if outcome.status == "rejected":
            raise Rejected("rejected", f"It was not remembered: {outcome.reason}.")
        return Kept(memory_id=outcome.memory_id or "", change=outcome.change or "created")

    async def _get(self, given: GetMemory) -> Struct:
        memory = (await self._memories.by_ids((given.memory_id,))).get(given.memory_id)
        if memory is None or memory.namespace not in self._reach.namespaces or memory.status == "deleted":
            raise Rejected(
                "unknown", f"There is no memory {given.memory_id!r}; search_memories tells the ids there are."
            )
        return Read(memory=seen(memory, full=given.full))

    async def _search(self, given: SearchMemories) -> Struct:
        filters = Filters(kinds=given.kinds, tags=given.tags, min_importance=given.min_importance or None)
        namespaces = (self._namespace(given.namespace),) if given.namespace else self._reach.namespaces
        asked = Query(namespaces=namespaces, text=given.query or None, filters=filters, limit=given.limit)
        found = await self._retrieval.search(asked)
        return Searched(memories=tuple(seen(hit.memory) for hit in found.hits), partial=bool(found.degraded))

    def _namespace(self, chosen: str) -> str:
        allowed = self._reach.namespaces
        if chosen and chosen not in allowed:
            raise Rejected("forbidden", f"There is no memory space {chosen!r} here; there are: {', '.join(allowed)}.")
        return chosen or allowed[0]

    def _kind(self, chosen: str) -> str:
        names = [kind.name for kind in self._reach.kinds]
        if chosen not in names:
            raise Rejected("unknown", f"There is no kind {chosen!r}; there are: {', '.join(names)}.")
        return chosen
