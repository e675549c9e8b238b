"""Receipts of erasures: what went where, when, and what remains until when; without a word of what was said."""

from typing import Literal

from msgspec import Struct

from schemas.conversations.messages import Moment
from schemas.erasure.erasures import ErasureKind


class StoreErased(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What went of one store, by kind; `at` is when it was last looked through. `pending`: it is still being done."""

    store: str
    status: Literal["pending", "done"]
    removed: dict[str, int]
    at: Moment | None = None


class Remains(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a topic still holds, or local stores that are no longer used. `until`: when it is gone by the topic's settings, which
    are `because`; None where these set no bound."""

    topic: str
    holds: str
    because: str
    until: Moment | None = None


class NamespaceErased(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`purge`: the namespace was theirs alone, and all of it went. `forget`: others use it too; what came of the erased
    conversations alone went, and `kept` memories stay that others said as well: delete those singly, or purge the namespace."""

    namespace: str
    how: Literal["purge", "forget"]
    status: Literal["pending", "done"]
    memories: int
    versions: int
    vectors: int
    kept: int = 0


class Receipt(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Complete once the owners of all windows have answered and every store was looked through after that."""

    erasure_id: str
    kind: ErasureKind
    subject: dict[str, str]
    status: Literal["pending", "complete"]
    at: Moment
    actor: str
    reason: str | None = None
    completed_at: Moment | None = None
    conversations: int = 0
    namespaces: tuple[NamespaceErased, ...] = ()
    stores: tuple[StoreErased, ...] = ()
    remains: tuple[Remains, ...] = ()
