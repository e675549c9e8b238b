"""What is erased, and the fences that keep it so: what is older than an erasure comes in nowhere."""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Final, Literal

from msgspec import Struct, field

from schemas.conversations.messages import Identifier, Moment, Scope

ErasureKind = Literal["user", "conversation", "namespace"]

# How far a sender's clock may be ahead. Beyond it positions do not count: topics made anew begin again at 0, and what is said in
# them must not be taken for what lay there before.
CLOCKS_AHEAD: Final = timedelta(days=1)


class Fence(Struct, frozen=True):
    """What was said until `at` is erased, by its own time; and what lay before `positions`, the ends of the messages topic's
    partitions just before then, whatever a sender's clock said."""

    at: Moment
    positions: dict[int, int] = {}

    def refuses(self, said_at: datetime | None, partition: int = -1, position: int | None = None) -> bool:
        """Whether a message is older than the erasure; one that says no time is judged by its place alone."""
        if said_at is not None and said_at <= self.at:
            return True
        lies_before = position is not None and position < self.positions.get(partition, 0)
        return lies_before and (said_at is None or said_at <= self.at + CLOCKS_AHEAD)


class Erasure(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Who or what is erased: a user (of a tenant, of an app, where the id means several people), a conversation, a namespace."""

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
        """The id of what is erased."""
        return self.user_id or self.conversation_id or self.namespace or ""

    def concerns(self, scope: Scope, feeds: Collection[str] = ()) -> bool:
        """Whether what is said in a scope, which feeds these namespaces, is erased: one of them is enough."""
        if self.kind == "namespace":
            return self.namespace in feeds
        if self.kind == "conversation":
            return self.conversation_id == scope.conversation_id
        return is_of(scope, self.user_id, self.tenant_id, self.app_id)


def is_of(scope: Scope, user_id: str | None, tenant_id: str | None, app_id: str | None) -> bool:
    """Whether a scope is of that user; None stands for any tenant, or app."""
    return scope.user_id == user_id and tenant_id in (None, scope.tenant_id) and app_id in (None, scope.app_id)


class UserFence(Struct, frozen=True):
    user_id: str
    tenant_id: str | None
    app_id: str | None
    fence: Fence

    def concerns(self, scope: Scope) -> bool:
        return is_of(scope, self.user_id, self.tenant_id, self.app_id)


class ConversationFence(Struct, frozen=True):
    """Of a conversation that was erased, or in which the erased `user` took part: what others said there stays."""

    fence: Fence
    user: UserFence | None = None

    def concerns(self, scope: Scope) -> bool:
        """What names nobody goes too: an answer to the user may repeat what was said."""
        return self.user is None or scope.user_id is None or self.user.concerns(scope)

    def spares(self, user_ids: Collection[str | None]) -> bool:
        """Whether only others than the erased user said something."""
        return self.user is not None and all(each not in (None, self.user.user_id) for each in user_ids)


class Fences(Struct, frozen=True):
    """Fences of namespaces, conversations and users: of those that were asked for."""

    namespaces: dict[str, Fence] = {}
    conversations: dict[str, tuple[ConversationFence, ...]] = {}
    users: tuple[UserFence, ...] = ()

    def of(self, scope: Scope, feeds: Iterable[str] = ()) -> tuple[Fence, ...]:
        """All that hold for what is said in a scope. What feeds several namespaces is kept nowhere once one of them is erased."""
        fed = (self.namespaces[name] for name in feeds if name in self.namespaces)
        return (*fed, *self.of_person(scope))

    def of_person(self, scope: Scope) -> tuple[Fence, ...]:
        """Those of the conversation and of whoever speaks, whatever that feeds."""
        users = (each.fence for each in self.users if each.concerns(scope))
        conversations = self.conversations.get(scope.conversation_id, ())
        return (*(each.fence for each in conversations if each.concerns(scope)), *users)
