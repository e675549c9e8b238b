"""The speakers of a slice, and the namespaces that each of them feeds, as of the cut."""

from collections.abc import Sequence

from msgspec import structs

from schemas.conversations.messages import Scope
from schemas.extraction.requests import SliceMessage, Speaker
from schemas.policies.policies import Policy

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
    namespaces = tuple(dict.fromkeys(name for each in saying for name in policy.namespaces_of(of(scope, each))))
    names = speaking((*overlap, *messages), scope)
    speakers = tuple(speaker(user_id, name, scope, policy) for user_id, name in names.items())
    personal, name = speakers[0].namespaces, speakers[0].name
    alone = not in_group and names.keys() == {scope.user_id}
    if alone and ({*namespaces} == {*personal} or not (personal or name)):
        return namespaces, ()
    return namespaces, speakers


def of(scope: Scope, user_id: str | None) -> Scope:
    return structs.replace(scope, user_id=user_id)


def speaker(user_id: str | None, name: str | None, scope: Scope, policy: Policy) -> Speaker:
    return Speaker(user_id=user_id, name=name, namespaces=policy.personal_namespaces_of(of(scope, user_id)))


def speaking(messages: Sequence[SliceMessage], scope: Scope) -> dict[str | None, str | None]:
    """The people who say something, by user_id in order, with the latest name of each."""
    names: dict[str | None, str | None] = {}
    for message in messages:
        if message.role == "user":
            user_id = message.user_id or scope.user_id
            names[user_id] = message.name or names.get(user_id)
    return names
