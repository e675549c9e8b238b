from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agents.retrieval.passage_ranking import SCALES
from agents.retrieval.ranking import (
    DEFAULT_RANKING,
    Candidate,
    last_said_at,
    max_relevance,
    ranked,
    relevance,
)
from agents.retrieval.scales import Scale, scale_of, table
from schemas.extraction.candidates import Source
from schemas.memories.memories import Memory
from sinks.embeddings.models import MEMORY_MODELS, MODELS
from tests.cases.filters import a_memory

NOW = datetime(2026, 3, 31, 12, tzinfo=UTC)
SCALE = Scale(cosine_from=0.2, cosine_to=0.7, floor=0.2)

MakeMemory = Callable[..., Memory]

fractions = st.floats(0.0, 1.0)
cosines = st.one_of(st.none(), st.floats(-1.0, 1.0))
moments = st.floats(-10_000, 10_000).map(lambda days: NOW - timedelta(days=days))
memories = st.builds(
    lambda importance, created_at, count: a_memory(
        "any", importance=importance, created_at=created_at, reinforcement_count=count
    ),
    fractions,
    moments,
    st.integers(0, 10_000),
)
candidates = st.builds(Candidate, memories, cosines, fractions)


def score(candidate: Candidate) -> float:
    (hit,) = ranked([candidate], DEFAULT_RANKING, SCALE, floor=0.0)
    return hit.score


@given(candidates)
def test_a_score_lies_between_zero_and_one_and_equals_the_relevance(candidate: Candidate) -> None:
    (hit,) = ranked([candidate], DEFAULT_RANKING, SCALE, floor=0.0)
    assert hit.parts is not None
    assert hit.score == hit.parts.relevance == hit.parts.from_relevance
    assert 0.0 <= hit.score <= 1.0 + 1e-9


@given(candidates, st.floats(0.0, 0.5), st.floats(0.0, 0.5))
def test_a_higher_lexical_match_or_cosine_never_lowers_a_score(
    candidate: Candidate, more: float, nearer: float
) -> None:
    better = [replace(candidate, lexical=min(1.0, candidate.lexical + more))]
    if candidate.cosine is not None:
        better.append(replace(candidate, cosine=candidate.cosine + nearer))
    for each in better:
        assert score(each) >= score(candidate) - 1e-12


@given(st.lists(candidates, max_size=8), fractions)
def test_results_are_above_the_floor_sorted_and_independent_of_the_input_order(
    found: list[Candidate], floor: float
) -> None:
    found = [replace(each, memory=replace(each.memory, memory_id=f"{at}")) for at, each in enumerate(found)]
    hits = ranked(found, DEFAULT_RANKING, SCALE, floor=floor)
    assert all(hit.parts is not None and hit.parts.relevance >= floor for hit in hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert ranked(list(reversed(found)), DEFAULT_RANKING, SCALE, floor=floor) == hits


def test_importance_age_and_reinforcement_never_outrank_relevance(memory: MakeMemory) -> None:
    loud = memory("loud", importance=1.0, created_at=NOW, reinforcement_count=1_000)
    plain = memory("plain", importance=0.0, created_at=NOW - timedelta(days=900))
    found = ranked([Candidate(loud, 0.60, 0.0), Candidate(plain, 0.61, 0.0)], DEFAULT_RANKING, SCALE)
    assert [hit.memory for hit in found] == [plain, loud]
    assert ranked([Candidate(loud, 0.25, 0.0)], DEFAULT_RANKING, SCALE) == []


def test_of_two_memories_with_saturated_cosines_the_more_important_ranks_first(memory: MakeMemory) -> None:
    plain, important = memory("plain", importance=0.1), memory("important", importance=0.9)
    found = ranked([Candidate(plain, 0.9, 0.5), Candidate(important, 0.8, 0.5)], DEFAULT_RANKING, SCALE)
    assert [hit.memory for hit in found] == [important, plain]


def test_a_memory_far_less_relevant_than_the_best_is_left_out(memory: MakeMemory) -> None:
    best, close, far = (Candidate(memory(str(cosine)), cosine, 0.0) for cosine in (0.7, 0.6, 0.42))
    assert [hit.memory for hit in ranked([far, best, close], DEFAULT_RANKING, SCALE)] == [
        best.memory,
        close.memory,
    ]
    assert [hit.memory for hit in ranked([far], DEFAULT_RANKING, SCALE)] == [far.memory]


def test_equally_relevant_memories_are_ordered_by_importance_and_then_by_recency(memory: MakeMemory) -> None:
    low, high = memory("low", importance=0.2, created_at=NOW), memory("high", importance=0.9, created_at=NOW)
    old = memory("old", importance=0.2, created_at=NOW - timedelta(days=60))
    found = ranked([Candidate(each, 0.5, 0.5) for each in (old, low, high)], DEFAULT_RANKING, SCALE)
    assert [hit.memory for hit in found] == [high, low, old]


def test_a_memory_without_a_cosine_is_as_relevant_as_its_words(memory: MakeMemory) -> None:
    assert relevance(Candidate(memory(), None, 0.4), DEFAULT_RANKING, SCALE) == 0.4
    assert relevance(Candidate(memory(), 0.7, 0.4), DEFAULT_RANKING, SCALE) == pytest.approx(0.7 + 0.3 * 0.4)


@given(cosines, fractions, st.booleans())
def test_the_relevance_of_a_memory_never_exceeds_its_upper_bound(
    cosine: float | None, lexical: float, latin_only: bool
) -> None:
    scale = replace(SCALE, latin_only=latin_only)
    for text in ("User drinks tea.", "Пользователь пьёт чай."):
        read = Candidate(a_memory(text), cosine if scale.reads(text) else None, lexical)
        assert relevance(read, DEFAULT_RANKING, scale) <= max_relevance(cosine, lexical, DEFAULT_RANKING, scale)


def test_a_memory_was_last_said_at_its_latest_source_or_reinforcement(memory: MakeMemory) -> None:
    def source(days: int) -> Source:
        return Source(conversation_id="c", message_id=str(days), timestamp=NOW - timedelta(days=days))

    assert last_said_at(memory(created_at=NOW)) == NOW
    assert last_said_at(memory(created_at=NOW, sources=(source(9), source(4)))) == NOW - timedelta(days=4)
    again = memory(created_at=NOW, sources=(source(9),), last_reinforced_at=NOW - timedelta(days=2))
    assert last_said_at(again) == NOW - timedelta(days=2)


def test_a_cosine_is_scaled_linearly_from_its_start_value() -> None:
    assert [SCALE.near(cosine) for cosine in (-1.0, 0.2, 0.45, 0.7, 1.0)] == pytest.approx([0, 0, 0.5, 1, 1])


def test_models_of_this_process_have_their_own_cosine_scales_and_unknown_models_have_the_default() -> None:
    assert table().keys() >= MEMORY_MODELS.keys()
    assert SCALES.keys() == MODELS.keys()
    assert scale_of("never heard of") == Scale()


@pytest.mark.parametrize(
    "text, read",
    [("green tea", True), ("thé à Köln", True), ("用户对花生过敏。", False), ("чай", False), ("?! 12", True)],
)
def test_a_latin_only_scale_reads_no_other_script(text: str, read: bool) -> None:
    assert Scale(latin_only=True).reads(text) is read
    assert Scale().reads(text)
