"""Proposals of the LLM stage to curation: candidates with sources, and wishes of users to have something forgotten."""

from collections.abc import Collection
from typing import Annotated, Final

from msgspec import Meta, Struct

from schemas.conversations.messages import Identifier, Moment, Scope, require_storable
from schemas.extraction import importance
from schemas.extraction.links import Link
from schemas.policies.policies import Fraction

Count = Annotated[int, Meta(ge=0, le=2**31 - 1)]  # the range of PostgreSQL's integer

# Far above the limits of policies, but low enough for a memory with its versions and events to fit the topics.
Text = Annotated[str, Meta(max_length=4_000)]
FullText = Annotated[str, Meta(max_length=40_000)]
MAX_NAMED: Final = 64  # memories and messages that a candidate or a wish names, and wishes of a batch
Labels = Annotated[tuple[Identifier, ...], Meta(max_length=MAX_NAMED)]
Links = Annotated[tuple[Link, ...], Meta(max_length=MAX_NAMED)]


class Source(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message that a memory comes from, with its user, if known. `guest_id` tells a person without a user_id from the other
    guests of the conversation. `attributed_to` is its author if that is no user: `assistant`, or `tool` with the tool's name."""

    conversation_id: str
    message_id: str
    position: int | None = None
    timestamp: Moment | None = None
    user_id: str | None = None
    guest_id: str | None = None
    attributed_to: Annotated[str, Meta(max_length=256)] | None = None


def attribution(sources: Collection[Source]) -> str | None:
    """The author of a memory that no user said; None if a user is among its sources."""
    names = [source.attributed_to for source in sources]
    return ", ".join(dict.fromkeys(name for name in names if name)) if names and all(names) else None


def source_users(sources: Collection[Source]) -> tuple[str, ...]:
    """The users who said it, in the order of the messages, without repetitions."""
    user_ids = (source.user_id for source in sources if source.attributed_to is None)
    return tuple(dict.fromkeys(user_id for user_id in user_ids if user_id is not None))


class Candidate(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A memory proposed by the LLM stage, before deduplication.

    `repeats`, `refines`, `contradicts` and `supersedes` name memories of the namespace: evidence for the curator, not an order.
    `supersedes` are further memories that no longer hold once this one does; `corrects` has the ids of candidates of the same
    slice and namespace that this one corrects. The statement holds from `valid_from` until `valid_until`, as far as the
    user said so; both may be in the future. A candidate without an importance is rated, or gets the default.
    `about_speaker`: its subject is the person who said it.
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
    supersedes: Annotated[tuple[str, ...], Meta(max_length=MAX_NAMED)] = ()
    corrects: Annotated[tuple[str, ...], Meta(max_length=MAX_NAMED)] = ()
    valid_from: Moment | None = None
    valid_until: Moment | None = None
    about_speaker: bool = False

    def __post_init__(self) -> None:
        require_storable(self.event_time, self.valid_from, self.valid_until)

    @property
    def attributed_to(self) -> str | None:
        """Its author, if no user said it."""
        return attribution(self.sources)

    @property
    def told_by(self) -> tuple[str, ...]:
        """The users who said it."""
        return source_users(self.sources)

    @property
    def rated(self) -> Fraction:
        """Its importance, or the default of unrated candidates."""
        return importance.DEFAULT if self.importance is None else self.importance


class Wish(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A user's wish, in `message`, to have something forgotten. It refers to `everything` about the user of `scope`, to a
    `statement`, to a `topic`, or to the message `means`; if that message says more, `said` has the words to forget. If another
    person said it about the user, only its memories about the person `named_as` are meant. A model may name the memories meant
    (`memory_ids`) and further messages that say it (`messages`). A wish that refers to none of these is unclear."""

    wish_id: str
    message: Source
    everything: bool = False
    scope: Scope | None = None
    statement: Text | None = None
    topic: Text | None = None
    means: Source | None = None
    named_as: Text | None = None
    said: Text | None = None
    memory_ids: Labels = ()
    messages: Annotated[tuple[Source, ...], Meta(max_length=MAX_NAMED)] = ()

    @property
    def is_unclear(self) -> bool:
        """Whether nothing tells what the user means."""
        return not (self.everything or self.statement or self.topic or self.messages_meant or self.memory_ids)

    @property
    def messages_meant(self) -> tuple[Source, ...]:
        """The messages with the content to forget."""
        return self.messages if self.means is None else (self.means, *self.messages)

    @property
    def sources(self) -> tuple[Source, ...]:
        """The messages that its words may come from: the one with the wish, and those with the content to forget."""
        return (self.message, *self.messages_meant)


class CandidateBatch(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The candidates of one request for one namespace: part `part` (from 1) of `parts`, possibly empty. `wishes` are users'
    wishes to have something forgotten, applied after the candidates.

    `conversation_id` and `partition` address the completion once every part is committed. `requested_at` is the request's
    time: its messages are older.
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
    wishes: Annotated[tuple[Wish, ...], Meta(max_length=MAX_NAMED)] = ()
