"""Receipts of erasures: what was deleted where and when, and what remains until when. They have no texts."""

from typing import Literal

from msgspec import Struct

from schemas.conversations.messages import Moment
from schemas.erasure.erasures import ErasureKind


class StoreErased(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Deleted records of one store, by type; `at` is the time of the last check. `pending`: not finished."""

    store: str
    status: Literal["pending", "done"]
    removed: dict[str, int]
    at: Moment | None = None


RemainsCode = Literal[
    "messages",
    "ends",
    "requests",
    "candidates",
    "commands",
    "events",
    "summaries",
    "activity",
    "overwritten",
    "local_stores",
]


class Remains(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Records that a topic, or unused local stores, still hold. `until`: when they are gone by the topic's settings
    (`because`); None if the settings have no limit. `code` says what it `holds` for programs; receipts of earlier versions
    have none."""

    topic: str
    holds: str
    because: str
    until: Moment | None = None
    code: RemainsCode | None = None


class NamespaceErased(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`purge`: the user's own namespace, deleted completely. `forget`: a shared namespace; memories from the erased
    conversations alone were deleted, and `kept` memories that others told as well remain: erase these singly, or erase
    the namespace."""

    namespace: str
    how: Literal["purge", "forget"]
    status: Literal["pending", "done"]
    memories: int
    versions: int
    vectors: int
    kept: int = 0


class Receipt(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The receipt of an erasure. Complete once the owners of all windows have confirmed and every store was checked after
    that. `nothing_found`: no store had data of the subject, so its id may be misspelt. The erasure holds all the same for
    older messages that are still on their way."""

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
    nothing_found: bool = False
