"""Text and importance of a memory after merging a candidate."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.curation.rules.ledger.ledger import Ledger
from agents.curation.rules.ledger.merge import MAX_CONTEXT_CHARS, adds_content, joined_context, merge, raised_importance
from schemas.extraction.candidates import Candidate, Source
from schemas.memories.memories import Memory
from tests.builders.memories import a_memory
from tests.builders.settled import settled_among_all
from tests.unit.curation.rules.conftest import MakeBatch, MakeCandidate, MakeMemory, MakeSource

fractions = st.floats(0, 1)


def test_merging_counts_a_reinforcement_and_adds_sources_tags_and_kinds_without_duplicates(
    candidate: MakeCandidate, memory: MakeMemory, source: MakeSource, now: datetime
) -> None:
    before = memory("User has a dog", sources=(source(1),), tags=("pets",), kinds=("pet",))
    said = candidate("User has a dog", sources=(source(1), source(2), source(2)), tags=("dog", "pets"), kind="event")
    after = merge(before, said, now, 200)
    assert after.sources == (source(1), source(2))
    assert after.tags == ("pets", "dog")
    assert (after.kind, after.kinds) == ("fact", ("pet", "event"))
    assert after.reinforcement_count == 1
    assert after.last_reinforced_at == source(2).timestamp
    assert after.text == before.text


def test_a_late_repetition_does_not_move_the_last_reinforcement_back(
    candidate: MakeCandidate, memory: MakeMemory, source: MakeSource, now: datetime
) -> None:
    before = memory("User has a dog", last_reinforced_at=source(50).timestamp)
    after = merge(before, candidate("User has a dog", at=20), now, 200)
    assert after.last_reinforced_at == source(50).timestamp


def test_more_details_of_the_same_message_are_no_repetition(
    candidate: MakeCandidate, memory: MakeMemory, source: MakeSource, now: datetime
) -> None:
    before = memory("User wants a house", sources=(source(1),))
    after = merge(before, candidate("User wants a house with a garden", sources=(source(1),)), now, 200)
    assert after.text == "User wants a house with a garden"
    assert (after.reinforcement_count, after.last_reinforced_at, after.importance) == (0, None, before.importance)


@pytest.mark.parametrize(
    ("known", "said", "kept"),
    [
        ("User wants a house", "User wants a house with a garden", "User wants a house with a garden"),
        ("User wants a house with a garden", "User wants a house", "User wants a house with a garden"),
        ("User runs", "User runs 10 km", "User runs 10 km"),
        ("User likes hiking", "User enjoys hiking", "User likes hiking"),
        ("User takes the train to work", "User commutes to work by train every day", "User takes the train to work"),
        ("User eats fish", "User eats fish but no meat", "User eats fish"),
    ],
)
def test_the_richer_text_wins(
    known: str, said: str, kept: str, candidate: MakeCandidate, memory: MakeMemory, now: datetime
) -> None:
    assert merge(memory(known), candidate(said), now, 200).text == kept


def test_a_model_refines_verdict_replaces_the_text_with_a_longer_paraphrase(
    candidate: MakeCandidate, memory: MakeMemory, now: datetime
) -> None:
    before = memory("User takes the train to work")
    said = candidate("User commutes to work by the early train", refines=before.memory_id)
    assert merge(before, said, now, 200).text == said.text


@pytest.mark.parametrize(
    ("known", "said", "joined"),
    [
        (None, "for a trip", "for a trip"),
        ("for a trip", None, "for a trip"),
        ("For a trip.", "for a trip", "For a trip."),
        ("for a trip to Tokyo", "a trip", "for a trip to Tokyo"),
        ("a trip", "for a trip to Tokyo", "for a trip to Tokyo"),
        ("said at work.", "for a trip", "said at work; for a trip"),
        ("for 2 trips to Tokyo", "for 3 trips to Tokyo", "for 2 trips to Tokyo; for 3 trips to Tokyo"),
        ("x" * 900, "y" * 900, "x" * 900),
    ],
)
def test_contexts_are_joined_unless_one_contains_the_other(
    known: str | None, said: str | None, joined: str | None
) -> None:
    assert joined_context(known, said) == joined


def test_a_full_text_is_replaced_only_by_a_text_with_all_its_content_and_more(
    candidate: MakeCandidate, memory: MakeMemory, now: datetime
) -> None:
    before = memory("User has a dog", full_text="A dog from a shelter.")
    more = candidate("User has a dog", full_text="A dog, Rex, from a shelter in Porto.")
    other = candidate("User has a dog", full_text="A dog that barks.")
    assert merge(before, more, now, 200).full_text == more.full_text
    assert merge(before, other, now, 200).full_text == before.full_text


def test_raised_importance_has_no_floating_point_rounding_digits(memory: MakeMemory) -> None:
    importances = [
        raised_importance(memory("x", importance=first / 10), 0.0, count) for first in range(11) for count in range(9)
    ]
    assert all(len(str(importance)) <= len("0.123456789") for importance in importances)
    assert raised_importance(memory("x", importance=0.1234567891234), 0.0, 0) == 0.1234567891234


@pytest.mark.parametrize(("count", "importance"), [(0, 0.5), (1, 0.525), (5, 0.602), (1_000, 0.75)])
def test_repetitions_raise_importance_by_at_most_half_of_the_remaining_range(
    count: int, importance: float, memory: MakeMemory
) -> None:
    assert raised_importance(memory("x", importance=0.5), 0.0, count) == pytest.approx(importance, abs=0.001)


@given(st.lists(fractions, max_size=4), fractions)
def test_importance_and_confidence_do_not_depend_on_the_order_of_repetitions(
    said: Sequence[float], first: float
) -> None:
    outcomes = [repeated_by(order, first) for order in permutations(said)]
    for importance, confidence in outcomes:
        assert importance == pytest.approx(outcomes[0][0])
        assert confidence == outcomes[0][1]
        assert max(first, *said, 0.0) <= importance <= 1.0 or importance == pytest.approx(max(first, *said, 0.0))


@given(st.text(max_size=MAX_CONTEXT_CHARS * 2) | st.none(), st.lists(st.text(max_size=600), max_size=4))
def test_joining_contexts_is_idempotent_and_bounded_in_length(first: str | None, said: Sequence[str]) -> None:
    context = first
    for each in said:
        context = joined_context(context, each)
        assert len(context or "") <= max(MAX_CONTEXT_CHARS, len(first or ""), max(map(len, said)))
    for each in (context, *said[-1:]):
        assert joined_context(context, each) == context


def repeated_by(said: Sequence[float], first: float) -> tuple[float, float]:
    """Importance and confidence of a memory after repetitions that propose these, each from a message of its own."""
    memory = made(importance=first, confidence=first)
    for number, fraction in enumerate(said):
        source = Source(conversation_id="c", message_id=f"m{number}")
        memory = merge(memory, proposing(fraction, source), memory.created_at, 200)
    return memory.importance, memory.confidence


def made(importance: float, confidence: float) -> Memory:
    return a_memory(importance=importance, confidence=confidence)


def proposing(fraction: float, source: Source) -> Candidate:
    return Candidate(
        candidate_id="x",
        kind="fact",
        text="User has a dog",
        sources=(source,),
        confidence=fraction,
        importance=fraction,
    )


def test_a_candidate_without_new_content_adds_no_content(candidate: MakeCandidate, memory: MakeMemory) -> None:
    known = memory("User has a dog", context="said at work", full_text="A dog.")
    assert not adds_content(candidate("User has a dog", context="Said at work!", full_text="a dog"), known, 200)


@pytest.mark.parametrize(
    ("known", "said", "text"),
    [
        (
            "User takes ibuprofen and a blood thinner every morning.",
            "User takes ibuprofen and a stomach pill every morning.",
            "User takes ibuprofen and a blood thinner every morning. User takes ibuprofen and a stomach pill every morning.",
        ),
        (
            "User has a dog called Rex.",
            "User has a dog called Rex, who is afraid of thunder.",
            "User has a dog called Rex, who is afraid of thunder.",
        ),
        ("User likes long hikes in the hills.", "User enjoys trekking.", "User likes long hikes in the hills."),
    ],
)
def test_words_that_a_repetition_adds_are_kept_unless_it_says_all_in_other_words(
    known: str, said: str, text: str, candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    ledger = Ledger("n", 1, [before := memory(known)])
    settled_among_all(ledger, batch(), candidate(said, repeats=before.memory_id), now, cosine=0.75)
    assert [each.text for each in ledger.live_memories()] == [text]


def test_a_repetition_whose_new_words_do_not_fit_becomes_a_memory_of_its_own(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    known = f"User's flat in Turku has {'a leaking roof, cracked windows, ' * 5}and a broken heating."
    ledger = Ledger("n", 1, [before := memory(known)])
    said = candidate("User's flat has a leaking roof, cracked windows and cockroaches.", repeats=before.memory_id)
    settled_among_all(ledger, batch(), said, now, cosine=0.75)
    assert {each.text for each in ledger.live_memories()} == {known, said.text}


def test_an_end_is_set_only_by_a_later_statement_and_after_the_beginning(
    candidate: MakeCandidate, memory: MakeMemory, now: datetime
) -> None:
    known = memory("User is vegetarian.", at=20)
    until = now + timedelta(days=30)
    assert merge(known, candidate("User is vegetarian.", at=30, valid_until=until), now, 200).valid_until == until
    old = candidate("User is vegetarian.", at=10, valid_until=until)
    assert merge(known, old, now, 200).valid_until is None
    assert not adds_content(old, known, 200)
    before = candidate("User is vegetarian.", at=30, valid_until=known.valid_from)
    assert merge(known, before, now, 200).valid_until is None


def test_a_repetition_that_names_the_memory_as_over_takes_back_its_end(
    candidate: MakeCandidate, memory: MakeMemory, now: datetime
) -> None:
    until = now + timedelta(days=30)
    known = memory("User lives in Porto.", valid_until=until)
    for_good = candidate("User lives in Porto.", supersedes=(known.memory_id,))
    assert merge(known, for_good, now, 200).valid_until is None
    assert merge(known, candidate("User lives in Porto."), now, 200).valid_until == until


def test_an_earlier_beginning_is_taken_over_and_a_later_one_only_from_a_plan(
    candidate: MakeCandidate, memory: MakeMemory, now: datetime
) -> None:
    june, july = now + timedelta(days=90), now + timedelta(days=120)
    plan, present = memory("User works at Kone.", valid_from=june), memory("User works at Kone.")
    assert merge(plan, candidate("User works at Kone.", valid_from=now), now, 200).valid_from == now
    assert merge(plan, candidate("User works at Kone.", valid_from=july), now, 200).valid_from == july
    assert merge(present, candidate("User works at Kone.", valid_from=july), now, 200).valid_from == present.valid_from
