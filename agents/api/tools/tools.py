"""Agent tools: what a model may ask of the memories, within the namespaces that whoever wires the tools allows.

The same handler stands behind the SDK's tool loop, HTTP and MCP. What a model gets wrong comes back as a result with
`is_error` that says what to do instead; nothing a model says reaches another namespace.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from msgspec import Struct

from agents.api.memories.commands import status_path
from agents.api.tools.inputs import (
    CONTEXT,
    DELETING,
    TOOLS,
    WRITING,
    CreateMemory,
    DeleteMemory,
    GetContext,
    GetMemory,
    SearchMemories,
    Told,
    definition,
)
from agents.api.tools.ports import Blocks, ToolPorts
from agents.api.tools.results import Context, Deleted, Kept, Quote, Read, Searched, Waiting, quote, seen
from agents.retrieval.rights import may_read_any, permitted
from schemas import codec
from schemas.errors import MemstreamError, Rejected, Retryable
from schemas.memories.commands import Command
from schemas.memories.kinds import DEFAULT_KINDS, Kind
from schemas.memories.memories import Memory
from schemas.passages.passages import PassageFilters
from schemas.policies.namespaces import read_back
from schemas.policies.policies import PolicySelector
from schemas.retrieval.blocks import BlockQuery
from schemas.retrieval.searches import Filters, Query, Scale

if TYPE_CHECKING:  # the package takes seconds to load
    from anthropic.types import ToolParam, ToolResultBlockParam, ToolUseBlock

MOST_QUOTED: Final = 10
AWAY: Final = "The memory cannot be reached right now. Go on without it, and say so if it matters."


class ToolAccess(Struct, frozen=True, kw_only=True):
    """What whoever wires the tools allows: which namespaces are read, in which of them something may be remembered, in the first
    where nothing else is said, and in which memories may be deleted. `actor` is who is said to have done it. `kinds`, whether
    there may be `new_kinds` and how long a short text is are those of the policies. `users` are by namespace those whose own it
    is: what is remembered there they told."""

    namespaces: tuple[str, ...]
    writable: tuple[str, ...] = ()
    deletable: tuple[str, ...] = ()
    actor: str = "agent"
    kinds: tuple[Kind, ...] = DEFAULT_KINDS
    new_kinds: bool = False
    text_chars: int = 200
    users: Mapping[str, str] = {}


class Answer(Struct, frozen=True):
    """What a tool says: JSON, or with `is_error` a sentence that says what to do."""

    text: str
    is_error: bool = False


class Tools:
    """The tools of one wiring."""

    def __init__(self, reach: ToolAccess, ports: ToolPorts) -> None:
        self._reach = reach
        self._within = reach.namespaces.__contains__
        self._ports = ports
        named = TOOLS if ports.blocks is None else {**TOOLS, **CONTEXT}
        self._named = {name: shape for name, shape in named.items() if reach.writable or name not in WRITING}
        if reach.deletable:
            self._named |= DELETING

    def definitions(self) -> "list[ToolParam]":
        """For the `tools` of a request to the Messages API."""
        reach = self._reach
        told = Told(kinds=reach.kinds, new_kinds=reach.new_kinds, text_chars=reach.text_chars)
        return [
            definition(name, shape, reach.writable if name in WRITING else reach.namespaces, told)
            for name, shape in self._named.items()
        ]

    async def result(self, used: "ToolUseBlock") -> "ToolResultBlockParam":
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
            return Answer(codec.encode(await self._answer(codec.convert(given, self._named[name]))).decode())
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
            case DeleteMemory():
                return await self._delete(given)
            case SearchMemories():
                return await self._search(given)
            case GetContext() if self._ports.blocks is not None:
                return await self._context(given, self._ports.blocks)
        raise TypeError(f"nothing answers {type(given).__name__}")

    async def _create(self, given: CreateMemory) -> Struct:
        kinds = self._kinds(given)
        text, full_text = self._texts(given)
        namespace = chosen(given.namespace, self._reach.writable)[0]
        user_id = self._reach.users.get(namespace)
        command = Command(
            command_id=str(uuid4()),
            kind="create",
            namespace=namespace,
            at=self._ports.clock(),
            actor=self._reach.actor,
            reason="as a tool",
            text=text,
            memory_kind=kinds[0] if kinds else None,
            kinds=kinds[1:] or None,
            tags=given.tags,
            context=given.context or None,
            full_text=full_text,
            importance=given.importance,
            told_by=None if user_id is None else (user_id,),
            new_kinds=self._new_kinds(given, kinds) or None,
        )
        outcome = await self._ports.commands.send_and_wait(command)
        if outcome is None:
            return Waiting(command_id=command.command_id, ask=status_path(command))
        if outcome.status == "rejected":
            raise Rejected("rejected", f"It was not remembered: {outcome.reason}.")
        return Kept(memory_id=outcome.memory_id or "", change=outcome.change or "created")

    async def _memory(self, memory_id: str) -> Memory:
        """A memory within reach; another one is as good as none. Raises Rejected."""
        memory = (await self._ports.memories.by_ids((memory_id,))).get(memory_id)
        if memory is None or memory.namespace not in self._reach.namespaces or memory.status == "deleted":
            raise Rejected("unknown", f"There is no memory {memory_id!r}; search_memories tells the ids there are.")
        return memory

    async def _delete(self, given: DeleteMemory) -> Struct:
        memory = await self._memory(given.memory_id)
        if memory.namespace not in self._reach.deletable:
            raise Rejected("forbidden", f"Memories of {memory.namespace!r} cannot be deleted here.")
        command = Command(
            command_id=str(uuid4()),
            kind="delete",
            namespace=memory.namespace,
            at=self._ports.clock(),
            actor=self._reach.actor,
            reason=f"as a tool: {given.reason}" if given.reason else "as a tool",
            memory_id=memory.memory_id,
        )
        outcome = await self._ports.commands.send_and_wait(command)
        if outcome is None:
            return Waiting(
                command_id=command.command_id, ask=status_path(command), note="It will be deleted in a moment."
            )
        if outcome.status == "rejected":
            raise Rejected("rejected", f"It was not deleted: {outcome.reason}.")
        return Deleted(memory_id=memory.memory_id)

    async def _get(self, given: GetMemory) -> Struct:
        memory = await self._memory(given.memory_id)
        self._ports.note((memory,))
        return Read(memory=seen(memory, full=given.full), said=await self._sources(memory) if given.full else ())

    async def _sources(self, memory: Memory) -> tuple[Quote, ...]:
        """The passages that hold its latest sources, as far as they may be read."""
        messages = [(source.conversation_id, source.message_id) for source in memory.sources[-MOST_QUOTED:]]
        found = await self._ports.passages.of_messages(messages, (memory.namespace,), limit=MOST_QUOTED)
        return tuple(quote(each.passage) for each in found if may_read_any(self._within, each.owners))

    async def _search(self, given: SearchMemories) -> Struct:
        found = permitted(await self._ports.retrieval.search(self._question(given)), self._within)
        self._ports.note([hit.memory for hit in found.hits])
        return Searched(
            memories=tuple(seen(hit.memory) for hit in found.hits),
            said=tuple(quote(hit.passage) for hit in found.said),
            partial=bool(found.degraded),
        )

    def _question(self, given: SearchMemories) -> Query:
        scale = scale_of(given.min_importance, given.max_importance)
        filters = Filters(
            kinds=given.kinds,
            tags=given.tags,
            min_importance=given.min_importance or None,
            max_importance=given.max_importance,
            scale=scale,
            happened_from=day(given.since, "since"),
            happened_to=day(given.until, "until"),
        )
        try:
            return Query(
                namespaces=chosen(given.namespace, self._reach.namespaces),
                text=given.query or None,
                filters=filters,
                passage_filters=PassageFilters(speakers=(given.speaker,) if given.speaker else ()),
                tier=given.where,
                limit=given.limit,
            )
        except ValueError as exc:
            raise Rejected("invalid", f"{exc}.") from exc

    async def _context(self, given: GetContext, blocks: Blocks) -> Struct:
        """A conversation is told of only where all that it feeds is within reach: a model may name any."""
        conversation = None
        if given.conversation_id:
            conversation = await blocks.conversations.find(given.conversation_id, self._within)
        asked = BlockQuery(
            namespaces=chosen(given.namespace, self._reach.namespaces),
            conversation_id=given.conversation_id or None,
            text=given.query,
            max_tokens=given.max_tokens or None,
            profile=True,
        )
        block = await blocks.recall.block(asked, conversation, self._within)
        profile = block.profile.text if block.profile else ""
        told = [each for line in block.profile.lines for each in line.memory_ids] if block.profile else []
        return Context(
            context="\n\n".join(part for part in (profile, block.text) if part),
            memory_ids=tuple(dict.fromkeys((*told, *(memory.memory_id for memory in block.memories)))),
        )

    def _kinds(self, given: CreateMemory) -> tuple[str, ...]:
        named = tuple(dict.fromkeys((given.kind, *given.kinds) if given.kind else given.kinds))
        known = [kind.name for kind in self._reach.kinds]
        unknown = next((name for name in named if name not in known), None)
        if unknown is not None and not self._reach.new_kinds:
            raise Rejected("unknown", f"There is no kind {unknown!r}; there are: {', '.join(known)}.")
        return named

    def _new_kinds(self, given: CreateMemory, named: tuple[str, ...]) -> tuple[Kind, ...]:
        """The first of them that the policies do not have, as the model describes it."""
        known = {kind.name for kind in self._reach.kinds}
        made = [name for name in named if name not in known][:1]
        if not (given.kind_description or given.kind_icon):
            return ()
        said = {"description": given.kind_description, "icon": given.kind_icon}
        return tuple(codec.convert({"name": name} | said, Kind) for name in made)

    def _texts(self, given: CreateMemory) -> tuple[str | None, str | None]:
        """The short text and the full one: the curator makes a short one of content that is too long for it."""
        if given.text:
            return given.text, given.full_text or given.content or None
        if len(given.content) <= self._reach.text_chars:
            return given.content, given.full_text or None
        return None, given.content


def access(policies: PolicySelector, namespaces: tuple[str, ...], writable: tuple[str, ...], actor: str) -> ToolAccess:
    """To these namespaces, as the policies that govern them have it: kinds are those of all of them, each once."""
    governing = [policies.governing(namespace) for namespace in namespaces]
    kinds = {kind.name: kind for policy in governing for kind in policy.described_kinds}
    return ToolAccess(
        namespaces=namespaces,
        writable=writable,
        deletable=tuple(each for each in writable if policies.governing(each).delete_tool),
        actor=actor,
        kinds=tuple(kinds.values()),
        new_kinds=any(policy.unknown_kinds == "create" for policy in governing),
        users=users_of(policies, writable),
        text_chars=min((policy.max_text_chars for policy in governing), default=200),
    )


def users_of(policies: PolicySelector, namespaces: Iterable[str]) -> dict[str, str]:
    """Of the namespaces that are one person's by the templates of their policies, whose."""
    told = (
        (namespace, scope.user_id)
        for namespace in namespaces
        for template in policies.governing(namespace).namespaces
        if (scope := read_back(template, namespace)) is not None
    )
    return {namespace: user_id for namespace, user_id in told if user_id is not None}


def scale_of(*importances: float | None) -> Scale:
    """Earlier definitions had fractions, which are decimals up to 1; points are whole."""
    given = [each for each in importances if each]
    return "points" if given and not any(isinstance(each, float) and each <= 1 for each in given) else "fraction"


def day(text: str, name: str) -> datetime | None:
    """The beginning of a day in UTC."""
    try:
        return datetime.combine(date.fromisoformat(text), time(), UTC) if text else None
    except ValueError:
        raise Rejected("invalid", f"`{name}` is {text!r}; write a day such as 2026-03-02.") from None


def chosen(namespace: str, allowed: tuple[str, ...]) -> tuple[str, ...]:
    """The one that a model named, or all where it named none."""
    if namespace and namespace not in allowed:
        raise Rejected("forbidden", f"There is no memory space {namespace!r} here; there are: {', '.join(allowed)}.")
    return (namespace,) if namespace else allowed
