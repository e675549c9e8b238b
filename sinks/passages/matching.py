"""Passages with words of a question. However many a namespace has, a bounded number of rows is read: all with a rare word, and of
frequent words those with two of them."""

import asyncio
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final, NamedTuple

from schemas.passages.passages import PassageFilters
from sinks.passages.rows import PassageRow, arguments, passage_rows, spaces
from sinks.postgres.connection import Pool
from sinks.postgres.queries import query

COUNTED: Final = 1_000  # passages that have a word; a word of more is frequent
SAMPLED: Final = 1_000  # passages of a namespace, of which frequent words are estimated
PAIRED: Final = 4  # frequent words, the rarest of them
SIZED: Final = 100_000  # passages of a namespace


class Matches(NamedTuple):
    """`counts` says how many passages have each term: exact where it is rare, estimated where it is not, 0 where there are none.
    `passages` is how many there are in all, counted up to SIZED in each namespace."""

    rows: list[PassageRow]
    counts: Mapping[int, int]
    passages: int


async def matches(
    pool: Pool, terms: Collection[int], namespaces: Collection[str], filters: PassageFilters, limit: int
) -> Matches:
    """See Passages.matches."""
    sizes, counts = await asyncio.gather(sizes_of(pool, namespaces), counts_of(pool, terms))
    total = sum(sizes.values())
    if frequent := [term for term, count in counts.items() if count >= COUNTED]:
        counts |= await estimates(pool, frequent, sizes)
    if not any(counts.values()):
        return Matches([], counts, total)
    named, weights = zip(*word_sets(counts, total, limit), strict=True)
    values = (*arguments(namespaces, filters), limit, COUNTED)
    rows = await pool.fetch(query("passages", "matches"), list(named), list(weights), *values)
    return Matches(passage_rows(rows), counts, total)


async def sizes_of(pool: Pool, namespaces: Collection[str]) -> dict[str, int]:
    rows = await pool.fetch(query("passages", "sizes"), spaces(namespaces), SIZED)
    return {row["namespace"]: row["passages"] for row in rows}


async def counts_of(pool: Pool, terms: Collection[int]) -> dict[int, int]:
    if not terms:
        return {}
    rows = await pool.fetch(query("passages", "counts"), list(terms), COUNTED)
    return {row["term"]: row["passages"] for row in rows}


async def estimates(pool: Pool, frequent: Sequence[int], sizes: Mapping[str, int]) -> dict[int, int]:
    """A term is of one namespace: its share of the first passages there is taken for its share of all."""
    rows = await pool.fetch(query("passages", "shares"), frequent, list(sizes), SAMPLED)
    shares = {row["term"]: row["passages"] * sizes[row["namespace"]] // row["sampled"] for row in rows}
    return {term: max(COUNTED, shares.get(term, 0)) for term in frequent}


def word_sets(counts: Mapping[int, int], total: int, wanted: int) -> Iterator[tuple[str, float]]:
    """Terms that are looked for together, with the weight of a passage that has all of them. Frequent ones are looked for alone
    where the others find less than is wanted."""
    by_count = sorted((count, term) for term, count in counts.items() if count)
    rare = [(count, term) for count, term in by_count if count < COUNTED]
    frequent = [(count, term) for count, term in by_count if count >= COUNTED][:PAIRED]
    for count, term in rare:
        yield str(term), rarity(count, total)
    for (count, one), (other_count, other) in combinations(frequent, 2):
        yield f"{one} {other}", rarity(count, total) + rarity(other_count, total)
    if sum(count for count, _ in rare) < wanted:
        for count, term in frequent:
            yield str(term), rarity(count, total)


def rarity(count: int, total: int) -> float:
    """As BM25 weighs a term."""
    return math.log(1 + (max(total, count) - count + 0.5) / (count + 0.5))
