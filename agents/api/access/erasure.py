"""What erasing a user would affect: to check the caller's rights, or to preview it."""

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any, Protocol

from msgspec import Struct

from agents.conversations.lookup import Conversation
from agents.erasure.affected_namespaces import plan_erasure
from schemas.conversations.messages import Scope
from schemas.erasure.erasures import Erasure
from schemas.policies.namespaces import quote_part
from schemas.policies.policies import PolicySelector
from sinks.erasure.owners import MOST, User


class OwnerStore(Protocol):
    """Stored data of a user (sinks.erasure.owners.Owners). Every method raises Retryable."""

    async def scopes(self, user: User) -> tuple[Scope, ...]: ...

    async def namespaces_fed(self, conversation_ids: Collection[str]) -> tuple[str, ...]: ...

    async def namespaces_naming(self, part: str) -> tuple[str, ...]: ...

    async def stored_counts(self, namespaces: Collection[str]) -> dict[str, dict[str, int]]: ...

    async def archived_counts(self, user: User) -> dict[str, int]: ...

    async def count_memories(self, namespace: str, conversation_ids: Collection[str]) -> int: ...


class ErasureScope(Struct, frozen=True):
    """The namespaces of a user and of their conversations: their `own`, and those `shared`, or of others who spoke there; and the
    conversations. `whole`: there are no more than were looked at."""

    own: tuple[str, ...]
    shared: tuple[str, ...]
    conversations: tuple[str, ...]
    whole: bool


class OwnNamespace(Struct, frozen=True, kw_only=True):
    """A namespace that would be erased, and its contents."""

    namespace: str
    held: dict[str, int]


class SharedNamespace(Struct, frozen=True, kw_only=True):
    """A shared namespace: of these memories, which have sources in the user's conversations, those without other sources would
    be erased."""

    namespace: str
    memories: int


class ErasurePreview(Struct, frozen=True, kw_only=True):
    """What an erasure of a user would remove; nothing is erased. If not `whole`, more data exists than was looked at."""

    user: User
    whole: bool
    conversations: int
    own: tuple[OwnNamespace, ...]
    shared: tuple[SharedNamespace, ...]
    said: dict[str, int]


class ConversationErasurePreview(Struct, frozen=True, kw_only=True):
    """What an erasure of a conversation would remove; nothing is erased. Of the memories of each namespace that it feeds, those
    without other sources would go. `messages`: all that were counted in its window; 0 if that is not known."""

    conversation_id: str
    messages: int
    namespaces: tuple[SharedNamespace, ...]


async def preview_conversation_erasure(kept: OwnerStore, conversation: Conversation) -> ConversationErasurePreview:
    """Raises Retryable."""
    name, state = conversation.conversation_id, conversation.state
    counted = [(namespace, await kept.count_memories(namespace, (name,))) for namespace in conversation.namespaces]
    return ConversationErasurePreview(
        conversation_id=name,
        messages=state.statistics.total_messages if state else 0,
        namespaces=tuple(SharedNamespace(namespace=namespace, memories=memories) for namespace, memories in counted),
    )


async def preview_namespace_erasure(kept: OwnerStore, namespace: str) -> OwnNamespace:
    """Raises Retryable."""
    return OwnNamespace(namespace=namespace, held=(await kept.stored_counts((namespace,)))[namespace])


async def erasure_scope(kept: OwnerStore, policies: PolicySelector, user: User) -> ErasureScope:
    """Everything that an erasure would change, by stored data and current policies. Raises Retryable."""
    scopes = await kept.scopes(user)
    names = await kept.namespaces_naming(quote_part(user.user_id))
    conversations = tuple(sorted({scope.conversation_id for scope in scopes}))
    named: dict[str, Any] = {"user_id": user.user_id, "tenant_id": user.tenant_id, "app_id": user.app_id}
    erasure = Erasure(erasure_id="-", kind="user", at=datetime.now(UTC), actor="-", **named)
    found = plan_erasure(erasure, scopes, await kept.namespaces_fed(conversations), names, policies)
    own = tuple(each.namespace for each in found if each.how == "purge")
    shared = tuple(each.namespace for each in found if each.how == "forget")
    whole = len(scopes) <= MOST and len(names) <= MOST
    return ErasureScope(own, shared, conversations, whole)


async def preview_erasure(kept: OwnerStore, user: User, found: ErasureScope) -> ErasurePreview:
    """Raises Retryable."""
    held = await kept.stored_counts(found.own)
    shared = [(name, await kept.count_memories(name, found.conversations)) for name in found.shared]
    return ErasurePreview(
        user=user,
        whole=found.whole,
        conversations=len(found.conversations),
        own=tuple(OwnNamespace(namespace=name, held=held[name]) for name in found.own),
        shared=tuple(SharedNamespace(namespace=name, memories=memories) for name, memories in shared),
        said=await kept.archived_counts(user),
    )
