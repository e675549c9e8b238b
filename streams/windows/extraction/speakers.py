"""The speakers of a slice, and the namespaces that each of them feeds, as of the cut."""

from collections.abc import Collection, Sequence
from typing import Final

from msgspec import structs

from schemas.conversations.messages import Scope
from schemas.extraction.requests import SliceMessage, Speaker
from schemas.policies.policies import Policy

MAX_OWNER_NAMES: Final = 8  # different names of one user; with more, names identify no guests
NamespacesAndSpeakers = tuple[tuple[str, ...], tuple[Speaker, ...]]


def namespaces_and_speakers(
    messages: Sequence[SliceMessage],
    overlap: Sequence[SliceMessage],
    scope: Scope,
    policy: Policy,
    *,
    in_group: bool,
) -> NamespacesAndSpeakers:
    """The namespaces that a slice feeds, and its speakers if they matter: in a conversation of several people (`in_group`),
    and if other people may feed a namespace too, so that its memories must name the speaker.

    Other people may feed a namespace that is not personal if the policy also has personal ones, or the speaker has a name.
    """
    saying = speaking(messages, scope)
    if not saying:
        return policy.namespaces_of(scope), ()
    people = speaking((*overlap, *messages), scope)
    if any(each.guest for each in people.values()) and scope.user_id is not None:
        # So that no guest feeds a namespace of the user.
        people.setdefault(scope.user_id, Speaker(user_id=scope.user_id))
    fed = (name for each in saying.values() for name in namespaces_of(each, scope, policy))
    namespaces = tuple(dict.fromkeys(fed)) or policy.namespaces_of(scope)
    speakers = tuple(with_namespaces(each, scope, policy) for each in people.values())
    personal, name = speakers[0].namespaces, speakers[0].name
    alone = not in_group and people.keys() == {scope.user_id}
    if alone and ({*namespaces} == {*personal} or not (personal or name)):
        return namespaces, ()
    return namespaces, speakers


def namespaces_of(speaker: Speaker, scope: Scope, policy: Policy) -> tuple[str, ...]:
    """The namespaces that a person feeds; a guest those that all feed, possibly none."""
    if not speaker.guest:
        return policy.namespaces_of(of(scope, speaker.user_id))
    personal = policy.personal_namespaces_of(scope)
    return tuple(name for name in policy.namespaces_of(scope) if name not in personal)


def of(scope: Scope, user_id: str | None) -> Scope:
    return structs.replace(scope, user_id=user_id)


def with_namespaces(speaker: Speaker, scope: Scope, policy: Policy) -> Speaker:
    return structs.replace(speaker, namespaces=policy.personal_namespaces_of(of(scope, speaker.user_id)))


def speaking(messages: Sequence[SliceMessage], scope: Scope) -> dict[str | None, Speaker]:
    """The people who say something, by their keys in order, with the latest name of each."""
    people: dict[str | None, Speaker] = {}
    for message in messages:
        if message.role == "user":
            key = message.speaker(scope.user_id)
            known = people.get(key, Speaker(user_id=None if message.guest else key, guest=message.guest))
            people[key] = structs.replace(known, name=message.name or known.name)
    return people


def with_guests(messages: Sequence[SliceMessage], names: Collection[str]) -> Sequence[SliceMessage]:
    """The messages, those of guests marked. `names` are given beside the user_id of the conversation's user."""
    return [structs.replace(each, guest=True) if is_guest(each, names) else each for each in messages]


def is_guest(message: SliceMessage, names: Collection[str]) -> bool:
    return message.role == "user" and message.user_id is None and is_guest_name(message.name or "", names)


def is_guest_name(name: str, names: Collection[str]) -> bool:
    """Whether a name without a user_id is a guest's: another than the `names` given beside the user_id of the conversation's
    user. An added or omitted surname makes no other name.

    Without such names, or with more than MAX_OWNER_NAMES, names identify no guests.
    """
    known = {name_key(each) for each in names}
    if not name.strip() or not 0 < len(known) <= MAX_OWNER_NAMES:
        return False
    return not any(may_be_one(name_key(name), each) for each in known)


def may_be_one(name: str, other: str) -> bool:
    """Whether one of two names begins with the words of the other: "Anna" and "Anna Schmidt"."""
    return all(mine == theirs for mine, theirs in zip(name.split(), other.split(), strict=False))


def name_key(name: str) -> str:
    return name.strip().casefold()
