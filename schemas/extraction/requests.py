"""What memstream's stages say to each other: extraction requests, candidates, window control, commands."""

from collections.abc import Collection
from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct
from msgspec.structs import replace

from schemas.conversations.messages import Identifier, Moment, Role, Scope, ToolCall, require_storable
from schemas.conversations.windows import Summary
from schemas.erasure.erasures import Fence
from schemas.memories import importance
from schemas.memories.links import Link
from schemas.policies.policies import Fraction
from schemas.replay.shadows import refuse_reserved

Count = Annotated[int, Meta(ge=0, le=2**31 - 1)]  # what Postgres' integer holds

# Far above what policies allow; a memory with its versions and events must fit the topics whatever is sent.
Text = Annotated[str, Meta(max_length=4_000)]
FullText = Annotated[str, Meta(max_length=40_000)]
Labels = Annotated[tuple[Identifier, ...], Meta(max_length=64)]
Links = Annotated[tuple[Link, ...], Meta(max_length=64)]


Purpose = Literal["extract", "summarise"]
Lane = Literal["live", "background"]


class SliceMessage(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One message of a slice; `position` is its offset in the conversation's messages partition, `trace` the traceparent that it
    came with, if any. Without a `user_id` it belongs to the user of the conversation's scope."""

    message_id: Identifier
    role: Role
    timestamp: Moment
    content: str
    position: int
    tokens: int = 0
    important: bool = False
    time_zone: str | None = None
    language: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    trace: str | None = None
    user_id: str | None = None
    name: str | None = None


class Speaker(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A person who says something in a slice, or just before it. `namespaces` are those that this person alone feeds."""

    user_id: str | None = None
    name: str | None = None
    namespaces: tuple[str, ...] = ()

    @property
    def called(self) -> str | None:
        """The name where one is given, else the id."""
        return self.name or self.user_id


class ExtractionRequest(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One slice of a window on its way to the LLM stage: one model call, whatever the number of namespaces it feeds.

    `first` and `last` are positions, inclusive; `partition` is the messages partition, where the answer is sent back to.
    `overlap` are the ends of a few messages before the slice, extracted already: they only help to understand it.
    `summarise`: these messages left a context, and a marker is to say in a few words what they were; `summary` is what the
    marker says so far, of messages that left before them. The lane `background` is for what nobody waits for: it may be
    put off, and never delays what is `live`. What is `local_only` is sent to no other machine, whatever became of its policy.
    In a conversation of several people `speakers` are those who say something in the slice or the overlap. A namespace that
    none of them has is fed by all. Without `speakers` only the user of the scope speaks.
    """

    request_id: str
    scope: Scope
    partition: int
    first: int
    last: int
    policy: str
    policy_version: int
    namespaces: tuple[str, ...]
    messages: tuple[SliceMessage, ...]
    requested_at: Moment
    attempt: int = 1
    overlap: tuple[SliceMessage, ...] = ()
    purpose: Purpose = "extract"
    summary: str = ""
    lane: Lane = "live"
    local_only: bool = False
    speakers: tuple[Speaker, ...] = ()

    @property
    def conversation_id(self) -> str:
        return self.scope.conversation_id

    @property
    def shared(self) -> tuple[str, ...]:
        """The namespaces that everybody feeds who speaks."""
        personal = {name for speaker in self.speakers for name in speaker.namespaces}
        return tuple(name for name in self.namespaces if name not in personal)

    def speaker(self, message: SliceMessage) -> str | None:
        """The user_id of whoever a message belongs to."""
        return message.user_id or self.scope.user_id

    def feeding(self, namespaces: tuple[str, ...]) -> dict[str | None, tuple[Scope, tuple[str, ...]]]:
        """By user_id the scope of each speaker, with those of the namespaces that this one feeds; under None of what nobody else
        says, in a conversation of one person of all."""
        if not self.speakers:
            return {None: (self.scope, namespaces)}
        nobody = {None: (replace(self.scope, user_id=None), namespaces)}
        return nobody | {
            each.user_id: (replace(self.scope, user_id=each.user_id), (*each.namespaces, *self.shared))
            for each in self.speakers
        }

    def attributed_to(self, message: SliceMessage) -> str | None:
        """Who says a message that is no user's: the assistant, or a tool by its name."""
        if message.role == "user":
            return None
        calls = (call for each in self.messages for call in each.tool_calls if call.id == message.tool_call_id)
        name = next((call.name for call in calls), None) if message.role == "tool" else None
        return f"{message.role} {name}"[:256] if name else message.role

    def source(self, message: SliceMessage) -> "Source":
        """What a memory, or a wish, says of a message that it comes from."""
        return Source(
            conversation_id=self.conversation_id,
            message_id=message.message_id,
            position=message.position,
            timestamp=message.timestamp,
            user_id=self.speaker(message) if self.speakers else None,
            attributed_to=self.attributed_to(message),
        )

    def sayers(self, message_ids: Collection[str]) -> frozenset[str | None]:
        """The people whose words these messages are."""
        users = (each for each in self.messages if each.role == "user" and each.message_id in message_ids)
        return frozenset(map(self.speaker, users))

    def fed_by(self, user_ids: Collection[str | None]) -> tuple[str, ...]:
        """The namespaces that each of these people feeds."""
        if not self.speakers:
            return self.namespaces
        own = {name for each in self.speakers if {*user_ids} == {each.user_id} for name in each.namespaces}
        fed = own.union(self.shared)
        return tuple(name for name in self.namespaces if name in fed)


class Source(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message that a memory came from; of a conversation of several people also whose it is. `attributed_to` is who said it
    if no user did: `assistant`, or `tool` with the tool's name."""

    conversation_id: str
    message_id: str
    position: int | None = None
    timestamp: Moment | None = None
    user_id: str | None = None
    attributed_to: Annotated[str, Meta(max_length=256)] | None = None


def attribution(sources: Collection[Source]) -> str | None:
    """On whose word a memory rests that no user said; None where a user is among its sources."""
    names = [source.attributed_to for source in sources]
    return ", ".join(dict.fromkeys(name for name in names if name)) if names and all(names) else None


class Candidate(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A memory proposed by the LLM stage, before deduplication.

    `repeats`, `refines`, `contradicts` and `supersedes` name memories of the namespace: evidence for the curator, not an order.
    `supersedes` are further memories that no longer hold once this one does. What is stated holds from `valid_from` until
    `valid_until`, as far as it was said; both may lie ahead. Without an importance it is rated, or has the default.
    """

    candidate_id: str
    kind: Identifier
    text: Annotated[str, Meta(min_length=1, max_length=4_000)]
    sources: Annotated[tuple[Source, ...], Meta(min_length=1, max_length=1_000)]
    confidence: Fraction
    importance: Fraction | None = None
    kinds: Labels = ()
    tags: Labels = ()
    context: Text | None = None
    full_text: FullText | None = None
    event_time: Moment | None = None
    language: str | None = None
    repeats: str | None = None
    refines: str | None = None
    contradicts: str | None = None
    supersedes: Annotated[tuple[str, ...], Meta(max_length=64)] = ()
    valid_from: Moment | None = None
    valid_until: Moment | None = None

    def __post_init__(self) -> None:
        require_storable(self.event_time, self.valid_from, self.valid_until)

    @property
    def attributed_to(self) -> str | None:
        """On whose word it rests, where no user said it."""
        return attribution(self.sources)

    @property
    def rated(self) -> Fraction:
        """Its importance, or that of what nobody rated."""
        return importance.DEFAULT if self.importance is None else self.importance


class Wish(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a user asks to have forgotten, in `message`: `everything` about them, which is whoever `scope` names; what a
    `statement` or a `topic` names; or what the message `means` says, of which `said` are the words that are meant, if it says
    more."""

    wish_id: str
    message: Source
    everything: bool = False
    scope: Scope | None = None
    statement: Text | None = None
    topic: Text | None = None
    means: Source | None = None
    said: Text | None = None


class CandidateBatch(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one request proposes for one namespace: part `part` (from 1) of `parts`, possibly empty. `wishes` are what users ask
    to have forgotten there, after the candidates.

    `conversation_id` and `partition` say where the completion goes once every part is committed. `requested_at` is the request's:
    what it asked about was said before.
    """

    request_id: str
    conversation_id: str
    partition: Count
    namespace: Identifier
    part: Annotated[int, Meta(ge=1, le=2**31 - 1)]
    parts: Annotated[int, Meta(ge=1, le=2**31 - 1)]
    policy: str
    policy_version: Count
    provider: str
    candidates: tuple[Candidate, ...]
    extracted_at: Moment
    requested_at: Moment | None = None
    wishes: Annotated[tuple[Wish, ...], Meta(max_length=64)] = ()


ControlKind = Literal[
    "due", "flush", "prune", "clear", "restore", "extraction_completed", "extraction_failed", "summarised", "erase"
]


class WindowControl(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A word to the window of a conversation: memstream's own, which may be repeated without effect, or somebody's by hand.

    `due`: look whether a deadline has passed by `at`; `flush`: extract what is there, in `lane`, by default live; `prune`:
    take out of the context what is not needed now; `clear`: take all out of it but the system prompt; `restore`: bring back
    what the last `clear` took, for ten minutes and while nothing else has left; `extraction_completed` / `extraction_failed`:
    the answer to `request_id` is stored / will never come; `summarised`: the messages from position `first` to `last`, which
    left the context, come to `summary`, which includes the summary of them that is `known` by its id; `erase`: what was said
    until `at`, or lies before position `read_to`, goes for good, also what was to be extracted; with `users`, of a
    conversation of several people, all but what others than these said.
    """

    conversation_id: Identifier
    kind: ControlKind
    at: Moment
    request_id: str | None = None
    read_to: int | None = None
    reason: str | None = None
    first: int | None = None
    last: int | None = None
    summary: Summary | None = None
    known: str | None = None
    lane: Lane | None = None
    users: tuple[Identifier, ...] = ()

    def fence(self, partition: int) -> Fence:
        """What an erasure keeps out of a window whose messages lie in that partition."""
        return Fence(self.at, {partition: self.read_to or 0})


class Origin(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a memory that was kept elsewhere brings along: where, when and of what it came to be."""

    created_at: Moment | None = None
    created_by: Identifier | None = None
    kinds: Labels = ()
    language: Annotated[str, Meta(max_length=64)] | None = None
    event_time: Moment | None = None
    valid_from: Moment | None = None
    valid_until: Moment | None = None
    reinforcement_count: Count = 0
    last_reinforced_at: Moment | None = None
    sources: Annotated[tuple[Source, ...], Meta(max_length=1_000)] = ()

    def __post_init__(self) -> None:
        require_storable(self.created_at, self.event_time, self.valid_from, self.valid_until, self.last_reinforced_at)


Digest: TypeAlias = Annotated[str, Meta(max_length=64)]


class Command(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A change to memories asked for by a person or a service, on `memory.commands` under its namespace.

    create needs `text`, or a `full_text` of which a short one is made, as it is when an update gives a new full text alone; its
    importance is rated if it gives none. `memory_kind` is its first kind, `kinds` are further ones, and replace those that there
    were. update, delete and undo need `memory_id`. undo: the memory is again as it was before
    its latest change, or before the one that made `version`. purge: all memories that the namespace has while that is carried
    out go for good, also those that came meanwhile of later words; nothing comes back that was said, or commanded, until the
    moment of the erasure `erasure_id`, which is when that was asked for, or until the purge was begun, if it names none.
    uninstall: an app is gone; its memories stay unless `purge` is true. import: a memory with a `text` is brought in
    under its `memory_id`, with what `origin` says of it; where that one, or one with the same text, is there, nothing
    changes. `links` lead to memories of the namespace, and replace those that there were. forget: memories all of whose
    sources lie in conversations of the erasure `erasure_id` go for good; a purge that names one is part of it. With
    `if_version` the memory must be at that version. The same `command_id` is carried out once; a `digest`, of whatever
    the sender chooses, is kept with the outcome, by which it tells a repetition from something else under the same id.
    """

    command_id: Identifier
    kind: Literal["create", "update", "delete", "undo", "purge", "uninstall", "import", "forget"]
    namespace: Identifier
    at: Moment
    actor: str = "service"
    reason: str | None = None
    memory_id: str | None = None
    text: Text | None = None
    memory_kind: Identifier | None = None
    kinds: Labels | None = None
    tags: Labels | None = None
    context: Text | None = None
    full_text: FullText | None = None
    importance: Fraction | None = None
    confidence: Fraction | None = None
    pinned: bool | None = None
    expires_at: Moment | None = None
    links: Links | None = None
    purge: bool = False
    version: Annotated[int, Meta(ge=1)] | None = None
    if_version: Annotated[int, Meta(ge=1)] | None = None
    origin: Origin | None = None
    digest: Digest | None = None
    erasure_id: Identifier | None = None

    def __post_init__(self) -> None:
        if self.kind != "forget" or self.erasure_id is None:  # what is forgotten is so in shadows too
            refuse_reserved(self.namespace)
        require_storable(self.at, self.expires_at)
