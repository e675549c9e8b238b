"""A stage that comes late does not bring back what retention deleted."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from agents.passages.agent import PassageAgent
from agents.policies.audience import Audience
from schemas import codec
from schemas.kafka import topics
from schemas.policies.policies import Policy
from sinks.archive.messages import ArchivedMessage
from sinks.archive.participants import Participants
from streams.delivery.fence import Fence
from tests.fakes.batches import batch, record
from tests.fakes.publisher import FakePublisher
from tests.integration.passages.conftest import MONDAY, Said


@pytest.fixture(autouse=True)
def retention(said: Said) -> None:
    said.follow(Policy(name="kitchen", retention_days=7))


def sent(archived: ArchivedMessage, at: datetime | None) -> Any:
    """The record of a message, with Kafka's timestamp."""
    stamp = -1 if at is None else int(at.timestamp() * 1_000)
    value = codec.encode(archived.message)
    return replace(record(topics.MESSAGES, archived.position, value), timestamp=stamp)


async def handled(said: Said, records: Sequence[Any], now: datetime) -> None:
    """What the stage does with the records at that time."""
    audience = Audience(Participants(said.pool), said.policies)
    agent = PassageAgent(said.archive, said.indexer, FakePublisher(), audience, said.policies, lambda: now)
    fence = Fence()
    fence.open()
    await agent.handle(batch(fence, topics.MESSAGES, list(records)))


async def archived_ids(said: Said) -> list[str]:
    return [row["message_id"] for row in await said.pool.fetch("SELECT message_id FROM messages ORDER BY 1")]


async def test_a_message_older_than_the_retention_is_not_archived_again(said: Said) -> None:
    message = said.message("The plums are ripe.")
    await handled(said, [sent(message, MONDAY)], MONDAY + timedelta(days=7))
    assert await archived_ids(said) == []
    assert await said.rows() == await said.points() == set()


async def test_an_old_message_that_the_archive_still_has_is_indexed(said: Said) -> None:
    held, deleted = said.message("The plums are ripe."), said.message("The plums are sweet.")
    await said.archive.store(await said.with_namespaces([held]))
    await handled(said, [sent(held, MONDAY), sent(deleted, MONDAY)], MONDAY + timedelta(days=30))
    assert await archived_ids(said) == [held.message.message_id]
    assert await said.found("plums") == ["The plums are ripe."]


@pytest.mark.parametrize("at", [MONDAY + timedelta(seconds=1), None])
async def test_a_message_within_the_retention_is_archived_and_indexed(said: Said, at: datetime | None) -> None:
    message = said.message("The plums are ripe.", at=MONDAY - timedelta(days=900))
    await handled(said, [sent(message, at)], MONDAY + timedelta(days=7))
    assert await archived_ids(said) == [message.message.message_id]
    assert await said.found("plums") == ["The plums are ripe."]


async def test_without_a_retention_every_message_is_archived(said: Said) -> None:
    said.follow(Policy(name="kitchen"))
    message = said.message("The plums are ripe.")
    await handled(said, [sent(message, MONDAY)], MONDAY + timedelta(days=900))
    assert await said.found("plums") == ["The plums are ripe."]
