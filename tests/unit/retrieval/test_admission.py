"""A process serves a bounded number of searches, queues twice as many, and rejects the others."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest

from agents.retrieval.admission import Admission, AdmittedSearch
from agents.retrieval.read_rights import MayRead, allow_all
from agents.retrieval.recall import Recall
from schemas.errors import Overloaded
from schemas.policies.matching import Match
from schemas.policies.policies import Policies, Policy
from schemas.retrieval.blocks import BlockQuery
from schemas.retrieval.searches import Found, Query
from tests.fakes.archive import FakeArchive

AT_ONCE = 2
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
POLICIES = Policies((Policy(name="app", match=Match(app_id="app"), namespaces=("{app_id}",)),))


class Held:
    """A search whose answers are held back; `begun` are the texts that are looked for, in their order."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.held: list[asyncio.Future[None]] = []

    async def search(self, query: Query, may_read: MayRead = allow_all) -> Found:
        self.begun.append(query.text or "")
        self.held.append(asyncio.get_running_loop().create_future())
        await self.held[-1]
        return Found()

    def answer(self) -> None:
        """The one that has waited longest."""
        self.held.pop(0).set_result(None)


@pytest.fixture
def held() -> Held:
    return Held()


@pytest.fixture
def admission() -> Admission:
    return Admission(AT_ONCE)


@pytest.fixture
async def queries(held: Held, admission: Admission) -> AsyncIterator[list[asyncio.Task[Any]]]:
    """Sends as many queries as a process accepts: two run, four wait."""
    search = AdmittedSearch(held, admission)
    tasks = [asyncio.create_task(search.search(question(str(number)))) for number in range(3 * AT_ONCE)]
    await settled()
    yield tasks
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def question(text: str) -> Query:
    return Query(namespaces=("app",), text=text)


async def settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_searches_beyond_the_concurrency_limit_wait_in_order_of_arrival(held: Held, queries: list[Any]):
    assert held.begun == ["0", "1"]
    held.answer()
    held.answer()
    await settled()
    assert held.begun == ["0", "1", "2", "3"]
    assert [task.done() for task in queries] == [True, True, False, False, False, False]


async def test_a_search_beyond_the_queue_limit_is_rejected_immediately(
    held: Held, admission: Admission, queries: list[Any]
):
    with pytest.raises(Overloaded, match="4 searches"):
        await AdmittedSearch(held, admission).search(question("late"))
    assert "late" not in held.begun


async def test_a_cancelled_search_frees_its_place(held: Held, admission: Admission, queries: list[Any]):
    queries[0].cancel()  # one that is looked for
    queries[5].cancel()  # one that waits
    await settled()
    assert held.begun == ["0", "1", "2"]
    late = asyncio.create_task(AdmittedSearch(held, admission).search(question("late")))
    await settled()
    assert not late.done()
    late.cancel()


async def test_a_context_block_counts_toward_the_admission_limit(held: Held, admission: Admission, queries: list[Any]):
    recall = Recall(held, FakeArchive(), POLICIES, len, lambda: NOW, admission=admission)
    with pytest.raises(Overloaded):
        await recall.block(BlockQuery(namespaces=("app",), text="late"), None)


async def test_a_context_block_takes_one_place_although_it_searches_both_tiers(held: Held):
    recall = Recall(held, FakeArchive(), POLICIES, len, lambda: NOW, admission=Admission(1))
    making = asyncio.create_task(recall.block(BlockQuery(namespaces=("app",), text="what?"), None))
    await settled()
    assert held.begun == ["what?", "what?"]
    held.answer()
    held.answer()
    assert (await making).memories == ()
