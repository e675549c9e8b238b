"""Determines what an erasure or export of a user concerns, to check the caller's rights and for previews."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final, Protocol

from msgspec import Struct

from agents.api.access.callers import Caller
from agents.api.http.problems import Problem
from agents.conversations.lookup import Conversation
from agents.erasure.affected_namespaces import is_of_another, plan_erasure
from schemas.access.keys import Right
from schemas.conversations.messages import Scope
from schemas.conversations.user_settings import User
from schemas.erasure.erasures import Erasure
from schemas.policies.namespaces import quote_part
from schemas.policies.policies import PolicySelector
from schemas.policies.shadows import live_namespace_of
from sinks.erasure.erasures import PlannedNamespace

PAGE_SIZE: Final = 1_000  # conversations or namespaces per query


class OwnerStore(Protocol):
    """Reads the stored data of a user (sinks.erasure.owners.Owners). Every method raises Retryable."""

    async def conversations(self, user: User) -> tuple[str, ...]: ...

    async def scopes(self, conversation_ids: Collection[str]) -> tuple[Scope, ...]: ...

    async def namespaces_fed(self, conversation_ids: Collection[str]) -> tuple[str, ...]: ...

    async def namespaces_naming(self, part: str, after: str, limit: int) -> tuple[str, ...]: ...

    async def stored_counts(self, namespaces: Collection[str]) -> dict[str, dict[str, int]]: ...

    async def archived_counts(self, user: User) -> dict[str, int]: ...

    async def count_memories(self, namespace: str, conversation_ids: Collection[str]) -> int: ...


class ErasureScope(Struct, frozen=True):
    """The scope of erasing or exporting a user: the user's `own` namespaces, the `shared` namespaces that the user's
    conversations feed, and the conversations, `with_others` those in which other users spoke."""

    own: tuple[str, ...]
    shared: tuple[str, ...]
    conversations: tuple[str, ...]
    with_others: frozenset[str]


class OwnNamespace(Struct, frozen=True, kw_only=True):
    """A namespace that the erasure deletes, with the row counts of its data (`held`)."""

    namespace: str
    held: dict[str, int]


class SharedNamespace(Struct, frozen=True, kw_only=True):
    """A namespace that keeps other data. `memories` counts its memories with sources in the erased conversations; the
    erasure deletes those of them without other sources."""

    namespace: str
    memories: int


class ErasurePreview(Struct, frozen=True, kw_only=True):
    """The data that erasing a user would delete. Nothing is erased. `said` counts the user's archived messages, windows and
    settings."""

    user: User
    conversations: int
    own: tuple[OwnNamespace, ...]
    shared: tuple[SharedNamespace, ...]
    said: dict[str, int]


class ConversationErasurePreview(Struct, frozen=True, kw_only=True):
    """The data that erasing a conversation would delete. Nothing is erased. `messages` is the number of messages counted in the
    window, or 0 if there is no window. `namespaces` are those that the conversation feeds."""

    conversation_id: str
    messages: int
    namespaces: tuple[SharedNamespace, ...]


async def preview_conversation_erasure(owners: OwnerStore, conversation: Conversation) -> ConversationErasurePreview:
    """Raises Retryable."""
    name, state = conversation.conversation_id, conversation.state
    counts = [(namespace, await owners.count_memories(namespace, (name,))) for namespace in conversation.namespaces]
    return ConversationErasurePreview(
        conversation_id=name,
        messages=state.statistics.total_messages if state else 0,
        namespaces=tuple(SharedNamespace(namespace=namespace, memories=memories) for namespace, memories in counts),
    )


async def preview_namespace_erasure(owners: OwnerStore, namespace: str) -> OwnNamespace:
    """Raises Retryable."""
    return OwnNamespace(namespace=namespace, held=(await owners.stored_counts((namespace,)))[namespace])


async def erasure_scope(owners: OwnerStore, policies: PolicySelector, user: User) -> ErasureScope:
    """Determines the scope of erasing or exporting a user from stored data and the current policies. Raises Retryable.

    Reads page by page: of everything that it reads, it keeps the names of namespaces and the ids of conversations.
    """
    identity: dict[str, Any] = {"user_id": user.user_id, "tenant_id": user.tenant_id, "app_id": user.app_id}
    erasure = Erasure(erasure_id="-", kind="user", at=datetime.now(UTC), actor="-", **identity)
    conversations, with_others = await owners.conversations(user), set[str]()
    alone: dict[str, bool] = {}  # by namespace
    for ids in pages_of(conversations):
        scopes = await owners.scopes(ids)
        with_others.update(scope.conversation_id for scope in scopes if is_of_another(scope, erasure))
        merge(alone, plan_erasure(erasure, scopes, await owners.namespaces_fed(ids), (), policies))
    after, part = "", quote_part(user.user_id)
    while names := await owners.namespaces_naming(part, after, PAGE_SIZE):
        after = names[-1]
        merge(alone, plan_erasure(erasure, (), (), map(live_namespace_of, names), policies))
    own, shared = (tuple(sorted(name for name in alone if alone[name] is which)) for which in (True, False))
    return ErasureScope(own, shared, conversations, frozenset(with_others))


def merge(alone: dict[str, bool], planned: Iterable[PlannedNamespace]) -> None:
    """Adds planned namespaces; one that belongs to the user alone by any of its conversations does."""
    for each in planned:
        alone[each.namespace] = alone.get(each.namespace, False) or each.how == "purge"


def pages_of(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    return (ids[start : start + PAGE_SIZE] for start in range(0, len(ids), PAGE_SIZE))


def require_rights(caller: Caller, right: Right, scope: ErasureScope, further: Collection[str] = ()) -> None:
    """Requires the right in the namespaces of the scope and in further ones, in all namespaces if none are known. The refusal
    is the same for every user, so that it does not reveal whether a user exists. Raises Problem 403."""
    namespaces = (*scope.own, *scope.shared, *further)
    if not (all(caller.may(right, name) for name in namespaces) if namespaces else caller.may_everywhere(right)):
        where = "in a namespace that this user concerns, or there is no such user"
        raise Problem(403, "forbidden", f"the key {caller.name!r} lacks the right {right!r} {where}")


async def preview_erasure(owners: OwnerStore, user: User, scope: ErasureScope) -> ErasurePreview:
    """Raises Retryable."""
    held = await owners.stored_counts(scope.own)
    shared = [(name, await owners.count_memories(name, scope.conversations)) for name in scope.shared]
    return ErasurePreview(
        user=user,
        conversations=len(scope.conversations),
        own=tuple(OwnNamespace(namespace=name, held=held[name]) for name in scope.own),
        shared=tuple(SharedNamespace(namespace=name, memories=memories) for name, memories in shared),
        said=await owners.archived_counts(user),
    )
