"""Comparing memories of any text takes linear time and never raises."""

import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.curation.rules.ledger.merge import joined_context
from agents.curation.rules.statements.guards import objection
from agents.curation.rules.statements.normalise import MANY_MARKS, in_order
from agents.curation.rules.statements.uncertainty import doubt
from tests.cases.hostile_text import UNITS, anything, assert_grows_linearly, wordy

MARKS = "\u0301\u0316\u0308\u0327\u0344\u0345\u034f\u0f71\u0f73\u3099\uff9e\uff9f\u05b0\u00b4😀"
unhurried = settings(deadline=None, max_examples=200)


Comparing = Callable[[str, str], object]
both_ways = pytest.mark.parametrize("compare", [objection, doubt], ids=lambda compare: compare.__name__)


@both_ways
@pytest.mark.parametrize("unit", UNITS, ids=ascii)
def test_comparison_time_grows_linearly_with_text_length(unit: str, compare: Comparing) -> None:
    name = compare.__name__  # in the texts, as those of the other one are remembered
    assert_grows_linearly(lambda text: compare(f"hot {name} {text}", f"cold {name} {text}"), unit)


@both_ways
def test_comparison_time_grows_linearly_with_the_number_of_unshared_words(compare: Comparing) -> None:
    def work(text: str) -> object:
        spelt = [format(index, "b").translate({48: "x", 49: "y"}) for index in range(1, len(text) // 10)]
        one, other = " ".join(f"user q{word}" for word in spelt), " ".join(f"user z{word}" for word in spelt)
        return compare(one, other)

    assert_grows_linearly(work, "a")


@unhurried
@given(anything | wordy, anything | wordy)
def test_comparing_arbitrary_texts_never_raises(one: str, other: str) -> None:
    objection(one, other)
    doubt(one, other)
    joined_context(one, other)


@unhurried
@given(st.text(MARKS, min_size=30), st.text("aé한", max_size=2))
def test_long_runs_of_combining_marks_are_ordered_as_in_nfkc(marks: str, letters: str) -> None:
    text = letters + marks + letters
    assert unicodedata.normalize("NFKC", MANY_MARKS.sub(in_order, text)) == unicodedata.normalize("NFKC", text)
