"""Finds passages by words of a question. Reads a bounded number of rows in any namespace: all passages with a rare word, and
passages with two frequent words."""

import asyncio
import math
from collections.abc import Collection, Iterator, Mapping
from itertools import combinations
from typing import Final, NamedTuple

from schemas.passages.passages import ANY_PASSAGE, PassageFilters
from sinks.passages.rows import PassageRow, arguments, passage_rows, spaces
from sinks.passages.samples import Sample, SampleCache, samples
from sinks.postgres.connection import Pool
from sinks.postgres.queries import query

FREQUENT_FROM: Final = 1_000  # passages; a word in more passages is frequent
ESTIMATE_MARGIN: Final = 2  # a word whose sample estimate is this many times FREQUENT_FROM is not counted
SAMPLE_SIZE: Final = 1_000  # passages per sample of a namespace
MAX_FREQUENT: Final = 4  # the rarest of the frequent words, which are searched in pairs
MAX_COUNTED: Final = 100_000  # passages counted per namespace
CACHED_FROM: Final = 10_000  # passages from which on a namespace's sample is cached
EXPECTED_FACTOR: Final = 2  # expected matches of sets of frequent words, relative to the wanted number


class Matches(NamedTuple):
    """`counts` is the number of passages with each term: exact for rare terms, estimated for frequent ones, 0 for unknown
    ones. `passages` is the total, counted up to MAX_COUNTED in each namespace."""

    rows: list[PassageRow]
    counts: Mapping[int, int]
    passages: int


class Frequencies(NamedTuple):
    """The number of passages with each term, and of all passages."""

    counts: Mapping[int, int]
    passages: int


async def matches(
    pool: Pool,
    cache: SampleCache,
    terms: Collection[int],
    namespaces: Collection[str],
    filters: PassageFilters,
    limit: int,
) -> Matches:
    """See Passages.matches."""
    counts, total = await frequencies(pool, cache, terms, namespaces)
    if not any(counts.values()):
        return Matches([], counts, total)
    # Terms of different namespaces never share a passage, and the number left by filters is unknown.
    foreseen = len(namespaces) == 1 and filters == ANY_PASSAGE
    named, weights = zip(*word_sets(counts, total, limit, foreseen=foreseen), strict=True)
    values = (*arguments(namespaces, filters), limit, FREQUENT_FROM)
    rows = await pool.fetch(query("passages", "matches"), list(named), list(weights), *values)
    return Matches(passage_rows(rows), counts, total)


async def frequencies(
    pool: Pool, cache: SampleCache, terms: Collection[int], namespaces: Collection[str]
) -> Frequencies:
    known = cache.of(spaces(namespaces))
    estimated = {term: count for term in terms if (count := estimate(known, term)) >= ESTIMATE_MARGIN * FREQUENT_FROM}
    sizes, counts = await asyncio.gather(
        sizes_of(pool, [each for each in spaces(namespaces) if each not in known]),
        counts_of(pool, [term for term in terms if term not in estimated]),
    )
    frequent = [term for term, count in counts.items() if count >= FREQUENT_FROM]
    known |= await sampled(
        pool, {each: size for each, size in sizes.items() if size >= (FREQUENT_FROM if frequent else CACHED_FROM)}
    )
    cache.keep({each: known[each] for each, size in sizes.items() if size >= CACHED_FROM})
    estimated |= {term: max(FREQUENT_FROM, estimate(known, term)) for term in frequent}
    total = sum({**sizes, **{each: sample.passages for each, sample in known.items()}}.values())
    return Frequencies(counts | estimated, total)


def estimate(known: Mapping[str, Sample], term: int) -> int:
    """A term belongs to one namespace: other namespaces do not have it, except for a rare hash collision."""
    return max((sample.estimate(term) for sample in known.values()), default=0)


async def sizes_of(pool: Pool, namespaces: Collection[str]) -> dict[str, int]:
    if not namespaces:
        return {}
    rows = await pool.fetch(query("passages", "sizes"), list(namespaces), MAX_COUNTED)
    return {row["namespace"]: row["passages"] for row in rows}


async def counts_of(pool: Pool, terms: Collection[int]) -> dict[int, int]:
    if not terms:
        return {}
    rows = await pool.fetch(query("passages", "counts"), list(terms), FREQUENT_FROM)
    return {row["term"]: row["passages"] for row in rows}


async def sampled(pool: Pool, sizes: Mapping[str, int]) -> dict[str, Sample]:
    if not sizes:
        return {}
    rows = await pool.fetch(query("passages", "sample"), list(sizes), SAMPLE_SIZE)
    return dict(samples(rows, sizes))


def word_sets(
    counts: Mapping[int, int], total: int, wanted: int, *, foreseen: bool = False
) -> Iterator[tuple[str, float]]:
    """Sets of terms to search for together, with the weight of a passage that has all of them. Frequent terms are searched
    for alone only where the other sets find fewer than `wanted`. `foreseen` limits sets with frequent terms to the
    heaviest ones that together are expected to match enough passages."""
    by_count = sorted((count, term) for term, count in counts.items() if count)
    rare = [(count, term) for count, term in by_count if count < FREQUENT_FROM]
    frequent = [(count, term) for count, term in by_count if count >= FREQUENT_FROM][:MAX_FREQUENT]
    for count, term in rare:
        yield str(term), rarity(count, total)
    alone = frequent if sum(count for count, _ in rare) < wanted else []
    expected = 0.0
    for found, words, weight in sorted(frequent_sets(frequent, alone, total), key=lambda each: -each[2]):
        if foreseen and expected >= EXPECTED_FACTOR * wanted:
            return
        yield words, weight
        expected += found


def frequent_sets(
    paired: Collection[tuple[int, int]], alone: Collection[tuple[int, int]], total: int
) -> Iterator[tuple[float, str, float]]:
    """For each set: the expected number of passages if its words were independent (they are not, so there are more), the
    set, and its weight."""
    for (count, one), (other_count, other) in combinations(paired, 2):
        weight = rarity(count, total) + rarity(other_count, total)
        yield count * other_count / max(total, count), f"{one} {other}", weight
    for count, term in alone:
        yield count, str(term), rarity(count, total)


def rarity(count: int, total: int) -> float:
    """The inverse document frequency of a term, as in BM25."""
    return math.log(1 + (max(total, count) - count + 0.5) / (count + 0.5))
