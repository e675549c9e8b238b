"""Candidates of bench-curate are half new, a quarter stored and a quarter paraphrased, as documented."""

from itertools import islice

from agents.curation.rules.statements.normalise import normalise
from tests.benchmarks.curate_store import Arrivals, memory, sentences


def test_statements_do_not_repeat_within_a_run() -> None:
    said = list(islice(sentences(1), 20_000))
    assert len(set(said)) == len(said)


def test_candidates_are_half_new_a_quarter_stored_and_a_quarter_paraphrased() -> None:
    stored = [memory(number, text, 2) for number, text in zip(range(15_000), sentences(1), strict=False)]
    arrivals = Arrivals(stored, 2)
    for _ in range(2):
        arrivals.part(4)  # a namespace's first part has nothing said shortly before
    parts = [arrivals.part(4) for _ in range(10)]
    assert [part.namespace for part in parts[:2]] == ["bench/1", "bench/0"]
    texts = [candidate.text for part in parts for candidate in part.candidates]
    known = {normalise(each.text) for each in stored}
    assert sum(normalise(text) in known for text in texts) == 10
    assert sum(text.startswith("The ") for text in texts) == 10
    assert len(set(texts)) >= 30
