"""What a changed policy would take over: of the conversations that were active last, those that would fall under another one."""

from collections import Counter
from collections.abc import Sequence
from typing import Final, Protocol

from msgspec import Struct

from schemas.conversations.messages import Scope
from schemas.policies.policies import Policies

MOST: Final = 5_000  # conversations that are looked at


class WindowScopes(Protocol):
    """sinks.windows.projection.Windows."""

    async def scopes(self, limit: int) -> tuple[Scope, ...]: ...


class Move(Struct, frozen=True, kw_only=True):
    """So many conversations would fall under `after` instead of `before`."""

    before: str
    after: str
    conversations: int


class Reach(Struct, frozen=True, kw_only=True):
    """Of `looked_at` conversations, those with the latest messages: under the policy now, under it then, and all that move.
    `namespaces` are some that would be fed and are not yet."""

    looked_at: int
    before: int
    after: int
    moves: tuple[Move, ...]
    namespaces: tuple[str, ...]


class PolicyReach:
    """Raises Retryable."""

    def __init__(self, windows: WindowScopes) -> None:
        self._windows = windows

    async def of(self, name: str, before: Policies, after: Policies) -> Reach:
        return reach(name, await self._windows.scopes(MOST), before, after)


def reach(name: str, scopes: Sequence[Scope], before: Policies, after: Policies, most_named: int = 20) -> Reach:
    was, will = [before.match(scope) for scope in scopes], [after.match(scope) for scope in scopes]
    moved = Counter((a.name, b.name) for a, b in zip(was, will, strict=True) if a.name != b.name)
    fed = {each for policy, scope in zip(was, scopes, strict=True) for each in policy.namespaces_of(scope)}
    then = {each for policy, scope in zip(will, scopes, strict=True) for each in policy.namespaces_of(scope)}
    return Reach(
        looked_at=len(scopes),
        before=sum(policy.name == name for policy in was),
        after=sum(policy.name == name for policy in will),
        moves=tuple(Move(before=a, after=b, conversations=count) for (a, b), count in moved.most_common()),
        namespaces=tuple(sorted(then - fed)[:most_named]),
    )
