"""Links between memories of a namespace: which a new memory has, and what becomes of them when a memory goes."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from agents.curation.rules.guards import objection
from agents.curation.rules.ledger import Ledger
from agents.curation.rules.scored import Scored
from schemas.extraction.candidates import Candidate
from schemas.memories.links import Link, LinkType
from schemas.memories.memories import Memory

MOST_RELATED: Final = 3  # of the neighbours; what is further away says little of a memory
MOST_LINKS: Final = 64  # of a memory that followed many others; those that are given last go
# What differs in one of these tells of something else, or denies it; it is no further detail of the same.
RIVALS: Final = frozenset(
    ("numbers", "times", "negation", "preference", "ended", "opposites", "scope", "wish", "tense", "order")
)


def links_of(
    candidate: Candidate, near: Sequence[Scored], refined: Memory | None, superseded: Sequence[Memory] = ()
) -> tuple[Link, ...]:
    """Those of a memory that a candidate makes. `near` are live memories, nearest first, into none of which it was folded.

    `refined` is the live memory that the model says it refines, however far away; that is believed of a neighbour if no guard
    objects that the two deny each other. Else they are related, as the nearest neighbours are.
    """
    found = [link("supersedes", each) for each in superseded]
    if refined is not None:
        is_near = any(each.memory.memory_id == refined.memory_id for each in near)
        found.append(link("refines" if is_near and not are_alternatives(candidate, refined) else "relates", refined))
    found += [link("relates", each.memory) for each in near[:MOST_RELATED]]
    return distinct(found)


def are_alternatives(candidate: Candidate, memory: Memory) -> bool:
    return objection(memory.text, candidate.text) in RIVALS


def link(kind: LinkType, memory: Memory) -> Link:
    return Link(type=kind, memory_id=memory.memory_id)


def distinct(links: Iterable[Link], own_id: str | None = None) -> tuple[Link, ...]:
    """One to each memory, the first that is given, and none to `own_id`."""
    first: dict[str, Link] = {}
    for each in links:
        if each.memory_id != own_id:
            first.setdefault(each.memory_id, each)
    return tuple(first.values())[:MOST_LINKS]


def linked_successor(successor: Memory, superseded: Sequence[Memory]) -> Memory:
    """The memory that says what holds instead of others, at least one."""
    links = distinct((*(link("supersedes", each) for each in superseded), *successor.links))
    return replace(successor, supersedes=successor.supersedes or superseded[0].memory_id, links=links)


def without_removed_links(memory: Memory, gone: Mapping[str, str | None]) -> Memory:
    """Without links to what is gone; those to what another memory took in lead there, by its id."""
    moved = [
        each if each.memory_id not in gone else Link(type=each.type, memory_id=into)
        for each in memory.links
        if (into := gone.get(each.memory_id, each.memory_id)) is not None
    ]
    return replace(memory, links=distinct(moved, memory.memory_id))


def removed_memories(ledger: Ledger) -> dict[str, str | None]:
    """Memories that the ledger's changes deleted, and into which live memory each was taken, if into any."""
    last = {entry.after.memory_id: entry.after for entry in ledger.entries}
    deleted = [memory for memory in last.values() if memory.status == "deleted"]
    return {
        memory.memory_id: memory.superseded_by if ledger.find_live(memory.superseded_by) else None for memory in deleted
    }


def relink(ledger: Ledger, linking: Iterable[Memory], now: datetime) -> None:
    """Changes the links of memories that lead to what is gone: of those the ledger knows, and of `linking`, which were read."""
    gone = removed_memories(ledger)
    if not gone:
        return
    cause = next(entry.cause for entry in reversed(ledger.entries) if entry.after.status == "deleted")
    cause = replace(cause, reason="what it was linked to is gone")
    ledger.learn(linking)
    for memory in ledger.existing():
        if (after := without_removed_links(memory, gone)).links != memory.links:
            ledger.enter("updated", replace(after, updated_at=now), cause, now)
