"""Precision and recall of deduplication on labelled pairs, with the vectors of each in-process model."""

import json
from collections.abc import Iterator, Sequence
from functools import cache

import pytest

from agents.curation.rules.decisions import contradictions, decide
from agents.curation.rules.decisions.decide import Create, Drop, Supersede, same_attribute_value
from agents.curation.rules.decisions.thresholds import Thresholds, table, thresholds
from agents.curation.rules.statements.guards import objection
from agents.curation.rules.statements.similarity import ALIKE
from agents.curation.rules.statements.uncertainty import doubt
from schemas.policies.policies import DEFAULT_POLICY, Policy
from sinks.embeddings.models import E5_SMALL, MEMORY_MODELS, MINILM
from tests.cases.labelled_pairs import Pair, held_out, pairs, tuning
from tests.deduplication import RIGHT_WORD, Case, as_curated, decision, is_folded, measured, texts_of, with_vectors
from tests.embedders import vectors_of
from tests.public_data import required

LEAST_PRECISION, LEAST_RECALL = 0.97, 0.70
SYMMETRIC = ("negation", "preference", "ended", "opposites", "subject", "order", "object")


@pytest.fixture(scope="session", params=MEMORY_MODELS)
def model(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def limits(model: str) -> Thresholds:
    return table()[model]


@pytest.fixture(scope="session")
def embedded(model: str) -> list[Case]:
    """Every labelled pair with its cosine: each text is embedded once a session."""
    return embed(pairs(), model)


def embed(listed: Sequence[Pair], model: str) -> list[Case]:
    return with_vectors(listed, vectors_of(texts_of(listed), model))


def of(half: Sequence[Pair], embedded: Sequence[Case]) -> list[Case]:
    pairs_of_half = set(half)
    return [case for case in embedded if case.pair in pairs_of_half]


@pytest.fixture(scope="module", autouse=True)
def pairs_are_read_once() -> Iterator[None]:
    """What the rules say of a pair depends on no model and on no threshold: it is found out once, not in each test."""
    with pytest.MonkeyPatch.context() as patched:
        for module, names in ((contradictions, ("conflict", "objection", "doubt")), (decide, ("objection", "doubt"))):
            for name in names:
                patched.setattr(module, name, cache(getattr(module, name)))
        yield


def test_held_out_pairs_reach_the_minimum_deduplication_precision_and_recall(
    embedded: list[Case], limits: Thresholds
) -> None:
    figures = measured(of(held_out(pairs()), embedded), lambda case: as_curated(case, limits.merge))
    assert figures.precision >= LEAST_PRECISION
    assert figures.recall >= LEAST_RECALL
    assert figures.folded_contradictions == 0


def test_tuning_pairs_reach_the_minimum_deduplication_precision_and_recall(
    embedded: list[Case], limits: Thresholds
) -> None:
    figures = measured(of(tuning(pairs()), embedded), lambda case: as_curated(case, limits.merge))
    assert figures.precision >= LEAST_PRECISION
    assert figures.recall >= LEAST_RECALL
    assert figures.folded_contradictions == 0


def test_neither_cosine_nor_edit_distance_alone_separates_contradictions_from_duplicates(embedded: list[Case]) -> None:
    """Guards are needed: any threshold with the same recall folds contradictions too."""
    for alike in (lambda case: case.cosine, lambda case: case.letters):
        duplicates = sorted(alike(case) for case in embedded if case.pair.label == "duplicate")
        threshold = duplicates[round(len(duplicates) * (1 - LEAST_RECALL))]
        figures = measured(embedded, lambda case, least=threshold, of=alike: of(case) >= least)
        assert figures.folded_contradictions > 10


def test_correct_model_verdicts_fold_more_pairs_and_no_contradiction(embedded: list[Case], limits: Thresholds) -> None:
    judged = {id(case): decision(case, limits, RIGHT_WORD[case.pair.label]) for case in embedded}
    figures = measured(embedded, lambda case: is_folded(judged[id(case)]))
    assert figures.rightly > measured(embedded, lambda case: as_curated(case, limits.merge)).rightly
    assert figures.precision >= LEAST_PRECISION
    contradictions = [judged[id(case)] for case in embedded if case.pair.label == "contradiction"]
    assert all(isinstance(each, Supersede) for each in contradictions)


def test_wrong_repeats_verdicts_fold_at_most_three_percent_of_contradictions(
    embedded: list[Case], limits: Thresholds
) -> None:
    contradictions = [case for case in embedded if case.pair.label == "contradiction"]
    folded = [case.pair for case in contradictions if is_folded(decision(case, limits, "repeats"))]
    assert len(folded) <= 0.03 * len(contradictions), folded


def test_every_pair_foldable_by_edit_distance_is_above_the_related_cosine_threshold(
    embedded: list[Case], limits: Thresholds
) -> None:
    """So the memories whose letters are compared may be those that the index finds."""
    lettered = [case for case in embedded if case.letters > ALIKE and case.pair.one_memory]
    assert lettered
    assert all(case.cosine >= limits.related for case in lettered)


def test_symmetric_guards_object_in_both_directions() -> None:
    """Numbers, times and names are not: a candidate may say less than the memory."""
    for pair in pairs():
        forth, back = objection(pair.candidate, pair.memory), objection(pair.memory, pair.candidate)
        assert (doubt(pair.candidate, pair.memory) is None) == (doubt(pair.memory, pair.candidate) is None)
        assert not (forth is None and back in SYMMETRIC), pair
        assert not (back is None and forth in SYMMETRIC), pair


def test_guards_do_not_object_to_a_text_compared_with_itself() -> None:
    for pair in pairs():
        for text in (pair.memory, pair.candidate):
            assert (objection(text, text), doubt(text, text)) == (None, None)


def test_no_contradiction_of_memtrust_is_folded(model: str, limits: Thresholds) -> None:
    cases = json.loads(required("memtrust", "contradiction_cases.json").read_text(encoding="utf-8"))["cases"]
    listed = [
        Pair("contradiction", "en", case["initial_fact"], case["contradicting_fact"])
        for case in cases
        if "contradicting_fact" in case
    ]
    assert len(listed) >= 5
    for case in embed(listed, model):
        assert isinstance(decision(case, limits), Create), case


def test_a_policy_overrides_the_merge_threshold_and_an_unmeasured_model_uses_the_defaults() -> None:
    assert thresholds("never measured", DEFAULT_POLICY) == Thresholds(comparable=0.35, related=0.70, merge=0.80)
    for model in ("never measured", MINILM.name):
        assert thresholds(model, Policy(name="p", merge_threshold=0.92)).merge == pytest.approx(0.92)
        assert thresholds(model, Policy(name="p", merge_threshold=0.6)).related == pytest.approx(0.6)


def test_a_policys_merge_threshold_is_converted_from_the_minilm_scale_to_the_embedding_model() -> None:
    measured_of = table()[E5_SMALL.name]
    for at, meant in (
        (0.35, measured_of.comparable),
        (0.70, measured_of.related),
        (0.80, measured_of.merge),
        (1.0, 1.0),
    ):
        assert thresholds(E5_SMALL.name, Policy(name="p", merge_threshold=at)).merge == pytest.approx(meant)
    stricter = thresholds(E5_SMALL.name, Policy(name="p", merge_threshold=0.92))
    assert measured_of.merge < stricter.merge < 1.0
    assert stricter.related == measured_of.related


def test_a_stricter_merge_threshold_gives_similar_recall_for_every_embedding_model(
    embedded: list[Case], limits: Thresholds
) -> None:
    """Pairs that MiniLM's scale keeps apart are not folded by the scale of another model."""
    stricter = measured(embedded, lambda case: as_curated(case, limits.on_scale(0.95)))
    assert 0.50 <= stricter.recall <= 0.70
    assert stricter.precision >= LEAST_PRECISION


def test_a_merge_threshold_of_one_folds_only_by_edit_distance_attribute_value_or_same_text(
    embedded: list[Case],
) -> None:
    folded = [case for case in embedded if as_curated(case, 1.0) and case.cosine < 0.999]
    assert folded
    pairs_of_letters = [case for case in folded if same_attribute_value(case.pair.candidate, case.pair.memory) is None]
    assert all(case.letters > ALIKE for case in pairs_of_letters)


def test_deciding_the_same_pair_twice_gives_the_same_decision(embedded: list[Case], limits: Thresholds) -> None:
    for case in embedded[:50]:
        assert decision(case, limits) == decision(case, limits)
        assert not isinstance(decision(case, limits), Drop)
