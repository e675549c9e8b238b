"""Candidates of one batch, or repeated ones, create one memory per statement in any order."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.curation.rules.decisions import contradictions
from agents.curation.rules.decisions.settle import MAX_NEAREST
from agents.curation.rules.ledger.ledger import Ledger
from schemas.extraction.candidates import Candidate, Source
from tests.builders.settled import settled
from tests.builders.slices import batch_for_rules
from tests.unit.curation.rules.conftest import MakeBatch, MakeCandidate

DUPLICATES = (
    "User likes hiking in the mountains",
    "user likes hiking in the MOUNTAINS!",
    "The user enjoys hiking in the mountains",
    "User loves to hike in the mountains",
)


@given(st.permutations([(text, again) for text in range(len(DUPLICATES)) for again in (False, True)]))
def test_candidates_of_one_batch_that_duplicate_each_other_make_one_memory_in_any_order(
    order: list[tuple[int, bool]],
) -> None:
    """Each text twice under two ids; and each candidate once more, which changes nothing."""
    ledger, now = Ledger("n", 0), datetime(2026, 3, 1, tzinfo=UTC)
    said = [said_as(f"{text} {again}", DUPLICATES[text]) for text, again in order]
    for candidate in (*said, *said):
        settled(ledger, batch_for_rules(*said), candidate, now)
    memory = ledger.entries[-1].after
    assert {entry.after.memory_id for entry in ledger.entries} == {memory.memory_id}
    assert len(ledger.entries) == len(said)
    assert (memory.reinforcement_count, len(memory.sources)) == (len(said) - 1, len(said))


@given(st.lists(st.sampled_from(DUPLICATES), min_size=1, max_size=6))
def test_a_candidate_that_comes_twice_changes_nothing_the_second_time(texts: list[str]) -> None:
    ledger, now = Ledger("n", 0), datetime(2026, 3, 1, tzinfo=UTC)
    said = [said_as(f"{number}", text) for number, text in enumerate(texts)]
    for candidate in said:
        settled(ledger, batch_for_rules(*said), candidate, now)
        before = list(ledger.entries)
        again = settled(ledger, batch_for_rules(*said), candidate, now)
        assert again.result == "dropped"
        assert ledger.entries == before


@pytest.mark.parametrize("first_settled", [0, 1])
@pytest.mark.parametrize("in_one_slice", [True, False])
def test_the_later_of_two_contradicting_candidates_stays_live_in_any_processing_order(
    first_settled: int,
    in_one_slice: bool,
    candidate: MakeCandidate,
    batch: MakeBatch,
    now: datetime,
) -> None:
    """Conversations that share a model call, or whose calls end in another order, name nothing of each other."""
    said = candidate("User lives in Turku", at=1), candidate("User has moved to Tampere", at=2)
    batches = [batch(*said)] * 2 if in_one_slice else [batch(each) for each in said]
    ledger = Ledger("n", 0)
    for place in (first_settled, 1 - first_settled):
        settled(ledger, batches[place], said[place], now)
    assert [memory.text for memory in ledger.live_memories()] == ["User has moved to Tampere"]


def test_a_richer_text_within_a_batch_replaces_the_poorer_one_and_its_vector(
    candidate: MakeCandidate, batch: MakeBatch, now: datetime
) -> None:
    ledger = Ledger("n", 0)
    poorer, richer = candidate("User wants a house", at=1), candidate("User wants a house with a garden", at=2)
    settled(ledger, batch(poorer, richer), poorer, now)
    ruling = settled(ledger, batch(poorer, richer), richer, now)
    assert ruling.result == "merged"
    created, merged = ledger.entries
    assert (merged.change, merged.after.text) == ("merged", richer.text)
    assert merged.before is not None
    assert (merged.before.text, merged.vector is not None) == (poorer.text, True)
    assert created.after.memory_id == merged.after.memory_id


def said_as(candidate_id: str, text: str) -> Candidate:
    source = Source(conversation_id="c", message_id=f"message {candidate_id}")
    return Candidate(candidate_id=candidate_id, kind="fact", text=text, sources=(source,), confidence=0.8)


def test_a_candidate_is_compared_with_its_nearest_memories_alone(
    candidate: MakeCandidate, batch: MakeBatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rules take some 0.2 ms a pair: without a bound a part of 300 candidates would hold its transaction for many seconds."""
    compared: list[str] = []
    monkeypatch.setattr(contradictions, "conflict", lambda text, other: compared.append(other))
    ledger, now = Ledger("n", 0), datetime(2026, 3, 1, tzinfo=UTC)
    said = [candidate(f"User owns book number {number} of the series") for number in range(MAX_NEAREST + 20)]
    for each in said:
        compared.clear()
        settled(ledger, batch(*said), each, now)
    assert len(compared) == MAX_NEAREST
