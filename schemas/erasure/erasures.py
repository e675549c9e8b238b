"""Erasures, and the fences that keep data older than an erasure out of every store."""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Final, Literal

from msgspec import Struct, field

from schemas.conversations.messages import Identifier, Moment, Scope

ErasureKind = Literal["user", "conversation", "namespace"]

# How far a sender's clock may be ahead. Positions do not count for messages with later timestamps: a recreated topic begins
# at offset 0, and its new messages must not count as erased.
CLOCKS_AHEAD: Final = timedelta(days=1)


class Fence(Struct, frozen=True):
    """Which messages an erasure covers: those with a timestamp up to `at`, and those before `positions`, the end offsets of
    the messages topic just before `at`, unless their timestamps are more than CLOCKS_AHEAD after it."""

    at: Moment
    positions: dict[int, int] = {}

    def refuses(self, said_at: datetime | None, partition: int = -1, position: int | None = None) -> bool:
        """Whether a message is older than the erasure; without a timestamp its position alone decides."""
        if said_at is not None and said_at <= self.at:
            return True
        lies_before = position is not None and position < self.positions.get(partition, 0)
        return lies_before and (said_at is None or said_at <= self.at + CLOCKS_AHEAD)


class Erasure(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The subject of an erasure: a user (of a tenant or an app, if several people have that id), a conversation, or a
    namespace."""

    erasure_id: Identifier
    kind: ErasureKind
    at: Moment
    actor: str
    positions: dict[int, int] = field(default_factory=dict)
    reason: str | None = None
    user_id: str | None = None
    tenant_id: str | None = None
    app_id: str | None = None
    conversation_id: str | None = None
    namespace: str | None = None

    @property
    def fence(self) -> Fence:
        return Fence(self.at, self.positions)

    @property
    def subject(self) -> str:
        """The id of the subject."""
        return self.user_id or self.conversation_id or self.namespace or ""

    def concerns(self, scope: Scope, feeds: Collection[str] = ()) -> bool:
        """Whether messages of a scope that feed these namespaces are erased; one of the namespaces is enough."""
        if self.kind == "namespace":
            return self.namespace in feeds
        if self.kind == "conversation":
            return self.conversation_id == scope.conversation_id
        return belongs_to(scope, self.user_id, self.tenant_id, self.app_id)


def belongs_to(scope: Scope, user_id: str | None, tenant_id: str | None, app_id: str | None) -> bool:
    """Whether a scope belongs to that user; None stands for any tenant or app."""
    return scope.user_id == user_id and tenant_id in (None, scope.tenant_id) and app_id in (None, scope.app_id)


class UserFence(Struct, frozen=True):
    user_id: str
    tenant_id: str | None
    app_id: str | None
    fence: Fence

    def concerns(self, scope: Scope) -> bool:
        return belongs_to(scope, self.user_id, self.tenant_id, self.app_id)


class ConversationFence(Struct, frozen=True):
    """The fence of a conversation that was erased, or in which the erased `user` took part; other people's messages stay."""

    fence: Fence
    user: UserFence | None = None

    def concerns(self, scope: Scope) -> bool:
        """Includes messages without a user: an answer to the user may repeat the user's words."""
        return self.user is None or scope.user_id is None or self.user.concerns(scope)

    def keeps_messages_of(self, user_ids: Collection[str | None]) -> bool:
        """Whether only other people than the erased user spoke."""
        return self.user is not None and all(each not in (None, self.user.user_id) for each in user_ids)


class Fences(Struct, frozen=True):
    """Fences of the requested namespaces, conversations and users."""

    namespaces: dict[str, Fence] = {}
    conversations: dict[str, tuple[ConversationFence, ...]] = {}
    users: tuple[UserFence, ...] = ()

    def of(self, scope: Scope, feeds: Iterable[str] = ()) -> tuple[Fence, ...]:
        """All fences that apply to messages of a scope. Messages that feed several namespaces are erased once one of them
        is."""
        fed = (self.namespaces[name] for name in feeds if name in self.namespaces)
        return (*fed, *self.of_person(scope))

    def of_person(self, scope: Scope) -> tuple[Fence, ...]:
        """The fences of the conversation and of the speaker, whatever namespaces they feed."""
        users = (each.fence for each in self.users if each.concerns(scope))
        conversations = self.conversations.get(scope.conversation_id, ())
        return (*(each.fence for each in conversations if each.concerns(scope)), *users)
