"""What erasing somebody concerns, before it is done: who asks needs the rights for all of it, or wants to look first."""

from collections.abc import Collection
from typing import Protocol

from msgspec import Struct

from agents.erasing.concerned import fed_by, tells
from schemas.messages import Scope
from schemas.namespaces import quote_part
from schemas.policies import Choosing
from sinks.owners import MOST, User


class Kept(Protocol):
    """What is kept of a user (sinks.owners.Owners). Every method raises Retryable."""

    async def scopes(self, user: User) -> tuple[Scope, ...]: ...

    async def named(self, part: str) -> tuple[str, ...]: ...

    async def held_in(self, namespaces: Collection[str]) -> dict[str, dict[str, int]]: ...

    async def said(self, user: User) -> dict[str, int]: ...

    async def from_conversations(self, namespace: str, conversation_ids: Collection[str]) -> int: ...


class Concerned(Struct, frozen=True):
    """The namespaces of a user: theirs `own`, and those that they share; and their conversations. `whole`: there are no more
    than were looked at."""

    own: tuple[str, ...]
    shared: tuple[str, ...]
    conversations: tuple[str, ...]
    whole: bool


class OwnNamespace(Struct, frozen=True, kw_only=True):
    """A namespace that would go, and what it holds."""

    namespace: str
    held: dict[str, int]


class SharedNamespace(Struct, frozen=True, kw_only=True):
    """A namespace of others too: of these memories, which came at least in part from the user's conversations, those would go
    that came of nothing else."""

    namespace: str
    memories: int


class Foreseen(Struct, frozen=True, kw_only=True):
    """What would be erased of a user; nothing was. Where it is not `whole`, there is more than was looked at."""

    user: User
    whole: bool
    conversations: int
    own: tuple[OwnNamespace, ...]
    shared: tuple[SharedNamespace, ...]
    said: dict[str, int]


async def concerned(kept: Kept, policies: Choosing, user: User) -> Concerned:
    """Under the policies as they are now, and those that bear the user's name, whoever fed them. Raises Retryable."""
    scopes = await kept.scopes(user)
    names = await kept.named(quote_part(user.user_id))
    fed = {name: own for scope in scopes for name, own in fed_by(scope, policies)}
    said = {name for name in names if tells(name, policies, user.user_id, user.tenant_id, user.app_id)}
    own = {name for name, is_own in fed.items() if is_own} | said
    shared = fed.keys() - own
    conversations = tuple(sorted({scope.conversation_id for scope in scopes}))
    whole = len(scopes) <= MOST and len(names) <= MOST
    return Concerned(tuple(sorted(own)), tuple(sorted(shared)), conversations, whole)


async def foreseen(kept: Kept, user: User, found: Concerned) -> Foreseen:
    """Raises Retryable."""
    held = await kept.held_in(found.own)
    shared = [(name, await kept.from_conversations(name, found.conversations)) for name in found.shared]
    return Foreseen(
        user=user,
        whole=found.whole,
        conversations=len(found.conversations),
        own=tuple(OwnNamespace(namespace=name, held=held[name]) for name in found.own),
        shared=tuple(SharedNamespace(namespace=name, memories=memories) for name, memories in shared),
        said=await kept.said(user),
    )
