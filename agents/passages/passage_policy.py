"""The policies that apply to a message, and the namespaces that own it. Pure."""

import re
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from functools import reduce
from typing import Final, NamedTuple, TypeAlias

from msgspec.structs import replace

from agents.policies.audience import addressed, fill_missing
from schemas.conversations.messages import Scope
from schemas.policies.namespaces import parse_name, render, shortened
from schemas.policies.policies import Policy, PolicySelector
from sinks.archive.participants import Participant

PERSONAL: Final = re.compile(r"\{(user_id|conversation_id)\}")

ScopedTemplate: TypeAlias = tuple[str, Scope]  # a template of namespaces, and the scope that fills it in


class People:
    """The people of a conversation, in order. Many passages of a conversation share the fields that its people fill in."""

    def __init__(self, people: Sequence[Participant] = ()) -> None:
        self.known = people
        self._common: dict[int, Scope | None] = {}

    def common(self, partition: int) -> Scope | None:
        """The fields of all people of the partition, the first ones' before others', without a user. None without people."""
        if partition not in self._common:
            scopes = [each.scope for each in self.known if each.partition == partition]
            self._common[partition] = replace(reduce(fill_missing, scopes), user_id=None) if scopes else None
        return self._common[partition]


def people_of(conversations: Iterable[str], participants: Iterable[Participant]) -> dict[str, People]:
    """The people of each of the conversations."""
    known: dict[str, list[Participant]] = {each: [] for each in conversations}
    for each in sorted(participants, key=lambda each: each.position):
        known[each.scope.conversation_id].append(each)
    return {conversation_id: People(people) for conversation_id, people in known.items()}


class PassagePolicy(NamedTuple):
    """A policy, and the scope that it matches."""

    policy: Policy
    scope: Scope


class MessageFields(NamedTuple):
    """What decides the policies of a message: its own fields, its place (partition, position, time), and the fields of its
    conversation's window, if the window is projected."""

    scope: Scope
    place: tuple[int, int, datetime]
    window: Scope | None


class MessagePolicies(NamedTuple):
    """The policies of a message, one for each person that it belongs to, in order. `is_known`: whether anything is known of
    these people."""

    matched: tuple[PassagePolicy, ...]
    is_known: bool = True

    @classmethod
    def of_scopes(
        cls, scopes: Iterable[Scope], policies: PolicySelector, *, is_known: bool = True
    ) -> "MessagePolicies":
        return cls(tuple(PassagePolicy(policies.match(scope), scope) for scope in scopes), is_known)

    @property
    def namespaces(self) -> tuple[str, ...]:
        """The namespaces that the message feeds, without repetitions."""
        return tuple(dict.fromkeys(name for each in self.matched for name in each.policy.namespaces_of(each.scope)))

    def of(self, namespace: str) -> Policy:
        """The first policy by which the message feeds the namespace; if none does any more, the message's own."""
        return self._feeding(namespace) or self.matched[0].policy

    def known_of(self, namespace: str) -> Policy | None:
        """`of` the namespace. None if nothing is known of the people who put the message there: their policy may hide it."""
        return self._feeding(namespace) or (self.matched[0].policy if self.is_known else None)

    def _feeding(self, namespace: str) -> Policy | None:
        return next((each.policy for each in self.matched if namespace in each.policy.namespaces_of(each.scope)), None)

    def owners(self, namespaces: Collection[str]) -> tuple[str, ...]:
        """Those of the message's namespaces whose readers may read it verbatim: those of a person or a conversation. Shared
        ones, such as an app's, have readers who took no part; they count only where the message is in no other.

        A namespace is shared if any of the policies shares it: one person's policy may not have the template of another's.
        """
        templates = [(template, each.scope) for each in self.matched for template in each.policy.namespaces]
        shared = [each for each in templates if not PERSONAL.search(each[0])]
        personal = [each for each in templates if PERSONAL.search(each[0])]
        fed_by_all, fed_by_one = names_of(shared), names_of(personal)
        own = [
            name
            for name in namespaces
            if name not in fed_by_all
            and (name in fed_by_one or comes_from(personal, name) or not comes_from(shared, name))
        ]
        return tuple(own or namespaces)


def message_policies(message: MessageFields, people: People, policies: PolicySelector) -> MessagePolicies:
    """The policies of a message. `people` are those of its conversation."""
    is_known = message.scope.user_id is not None or bool(people.known) or message.window is not None
    return MessagePolicies.of_scopes(scopes_of(message, people), policies, is_known=is_known)


def scopes_of(message: MessageFields, people: People) -> list[Scope]:
    """The scopes by which the message was indexed. The conversation's scope fills in fields that these lack, except for the user;
    then its other people do, where the message names no user."""
    window = message.window and replace(message.window, user_id=None)
    common = people.common(message.place[0]) if message.scope.user_id is None else None
    others = [each for each in (window, common) if each is not None]
    return [reduce(fill_missing, others, own) for own in addressed(message.scope, message.place, people.known)]


def names_of(templates: Iterable[ScopedTemplate]) -> set[str]:
    """The namespaces that the templates give."""
    rendered = (render(template, scope) for template, scope in templates)
    return {shortened(name) for name in rendered if name is not None}


def comes_from(templates: Iterable[ScopedTemplate], namespace: str) -> bool:
    return any(parse_name(template, namespace) is not None for template, _ in templates)
