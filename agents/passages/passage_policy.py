"""The policy that applies to a passage, and the namespaces that own it. Pure."""

import re
from collections.abc import Collection, Iterable, Sequence
from functools import reduce
from typing import Final, NamedTuple

from msgspec.structs import replace

from agents.policies.audience import addressed, fill_missing
from schemas.conversations.messages import Scope
from schemas.policies.namespaces import parse_name, render, shortened
from schemas.policies.policies import Policy, PolicySelector
from sinks.archive.participants import Participant
from sinks.passages.store import PassageText

PERSONAL: Final = re.compile(r"\{(user_id|conversation_id)\}")


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


class PassagePolicy(NamedTuple):
    """A policy, and the scope that it matches."""

    policy: Policy
    scope: Scope


def passage_policy(found: PassageText, people: People, policies: PolicySelector) -> PassagePolicy | None:
    """The policy by which the message feeds the passage's namespace; if none does any more, the policy of the message.
    `people` are those of its conversation.

    None if nothing is known of the conversation that put the passage into its namespace: its policy may hide the passage.
    """
    scopes = scopes_of(found, people)
    is_known = found.scope.user_id is not None or bool(people.known) or found.window is not None
    own = PassagePolicy(policies.match(scopes[0]), scopes[0]) if is_known else None
    return feeding_policy(scopes, found.passage.namespace, policies) or own


def feeding_policy(scopes: Iterable[Scope], namespace: str, policies: PolicySelector) -> PassagePolicy | None:
    """The first policy by which a message of these scopes feeds the namespace."""
    matched = (PassagePolicy(policies.match(scope), scope) for scope in scopes)
    return next((each for each in matched if namespace in each.policy.namespaces_of(each.scope)), None)


def scopes_of(found: PassageText, people: People) -> list[Scope]:
    """The scopes by which the message was indexed. The conversation's scope fills in fields that these lack, except for the user;
    then its other people do, where the message names no user."""
    place = (found.partition, found.position, found.passage.said_at)
    window = found.window and replace(found.window, user_id=None)
    common = people.common(found.partition) if found.scope.user_id is None else None
    others = [each for each in (window, common) if each is not None]
    return [reduce(fill_missing, others, own) for own in addressed(found.scope, place, people.known)]


def owners(namespaces: Collection[str], applied: PassagePolicy) -> tuple[str, ...]:
    """The namespaces whose readers may read a message verbatim: those of a person or a conversation. Shared ones, such as an
    app's, have readers who took no part; they count only where the message is in no other."""
    personal = [name for name in namespaces if not is_shared(name, applied.scope, applied.policy)]
    return tuple(personal or namespaces)


def is_shared(namespace: str, scope: Scope, policy: Policy) -> bool:
    """Whether the namespace comes from a template that names neither a user nor a conversation."""
    shared = [template for template in policy.namespaces if not PERSONAL.search(template)]
    if namespace in {shortened(name) for template in shared if (name := render(template, scope))}:
        return True
    personal = [template for template in policy.namespaces if template not in shared]
    return comes_from(shared, namespace) and not comes_from(personal, namespace)


def comes_from(templates: Collection[str], namespace: str) -> bool:
    return any(parse_name(template, namespace) is not None for template in templates)
