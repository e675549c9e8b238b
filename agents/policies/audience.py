"""Which namespaces a message belongs to: those of whoever says it, and where it names nobody, of the people it is said to."""

from collections.abc import Collection, Iterable, Sequence
from typing import Final, Protocol

from msgspec.structs import replace

from schemas.conversations.messages import Scope
from schemas.policies.policies import PolicySelector
from sinks.archive.messages import ArchivedMessage
from sinks.archive.participants import Participant

MOST_PEOPLE: Final = 20  # whose namespaces a reply goes to; in a larger group those who joined last


class KnownParticipants(Protocol):
    """sinks.archive.participants.Participants."""

    async def of(self, conversations: Collection[str]) -> list[Participant]: ...


class Audience:
    """Chat services often name the user in the user's messages alone; the replies are said to that user all the same."""

    def __init__(self, participants: KnownParticipants, policies: PolicySelector) -> None:
        self._participants = participants
        self._policies = policies

    async def found(self, messages: Sequence[ArchivedMessage]) -> list[ArchivedMessage]:
        """The messages with their scopes, and the namespaces that these feed. Raises Retryable."""
        unnamed = {each.message.conversation_id for each in messages if each.message.user_id is None}
        people = [*await self._participants.of(unnamed), *participants(messages)]
        of_conversation: dict[str, list[Participant]] = {}
        for each in sorted(people, key=lambda each: each.position):
            of_conversation.setdefault(each.scope.conversation_id, []).append(each)
        return [self._fed(each, of_conversation.get(each.message.conversation_id, ())) for each in messages]

    def _fed(self, archived: ArchivedMessage, people: Iterable[Participant]) -> ArchivedMessage:
        scopes = scopes_of(archived, people)
        feeds = (name for scope in scopes for name in self._policies.match(scope).namespaces_of(scope))
        return replace(archived, scopes=scopes, feeds=tuple(dict.fromkeys(feeds)))


def participants(messages: Iterable[ArchivedMessage]) -> list[Participant]:
    """Who speaks in these messages, which the archive need not have yet."""
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
    """The message's own scope if it names a user; else one for each of the people who spoke before, in their order."""
    own = Scope.of(archived.message)
    if own.user_id is not None:
        return (own,)
    place = (archived.partition, archived.position, archived.message.timestamp)
    heard = {each.scope.user_id: filled(own, each.scope) for each in people if each.spoke_before(*place)}
    return tuple(heard.values())[-MOST_PEOPLE:] or (own,)


def filled(own: Scope, other: Scope) -> Scope:
    """What the message does not say is as the other has it."""
    return Scope(**{name: getattr(own, name) or getattr(other, name) for name in Scope.__struct_fields__})
