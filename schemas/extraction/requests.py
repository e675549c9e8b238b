"""Requests from windows to the LLM stage: slices of conversations."""

from collections.abc import Collection
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from schemas import ids
from schemas.budgets.budgets import Lane
from schemas.conversations.messages import Identifier, Moment, Role, Scope, ToolCall
from schemas.extraction.candidates import Source

Purpose = Literal["extract", "summarise"]


class SliceMessage(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A message of a slice. `position` is its offset in the conversation's messages partition, `trace` its traceparent, if
    any. Without `user_id` it belongs to the user of the conversation's scope, unless a `guest` said it: another person, known
    by the `name` alone. `unnamed`: a person said it, and the chat service did not say who; it goes with an erasure of anybody
    in the conversation."""

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
    guest: bool = False
    unnamed: bool = False

    def speaker(self, owner: str | None) -> str | None:
        """The key of the person who said it: the user_id, that of the conversation's `owner`, or a guest's."""
        return guest_key(self.name) if self.guest else self.user_id or owner


def guest_key(name: str | None) -> str:
    """The key of a person without a user_id. No stored user_id begins so: PostgreSQL has no text with this character."""
    return f"\0{(name or '').strip().casefold()}"


class Speaker(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A person who speaks in a slice or in the overlap before it. `namespaces` are those that this person alone feeds.
    A `guest` has no user_id, and so none of these."""

    user_id: str | None = None
    name: str | None = None
    namespaces: tuple[str, ...] = ()
    guest: bool = False

    @property
    def key(self) -> str | None:
        """Tells this person from the others of a conversation: the user_id, or a key of the guest's."""
        return guest_key(self.name) if self.guest else self.user_id


class ExtractionRequest(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A slice of a window for the extraction stage: one model call, whatever the number of namespaces that it feeds.

    `first` and `last` are inclusive positions; `partition` is that of the messages, where the answer is sent. `overlap` has
    the ends of a few extracted messages before the slice, as context. With the purpose `summarise`, the messages left a
    context, and the answer is a summary of them for the marker; `summary` is the marker's summary so far, of messages that
    left before. Requests in the lane `background` may be postponed and never delay `live` ones. `local_only` requests stay
    on this machine, even if the policy has changed since. `may_wait`: no client waits for the answer, so the request may
    share a call with others.

    In a conversation of several people, `speakers` are the people who speak in the slice or the overlap. A namespace that
    none of them has is fed by all. Without `speakers`, only the user of the scope speaks.
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
    may_wait: bool = False

    @property
    def conversation_id(self) -> str:
        return self.scope.conversation_id

    @property
    def shared(self) -> tuple[str, ...]:
        """The namespaces that all speakers feed."""
        personal = {name for speaker in self.speakers for name in speaker.namespaces}
        return tuple(name for name in self.namespaces if name not in personal)

    def speaker(self, message: SliceMessage) -> str | None:
        """The key of the person whom a message belongs to: a user_id, or a guest's."""
        return message.speaker(self.scope.user_id)

    def user(self, message: SliceMessage) -> str | None:
        """The user_id that a message belongs to; None for a guest's."""
        return None if message.guest else self.speaker(message)

    def feeding(self, namespaces: tuple[str, ...]) -> dict[str | None, tuple[Scope, tuple[str, ...]]]:
        """The scope of each speaker and the namespaces that this speaker feeds, by user_id. The key None has the
        messages of people outside `speakers`, with a scope without a user; in a conversation of one person it is the only
        key, with the request's scope."""
        if not self.speakers:
            return {None: (self.scope, namespaces)}
        others = {None: (replace(self.scope, user_id=None), namespaces)}
        return others | {
            each.user_id: (replace(self.scope, user_id=each.user_id), (*each.namespaces, *self.shared))
            for each in self.speakers
            if not each.guest
        }

    def attributed_to(self, message: SliceMessage) -> str | None:
        """The author of a message that is no user's: the assistant, or a tool by name."""
        if message.role == "user":
            return None
        calls = (call for each in self.messages for call in each.tool_calls if call.id == message.tool_call_id)
        name = next((call.name for call in calls), None) if message.role == "tool" else None
        return f"{message.role} {name}"[:256] if name else message.role

    def source(self, message: SliceMessage) -> Source:
        """The source entry of a message, for memories and wishes."""
        return Source(
            conversation_id=self.conversation_id,
            message_id=message.message_id,
            position=message.position,
            timestamp=message.timestamp,
            user_id=self.user(message),
            guest_id=ids.guest_id(self.conversation_id, guest_key(message.name)) if message.guest else None,
            attributed_to=self.attributed_to(message),
        )

    def speakers_of(self, message_ids: Collection[str]) -> frozenset[str | None]:
        """The keys of the people who said these messages."""
        users = (each for each in self.messages if each.role == "user" and each.message_id in message_ids)
        return frozenset(map(self.speaker, users))

    def fed_by(self, keys: Collection[str | None]) -> tuple[str, ...]:
        """The namespaces that all of these people feed."""
        if not self.speakers:
            return self.namespaces
        own = {name for each in self.speakers if {*keys} == {each.key} for name in each.namespaces}
        fed = own.union(self.shared)
        return tuple(name for name in self.namespaces if name in fed)
