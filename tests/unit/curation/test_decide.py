from collections.abc import Callable

from agents.curation.decide import Create, Drop, Reinforce, Scored, Supersede, decide
from schemas.memories import Memory
from schemas.policies import Policy
from schemas.requests import Candidate, Source

POLICY = Policy(name="p", merge_threshold=0.85, min_confidence=0.3)

MakeCandidate = Callable[..., Candidate]
MakeMemory = Callable[..., Memory]


def test_a_candidate_below_the_policys_confidence_is_dropped(candidate: MakeCandidate) -> None:
    decision = decide(candidate("User has a dog", confidence=0.29), None, (), POLICY)
    assert decision == Drop("confidence 0.29 is below 0.3")


def test_the_same_text_reinforces(candidate: MakeCandidate, memory: MakeMemory) -> None:
    known = memory("User has a dog")
    assert decide(candidate("User has a dog"), known, (), POLICY) == Reinforce(known, "the same text")


def test_the_same_text_from_the_same_message_is_no_new_evidence(
    candidate: MakeCandidate, memory: MakeMemory, source: Callable[..., Source]
) -> None:
    known = memory("User has a dog", sources=(source(1),))
    decision = decide(candidate("User has a dog", sources=(source(1),)), known, (), POLICY)
    assert isinstance(decision, Drop)
    assert decision.reason.startswith("repeated")


def test_a_neighbour_at_the_threshold_reinforces(candidate: MakeCandidate, memory: MakeMemory) -> None:
    near = Scored(memory("User enjoys hiking"), 0.85)
    assert decide(candidate("User likes hiking"), None, (near,), POLICY) == Reinforce(near.memory, "cosine 0.850")


def test_a_neighbour_below_the_threshold_does_not(candidate: MakeCandidate, memory: MakeMemory) -> None:
    near = Scored(memory("User enjoys hiking"), 0.849)
    assert decide(candidate("User likes hiking"), None, (near,), POLICY) == Create(None)


def test_below_the_threshold_the_models_word_that_it_repeats_decides(
    candidate: MakeCandidate, memory: MakeMemory
) -> None:
    near = Scored(memory("User enjoys hiking"), 0.72)
    said = candidate("User likes hiking", repeats=near.memory.memory_id)
    assert decide(said, None, (near,), POLICY) == Reinforce(near.memory, "cosine 0.720")


def test_a_guard_stands_above_the_models_word_that_it_repeats(candidate: MakeCandidate, memory: MakeMemory) -> None:
    near = Scored(memory("User is allergic to peanuts"), 0.96)
    said = candidate("User is not allergic to peanuts", repeats=near.memory.memory_id)
    assert decide(said, None, (near,), POLICY) == Create(
        "negation differ from memory User is allergic to peanuts at cosine 0.960"
    )


def test_behind_a_neighbour_that_is_objected_to_another_may_match(candidate: MakeCandidate, memory: MakeMemory) -> None:
    first, second = Scored(memory("User hates hiking"), 0.97), Scored(memory("User enjoys hiking"), 0.90)
    decision = decide(candidate("User likes hiking"), None, (first, second), POLICY)
    assert decision == Reinforce(second.memory, "cosine 0.900")


def test_a_contradiction_supersedes_however_far_the_vectors_are(candidate: MakeCandidate, memory: MakeMemory) -> None:
    known = memory("User lives in Paris")
    said = candidate("User moved to Berlin")
    assert decide(said, None, (), POLICY, known) == Supersede(known, None, "the candidate contradicts it")


def test_a_contradicted_memory_is_never_reinforced_by_what_contradicts_it(
    candidate: MakeCandidate, memory: MakeMemory
) -> None:
    known = memory("User enjoys hiking")
    decision = decide(candidate("User likes hiking"), None, (Scored(known, 0.99),), POLICY, known)
    assert decision == Supersede(known, None, "the candidate contradicts it")


def test_what_contradicts_one_memory_and_repeats_another_reinforces_the_second(
    candidate: MakeCandidate, memory: MakeMemory
) -> None:
    old, same = memory("User lives in Paris"), memory("User lives in Berlin")
    decision = decide(candidate("User lives in Berlin"), same, (), POLICY, old)
    assert decision == Supersede(old, same, "the candidate contradicts it")


def test_no_text_contradicts_itself(candidate: MakeCandidate, memory: MakeMemory) -> None:
    known = memory("User lives in Paris")
    assert decide(candidate("User lives in Paris"), known, (), POLICY, known) == Reinforce(known, "the same text")


def test_a_message_that_comes_late_does_not_supersede_what_was_said_after_it(
    candidate: MakeCandidate, memory: MakeMemory
) -> None:
    known = memory("User moved to Berlin", at=60)
    decision = decide(candidate("User lives in Paris", at=10), None, (), POLICY, known)
    assert isinstance(decision, Drop)
    assert decision.reason.startswith("outdated")
