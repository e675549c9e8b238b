"""Reranking improves the order of the best hits, or is skipped when late."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec.structs import replace

from agents.retrieval.reranking import RerankedSearch
from schemas.errors import Retryable
from schemas.passages.passages import Passage
from schemas.policies.matching import Match
from schemas.policies.policies import Policies, Policy, Privacy
from schemas.retrieval.searches import Hit, Query, SaidHit
from tests.builders.memories import a_memory
from tests.fakes.search import FakeMixedSearch, texts

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
POLICIES = Policies((Policy(name="kitchen", namespaces=("{app_id}",), privacy=Privacy(scrub=("email",))),))


class ByLength:
    """The longest text is the best. `seen` keeps what it was asked."""

    def __init__(self, failure: Exception | None = None, takes_s: float = 0.0) -> None:
        self.seen: list[tuple[str, list[str]]] = []
        self._failure = failure
        self._takes_s = takes_s

    async def scores(self, query: str, texts: Sequence[str], namespaces: Sequence[str]) -> list[float]:
        self.seen.append((query, list(texts)))
        await asyncio.sleep(self._takes_s)
        if self._failure:
            raise self._failure
        return [float(len(text)) for text in texts]


def memory(text: str) -> Hit:
    return Hit(score=0.5, memory=a_memory(text, NOON, namespace="kitchen"))


def passage(text: str) -> SaidHit:
    said = Passage(
        passage_id=text,
        namespace="kitchen",
        conversation_id="c",
        message_id=text,
        role="user",
        speaker="ada",
        said_at=NOON,
        text=text,
    )
    return SaidHit(score=0.5, passage=said, owners=("kitchen",))


def reranking(searched: FakeMixedSearch, reranker: Any, **options: Any) -> RerankedSearch:
    return RerankedSearch(searched, reranker, POLICIES, **({"candidates": 10, "timeout_s": 5.0} | options))


QUESTION = Query(namespaces=("kitchen",), text="What?", limit=2)


async def test_both_tiers_are_reordered_by_the_reranker_and_truncated_to_the_limit() -> None:
    searched = FakeMixedSearch(memory("Short."), passage("Rather longer."), memory("The very longest of all of them."))
    found = await reranking(searched, ByLength()).search(QUESTION)
    assert texts(found) == ["The very longest of all of them.", "Rather longer."]
    assert [hit.reranked for hit in found.mixed] == [44.0, 31.0]
    assert (len(found.hits), len(found.said), found.degraded) == (1, 1, ("vectors_slow",))
    assert searched.limits == [10], "as many as the reranker is shown"


async def test_texts_are_sent_to_the_reranker_with_day_and_speaker_and_scrubbed() -> None:
    reranker = ByLength()
    hits = (memory("Write to ada@example.org."), passage("Hello."))
    question = Query(namespaces=("kitchen",), text="Who is bob@example.org? My password is hunter2secret.")
    await reranking(FakeMixedSearch(*hits), reranker).search(question)
    ((query, sent),) = reranker.seen
    assert sent[1] == "2026-03-01, ada: Hello." and sent[0].startswith("2026-03-01: Write to")
    assert not any(secret in text for text in (query, *sent) for secret in ("example.org", "hunter2secret"))


async def test_a_question_is_scrubbed_by_the_policy_of_every_searched_namespace() -> None:
    reranker = ByLength()
    hall = Policy(name="hall", match=Match(app_id="hall"), namespaces=("hall/{user_id}",))
    policies = Policies((hall, *POLICIES.listed))
    search = RerankedSearch(
        FakeMixedSearch(passage("Hello."), memory("Short.")), reranker, policies, candidates=9, timeout_s=5
    )
    await search.search(Query(namespaces=("hall/ada", "kitchen"), text="Who is bob@example.org?"))
    assert reranker.seen[0][0] == "Who is [EMAIL]?"


async def test_an_address_as_the_speakers_id_is_not_sent_to_the_reranker() -> None:
    hit = passage("Hello.")
    hit = replace(hit, passage=replace(hit.passage, speaker="ada@example.org"))
    reranker = ByLength()
    await reranking(FakeMixedSearch(hit, memory("Short.")), reranker).search(QUESTION)
    assert reranker.seen[0][1][0] == "2026-03-01, [EMAIL]: Hello."


async def test_a_passage_is_sent_to_the_reranker_with_its_neighbours() -> None:
    hit, question = passage("The soup."), passage("Which dish?").passage
    hit = replace(hit, passage=replace(hit.passage, ordinal=1), neighbours=(question,))
    reranker = ByLength()
    await reranking(FakeMixedSearch(hit, memory("Short.")), reranker).search(QUESTION)
    assert reranker.seen[0][1][0] == "2026-03-01, ada: Which dish?\n2026-03-01, ada: The soup."


async def test_only_the_best_candidates_are_reranked_and_the_others_follow() -> None:
    searched = FakeMixedSearch(memory("Short."), memory("Longer one."), memory("The longest, and never shown."))
    reranker = ByLength()
    found = await reranking(searched, reranker, candidates=2).search(Query(namespaces=("kitchen",), text="x", limit=3))
    assert texts(found) == ["Longer one.", "Short.", "The longest, and never shown."]
    assert len(reranker.seen[0][1]) == 2 and found.mixed[2].reranked is None


@pytest.mark.parametrize(
    ("reranker", "reason"),
    [
        (ByLength(failure=Retryable("it is down")), "reranker_failed"),
        (ByLength(takes_s=30.0), "reranker_slow"),
    ],
)
async def test_hits_keep_their_order_and_are_reported_degraded_without_the_reranker(
    reranker: ByLength, reason: str
) -> None:
    searched = FakeMixedSearch(memory("Short."), memory("Longer one."), memory("The longest."))
    found = await reranking(searched, reranker, timeout_s=0.01).search(QUESTION)
    assert texts(found) == ["Short.", "Longer one."]
    assert found.degraded == ("vectors_slow", reason)


@pytest.mark.parametrize(
    ("hits", "text"), [((memory("One."),), "What?"), ((), "What?"), ((memory("One."), memory("Two.")), None)]
)
async def test_the_reranker_is_not_called_for_fewer_than_two_hits_or_without_a_text(
    hits: tuple[Hit, ...], text: str | None
) -> None:
    reranker = ByLength()
    found = await reranking(FakeMixedSearch(*hits), reranker).search(Query(namespaces=("kitchen",), text=text, limit=5))
    assert len(found.mixed) == len(hits) and reranker.seen == []


async def test_a_passage_that_the_caller_may_not_read_is_not_sent_to_the_reranker():
    reranker = ByLength()
    hidden = replace(passage("The kitchen of Bob has no oven at all."), owners=("kitchen/bob",))
    search = reranking(FakeMixedSearch(hidden, passage("The oven."), memory("No oven.")), reranker)
    found = await search.search(QUESTION, "kitchen".__eq__)
    assert texts(found) == ["The oven.", "No oven."]
    assert not any("Bob" in text for _, sent in reranker.seen for text in sent)
