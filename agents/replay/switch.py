"""What a cutover enters for the differences of a namespace, and what taking it back does. Pure: the ledger gives the numbers."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from agents.curation.rules import change
from agents.curation.rules.ledger import Ledger
from agents.curation.rules.links import distinct
from agents.replay.comparison import Difference
from schemas import ids
from schemas.memories.events import Cause
from schemas.memories.links import Link
from schemas.memories.memories import Change, Memory
from sinks.vectors.port import Vector

ACTOR: Final = "memstream"


def cut_over(
    ledger: Ledger, differences: Sequence[Difference], vectors: Mapping[str, Vector], cause: Cause, now: datetime
) -> None:
    """Enters what a generation changes. A memory that says something else now keeps its id; what is new gets one that is derived,
    so that a cutover after an undo finds it again. `vectors` are by the ids of the generation's memories."""
    known_as = outside_ids(ledger.namespace, differences)
    for each in differences:
        before, after = each.before, each.after
        if each.fate == "changed" and before is not None and after is not None:
            vector = vectors.get(after.memory_id) if after.text != before.text else None
            ledger.enter("updated", with_replayed_content(before, after, known_as, now), cause, now, vector)
        elif each.fate == "added" and after is not None:
            memory_id = known_as[after.memory_id]
            kind: Change = "restored" if ledger.find_any_status(memory_id) else "created"
            memory = new_live_memory(after, ledger.namespace, memory_id, known_as, now)
            ledger.enter(kind, memory, cause, now, vectors.get(after.memory_id))
        elif each.fate == "lost" and before is not None:
            ledger.enter("deleted", change.deleted(before, now), cause, now)


def outside_ids(namespace: str, differences: Iterable[Difference]) -> dict[str, str]:
    """As what the memories of the generation are known outside; what is withheld is not."""
    known: dict[str, str] = {}
    for each in differences:
        if each.after is not None and each.before is not None:
            known[each.after.memory_id] = each.before.memory_id
        elif each.after is not None and each.fate == "added":
            known[each.after.memory_id] = ids.memory_id(ids.derive("cutover", namespace, each.after.memory_id))
    return known


def with_replayed_content(before: Memory, after: Memory, known_as: Mapping[str, str], now: datetime) -> Memory:
    """A live memory with what the generation says instead, and from which messages."""
    return replace(
        new_live_memory(after, before.namespace, before.memory_id, known_as, now),
        version=before.version,
        sequence=before.sequence,
        created_at=before.created_at,
        created_by=before.created_by,
        supersedes=before.supersedes,
    )


def new_live_memory(
    memory: Memory, namespace: str, memory_id: str, known_as: Mapping[str, str], now: datetime
) -> Memory:
    """A memory of the generation as it is outside; its links lead to what is known there."""
    links = (
        Link(type=link.type, memory_id=known_as[link.memory_id]) for link in memory.links if link.memory_id in known_as
    )
    return replace(
        memory,
        memory_id=memory_id,
        namespace=namespace,
        version=change.UNNUMBERED,
        sequence=change.UNNUMBERED,
        created_at=now,
        updated_at=now,
        supersedes=None,
        superseded_by=None,
        links=distinct(links, memory_id),
    )


def take_back(
    ledger: Ledger, befores: Mapping[str, Memory | None], vectors: Mapping[str, Vector], cause: Cause, now: datetime
) -> None:
    """Enters memories, by their ids, as they were before a cutover; those that there were not are deleted.

    `vectors` are by texts, and have each of them: nothing comes back that no search would find.
    """
    for memory_id, before in befores.items():
        if (memory := ledger.find_any_status(memory_id)) is None:
            continue
        if before is None:
            ledger.enter("deleted", change.deleted(memory, now), cause, now)
            continue
        links = tuple(
            link
            for link in before.links
            if befores.get(link.memory_id) is not None or ledger.find(link.memory_id) is not None
        )
        restored = replace(before, links=links, updated_at=now)
        ledger.enter("restored", restored, cause, now, vectors[before.text] if before.text else None)
