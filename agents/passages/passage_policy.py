"""The policies that apply to a message, and the namespaces that own it. Pure."""

import re
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from functools import cached_property, reduce
from typing import Final, NamedTuple, TypeAlias

from msgspec.structs import replace

from agents.policies.audience import addressed, fill_missing
from schemas.conversations.messages import Scope
from schemas.policies.namespaces import parse_name, render, shortened
from schemas.policies.policies import Policy, PolicySelector
from sinks.archive.participants import Participant

PERSONAL: Final = re.compile(r"\{(user_id|conversation_id)\}")

ScopedTemplate: TypeAlias = tuple[str, Scope]  # a template of namespaces, and the scope that fills it in


class MessageFields(NamedTuple):
    """What decides the policies of a message: its own fields, its place (partition, position, time), and the fields of its
    conversation's window, if the window is projected."""

    scope: Scope
    place: tuple[int, int, datetime]
    window: Scope | None


class MessagePolicies:
    """The policies of a message: of each person that it belongs to, in the order of their `scopes`. `is_known`: whether
    anything is known of these people."""

    def __init__(self, scopes: Iterable[Scope], policies: PolicySelector, *, is_known: bool = True) -> None:
        self._matched = [(policies.match(scope), scope) for scope in scopes]
        self._is_known = is_known
        self._feeding: dict[str, Policy] = {}
        for policy, scope in self._matched:
            for namespace in policy.namespaces_of(scope):
                self._feeding.setdefault(namespace, policy)

    @property
    def namespaces(self) -> tuple[str, ...]:
        """The namespaces that the message feeds."""
        return tuple(self._feeding)

    def of(self, namespace: str) -> Policy:
        """The first policy by which the message feeds the namespace; if none does any more, the message's own."""
        return self._feeding.get(namespace, self._matched[0][0])

    def known_of(self, namespace: str) -> Policy | None:
        """`of` the namespace. None if nothing is known of the people who put the message there: their policy may hide it."""
        return self.of(namespace) if self._is_known else self._feeding.get(namespace)

    def owners(self, namespaces: Collection[str]) -> tuple[str, ...]:
        """Those of the message's namespaces whose readers may read it verbatim: those of a person or a conversation. Shared
        ones, such as an app's, have readers outside the conversation; they count only where the message is in no other."""
        return tuple(name for name in namespaces if not self._is_shared(name)) or tuple(namespaces)

    def _is_shared(self, namespace: str) -> bool:
        """Whether it comes from a template that names neither a user nor a conversation, by any of the policies: one person's
        policy may not have the template of another's."""
        if namespace in self._shared_names or namespace in self._personal_names:
            return namespace in self._shared_names
        return comes_from(self._shared, namespace) and not comes_from(self._personal, namespace)

    @cached_property
    def _shared(self) -> list[ScopedTemplate]:
        return [each for each in self._templates() if not PERSONAL.search(each[0])]

    @cached_property
    def _personal(self) -> list[ScopedTemplate]:
        return [each for each in self._templates() if PERSONAL.search(each[0])]

    @cached_property
    def _shared_names(self) -> set[str]:
        return names_of(self._shared)

    @cached_property
    def _personal_names(self) -> set[str]:
        return names_of(self._personal)

    def _templates(self) -> list[ScopedTemplate]:
        return [(template, scope) for policy, scope in self._matched for template in policy.namespaces]


class ConversationPolicies:
    """The policies of a conversation's messages; those of the same people are worked out once. `people` are in order."""

    def __init__(self, people: Sequence[Participant], policies: PolicySelector) -> None:
        self._people = people
        self._policies = policies
        self._common: dict[int, Scope | None] = {}
        self._known: dict[tuple[tuple[Scope, ...], bool], MessagePolicies] = {}

    def of(self, message: MessageFields) -> MessagePolicies:
        is_known = message.scope.user_id is not None or bool(self._people) or message.window is not None
        key = (self._scopes(message), is_known)
        if key not in self._known:
            self._known[key] = MessagePolicies(key[0], self._policies, is_known=is_known)
        return self._known[key]

    def _scopes(self, message: MessageFields) -> tuple[Scope, ...]:
        """The scopes by which the message was indexed. The conversation's scope fills in fields that these lack, except for the
        user; then its other people do, where the message names no user."""
        window = message.window and replace(message.window, user_id=None)
        common = self._common_fields(message.place[0]) if message.scope.user_id is None else None
        others = [each for each in (window, common) if each is not None]
        return tuple(reduce(fill_missing, others, own) for own in addressed(message.scope, message.place, self._people))

    def _common_fields(self, partition: int) -> Scope | None:
        """The fields of all people of the partition, the first ones' before others', without a user. None without people."""
        if partition not in self._common:
            scopes = [each.scope for each in self._people if each.partition == partition]
            self._common[partition] = replace(reduce(fill_missing, scopes), user_id=None) if scopes else None
        return self._common[partition]


def conversation_policies(
    conversations: Iterable[str], participants: Iterable[Participant], policies: PolicySelector
) -> dict[str, ConversationPolicies]:
    """The policies of each of the conversations. `participants` are those of all."""
    people: dict[str, list[Participant]] = {each: [] for each in conversations}
    for each in sorted(participants, key=lambda each: each.position):
        people[each.scope.conversation_id].append(each)
    return {conversation_id: ConversationPolicies(known, policies) for conversation_id, known in people.items()}


def names_of(templates: Iterable[ScopedTemplate]) -> set[str]:
    """The namespaces that the templates give."""
    rendered = (render(template, scope) for template, scope in templates)
    return {shortened(name) for name in rendered if name is not None}


def comes_from(templates: Iterable[ScopedTemplate], namespace: str) -> bool:
    return any(parse_name(template, namespace) is not None for template, _ in templates)
