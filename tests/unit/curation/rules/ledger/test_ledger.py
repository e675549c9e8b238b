from datetime import datetime, timedelta

import numpy as np
import pytest

from agents.curation.rules.commands.apply_command import apply_command
from agents.curation.rules.ledger.ledger import Ledger
from schemas.memories.memories import Status
from sinks.vectors.port import Neighbour
from tests.builders.settled import EAST, settled
from tests.unit.curation.rules.conftest import MakeBatch, MakeCandidate, MakeCommand, MakeMemory

NORTH = np.array((0, 1), np.float32)


def test_sequences_and_versions_go_up_by_one(memory: MakeMemory, command: MakeCommand, now: datetime) -> None:
    known = memory("User has a dog", version=4)
    ledger = Ledger("n", 7, [known])
    for name in ("a", "b"):
        apply_command(ledger, command("update", memory_id=known.memory_id, text=name), EAST, now)
    assert [(entry.after.sequence, entry.after.version) for entry in ledger.entries] == [(8, 5), (9, 6)]
    assert [entry.before and entry.before.text for entry in ledger.entries] == ["User has a dog", "a"]


def test_a_duplicate_within_a_batch_is_folded(candidate: MakeCandidate, batch: MakeBatch, now: datetime) -> None:
    ledger = Ledger("n", 0)
    first, second = candidate("User likes hiking", at=1), candidate("User enjoys hiking", at=2)
    for said in (first, second):
        settled(ledger, batch(first, second), said, now)
    assert [entry.change for entry in ledger.entries] == ["created", "reinforced"]
    assert len({entry.after.memory_id for entry in ledger.entries}) == 1


def test_a_memory_superseded_by_a_batch_is_not_reinforced_by_the_same_batch(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    known = memory("User lives in Paris")
    ledger = Ledger("n", 1, [known])
    moved = candidate("User moved to Berlin", contradicts=known.memory_id)
    again = candidate("User lives in Paris", at=20)
    found = (Neighbour(known.memory_id, 1.0),)
    settled(ledger, batch(), moved, now, found, vector=NORTH)
    ruling = settled(ledger, batch(), again, now, found)
    assert (ruling.result, ruling.memory_id == known.memory_id) == ("superseded", False)
    assert [entry.change for entry in ledger.entries] == ["created", "superseded", "created", "superseded"]


def test_vector_index_hits_from_other_namespaces_or_for_unknown_memories_are_ignored(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    foreign = memory("User likes hiking", namespace="other")
    ledger = Ledger("n", 0, [foreign])
    found = (Neighbour(foreign.memory_id, 1.0), Neighbour("unknown", 1.0))
    said = candidate("User likes hiking", contradicts=foreign.memory_id)
    assert settled(ledger, batch(), said, now, found).result == "created"
    assert all(entry.after.memory_id != foreign.memory_id for entry in ledger.entries)


def test_a_candidate_that_was_already_processed_is_dropped(
    candidate: MakeCandidate, batch: MakeBatch, now: datetime
) -> None:
    ledger, said = Ledger("n", 0), candidate("User likes hiking")
    settled(ledger, batch(), said, now)
    ruling = settled(ledger, batch(), said, now)
    assert (ruling.result, len(ledger.entries)) == ("dropped", 1)


def test_the_change_reason_contains_the_text_of_a_folded_candidate(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    known = memory("User likes hiking")
    ledger = Ledger("n", 1, [known])
    found = (Neighbour(known.memory_id, 0.9),)
    settled(ledger, batch(), candidate("User enjoys hiking"), now, found)
    assert ledger.entries[0].cause.reason == "cosine 0.900: User enjoys hiking"


def test_a_create_command_with_a_known_text_reinforces_the_memory(
    memory: MakeMemory, command: MakeCommand, now: datetime
) -> None:
    known = memory("User has a dog", tags=("pets",))
    ledger = Ledger("n", 1, [known])
    outcome = apply_command(ledger, command("create", text="user has a DOG!", tags=("dog",)), EAST, now)
    assert (outcome.status, outcome.change, outcome.memory_id) == ("accepted", "reinforced", known.memory_id)
    assert ledger.entries[0].after.tags == ("pets", "dog")
    assert ledger.entries[0].after.text == "User has a dog"


def test_no_create_command_ends_a_known_memory_before_it_begins(
    memory: MakeMemory, command: MakeCommand, now: datetime
) -> None:
    ledger = Ledger("n", 1, [memory("User has a dog")])
    ends_early = command("create", text="User has a dog", valid_from=now, valid_until=now - timedelta(days=1))
    outcome = apply_command(ledger, ends_early, EAST, now)
    assert outcome.status == "rejected"
    assert "has this text, and it would end" in (outcome.reason or "")
    assert ledger.entries == []


def test_invalid_commands_are_rejected_with_a_reason(memory: MakeMemory, command: MakeCommand, now: datetime) -> None:
    gone, foreign = memory("gone", status="deleted"), memory("foreign", namespace="other")
    old = memory("old", status="superseded")
    ledger = Ledger("n", 1, [gone, foreign, old])
    refused = [
        command("create"),
        command("create", text=" "),
        command("update", text="x"),
        command("update", memory_id=old.memory_id, text="x"),
        *(command("delete", memory_id=each) for each in (gone.memory_id, foreign.memory_id, "unknown", None)),
    ]
    outcomes = [apply_command(ledger, each, EAST, now) for each in refused]
    assert {outcome.status for outcome in outcomes} == {"rejected"}
    assert all(outcome.reason for outcome in outcomes)
    assert not ledger.entries


def test_a_superseded_memory_can_be_deleted(memory: MakeMemory, command: MakeCommand, now: datetime) -> None:
    old = memory("old", status="superseded")
    outcome = apply_command(Ledger("n", 1, [old]), command("delete", memory_id=old.memory_id), None, now)
    assert (outcome.status, outcome.change) == ("accepted", "deleted")


@pytest.mark.parametrize("status", ["active", "superseded", "expired", "deleted"])
def test_a_memory_of_any_status_is_erased_without_its_content(
    memory: MakeMemory, command: MakeCommand, now: datetime, status: Status
) -> None:
    known = memory("User lives in Turku", status=status, tags=("home",))
    ledger = Ledger("n", 1, [known])
    outcome = apply_command(ledger, command("erase", memory_id=known.memory_id, actor="ada", reason="asked"), None, now)
    assert (outcome.status, outcome.change, outcome.memory_id) == ("accepted", "purged", known.memory_id)
    (entry,) = ledger.entries
    assert (entry.after.text, entry.after.tags, entry.after.sources, entry.after.status) == ("", (), (), "deleted")
    assert (entry.cause.actor, entry.cause.reason, ledger.number_live) == ("ada", "asked", 0)


def test_an_erasure_of_an_unknown_or_foreign_memory_is_rejected(
    memory: MakeMemory, command: MakeCommand, now: datetime
) -> None:
    foreign = memory("User lives in Turku", namespace="other")
    for memory_id in (None, "unknown", foreign.memory_id):
        ledger = Ledger("n", 1, [foreign])
        outcome = apply_command(ledger, command("erase", memory_id=memory_id), None, now)
        assert (outcome.status, outcome.reason) == ("rejected", f"no memory {memory_id} in n")
        assert ledger.entries == []
