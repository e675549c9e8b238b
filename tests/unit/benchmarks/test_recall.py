"""The measures of `make bench-recall`."""

import pytest

from schemas.retrieval.searches import Hit
from tests.benchmarks.recall_measures import precision, rank
from tests.benchmarks.recall_precision import Context, failures, summary
from tests.benchmarks.recall_sets import Question, written
from tests.builders.memories import a_memory

EITHER = Question("n", "?", (frozenset("a"), frozenset(("b", "c"))))


@pytest.mark.parametrize(
    "found, place", [("a", 1), ("xa", 2), ("bc", 1), ("cxb", 2), ("b", float("inf")), ("", float("inf"))]
)
def test_an_answer_ranks_at_the_position_where_it_is_complete(found: str, place: float) -> None:
    assert rank(EITHER, list(found)) == place


def test_precision_is_the_share_of_hits_that_answer_the_question() -> None:
    hits = [Hit(score=1.0, memory=a_memory(memory_id=name)) for name in "abxy"]
    assert precision(EITHER, hits) == 0.5
    assert precision(EITHER, []) == 0.0


def context(relevant: str = "", pinned: str = "", questions: str = "") -> Context:
    return Context(pinned=list(pinned), relevant=list(relevant), questions=list(questions), took_ms=1.0)


def test_a_case_fails_for_missing_unexpected_and_forbidden_results() -> None:
    expect = {
        "relevantBeliefs": {"shouldOnlyInclude": ["a", "b"], "mustExclude": ["z"]},
        "pinnedFacts": {"mustInclude": ["p"]},
        "openQuestions": {"mustExclude": ["q"]},
    }
    assert failures(expect, context("ab", "p")) == []
    assert failures(expect, context("ax", "z", "q")) == [
        "unexpected: x",
        "missing: b",
        "forbidden: z",
        "missing: p",
        "forbidden: q",
    ]


def test_a_passed_case_is_active_only_if_relevant_results_were_expected_and_found() -> None:
    wanted = {"relevantBeliefs": {"shouldOnlyInclude": ["a"]}}
    nothing = {"relevantBeliefs": {"shouldOnlyInclude": []}}
    figures = summary(
        [
            ("Alias resolution", wanted, context("a"), []),
            ("Alias resolution", wanted, context("ax"), ["unexpected: x"]),
            ("Alias resolution", nothing, context(), []),
            ("Scope disambiguation", nothing, context(), []),
        ]
    )
    assert (figures["passed"], figures["passes"]) == (3, {"active": 1, "structural": 1, "trivially_empty": 1})
    assert (figures["mean_precision"], figures["mean_recall"]) == (0.75, 1.0)


def test_the_written_questions_are_unique_and_refer_to_existing_memories() -> None:
    question_set = written()
    known = {memory.memory_id for memory in question_set.memories}
    assert all(answer <= known for question in question_set.questions for answer in question.answers)
    assert len({question.text for question in question_set.questions}) == len(question_set.questions)
