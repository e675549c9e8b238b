"""Counts of query words in passages, by the terms of each namespace."""

from datetime import UTC, datetime

import numpy as np

from agents.retrieval.passage_bm25 import counts
from sinks.passages.rows import PassageRow

MONDAY = datetime(2026, 3, 2, tzinfo=UTC)


def passage(namespace: str, *terms: int) -> PassageRow:
    return PassageRow("p", namespace, "c", "m", 0, MONDAY, "ada", np.array(terms, np.int32))


def test_words_are_counted_by_the_terms_of_each_namespace():
    words_of = {"a": [5, -7], "b": [9, 4, 30]}
    rows = [passage("a", -7, 1, 5, 5), passage("b", 4), passage("a"), passage("b", 30, 9, 2, 9)]
    assert counts(rows, words_of).tolist() == [[2, 1, 0], [0, 1, 0], [0, 0, 0], [2, 0, 1]]


def test_a_query_without_words_has_no_counts():
    assert counts([passage("a", 1)], {"a": []}).shape == (1, 0)
