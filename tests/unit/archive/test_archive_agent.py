"""The archive agent acks stored messages only."""

import asyncio
from datetime import UTC, datetime

import pytest

from agents.archive.agent import ArchiveAgent
from agents.dead_letters.writer import dead_letter_headers
from agents.policies.audience import Audience
from schemas import codec
from schemas.errors import Rejected, Retryable
from schemas.kafka import topics
from schemas.policies.policies import Policies
from streams.delivery.fence import Fence
from tests.fakes.batches import batch_of
from tests.fakes.chats import message
from tests.fakes.participants import FakeParticipants
from tests.fakes.publisher import FakePublisher


class FakeArchive:
    def __init__(self) -> None:
        self.stored = []
        self.refused: set[str] = set()
        self.failures: list[Exception] = []

    async def store(self, messages) -> int:
        await asyncio.sleep(0)
        if self.failures:
            raise self.failures.pop()
        if any(each.message.message_id in self.refused for each in messages):
            raise Rejected("unstorable", "no column takes it")
        self.stored += messages
        return len(messages)


def archiving(archive: FakeArchive, publisher: FakePublisher | None = None) -> ArchiveAgent:
    audience = Audience(FakeParticipants(), Policies())
    return ArchiveAgent(archive, publisher or FakePublisher(), audience, lambda: datetime(2026, 11, 1, tzinfo=UTC))


@pytest.fixture
def fence() -> Fence:
    fence = Fence()
    fence.open()
    return fence


async def test_a_batch_is_stored_with_its_positions_before_it_is_acked(fence):
    archive = FakeArchive()
    batch = batch_of(fence, "chat.messages", 7, [codec.encode(message(n)) for n in range(3)], partition=2)
    await archiving(archive).handle(batch)
    assert [(m.message.message_id, m.partition, m.position) for m in archive.stored] == [
        ("m0", 2, 7),
        ("m1", 2, 8),
        ("m2", 2, 9),
    ]
    assert batch.acked


async def test_a_batch_whose_storing_failed_is_not_acked(fence):
    archive = FakeArchive()
    archive.failures.append(Retryable("postgres away"))
    batch = batch_of(fence, "chat.messages", 0, [codec.encode(message(1))])
    agent = archiving(archive)
    with pytest.raises(Retryable):
        await agent.handle(batch)
    assert not batch.acked
    await agent.handle(batch)
    assert batch.acked


async def test_undecodable_records_are_skipped_and_counted(fence):
    archive = FakeArchive()
    agent = archiving(archive)
    batch = batch_of(fence, "chat.messages", 0, [b"{}", codec.encode(message(1)), None])
    await agent.handle(batch)
    assert [m.position for m in archive.stored] == [1]
    assert agent.skipped == 2
    assert batch.acked


async def test_a_message_that_postgres_rejects_is_dead_lettered_and_the_others_are_stored(fence):
    archive, publisher = FakeArchive(), FakePublisher()
    archive.refused = {"m1"}
    batch = batch_of(fence, "chat.messages", 0, [codec.encode(message(n)) for n in range(3)])
    await archiving(archive, publisher).handle(batch)
    assert [stored.message.message_id for stored in archive.stored] == ["m0", "m2"]
    (letter,) = publisher.on(topics.DEAD_LETTERS)
    assert dead_letter_headers(letter.headers)["offset"] == "1"
    assert batch.acked
