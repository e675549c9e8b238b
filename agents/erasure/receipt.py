"""The current receipt of an erasure."""

from collections.abc import Iterable, Sequence
from typing import Final, Literal, Protocol

from msgspec import convert

from schemas.erasure.erasures import Erasure
from schemas.erasure.receipts import NamespaceErased, Receipt, Remains, StoreErased
from schemas.replay.shadows import is_reserved
from sinks.erasure.erasures import SWEPT, ErasedNamespace, RemovedCount, StoredErasure, WindowsErased

PASSAGES: Final = "passages"
SUBJECT: Final = ("user_id", "tenant_id", "app_id", "conversation_id", "namespace")


class ErasureRecords(Protocol):
    """sinks.erasure.erasures.Erasures. Every method raises Retryable."""

    async def get(self, erasure_id: str) -> StoredErasure | None: ...

    async def namespaces(self, erasure_id: str) -> tuple[ErasedNamespace, ...]: ...

    async def mixed(self, erasure: Erasure) -> dict[str, int]: ...

    async def windows(self, erasure_id: str) -> WindowsErased: ...

    async def removed(self, erasure_id: str) -> tuple[RemovedCount, ...]: ...

    async def conversations(self, erasure_id: str) -> frozenset[str]: ...


async def receipt(noted: ErasureRecords, erasure_id: str) -> Receipt | None:
    """None where there is no such erasure. Raises Retryable."""
    kept = await noted.get(erasure_id)
    if kept is None:
        return None
    erasure, complete = kept.erasure, kept.completed_at is not None
    mixed = await noted.mixed(erasure)
    found = await noted.namespaces(erasure_id)
    namespaces = [
        namespace_erased(each, mixed.get(each.namespace, 0)) for each in found if not is_reserved(each.namespace)
    ]
    shadows = [each for each in found if is_reserved(each.namespace)]
    removed, windows = await noted.removed(erasure_id), await noted.windows(erasure_id)
    return Receipt(
        erasure_id=erasure_id,
        kind=erasure.kind,
        subject={name: value for name in SUBJECT if (value := getattr(erasure, name)) is not None},
        status="complete" if complete else "pending",
        at=erasure.at,
        actor=erasure.actor,
        reason=erasure.reason,
        completed_at=kept.completed_at,
        conversations=len(await noted.conversations(erasure_id)),
        namespaces=tuple(namespaces),
        stores=(shadow_generations(shadows), *stores(erasure, namespaces, removed, windows, complete)),
        remains=tuple(convert(kept.remains, list[Remains])),
    )


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
    """What replays remembered, which nobody is told the names of."""
    removed = {"memories": sum(each.memories for each in shadows), "versions": sum(each.versions for each in shadows)}
    done = all(each.done_at is not None for each in shadows)
    return StoreErased(store="PostgreSQL, shadow generations", status=state(done), removed=removed)


def stores(
    erasure: Erasure,
    namespaces: list[NamespaceErased],
    removed: Iterable[RemovedCount],
    windows: WindowsErased,
    complete: bool,
) -> Iterable[StoreErased]:
    """Each store by its name, with what went of it."""
    decided = bool(namespaces) and all(each.status == "done" for each in namespaces)
    counted = {each.store: each for each in removed}
    memories = {"memories": sum(each.memories for each in namespaces), "versions": sum(e.versions for e in namespaces)}
    vectors = {"vectors": sum(each.vectors for each in namespaces)}
    yield StoreErased(store="PostgreSQL, memories", status=state(decided or complete), removed=memories)
    yield StoreErased(store="Qdrant", status=state(decided or complete), removed=vectors)
    tombstones = {"tombstones": memories["memories"]}
    yield StoreErased(store="Kafka, memory.state", status=state(decided or complete), removed=tombstones)
    gone = {"windows": windows.windows, "window_messages": windows.messages}
    yield StoreErased(
        store="windows, their changelog and their owners' local stores",
        status=state(complete),
        removed=gone,
        at=windows.at,
    )
    yield StoreErased(
        store="passages, in PostgreSQL and Qdrant",
        status=state(complete),
        removed={PASSAGES: counted[PASSAGES].removed if PASSAGES in counted else 0},
        at=counted[PASSAGES].at if PASSAGES in counted else None,
    )
    if erasure.kind != "namespace":
        swept = {name: counted[name].removed if name in counted else 0 for name in SWEPT if name != PASSAGES}
        latest = max((each.at for each in removed), default=None)
        yield StoreErased(store="PostgreSQL, what was said", status=state(complete), removed=swept, at=latest)
    letters = counted.get("dead_letters")
    yield StoreErased(
        store="Kafka, memory.dead-letters",
        status=state(letters is not None),
        removed={"letters": letters.removed if letters else 0},
        at=letters.at if letters else None,
    )


def state(done: bool) -> Literal["pending", "done"]:
    return "done" if done else "pending"
