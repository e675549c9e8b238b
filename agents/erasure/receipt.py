"""The current receipt of an erasure."""

from collections.abc import Iterable, Sequence
from typing import Final, Literal, Protocol

from msgspec import convert

from schemas.erasure.erasures import Erasure
from schemas.erasure.receipts import NamespaceErased, Receipt, Remains, StoreErased
from schemas.policies.shadows import is_reserved
from sinks.erasure.erasures import SWEPT, ErasedNamespace, RemovedCount, StoredErasure, WindowsErased

PASSAGES: Final = "passages"
SUBJECT: Final = ("user_id", "tenant_id", "app_id", "conversation_id", "namespace")


class ErasureRecords(Protocol):
    """sinks.erasure.erasures.Erasures. Every method raises Retryable."""

    async def get(self, erasure_id: str) -> StoredErasure | None: ...

    async def namespaces(self, erasure_id: str) -> tuple[ErasedNamespace, ...]: ...

    async def count_mixed(self, erasure: Erasure) -> dict[str, int]: ...

    async def windows(self, erasure_id: str) -> WindowsErased: ...

    async def removed(self, erasure_id: str) -> tuple[RemovedCount, ...]: ...

    async def conversations(self, erasure_id: str) -> frozenset[str]: ...


async def receipt(noted: ErasureRecords, erasure_id: str) -> Receipt | None:
    """The receipt; None for an unknown erasure. Raises Retryable."""
    stored = await noted.get(erasure_id)
    if stored is None:
        return None
    erasure, complete = stored.erasure, stored.completed_at is not None
    mixed = await noted.count_mixed(erasure)
    found = await noted.namespaces(erasure_id)
    namespaces = [
        namespace_erased(each, mixed.get(each.namespace, 0)) for each in found if not is_reserved(each.namespace)
    ]
    shadows = [each for each in found if is_reserved(each.namespace)]
    removed, windows = await noted.removed(erasure_id), await noted.windows(erasure_id)
    stores = (shadow_generations(shadows), *store_entries(erasure, namespaces, removed, windows, complete))
    return Receipt(
        erasure_id=erasure_id,
        kind=erasure.kind,
        subject={name: value for name in SUBJECT if (value := getattr(erasure, name)) is not None},
        status="complete" if complete else "pending",
        at=erasure.at,
        actor=erasure.actor,
        reason=erasure.reason,
        completed_at=stored.completed_at,
        conversations=len(await noted.conversations(erasure_id)),
        namespaces=tuple(namespaces),
        stores=stores,
        remains=tuple(convert(stored.remains, list[Remains])),
        nothing_found=complete and not any(mixed.values()) and not any(map(has_removed, stores)),
    )


def has_removed(store: StoreErased) -> bool:
    return any(store.removed.values())


def namespace_erased(each: ErasedNamespace, kept: int) -> NamespaceErased:
    return NamespaceErased(
        namespace=each.namespace,
        how=each.how,
        status="pending" if each.done_at is None else "done",
        memories=each.memories,
        versions=each.versions,
        vectors=each.vectors,
        kept=kept,
    )


def shadow_generations(shadows: Sequence[ErasedNamespace]) -> StoreErased:
    """The shadows of replays, combined into one entry, as their names are internal."""
    removed = {"memories": sum(each.memories for each in shadows), "versions": sum(each.versions for each in shadows)}
    done = all(each.done_at is not None for each in shadows)
    return StoreErased(store="PostgreSQL, shadow generations", status=status_of(done), removed=removed)


def store_entries(
    erasure: Erasure,
    namespaces: list[NamespaceErased],
    removed: Iterable[RemovedCount],
    windows: WindowsErased,
    complete: bool,
) -> Iterable[StoreErased]:
    """The entry of each store, with the count of erased data."""
    decided = bool(namespaces) and all(each.status == "done" for each in namespaces)
    counted = {each.store: each for each in removed}
    memories = {"memories": sum(each.memories for each in namespaces), "versions": sum(e.versions for e in namespaces)}
    vectors = {"vectors": sum(each.vectors for each in namespaces)}
    yield StoreErased(store="PostgreSQL, memories", status=status_of(decided or complete), removed=memories)
    yield StoreErased(store="Qdrant", status=status_of(decided or complete), removed=vectors)
    tombstones = {"tombstones": memories["memories"]}
    yield StoreErased(store="Kafka, memory.state", status=status_of(decided or complete), removed=tombstones)
    counts = {"windows": windows.windows, "window_messages": windows.messages}
    yield StoreErased(
        store="windows, their changelog and their owners' local stores",
        status=status_of(complete),
        removed=counts,
        at=windows.at,
    )
    yield StoreErased(
        store="passages, in PostgreSQL and Qdrant",
        status=status_of(complete),
        removed={PASSAGES: counted[PASSAGES].removed if PASSAGES in counted else 0},
        at=counted[PASSAGES].at if PASSAGES in counted else None,
    )
    if erasure.kind != "namespace":
        swept = {name: counted[name].removed if name in counted else 0 for name in SWEPT if name != PASSAGES}
        latest = max((each.at for each in removed), default=None)
        yield StoreErased(store="PostgreSQL, conversations", status=status_of(complete), removed=swept, at=latest)
    dead_letters = counted.get("dead_letters")
    yield StoreErased(
        store="Kafka, memory.dead-letters",
        status=status_of(dead_letters is not None),
        removed={"letters": dead_letters.removed if dead_letters else 0},
        at=dead_letters.at if dead_letters else None,
    )


def status_of(done: bool) -> Literal["pending", "done"]:
    return "done" if done else "pending"
