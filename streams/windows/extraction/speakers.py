"""Who speaks in a slice, and which namespaces each person feeds. Decided when the slice is cut."""

from collections.abc import Sequence

from msgspec import structs

from schemas.conversations.messages import Scope
from schemas.extraction.requests import SliceMessage, Speaker
from schemas.policies.policies import Policy

Fed = tuple[tuple[str, ...], tuple[Speaker, ...]]


def fed(messages: Sequence[SliceMessage], scope: Scope, policy: Policy, *, in_group: bool) -> Fed:
    """The namespaces that a slice feeds, and its speakers where that has to be told: several people, somebody else than the
    user of the scope, or a namespace that others feed too, so that its memories must say who.

    Others feed a namespace where the policy has one for each person beside it, or where they take part in the conversation
    (`in_group`). Who gives names wants to read them.
    """
    names = speaking(messages, scope)
    if not names:
        return policy.namespaces_of(scope), ()
    scopes = [structs.replace(scope, user_id=user_id) for user_id in names]
    namespaces = tuple(dict.fromkeys(name for each in scopes for name in policy.namespaces_of(each)))
    speakers = tuple(
        Speaker(user_id=each.user_id, name=names[each.user_id], namespaces=policy.personal_namespaces_of(each))
        for each in scopes
    )
    alone = names.keys() == {scope.user_id}
    personal, name = speakers[0].namespaces, speakers[0].name
    if alone and ({*namespaces} == {*personal} or not (personal or in_group or name)):
        return namespaces, ()
    return namespaces, speakers


def speaking(messages: Sequence[SliceMessage], scope: Scope) -> dict[str | None, str | None]:
    """The people who say something, by user_id in order, with the latest name of each."""
    names: dict[str | None, str | None] = {}
    for message in messages:
        if message.role == "user":
            user_id = message.user_id or scope.user_id
            names[user_id] = message.name or names.get(user_id)
    return names
