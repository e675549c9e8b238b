"""Applies the differences of a namespace at a cutover, and reverts them. Pure: the ledger assigns versions and sequences."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from agents.curation.rules.ledger import change
from agents.curation.rules.ledger.ledger import Ledger
from agents.curation.rules.ledger.links import distinct
from agents.replay.comparison import Difference
from schemas import ids
from schemas.extraction.links import Link
from schemas.memories.events import Cause
from schemas.memories.memories import Change, Memory
from sinks.vectors.port import Vector

ACTOR: Final = "memstream"


def cut_over(
    ledger: Ledger, differences: Sequence[Difference], vectors: Mapping[str, Vector], cause: Cause, now: datetime
) -> None:
    """Enters the generation's changes. A changed memory keeps its id; a new one gets a derived id, so that a cutover after
    an undo finds it again. `vectors` are by the ids of the generation's memories."""
    known_as = live_ids(ledger.namespace, differences)
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


def live_ids(namespace: str, differences: Iterable[Difference]) -> dict[str, str]:
    """The live ids of the generation's memories; withheld ones have none."""
    known: dict[str, str] = {}
    for each in differences:
        if each.after is not None and each.before is not None:
            known[each.after.memory_id] = each.before.memory_id
        elif each.after is not None and each.fate == "added":
            known[each.after.memory_id] = ids.memory_id(ids.derive("cutover", namespace, each.after.memory_id))
    return known


def with_replayed_content(before: Memory, after: Memory, known_as: Mapping[str, str], now: datetime) -> Memory:
    """A live memory with the generation's content and sources."""
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
    """A memory of the generation as a live one, with links to live ids."""
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


def revert(
    ledger: Ledger, befores: Mapping[str, Memory | None], vectors: Mapping[str, Vector], cause: Cause, now: datetime
) -> None:
    """Restores memories, by id, to their state before a cutover; those that did not exist are deleted.

    `vectors` has the vector of each restored text, so search finds every one.
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
