"""Links between memories of a namespace: those of a new memory, and their update when a memory is removed."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from agents.curation.rules.ledger.ledger import Ledger
from agents.curation.rules.ledger.scored import Scored
from agents.curation.rules.statements.guards import objection
from schemas.extraction.candidates import Candidate
from schemas.extraction.links import Link, LinkType
from schemas.memories.memories import Memory

MAX_RELATED: Final = 3  # neighbours; more distant ones are hardly related
MAX_LINKS: Final = 64  # per memory; the last ones are dropped
# A difference found by one of these guards means another statement or its denial, not a detail.
RIVALS: Final = frozenset(
    ("numbers", "times", "negation", "preference", "ended", "opposites", "scope", "wish", "tense", "order")
)


def links_of(
    candidate: Candidate, near: Sequence[Scored], refined: Memory | None, superseded: Sequence[Memory] = ()
) -> tuple[Link, ...]:
    """The links of a candidate's new memory. `near` are live memories, nearest first, that it was not merged into.

    `refined` is the live memory that it refines by the model's answer. The link is `refines` if that memory is a neighbour
    and no guard finds that the two are alternatives; otherwise it is `relates`, as for the nearest neighbours.
    """
    found = [link("supersedes", each) for each in superseded]
    if refined is not None:
        is_near = any(each.memory.memory_id == refined.memory_id for each in near)
        found.append(link("refines" if is_near and not are_alternatives(candidate, refined) else "relates", refined))
    found += [link("relates", each.memory) for each in near[:MAX_RELATED]]
    return distinct(found)


def are_alternatives(candidate: Candidate, memory: Memory) -> bool:
    return objection(memory.text, candidate.text) in RIVALS


def link(kind: LinkType, memory: Memory) -> Link:
    return Link(type=kind, memory_id=memory.memory_id)


def distinct(links: Iterable[Link], own_id: str | None = None) -> tuple[Link, ...]:
    """The first link to each memory, without links to `own_id`."""
    first: dict[str, Link] = {}
    for each in links:
        if each.memory_id != own_id:
            first.setdefault(each.memory_id, each)
    return tuple(first.values())[:MAX_LINKS]


def linked_successor(successor: Memory, superseded: Sequence[Memory]) -> Memory:
    """The successor with links to the memories that it supersedes, at least one."""
    links = distinct((*(link("supersedes", each) for each in superseded), *successor.links))
    return replace(successor, supersedes=successor.supersedes or superseded[0].memory_id, links=links)


def without_removed_links(memory: Memory, removed: Mapping[str, str | None]) -> Memory:
    """The memory without links to removed memories. A link to a merged memory leads to the memory that it was merged into."""
    moved = [
        each if each.memory_id not in removed else Link(type=each.type, memory_id=into)
        for each in memory.links
        if (into := removed.get(each.memory_id, each.memory_id)) is not None
    ]
    return replace(memory, links=distinct(moved, memory.memory_id))


def removed_memories(ledger: Ledger) -> dict[str, str | None]:
    """The ids of memories that the ledger deleted, with the live memory that each was merged into, if any."""
    last = {entry.after.memory_id: entry.after for entry in ledger.entries}
    deleted = [memory for memory in last.values() if memory.status == "deleted"]
    return {
        memory.memory_id: memory.superseded_by if ledger.find_live(memory.superseded_by) else None for memory in deleted
    }


def relink(ledger: Ledger, linking: Iterable[Memory], now: datetime) -> None:
    """Updates the links to removed memories, of the memories in the ledger and of `linking`."""
    removed = removed_memories(ledger)
    if not removed:
        return
    cause = next(entry.cause for entry in reversed(ledger.entries) if entry.after.status == "deleted")
    cause = replace(cause, reason="a linked memory was removed")
    ledger.learn(linking)
    for memory in ledger.existing():
        if (after := without_removed_links(memory, removed)).links != memory.links:
            ledger.enter("updated", replace(after, updated_at=now), cause, now)
