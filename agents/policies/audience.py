"""Finds the namespaces of a message: those of its speaker, or, without one, of the people that it is addressed to."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Final, Protocol

from msgspec.structs import replace

from schemas.conversations.messages import Scope
from schemas.policies.policies import PolicySelector
from sinks.archive.messages import ArchivedMessage
from sinks.archive.participants import Participant

MAX_PEOPLE: Final = 20  # people whose namespaces get a reply; in a larger group those who joined last


class KnownParticipants(Protocol):
    """sinks.archive.participants.Participants."""

    async def of(self, conversations: Collection[str]) -> list[Participant]: ...


class Audience:
    """Chat services often name the user only in the user's own messages; replies belong to that user too."""

    def __init__(self, participants: KnownParticipants, policies: PolicySelector) -> None:
        self._participants = participants
        self._policies = policies

    async def with_namespaces(self, messages: Sequence[ArchivedMessage]) -> list[ArchivedMessage]:
        """The messages with their scopes and namespaces. Raises Retryable."""
        unnamed = {each.message.conversation_id for each in messages if each.message.user_id is None}
        people = [*await self._participants.of(unnamed), *participants(messages)]
        of_conversation: dict[str, list[Participant]] = {}
        for each in sorted(people, key=lambda each: each.position):
            of_conversation.setdefault(each.scope.conversation_id, []).append(each)
        return [self._with_namespaces(each, of_conversation.get(each.message.conversation_id, ())) for each in messages]

    def _with_namespaces(self, archived: ArchivedMessage, people: Iterable[Participant]) -> ArchivedMessage:
        scopes = scopes_of(archived, people)
        feeds = (name for scope in scopes for name in self._policies.match(scope).namespaces_of(scope))
        return replace(archived, scopes=scopes, feeds=tuple(dict.fromkeys(feeds)))


def participants(messages: Iterable[ArchivedMessage]) -> list[Participant]:
    """The speakers of these messages, which may not be archived yet."""
    return [
        Participant(
            scope=Scope.of(each.message),
            partition=each.partition,
            position=each.position,
            said_at=each.message.timestamp,
        )
        for each in messages
        if each.message.user_id is not None
    ]


def scopes_of(archived: ArchivedMessage, people: Iterable[Participant]) -> tuple[Scope, ...]:
    """The message's own scope if it names a user; otherwise one for each earlier speaker, in order."""
    place = (archived.partition, archived.position, archived.message.timestamp)
    return addressed(Scope.of(archived.message), place, people)


def addressed(own: Scope, place: tuple[int, int, datetime], people: Iterable[Participant]) -> tuple[Scope, ...]:
    """`scopes_of` a message with these fields, at a place (partition, position, time). `people` are in order; the first message
    of each decides, so that a redelivery in another batch gives the same."""
    if own.user_id is not None:
        return (own,)
    spoke: dict[str | None, Participant] = {}
    for each in people:
        if each.spoke_before(*place):
            spoke.setdefault(each.scope.user_id, each)
    return tuple(fill_missing(own, each.scope) for each in tuple(spoke.values())[-MAX_PEOPLE:]) or (own,)


def fill_missing(own: Scope, other: Scope) -> Scope:
    """The message's scope with missing fields of the other one filled in."""
    return Scope(**{name: getattr(own, name) or getattr(other, name) for name in Scope.__struct_fields__})
