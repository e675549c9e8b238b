from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from agents.curation.rules.decisions.contradictions import MODEL, EndedMemory, contradicted_memories
from agents.curation.rules.decisions.decide import Create, Decision, Drop, Merge, Reinforce, Supersede
from agents.curation.rules.decisions.decide import decide as decide_within
from agents.curation.rules.decisions.thresholds import Thresholds
from agents.curation.rules.ledger.scored import Scored
from schemas.extraction.candidates import Candidate, Source
from schemas.memories.memories import Memory
from schemas.policies.policies import Policy
from tests.unit.curation.rules.conftest import MakeCandidate, MakeMemory

POLICY = Policy(name="p", min_confidence=0.3)


def decide(
    candidate: Candidate, exact: Memory | None, near: Any, policy: Policy, said: Memory | None = None
) -> Decision:
    """`said` is the memory that the model says the candidate contradicts."""
    named = [said] if said is not None else []
    ended, objected = contradicted_memories(candidate, named, {}, near, Thresholds().comparable)
    return decide_within(candidate, exact, near, policy, Thresholds(related=0.70, merge=0.85), ended, objected)


def test_a_candidate_below_the_policys_confidence_is_dropped(candidate: MakeCandidate) -> None:
    decision = decide(candidate("User has a dog", confidence=0.29), None, (), POLICY)
    assert decision == Drop("confidence 0.29 is below 0.3")


def test_a_candidate_with_the_same_text_reinforces_the_memory(candidate: MakeCandidate, memory: MakeMemory) -> None:
    known = memory("User has a dog")
    assert decide(candidate("User has a dog"), known, (), POLICY) == Reinforce(known, "the same text")


def test_the_same_text_from_the_same_message_is_dropped_as_repeated(
    candidate: MakeCandidate, memory: MakeMemory, source: Callable[..., Source]
) -> None:
    known = memory("User has a dog", sources=(source(1),))
    decision = decide(candidate("User has a dog", sources=(source(1),)), known, (), POLICY)
    assert isinstance(decision, Drop)
    assert decision.reason.startswith("repeated")


def test_a_candidate_reinforces_a_neighbour_at_the_merge_threshold(
    candidate: MakeCandidate, memory: MakeMemory
) -> None:
    near = Scored(memory("User enjoys hiking"), 0.85)
    assert decide(candidate("User likes hiking"), None, (near,), POLICY) == Reinforce(near.memory, "cosine 0.850")


def test_a_candidate_does_not_reinforce_a_neighbour_below_the_merge_threshold(
    candidate: MakeCandidate, memory: MakeMemory
) -> None:
    near = Scored(memory("User enjoys hiking"), 0.849)
    assert decide(candidate("User likes hiking"), None, (near,), POLICY) == Create(None)


def test_a_model_repeats_verdict_reinforces_a_neighbour_below_the_merge_threshold(
    candidate: MakeCandidate, memory: MakeMemory
) -> None:
    near = Scored(memory("User enjoys hiking"), 0.72)
    said = candidate("User likes hiking", repeats=near.memory.memory_id)
    assert decide(said, None, (near,), POLICY) == Reinforce(near.memory, "the model's verdict, cosine 0.720")


def test_a_guard_objection_overrides_a_model_repeats_verdict(candidate: MakeCandidate, memory: MakeMemory) -> None:
    near = Scored(memory("User is allergic to peanuts"), 0.96)
    said = candidate("User is not allergic to peanuts", repeats=near.memory.memory_id)
    assert decide(said, None, (near,), POLICY) == Create(
        "negation differ from memory User is allergic to peanuts at Levenshtein 0.871"
    )


def test_two_models_overrule_an_objected_negation_but_no_other_name(
    candidate: MakeCandidate, memory: MakeMemory
) -> None:
    limits = Thresholds(related=0.70, merge=0.85)
    results = []
    for known, text in (
        ("User eats no gluten with Ann", "User wants gluten-free food with Ann"),
        ("User eats no gluten with Ann", "User wants gluten-free food with Ben"),
    ):
        near = Scored(memory(known), 0.5)
        said = candidate(text, repeats=near.memory.memory_id)
        decided = decide_within(said, None, (near,), POLICY, limits, confirmed={near.memory.memory_id})
        results.append(type(decided))
    assert results == [Reinforce, Create]


def test_the_next_neighbour_may_match_when_a_guard_rejects_the_nearest(
    candidate: MakeCandidate, memory: MakeMemory
) -> None:
    first, second = Scored(memory("User's sister enjoys hiking"), 0.97), Scored(memory("User enjoys hiking"), 0.90)
    decision = decide(candidate("User likes hiking"), None, (first, second), POLICY)
    assert decision == Reinforce(second.memory, "cosine 0.900")


def test_a_contradiction_supersedes_the_memory_without_vector_neighbours(
    candidate: MakeCandidate, memory: MakeMemory
) -> None:
    known = memory("User lives in Paris")
    said = candidate("User moved to Berlin")
    assert decide(said, None, (), POLICY, known) == Supersede((known,), None, "the candidate contradicts it")


def test_a_candidate_never_reinforces_a_memory_that_the_candidate_contradicts(
    candidate: MakeCandidate, memory: MakeMemory
) -> None:
    known = memory("User works with Python at home")
    said = candidate("User works with Python at home and in class")
    decision = decide(said, None, (Scored(known, 0.99),), POLICY, known)
    assert decision == Supersede((known,), None, "the candidate contradicts it")


def test_a_model_contradicts_verdict_is_ignored_for_a_synonymous_text(
    candidate: MakeCandidate, memory: MakeMemory
) -> None:
    known = memory("User likes hiking")
    decision = decide(candidate("User enjoys hiking"), None, (Scored(known, 0.99),), POLICY, known)
    assert decision == Reinforce(known, "cosine 0.990")


def test_a_candidate_can_supersede_one_memory_and_reinforce_another_with_the_same_text(
    candidate: MakeCandidate, memory: MakeMemory
) -> None:
    old, same = memory("User lives in Paris"), memory("User lives in Berlin")
    decision = decide(candidate("User lives in Berlin"), same, (), POLICY, old)
    assert decision == Supersede((old,), same, "the candidate contradicts it")


def test_no_text_contradicts_itself(candidate: MakeCandidate, memory: MakeMemory) -> None:
    known = memory("User lives in Paris")
    assert decide(candidate("User lives in Paris"), known, (), POLICY, known) == Reinforce(known, "the same text")


def test_a_late_message_does_not_supersede_a_memory_from_a_newer_message(
    candidate: MakeCandidate, memory: MakeMemory
) -> None:
    known = memory("User moved to Berlin", at=60)
    decision = decide(candidate("User lives in Paris", at=10), None, (), POLICY, known)
    assert isinstance(decision, Drop)
    assert decision.reason.startswith("outdated")


def test_a_late_message_supersedes_the_older_one_of_two_named_memories(
    candidate: MakeCandidate, memory: MakeMemory
) -> None:
    older, newer = memory("User works at Siemens"), memory("User commutes to Munich by train", at=20)
    said = candidate("User works at Kone in Espoo now", at=10)
    ended = [EndedMemory(each, MODEL) for each in (older, newer)]
    decision = decide_within(said, None, (), POLICY, Thresholds(), ended)
    assert decision == Supersede((older,), None, MODEL)


def test_a_late_message_is_dropped_if_a_newer_memory_contradicts_it_by_the_rules(
    candidate: MakeCandidate, memory: MakeMemory
) -> None:
    older, newer = memory("User works at Siemens"), memory("User works at Nokia", at=20)
    said = candidate("User works at Kone", at=10)
    ended = [EndedMemory(each, MODEL) for each in (older, newer)]
    assert isinstance(decide_within(said, None, (), POLICY, Thresholds(), ended), Drop)


def test_a_late_message_about_a_plan_ends_the_present_on_its_day_and_is_dropped_for_a_newer_plan(
    candidate: MakeCandidate, memory: MakeMemory, now: datetime
) -> None:
    june, july = now + timedelta(days=90), now + timedelta(days=120)
    said = candidate("User will move to Lyon", at=10, valid_from=june)
    present = EndedMemory(memory("User lives in Berlin", at=20), MODEL)
    plan = EndedMemory(memory("User will move to Oulu", at=20, valid_from=july), MODEL)
    decision = decide_within(said, None, (), POLICY, Thresholds(), [present], ahead=True)
    assert decision == Supersede((present.memory,), None, MODEL)
    assert isinstance(decide_within(said, None, (), POLICY, Thresholds(), [present, plan], ahead=True), Drop)


def test_edit_distance_takes_precedence_over_cosine_and_the_most_similar_text_wins(
    candidate: MakeCandidate, memory: MakeMemory
) -> None:
    nearer = Scored(memory("User is fond of long walks in the mountains"), 0.95)
    likest = Scored(memory("User likes long walks in mountains"), 0.71)
    decision = decide(candidate("User likes long walks in the mountains"), None, (nearer, likest), POLICY)
    assert decision == Reinforce(likest.memory, "Levenshtein 0.895")


def test_a_guard_objection_overrides_edit_distance_similarity(candidate: MakeCandidate, memory: MakeMemory) -> None:
    near = Scored(memory("User lent Tom 50 euros"), 0.80)
    decision = decide(candidate("User lent Tom 60 euros"), None, (near,), POLICY)
    assert isinstance(decision, Create)
    assert decision.reason is not None
    assert decision.reason.startswith("numbers differ")


def test_a_richer_text_is_merged(candidate: MakeCandidate, memory: MakeMemory) -> None:
    near = Scored(memory("User wants to buy a house"), 0.86)
    decision = decide(candidate("User wants to buy a house with a garden"), None, (near,), POLICY)
    assert decision == Merge(near.memory, "cosine 0.860")


def test_a_poorer_text_reinforces_the_richer_one(candidate: MakeCandidate, memory: MakeMemory) -> None:
    near = Scored(memory("User wants to buy a house with a garden"), 0.86)
    decision = decide(candidate("User wants to buy a house"), None, (near,), POLICY)
    assert decision == Reinforce(near.memory, "cosine 0.860")


def test_the_same_text_with_a_context_that_was_not_known_is_merged(
    candidate: MakeCandidate, memory: MakeMemory
) -> None:
    known = memory("User prefers short answers")
    said = candidate("User prefers short answers", context="when reading on the phone")
    assert decide(said, known, (), POLICY) == Merge(known, "the same text")


def test_a_model_refines_verdict_allows_merging_an_added_name_number_or_date(
    candidate: MakeCandidate, memory: MakeMemory
) -> None:
    for old, new in (
        ("User has a dog", "User has a dog named Rex"),
        ("User has cats", "User has two cats"),
        ("User plans a trip to Norway", "User plans a trip to Norway in August"),
    ):
        near = Scored(memory(old), 0.86)
        assert isinstance(decide(candidate(new), None, (near,), POLICY), Create)
        said = candidate(new, refines=near.memory.memory_id)
        assert isinstance(decide(said, None, (near,), POLICY), Merge)


def test_a_model_refines_verdict_does_not_allow_dropping_or_changing_known_content(
    candidate: MakeCandidate, memory: MakeMemory
) -> None:
    for old, new in (
        ("User has two cats", "User has three old cats"),
        ("User has a dog named Rex", "User has a big dog named Bello"),
        ("User eats meat", "User eats no meat on Fridays"),
        ("User plans a trip to Norway in August", "User plans a trip to Norway with the family in June"),
    ):
        near = Scored(memory(old), 0.90)
        said = candidate(new, refines=near.memory.memory_id)
        assert isinstance(decide(said, None, (near,), POLICY), Create), new


def test_only_a_model_verdict_merges_texts_in_a_language_without_word_lists(
    candidate: MakeCandidate, memory: MakeMemory
) -> None:
    near = Scored(memory("Użytkownik lubi herbatę"), 0.97)
    text = "Użytkownik bardzo lubi herbatę"
    assert decide(candidate(text), None, (near,), POLICY) == Create(
        f"language differ from {near.memory.memory_id} at cosine 0.970"
    )
    assert isinstance(decide(candidate(text, repeats=near.memory.memory_id), None, (near,), POLICY), Merge)


def test_a_richer_text_of_the_same_message_is_merged_and_a_poorer_one_dropped(
    candidate: MakeCandidate, memory: MakeMemory, source: Callable[..., Source]
) -> None:
    said = (source(1),)
    house, garden = "User wants to buy a house", "User wants to buy a house with a garden"
    richer = decide(candidate(garden, sources=said), None, (Scored(memory(house, sources=said), 0.9),), POLICY)
    poorer = decide(candidate(house, sources=said), None, (Scored(memory(garden, sources=said), 0.9),), POLICY)
    assert isinstance(richer, Merge)
    assert isinstance(poorer, Drop)
