"""Messages older than their retention that the archive does not have are left out, and the log tells so."""

from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from agents.passages.agent import PassageAgent
from agents.policies.audience import Audience
from schemas import codec
from schemas.conversations.messages import Message
from schemas.kafka import topics
from schemas.policies.policies import Policies, Policy
from sinks.archive.messages import ArchivedMessage
from streams.delivery.fence import Fence
from tests.fakes.batches import batch, record
from tests.fakes.publisher import FakePublisher

NOW = datetime(2026, 3, 2, tzinfo=UTC)  # years after the records of the fake
MESSAGE = Message(
    conversation_id="c",
    message_id="m",
    role="user",
    timestamp=NOW - timedelta(days=900),
    content="Plums.",
    user_id="ada",
)


class Unarchived:
    """An archive that has none of the late messages, and an indexer; `indexed` has what it was given."""

    def __init__(self) -> None:
        self.indexed: list[ArchivedMessage] = []

    async def of(self, conversations: object) -> list[Any]:
        return []

    async def store(self, messages: object) -> int:
        return 0

    async def present(self, messages: object) -> list[ArchivedMessage]:
        return []

    async def index(self, messages: list[ArchivedMessage]) -> int:
        self.indexed += messages
        return len(messages)


@pytest.mark.parametrize(("retention_days", "indexed"), [(7, 0), (0, 1)])
async def test_the_log_tells_of_late_messages_that_are_not_indexed(
    caplog: pytest.LogCaptureFixture, retention_days: int, indexed: int
) -> None:
    policies = Policies((Policy(name="kitchen", retention_days=retention_days),))
    stored, fence = Unarchived(), Fence()
    fence.open()
    agent = PassageAgent(
        cast(Any, stored), cast(Any, stored), FakePublisher(), Audience(stored, policies), policies, lambda: NOW
    )
    await agent.handle(batch(fence, topics.MESSAGES, [record(topics.MESSAGES, 0, codec.encode(MESSAGE))]))
    assert len(stored.indexed) == indexed
    assert ("not indexed: 1 message older than their retention" in caplog.text) == (not indexed)
    assert ("run `memstream backfill`" in caplog.text) == (not indexed)
