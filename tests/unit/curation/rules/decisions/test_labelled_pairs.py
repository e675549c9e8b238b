"""The labelled pairs have enough cases of each relation in both halves."""

from collections import Counter
from typing import get_args

from tests.cases.labelled_pairs import Label, held_out, pairs, tuning

PAIRS = pairs()


def test_there_are_enough_pairs_of_every_label_in_both_halves() -> None:
    assert len(PAIRS) >= 300
    assert len(tuning(PAIRS)) + len(held_out(PAIRS)) == len(PAIRS)
    for half in (tuning(PAIRS), held_out(PAIRS)):
        counts = Counter(pair.label for pair in half)
        assert min(counts[label] for label in get_args(Label)) >= 8


def test_labelled_pairs_are_unique() -> None:
    assert len({(pair.memory, pair.candidate) for pair in PAIRS}) == len(PAIRS)


def test_no_memory_is_in_both_halves() -> None:
    assert not {pair.memory for pair in tuning(PAIRS)} & {pair.memory for pair in held_out(PAIRS)}


def test_labelled_pairs_cover_several_languages() -> None:
    counts = Counter(pair.language for pair in PAIRS)
    assert {"en", "de", "fr", "es", "zh"} <= {language for language, count in counts.items() if count >= 15}
