"""The namespaces that own a conversation: all that may store memories of it. Pure.

What is said in a conversation is more than what is remembered of it, so it belongs to all of these namespaces together: who may
read it may read every one of them. One of them would not do: with `{app_id}` beside `{app_id}/{user_id}` whoever reads what an
app knows would read along with each of its users.
"""

from collections.abc import Callable, Sequence
from functools import reduce

from schemas.conversations.messages import Scope
from schemas.policies.policies import PolicySelector
from streams.windows.arrival import merged


def scope_of(conversation_id: str, window: Scope | None, said: Sequence[Scope]) -> Scope:
    """What is known of the conversation as a whole: what was said first stays. `window` is that of its window's row, which is
    behind the messages by a second; `said` are those of its messages, in order."""
    return reduce(merged, said, window or Scope(conversation_id=conversation_id))


def namespaces_of(scope: Scope, said: Sequence[Scope], policies: PolicySelector) -> tuple[str, ...]:
    """All that the conversation feeds, those of its own `scope` first.

    A message that names somebody else than those before it is theirs as well: ids of conversations may be used again.
    """
    scopes = dict.fromkeys((scope, *(merged(each, scope) for each in said)))
    fed = (name for each in scopes for name in policies.match(each).namespaces_of(each))
    return tuple(dict.fromkeys(fed))


def may(allowed: Callable[[str], bool], namespaces: Sequence[str]) -> bool:
    """Whether somebody who is `allowed` in some namespaces is so in all of these."""
    return all(map(allowed, namespaces))
