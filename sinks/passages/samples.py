"""Word frequencies of a namespace, estimated from a sample of its passages. Samples of large namespaces are cached for a
while, as sampling takes longer there."""

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sinks.passages.rows import ARRAY_HEADER, ELEMENT, Terms, terms_of

# The growth of a namespace in this time hardly changes the weights of words.
CACHE_S: Final = 600.0
MAX_NAMESPACES: Final = 64  # cached namespaces, about 250 kB each


class Sample(NamedTuple):
    """A sample of a namespace with `passages` passages: `having` says how many of the `sampled` ones have each of the
    `terms`."""

    passages: int
    sampled: int
    terms: Terms
    having: NDArray[np.int64]

    def estimate(self, term: int) -> int:
        """The estimated number of passages with the term: its share of the sample times all passages."""
        place = int(np.searchsorted(self.terms, term))
        if place == len(self.terms) or self.terms[place] != term:
            return 0
        return int(self.having[place]) * self.passages // self.sampled


class SampleCache:
    """A cache of samples by namespace."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._samples: OrderedDict[str, tuple[float, Sample]] = OrderedDict()

    def of(self, namespaces: Collection[str]) -> dict[str, Sample]:
        """The cached samples that are not too old."""
        since = self._clock() - CACHE_S
        known = {namespace: self._samples[namespace] for namespace in namespaces if namespace in self._samples}
        return {namespace: sample for namespace, (taken, sample) in known.items() if taken > since}

    def keep(self, samples: Mapping[str, Sample]) -> None:
        for namespace, sample in samples.items():
            self._samples[namespace] = (self._clock(), sample)
            self._samples.move_to_end(namespace)
        while len(self._samples) > MAX_NAMESPACES:
            self._samples.popitem(last=False)


def samples(rows: Sequence[Any], sizes: Mapping[str, int]) -> Iterator[tuple[str, Sample]]:
    """Builds samples from rows `namespace, terms` (as `array_send` writes them), sorted by namespace."""
    for namespace, group in groupby(rows, key=lambda row: str(row["namespace"])):
        yield namespace, sample([row["terms"][ARRAY_HEADER:] for row in group], sizes[namespace])


def sample(elements: Sequence[bytes], passages: int) -> Sample:
    """Counts each term once per passage."""
    row_of = np.repeat(np.arange(len(elements), dtype=np.int64), [len(each) // ELEMENT for each in elements])
    of_rows = np.unique((row_of << 32) | terms_of(b"".join(elements)).view(np.uint32))
    terms, having = np.unique((of_rows & 0xFFFFFFFF).astype(np.uint32).view(np.int32), return_counts=True)
    return Sample(passages, len(elements), terms, having)
