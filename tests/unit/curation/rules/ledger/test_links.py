"""Links of new memories, and links to removed memories."""

from datetime import datetime

import pytest

from agents.curation.rules.commands.apply_command import UndoneChange, apply_command
from agents.curation.rules.ledger.ledger import Ledger
from agents.curation.rules.ledger.links import (
    MAX_LINKS,
    MAX_RELATED,
    linked_successor,
    links_of,
    relink,
    without_removed_links,
)
from agents.curation.rules.ledger.scored import Scored
from schemas.extraction.links import Link, LinkType
from schemas.memories.memories import Memory
from sinks.vectors.port import Neighbour
from tests.builders.settled import EAST, settled
from tests.unit.curation.rules.conftest import MakeBatch, MakeCandidate, MakeCommand, MakeMemory


def to(kind: LinkType, *memories: Memory) -> tuple[Link, ...]:
    return tuple(Link(type=kind, memory_id=memory.memory_id) for memory in memories)


def test_a_new_memory_is_linked_to_a_bounded_number_of_nearest_neighbours(
    candidate: MakeCandidate, memory: MakeMemory
) -> None:
    near = [Scored(memory(f"User has a cat called Tom{number}"), 0.9 - number / 100) for number in range(9)]
    found = links_of(candidate("User has a cat called Mia"), near, None)
    assert found == to("relates", *(each.memory for each in near[:MAX_RELATED]))


@pytest.mark.parametrize(
    ("said", "known", "kind"),
    [
        ("User's dog Rex likes to swim", "User has a dog", "refines"),
        ("User has 3 dogs", "User has 2 dogs", "relates"),
        ("User does not have a dog called Rex", "User has a dog", "relates"),
        ("User sold the dog that they had in May", "User keeps a dog since March", "relates"),
    ],
)
def test_a_model_refines_verdict_becomes_a_refines_link_only_for_a_near_compatible_memory(
    candidate: MakeCandidate, memory: MakeMemory, said: str, known: str, kind: LinkType
) -> None:
    refined = memory(known)
    refining = candidate(said, refines=refined.memory_id)
    assert links_of(refining, [Scored(refined, 0.8)], refined) == to(kind, refined)
    assert links_of(refining, [], refined) == to("relates", refined), "it is not even near"


def test_only_the_strongest_of_several_link_types_to_the_same_memory_is_kept(
    candidate: MakeCandidate, memory: MakeMemory
) -> None:
    old, other = memory("User lives in Paris"), memory("User likes Paris")
    moved = candidate("User moved to Berlin", contradicts=old.memory_id, refines=old.memory_id)
    found = links_of(moved, [Scored(old, 0.8), Scored(other, 0.75)], old, [old])
    assert found == (*to("supersedes", old), *to("relates", other))


def test_a_successor_of_several_memories_links_to_each_with_the_latest_first(memory: MakeMemory) -> None:
    paris, rome = memory("User lives in Paris"), memory("User works in Rome")
    after = linked_successor(linked_successor(memory("User moved to Berlin"), [paris]), [rome])
    assert after.supersedes == paris.memory_id
    assert after.links == to("supersedes", rome, paris)


def test_the_number_of_links_of_a_memory_is_bounded(memory: MakeMemory) -> None:
    follows = memory("User moved to Berlin")
    for number in range(MAX_LINKS + 5):
        follows = linked_successor(follows, [memory(f"User lives in Town{number}")])
    assert len(follows.links) == MAX_LINKS
    assert follows.links[0].memory_id == f"memory User lives in Town{MAX_LINKS + 4}"


def test_links_to_removed_memories_are_dropped_or_moved_to_the_absorbing_memory(memory: MakeMemory) -> None:
    one, two, three = (memory(f"text {number}") for number in range(3))
    holder = memory("holder", links=(*to("relates", one, two), *to("refines", three)))
    moved = without_removed_links(holder, {one.memory_id: None, three.memory_id: two.memory_id})
    assert moved.links == to("relates", two), "a second link to the same is none"
    assert without_removed_links(two, {two.memory_id: None}).links == ()
    assert without_removed_links(memory("text 1", links=to("relates", one)), {one.memory_id: two.memory_id}).links == ()


def test_a_candidate_kept_separate_by_a_guard_is_created_with_a_link_to_the_neighbour(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    known = memory("User is allergic to peanuts")
    ledger = Ledger("n", 1, [known])
    found = (Neighbour(known.memory_id, 0.95),)
    said = candidate("User is allergic to walnuts")
    settled(ledger, batch(), said, now, found)
    assert [entry.change for entry in ledger.entries] == ["created"]
    assert ledger.entries[0].after.links == to("relates", known)


def test_links_never_lead_into_another_namespace(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    foreign = memory("User has a dog", namespace="other")
    ledger = Ledger("n", 1, [foreign])
    said = candidate("User's dog Rex likes to swim", refines=foreign.memory_id)
    settled(ledger, batch(), said, now, (Neighbour(foreign.memory_id, 0.9),))
    assert ledger.entries[0].after.links == ()


def test_a_command_can_link_only_live_memories_of_its_own_namespace(
    memory: MakeMemory, command: MakeCommand, now: datetime
) -> None:
    one, other = memory("User has a dog"), memory("User runs every day")
    foreign, gone = memory("foreign", namespace="other"), memory("gone", status="deleted")
    ledger = Ledger("n", 1, [one, other, foreign, gone])
    linked = command("update", memory_id=one.memory_id, links=to("relates", other, one))
    assert apply_command(ledger, linked, None, now).status == "accepted"
    assert ledger.entries[-1].after.links == to("relates", other), "none leads to itself"
    for target in (foreign, gone, memory("unknown")):
        refused = apply_command(ledger, command("create", text="x", links=to("relates", target)), EAST, now)
        assert refused.status == "rejected" and target.memory_id in (refused.reason or "")


def test_links_to_a_deleted_memory_are_removed_by_a_separate_change(
    memory: MakeMemory, command: MakeCommand, now: datetime
) -> None:
    gone = memory("User has a dog")
    linking = memory("User's dog is called Rex", links=to("refines", gone), version=3)
    ledger = Ledger("n", 1, [gone])
    apply_command(ledger, command("delete", memory_id=gone.memory_id, actor="mara"), None, now)
    relink(ledger, [linking], now)
    deleted, changed = ledger.entries
    assert deleted.after.links == ()
    assert (changed.change, changed.after.links, changed.after.version) == ("updated", (), 4)
    assert (changed.cause.actor, changed.cause.reason) == ("mara", "a linked memory was removed")


def test_an_undo_does_not_restore_links_to_memories_deleted_since(
    memory: MakeMemory, command: MakeCommand, now: datetime
) -> None:
    there, gone = memory("there"), memory("gone", status="deleted")
    before = memory("User has a dog", links=to("relates", there, gone))
    ledger = Ledger("n", 1, [memory("User has a dog", status="deleted"), there, gone])
    apply_command(ledger, command("undo", memory_id=before.memory_id), EAST, now, UndoneChange(2, before))
    assert ledger.entries[0].after.links == to("relates", there)
