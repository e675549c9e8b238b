"""Changes to memories that people and services ask for."""

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

from schemas.conversations.messages import Identifier, Moment, require_storable
from schemas.extraction.candidates import Count, FullText, Labels, Links, Source, Text
from schemas.memories.kinds import Kind
from schemas.policies.policies import Fraction
from schemas.replay.shadows import refuse_reserved


class Origin(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a memory that was kept elsewhere brings along: where, when and of what it came to be."""

    created_at: Moment | None = None
    created_by: Identifier | None = None
    kinds: Labels = ()
    told_by: Labels = ()
    language: Annotated[str, Meta(max_length=64)] | None = None
    event_time: Moment | None = None
    valid_from: Moment | None = None
    valid_until: Moment | None = None
    reinforcement_count: Count = 0
    last_reinforced_at: Moment | None = None
    sources: Annotated[tuple[Source, ...], Meta(max_length=1_000)] = ()

    def __post_init__(self) -> None:
        require_storable(self.created_at, self.event_time, self.valid_from, self.valid_until, self.last_reinforced_at)


NewKinds: TypeAlias = Annotated[tuple[Kind, ...], Meta(max_length=16)]
Digest: TypeAlias = Annotated[str, Meta(max_length=64)]


class Command(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A change to memories asked for by a person or a service, on `memory.commands` under its namespace.

    create needs `text`, or a `full_text` of which a short one is made, as it is when an update gives a new full text alone; its
    importance is rated if it gives none. `memory_kind` is its first kind, `kinds` are further ones, and replace those that there
    were; `told_by` are the users who told it; `new_kinds` describe kinds that the policy does not have, where it lets others make
    them; what it says holds from `valid_from` until `valid_until`. update, delete and undo need `memory_id`. undo: the memory is
    again as it was before its latest change, or before the one that made `version`. purge: all memories that the namespace has
    while that is carried out go for good, also those that came meanwhile of later words; nothing comes back that was said, or
    commanded, until the moment of the erasure `erasure_id`, which is when that was asked for, or until the purge was begun, if it
    names none. uninstall: an app is gone; its memories stay unless `purge` is true. import: a memory with a `text` is brought in
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
    valid_from: Moment | None = None
    valid_until: Moment | None = None
    links: Links | None = None
    purge: bool = False
    version: Annotated[int, Meta(ge=1)] | None = None
    if_version: Annotated[int, Meta(ge=1)] | None = None
    origin: Origin | None = None
    digest: Digest | None = None
    erasure_id: Identifier | None = None
    told_by: Labels | None = None
    new_kinds: NewKinds | None = None

    def __post_init__(self) -> None:
        if self.kind != "forget" or self.erasure_id is None:  # what is forgotten is so in shadows too
            refuse_reserved(self.namespace)
        require_storable(self.at, self.expires_at, self.valid_from, self.valid_until)
