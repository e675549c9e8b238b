"""Among frequent words, passages that share the most words with a query are found."""

from collections.abc import Collection
from typing import Any, Final

import pytest

from agents.passages.terms import terms
from schemas.passages.passages import ANY_PASSAGE, PassageFilters
from sinks.passages import matching
from sinks.passages.matching import Matches
from sinks.passages.samples import CACHE_S
from sinks.passages.store import Passages
from sinks.postgres.connection import Pool
from tests.fakes.clock import Clock
from tests.integration.passages.conftest import Said

ADA = "kitchen/ada"
COUNTS_OF: Final = matching.counts_of


@pytest.fixture(autouse=True)
def few_are_frequent(monkeypatch: Any) -> None:
    monkeypatch.setattr(matching, "FREQUENT_FROM", 5)
    monkeypatch.setattr(matching, "SAMPLE_SIZE", 10)


async def matched(said: Said, words: str, filters: PassageFilters = ANY_PASSAGE, **options: Any) -> Matches:
    return await said.passages.matches(terms(ADA, words.split()), (ADA,), filters, **options)


async def texts(said: Said, found: Matches) -> list[str]:
    by_id = await said.passages.texts([row.passage_id for row in found.rows])
    return [by_id[row.passage_id].passage.text for row in found.rows]


async def test_word_counts_are_exact_for_rare_words_and_estimated_for_frequent_ones(said: Said) -> None:
    await said.said(
        *(said.message(f"tea number {number}", conversation=f"t{number}") for number in range(30)),
        *(said.message(f"coffee {number}", conversation=f"c{number}") for number in range(3)),
        said.message("tea and coffee", user="bob", conversation="b"),
    )
    found = await matched(said, "tea coffe milk")
    assert found.passages == 33
    assert [found.counts[term] for term in terms(ADA, ["coffe", "milk"])] == [3, 0]
    assert 25 <= found.counts[terms(ADA, ["tea"])[0]] <= 33
    assert (await matched(said, "milk")) == Matches([], {terms(ADA, ["milk"])[0]: 0}, 33)
    assert (await said.passages.matches((), (ADA,))).passages == 33


async def test_messages_with_rare_words_or_two_frequent_words_are_matched_first(
    said: Said,
) -> None:
    await said.said(
        said.message("melon", conversation="rare"),
        *(said.message(f"tea number {number}", conversation=f"t{number}") for number in range(20)),
        *(said.message(f"milk number {number}", conversation=f"m{number}") for number in range(20)),
        said.message("tea with milk", conversation="both"),
    )
    assert set(await texts(said, await matched(said, "tea milk melon", limit=2))) == {"melon", "tea with milk"}


async def test_a_frequent_word_is_found_in_the_requested_conversation(said: Said) -> None:
    await said.said(*(said.message(f"tea number {number}", conversation=f"t{number}") for number in range(20)))
    found = await matched(said, "tea", PassageFilters(conversations=("t19",)))
    assert await texts(said, found) == ["tea number 19"]


async def test_matches_include_the_messages_directly_before_and_after(said: Said) -> None:
    await said.said(*(said.message(f"word{number}") for number in range(5)))
    assert sorted(await texts(said, await matched(said, "word2"))) == ["word1", "word2", "word3"]


async def test_passage_counts_of_large_namespaces_are_cached_for_a_while_and_small_ones_counted_each_time(
    said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    said.passages = Passages(said.pool, clock=clock)
    await said.said(*(said.message(f"tea number {number}", conversation=f"t{number}") for number in range(20)))
    monkeypatch.setattr(matching, "CACHED_FROM", 21)
    assert (await matched(said, "tea")).passages == 20
    await said.said(*(said.message(f"tea again {number}", conversation=f"a{number}") for number in range(20)))
    assert (await matched(said, "tea")).passages == 40
    await said.said(*(said.message(f"coffee {number}", conversation=f"c{number}") for number in range(40)))
    found = await matched(said, "coffe")
    assert found.passages == 40
    assert len(found.rows) >= 5, "what came since is found"
    clock.advance(CACHE_S)
    assert (await matched(said, "tea")).passages == 80


async def test_a_word_known_as_frequent_from_the_sample_is_not_counted(
    said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matching, "CACHED_FROM", 10)
    await said.said(*(said.message(f"tea number {number}", conversation=f"t{number}") for number in range(20)))
    first = await matched(said, "tea number3")
    counted = list[int]()

    async def counts_of(pool: Pool, terms: Collection[int]) -> dict[int, int]:
        counted.extend(terms)
        return await COUNTS_OF(pool, terms)

    monkeypatch.setattr(matching, "counts_of", counts_of)
    found = await matched(said, "tea number3")
    assert (found.counts, found.passages, len(found.rows)) == (first.counts, first.passages, len(first.rows))
    assert counted == [*terms(ADA, ["number3"])]
