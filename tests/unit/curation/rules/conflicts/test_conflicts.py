"""Precision and recall of the conflict rules on labelled pairs."""

import pytest

from agents.curation.rules.conflicts.conflicts import conflict
from tests.cases.labelled_pairs import Pair, changes, held_out, pairs, topics


@pytest.mark.parametrize(
    ("listed", "min_precision", "min_recall"),
    [
        (held_out(pairs()), 0.95, 0.60),
        (held_out(changes()), 0.95, 0.55),  # reports of changes, in more ways than a list of attributes has
        (topics(), 0.97, 0.38),
    ],
    ids=["labelled", "changes", "topics"],
)
def test_conflict_rules_reach_the_minimum_precision_and_recall_on_labelled_pairs(
    listed: list[Pair], min_precision: float, min_recall: float
) -> None:
    judged = [(pair.label, conflict(pair.candidate, pair.memory) is not None) for pair in listed]
    ended = [label for label, is_ended in judged if is_ended]
    contradictions = [is_ended for label, is_ended in judged if label == "contradiction"]
    assert ended.count("contradiction") >= min_precision * len(ended)
    assert sum(contradictions) >= min_recall * len(contradictions)
