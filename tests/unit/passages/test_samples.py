"""Word frequencies from a cached sample of a namespace."""

import struct

from sinks.passages.samples import CACHE_S, MAX_NAMESPACES, Sample, SampleCache, samples
from tests.fakes.clock import Clock


def array(*terms: int) -> bytes:
    """Encodes terms as PostgreSQL's `array_send` does."""
    header = struct.pack(">5i", 1, 0, 23, len(terms), 1)
    return header + b"".join(struct.pack(">2i", 4, term) for term in terms)


def of(*passages: tuple[int, ...], size: int = 100) -> Sample:
    rows = [{"namespace": "a", "terms": array(*terms)} for terms in passages]
    ((_, found),) = samples(rows, {"a": size})
    return found


def test_word_frequencies_are_extrapolated_from_the_sample_to_the_namespace():
    found = of((7, -3), (7,), (5,), (), size=1_000)
    assert [found.estimate(term) for term in (7, -3, 5, 6)] == [500, 250, 250, 0]


def test_a_word_repeated_within_a_passage_counts_once():
    assert of((7, 7), (5,)).estimate(7) == 50


def test_samples_are_separated_by_namespace():
    rows = [{"namespace": "a", "terms": array(1)}, {"namespace": "b", "terms": array(2)}]
    found = dict(samples(rows, {"a": 10, "b": 20}))
    assert (found["a"].estimate(1), found["a"].estimate(2), found["b"].estimate(2)) == (10, 0, 20)


def test_a_cached_sample_expires():
    clock = Clock()
    remembered = SampleCache(clock)
    remembered.keep({"a": of((1,))})
    clock.advance(CACHE_S - 1)
    assert remembered.of(["a", "b"]).keys() == {"a"}
    clock.advance(1)
    assert remembered.of(["a"]) == {}


def test_the_oldest_samples_are_evicted_beyond_the_namespace_limit():
    remembered = SampleCache(Clock())
    names = [str(number) for number in range(MAX_NAMESPACES + 1)]
    for name in names:
        remembered.keep({name: of((1,))})
    assert sorted(remembered.of(names), key=int) == names[1:]
