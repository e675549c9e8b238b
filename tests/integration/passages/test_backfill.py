"""`memstream backfill` indexes the archive beside the running stage and resumes after an interruption."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from agents.passages.backfill import Backfill, Backfilled, Progress, recall_digest
from agents.policies.audience import Audience
from schemas.errors import Retryable
from schemas.policies.policies import Policies, Policy
from sinks.archive.participants import Participants
from sinks.passages.backfill import BackfillProgress, ConversationCounts
from tests.fakes.embedder import PickyEmbedder
from tests.integration.passages.conftest import MONDAY, Said


def backfill(said: Said, indexer: Any = None, report: Progress = lambda counts, passages: None) -> Backfill:
    audience = Audience(Participants(said.pool), said.policies)
    return Backfill(said.archive, progress(said), audience, indexer or said.indexer, report)


def progress(said: Said) -> BackfillProgress:
    return BackfillProgress(said.pool, recall_digest(said.policies))


class Interrupted:
    """Fails at a conversation."""

    def __init__(self, said: Said, conversation: str) -> None:
        self.said = said
        self.conversation = conversation

    async def index(self, some: Any) -> int:
        if some[0].message.conversation_id == self.conversation:
            raise Retryable("the embedder is away")
        return await self.said.indexer.index(some)


async def test_messages_archived_earlier_are_indexed_and_numbered_before_already_indexed_ones(said: Said) -> None:
    old = [said.message(f"Old plum number {number}.") for number in range(5)]
    await said.archive.store(await said.with_namespaces(old))
    await said.said(said.message("New plum."))
    assert await backfill(said).run() == Backfilled(conversations=1, passages=5)
    rows = await said.pool.fetch("SELECT message_id FROM passages ORDER BY ordinal")
    assert [row["message_id"] for row in rows] == [f"c1-{number}" for number in range(1, 7)]
    assert await said.rows() == await said.points()
    assert await backfill(said).run() == Backfilled(conversations=1, passages=0)


async def test_backfill_concurrent_with_the_passages_stage_indexes_every_message_once(said: Said) -> None:
    messages = await said.with_namespaces(
        [said.message(f"Plum {number}.", conversation=f"c{number % 3}") for number in range(60)]
    )
    await said.archive.store(messages)
    await asyncio.gather(backfill(said).run(), *(said.indexer.index(messages[at : at + 10]) for at in range(0, 60, 10)))
    rows = await said.pool.fetch("SELECT conversation_id, ordinal FROM passages")
    assert len({tuple(row) for row in rows}) == len(rows) == 60
    assert await said.rows() == await said.points()


async def test_an_interrupted_backfill_resumes_where_it_stopped(said: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents.passages.backfill.CONVERSATIONS", 1)
    messages = [said.message("A plum.", conversation=f"c{number}") for number in range(3)]
    await said.archive.store(await said.with_namespaces(messages))
    with pytest.raises(Retryable):
        await backfill(said, Interrupted(said, "c1")).run()
    assert await progress(said).place() == "c0"
    reported: list[tuple[ConversationCounts, int]] = []
    resumed = backfill(said, report=lambda counts, passages: reported.append((counts, passages)))
    assert await resumed.run() == Backfilled(conversations=2, passages=2)
    assert reported == [(ConversationCounts(3, 1), 1), (ConversationCounts(3, 0), 2)], "of all, with the earlier run's"
    assert await progress(said).place() == ""


async def test_a_backfill_begins_again_if_the_policies_changed_since_it_was_interrupted(
    said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.passages.backfill.CONVERSATIONS", 1)
    said.follow(Policy(name="kitchen", recall_since=MONDAY + timedelta(days=7)))
    messages = [said.message("A plum.", conversation=f"c{number}") for number in range(3)]
    await said.archive.store(await said.with_namespaces(messages))
    with pytest.raises(Retryable):
        await backfill(said, Interrupted(said, "c2")).run()
    assert await progress(said).place() == "c1"
    said.follow(Policy(name="kitchen"))
    assert await progress(said).place() == ""
    assert await backfill(said).run() == Backfilled(conversations=3, passages=3)


async def test_an_interrupted_backfill_resumes_after_a_change_that_recalls_the_same_messages(
    said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.passages.backfill.CONVERSATIONS", 1)
    messages = [said.message("A plum.", conversation=f"c{number}") for number in range(3)]
    await said.archive.store(await said.with_namespaces(messages))
    with pytest.raises(Retryable):
        await backfill(said, Interrupted(said, "c2")).run()
    said.follow(Policy(name="kitchen", version=2, max_memories=10))
    assert await backfill(said).run() == Backfilled(conversations=1, passages=1)


async def test_a_message_that_the_embedder_rejects_is_indexed_by_its_words(said: Said) -> None:
    await said.archive.store(
        await said.with_namespaces([said.message(text) for text in ("One pear.", "A plum.", "3 pears.")])
    )
    said.indexer._embedder = PickyEmbedder("plum")
    assert await backfill(said).run() == Backfilled(conversations=1, passages=3)
    assert (len(await said.points()), "A plum." in await said.found("plum")) == (2, True)


async def test_backfill_indexes_only_messages_recalled_by_a_policy_since_its_start_date(said: Said) -> None:
    messages = [said.message("Before."), said.message("After.", at=MONDAY.replace(day=9))]
    await said.archive.store(await said.with_namespaces(messages))
    said.policies = said.indexer._policies = Policies((Policy(name="kitchen", recall_since=MONDAY.replace(day=5)),))
    assert (await backfill(said).run()).passages == 1
