"""The namespaces that own a conversation: all that may store memories of it. Pure.

A conversation has more than its memories, so reading it needs rights in all of these namespaces. One would not be enough:
with `{app_id}` beside `{app_id}/{user_id}`, readers of the app's namespace would read every user's conversations.
"""

from collections.abc import Callable, Sequence
from functools import reduce

from schemas.conversations.messages import Scope
from schemas.policies.policies import PolicySelector
from streams.windows.arrival import merged


def scope_of(conversation_id: str, window: Scope | None, message_scopes: Sequence[Scope]) -> Scope:
    """The conversation's scope: the first known value of each field stays. `window` is the projected scope, a second behind
    the messages; `said` are those of its messages, in order."""
    return reduce(merged, message_scopes, window or Scope(conversation_id=conversation_id))


def namespaces_of(scope: Scope, message_scopes: Sequence[Scope], policies: PolicySelector) -> tuple[str, ...]:
    """All namespaces that the conversation feeds, those of its own `scope` first.

    A message that names another user belongs to that user too: conversation ids may be reused.
    """
    scopes = dict.fromkeys((scope, *(merged(each, scope) for each in message_scopes)))
    fed = (name for each in scopes for name in policies.match(each).namespaces_of(each))
    return tuple(dict.fromkeys(fed))


def may_read_all(allowed: Callable[[str], bool], namespaces: Sequence[str]) -> bool:
    """Whether the caller is `allowed` in all of these namespaces."""
    return all(map(allowed, namespaces))
