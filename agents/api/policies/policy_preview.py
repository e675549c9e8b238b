"""Previews a changed policy: which recent conversations it would match, and which would get another policy."""

from collections import Counter
from collections.abc import Sequence
from typing import Final, Protocol

from msgspec import Struct

from schemas.conversations.messages import Scope
from schemas.policies.policies import Policies

MAX_CONVERSATIONS: Final = 5_000  # conversations considered


class WindowScopes(Protocol):
    """The scopes of recent conversations (sinks.windows.projection.Windows)."""

    async def scopes(self, limit: int) -> tuple[Scope, ...]: ...


class Move(Struct, frozen=True, kw_only=True):
    """The number of conversations that would change from policy `before` to policy `after`."""

    before: str
    after: str
    conversations: int


class Reach(Struct, frozen=True, kw_only=True):
    """The effect of a policy change on the `looked_at` most recently active conversations. `before` and `after` are the
    numbers that the policy matches before and after the change. `moves` are the conversations that would get another
    policy. `namespaces` are some that would be fed only after the change."""

    looked_at: int
    before: int
    after: int
    moves: tuple[Move, ...]
    namespaces: tuple[str, ...]


class PolicyPreview:
    """Previews policy changes. Raises Retryable."""

    def __init__(self, windows: WindowScopes) -> None:
        self._windows = windows

    async def of(self, name: str, before: Policies, after: Policies) -> Reach:
        return preview(name, await self._windows.scopes(MAX_CONVERSATIONS), before, after)


def preview(name: str, scopes: Sequence[Scope], before: Policies, after: Policies, max_namespaces: int = 20) -> Reach:
    old, new = [before.match(scope) for scope in scopes], [after.match(scope) for scope in scopes]
    moved = Counter((a.name, b.name) for a, b in zip(old, new, strict=True) if a.name != b.name)
    old_namespaces = {each for policy, scope in zip(old, scopes, strict=True) for each in policy.namespaces_of(scope)}
    new_namespaces = {each for policy, scope in zip(new, scopes, strict=True) for each in policy.namespaces_of(scope)}
    return Reach(
        looked_at=len(scopes),
        before=sum(policy.name == name for policy in old),
        after=sum(policy.name == name for policy in new),
        moves=tuple(Move(before=a, after=b, conversations=count) for (a, b), count in moved.most_common()),
        namespaces=tuple(sorted(new_namespaces - old_namespaces)[:max_namespaces]),
    )
