"""Commands: changes to memories that people and services request."""

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

from schemas.conversations.messages import Identifier, Moment, require_storable
from schemas.extraction.candidates import Count, FullText, Labels, Links, Source, Text
from schemas.policies.kinds import Kind
from schemas.policies.policies import Fraction
from schemas.policies.shadows import refuse_reserved


class Origin(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The history of an imported memory: place, times and sources."""

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
        begins, ends = self.valid_from, self.valid_until
        if begins is not None and ends is not None and ends < begins:
            raise ValueError(
                f"`valid_until` ({ends.isoformat()}) is before `valid_from` ({begins.isoformat()}): exchange them, or leave "
                "out the wrong one"
            )


NewKinds: TypeAlias = Annotated[tuple[Kind, ...], Meta(max_length=16)]
Clearable: TypeAlias = Literal["event_time", "valid_from", "valid_until"]
Digest: TypeAlias = Annotated[str, Meta(max_length=64)]


class Command(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A change to memories, published on `memory.commands` with the namespace as key. The same `command_id` is carried out
    once.

    - create: needs `text`, or a `full_text`, from which a short text is made. `memory_kind` is the first kind, `kinds` are
      further ones. Without `importance` it is rated. `told_by` are the users who told it; `new_kinds` describe kinds that
      the policy does not have, if the policy allows them; `valid_from` and `valid_until` limit when it holds;
      `event_time` is when its event happens
    - update: needs `memory_id`. A new `full_text` without `text` gets a new short text; `kinds` and `links` replace the
      present ones; fields in `cleared` have no value any more. Without `event_time`, it follows the day that a new text names
    - delete: needs `memory_id`
    - undo: needs `memory_id`. The memory gets its state from before its latest change, or before the change that made
      `version`
    - purge: deletes all memories of the namespace irreversibly, including those that arrive meanwhile. Input from before the
      time of the erasure `erasure_id` is refused from then on; without `erasure_id`, from before the purge began
    - erase: needs `memory_id`. Deletes a memory of any status irreversibly, with its versions. No memory is made of its source
      messages again, and searches hide them, unless `keep_messages` is true
    - forget: deletes irreversibly the memories whose sources are all in conversations of the erasure `erasure_id`
    - uninstall: reports that an app was removed; its memories remain unless `purge` is true
    - import: creates a memory with `text` under its `memory_id`, with the history in `origin`. Nothing changes if the
      namespace has the id or the text

    `links` lead to memories of the namespace. With `if_version` the memory must have that version. A `digest`, chosen by the
    sender, is stored with the outcome and tells a repetition from another command under the same id.
    """

    command_id: Identifier
    kind: Literal["create", "update", "delete", "undo", "purge", "uninstall", "import", "forget", "erase"]
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
    event_time: Moment | None = None
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
    cleared: Annotated[tuple[Clearable, ...], Meta(max_length=16)] = ()
    keep_messages: bool = False

    def __post_init__(self) -> None:
        if self.kind != "forget" or self.erasure_id is None:  # also applies to shadow namespaces
            refuse_reserved(self.namespace)
        require_storable(self.at, self.expires_at, self.event_time, self.valid_from, self.valid_until)
        if both := [name for name in self.cleared if getattr(self, name) is not None]:
            raise ValueError(f"`{both[0]}` has a value and is in `cleared`: give one of them")
