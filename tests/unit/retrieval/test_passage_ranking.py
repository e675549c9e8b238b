"""Ranking of passages."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from random import Random

import numpy as np
import pytest

from agents.passages.terms import question_words, stems, terms
from agents.retrieval.passage_bm25 import QuestionWords
from agents.retrieval.passage_ranking import (
    DEFAULT_WEIGHTS,
    CosineScale,
    PassageWording,
    Ranked,
    Span,
    Weights,
    ranked,
    ranked_by_wording,
)
from sinks.passages.rows import PassageRow

MONDAY = datetime(2024, 1, 8, 9, tzinfo=UTC)
SCALE = CosineScale(start=0.15, span=0.70, floor=0.3, least_range=0.35)
FILLER = "we talked about nothing of any weight that day"


def row(
    passage_id: str,
    text: str,
    *,
    ordinal: int,
    at: datetime | None = None,
    conversation: str = "talk",
    namespace: str = "app/ada",
    message: str | None = None,
) -> PassageRow:
    return PassageRow(
        passage_id=passage_id,
        namespace=namespace,
        conversation_id=conversation,
        message_id=message or passage_id,
        ordinal=ordinal,
        said_at=at or MONDAY + timedelta(minutes=ordinal),
        speaker="ada",
        terms=np.array(terms(namespace, stems(text)), np.int32),
    )


def ranks(
    rows: list[PassageRow],
    question: str,
    cosines: dict[str, float] | None = None,
    *,
    spans: tuple[Span, ...] = (),
    weights: Weights = DEFAULT_WEIGHTS,
) -> list[Ranked]:
    words = question_words(question)
    of_namespaces = {each.namespace: terms(each.namespace, words) for each in rows}
    counts = Counter(int(term) for each in rows for term in set(each.terms.tolist()))
    question = QuestionWords(terms=of_namespaces, counts=counts, passages=1_000)
    return ranked(rows, cosines or {}, question, spans, SCALE, weights)


def ids(found: list[Ranked]) -> list[str]:
    return [each.passage_id for each in found]


def test_passages_are_ranked_by_cosine_on_any_absolute_level() -> None:
    rows = [row(f"p{number}", FILLER, ordinal=20 * number) for number in range(3)]
    found = ranks(rows, "What is it?", {"p0": 0.90, "p1": 0.95, "p2": 0.70})
    assert ids(found) == ["p1", "p0", "p2"]
    assert len({each.score for each in found}) == 3


def test_a_short_passage_with_the_query_words_ranks_above_a_long_one() -> None:
    rows = [
        row("long", f"lasagna {FILLER} " * 5, ordinal=0),
        row("short", "lasagna with spinach, every week", ordinal=50),
    ]
    assert ids(ranks(rows, "Who made lasagna with spinach?")) == ["short", "long"]


def test_an_answer_inherits_the_words_of_the_question_before_it() -> None:
    rows = [
        row("question", "Which city did you visit in Portugal?", ordinal=1),
        row("answer", "Porto, it was lovely", ordinal=2),
        row("other", "Berlin, it was lovely", ordinal=40),
    ]
    cosines = {"question": 0.5, "answer": 0.4, "other": 0.4}
    assert ids(ranks(rows, "Which city in Portugal was visited?", cosines))[:2] == ["question", "answer"]


def test_a_message_after_a_long_pause_is_no_answer_to_the_question_before_it() -> None:
    later = MONDAY + timedelta(days=3)
    rows = [row("question", "Which city in Portugal?", ordinal=1), row("later", "Porto", ordinal=2, at=later)]
    assert ids(ranks(rows, "Which city in Portugal?")) == ["question"]


def test_a_message_beside_a_word_match_is_no_hit_without_its_own_match() -> None:
    long = " ".join(f"word{number}" for number in range(40))
    rows = [row("hit", "lasagna with spinach for dinner", ordinal=1), row("beside", long, ordinal=2)]
    assert ids(ranks(rows, "lasagna spinach dinner")) == ["hit"]


def test_passages_from_the_time_named_in_the_query_rank_first() -> None:
    day = datetime(2024, 1, 17, tzinfo=UTC)
    rows = [
        row("then", "I cooked pasta", ordinal=0, at=day + timedelta(hours=30)),
        row("later", "I cooked pasta", ordinal=50, at=day + timedelta(days=9)),
    ]
    cosines = {"then": 0.60, "later": 0.61}
    assert ids(ranks(rows, "Which pasta did I cook?", cosines))[0] == "later"
    assert ids(ranks(rows, "Which pasta did I cook?", cosines, spans=((day, day + timedelta(days=1)),)))[0] == "then"


def test_equal_passages_have_the_same_order_however_the_stores_return_them() -> None:
    rows = [row(f"p{number}", "plums and ovens", ordinal=number, conversation=f"c{number % 3}") for number in range(9)]
    ordered = ids(ranks(rows, "plums", {each.passage_id: 0.8 for each in rows}))
    for seed in range(5):
        shuffled = Random(seed).sample(rows, len(rows))
        assert ids(ranks(shuffled, "plums", {each.passage_id: 0.8 for each in shuffled})) == ordered


def test_a_message_is_one_hit_for_all_its_passages_and_namespaces() -> None:
    rows = [
        row("part-1", "spinach", ordinal=1, message="m"),
        row("part-2", "lasagna with spinach", ordinal=1, message="m"),
        row("shared", "lasagna with spinach", ordinal=1, message="m", namespace="team/kitchen"),
    ]
    assert ids(ranks(rows, "lasagna with spinach")) == ["part-2"]


def test_a_passage_near_a_good_hit_ranks_above_an_equal_one_elsewhere() -> None:
    rows = [
        row("good", "lasagna with spinach and ricotta", ordinal=1),
        row("near", "in the old oven", ordinal=4),
        row("far", "in the old oven", ordinal=90),
    ]
    found = ranks(rows, "lasagna with spinach in the oven", {"good": 0.8, "near": 0.5, "far": 0.5})
    assert ids(found) == ["good", "near", "far"]


@pytest.mark.parametrize(("cosine", "found"), [(0.29, []), (0.31, ["p"])])
def test_a_passage_without_shared_words_is_found_only_above_the_cosine_floor(cosine: float, found: list[str]) -> None:
    assert ids(ranks([row("p", FILLER, ordinal=0)], "Who fixed the bicycle?", {"p": cosine})) == found


@pytest.mark.parametrize(
    ("question", "found"), [("Who fixed the red brake of the bicycle?", []), ("Who fixed the bicycle?", ["p"])]
)
def test_a_passage_below_the_cosine_floor_is_found_if_it_has_half_of_the_query_words(
    question: str, found: list[str]
) -> None:
    assert ids(ranks([row("p", f"I fixed the bicycle, {FILLER}", ordinal=0)], question, {"p": 0.1})) == found


def test_without_candidates_nothing_is_found() -> None:
    assert ranks([], "anything") == []


def by_their_wording(*texts: str, named: tuple[int, ...] = ()) -> list[str]:
    """Texts of equal scores, in the order of their wording; `named` are those whose speakers the question names."""
    best = [Ranked(passage_id=text, score=0.5, cosine=None, words=0.0) for text in texts]
    spoken = {text: PassageWording(text, is_named=at in named) for at, text in enumerate(texts)}
    return ids(ranked_by_wording(best, spoken, DEFAULT_WEIGHTS, ""))


def test_statements_about_oneself_rank_above_statements_about_the_addressee() -> None:
    polite, neutral, own = "Your kitchen must be lovely!", "Kitchens are lovely.", "I love my kitchen."
    assert by_their_wording(polite, neutral, own) == [own, neutral, polite]


def test_a_passage_with_a_time_reference_ranks_above_one_without() -> None:
    assert by_their_wording("We went hiking.", "We went hiking yesterday.")[0] == "We went hiking yesterday."


def test_proper_names_in_a_passage_count_only_if_the_query_names_the_speaker() -> None:
    plain, named = "We flew there.", "We flew to Lisbon."
    assert by_their_wording(plain, named) == [plain, named]
    assert by_their_wording(plain, named, named=(0, 1)) == [named, plain]


def test_wording_counts_half_unless_the_question_is_about_the_person_who_asks() -> None:
    best = [Ranked(passage_id="remark", score=0.6, cosine=None, words=0.0)]
    best.append(Ranked(passage_id="own", score=0.45, cosine=None, words=0.0))
    spoken = {
        "remark": PassageWording("You love your kitchen.", False),
        "own": PassageWording("I love my kitchen.", False),
    }
    for question, order in (
        ("What do I love?", ["own", "remark"]),
        ("What does Ada love?", ["remark", "own"]),
    ):
        assert ids(ranked_by_wording(best, spoken, DEFAULT_WEIGHTS, question)) == order


def test_wording_does_not_lift_a_passage_above_a_far_more_relevant_one() -> None:
    best = [Ranked(passage_id="fits", score=0.9, cosine=None, words=0.0)]
    best.append(Ranked(passage_id="tells", score=0.5, cosine=None, words=0.0))
    spoken = {
        "fits": PassageWording("You should go to your doctor.", False),
        "tells": PassageWording("I saw my doctor today.", False),
    }
    assert ids(ranked_by_wording(best, spoken, DEFAULT_WEIGHTS, "")) == ["fits", "tells"]


def test_a_passage_missing_from_the_archive_is_dropped_from_the_ranking() -> None:
    best = [Ranked(passage_id=name, score=0.5, cosine=None, words=0.0) for name in ("gone", "there")]
    assert ids(ranked_by_wording(best, {"there": PassageWording("We went hiking.", False)}, DEFAULT_WEIGHTS, "")) == [
        "there"
    ]
