"""The archive agent acks what is stored."""

import asyncio

import pytest

from agents.archive_agent import ArchiveAgent
from schemas import codec
from schemas.errors import Retryable
from streams.delivery.fence import Fence
from tests.fakes.batches import batch_of
from tests.fakes.chats import message


class FakeArchive:
    def __init__(self) -> None:
        self.stored = []
        self.failures: list[Exception] = []

    async def store(self, messages) -> int:
        await asyncio.sleep(0)
        if self.failures:
            raise self.failures.pop()
        self.stored += messages
        return len(messages)


@pytest.fixture
def fence() -> Fence:
    fence = Fence()
    fence.open()
    return fence


async def test_a_batch_is_stored_with_its_positions_and_then_acked(fence):
    archive = FakeArchive()
    batch = batch_of(fence, "chat.messages", 7, [codec.encode(message(n)) for n in range(3)], partition=2)
    await ArchiveAgent(archive).handle(batch)
    assert [(m.message.message_id, m.partition, m.position) for m in archive.stored] == [
        ("m0", 2, 7),
        ("m1", 2, 8),
        ("m2", 2, 9),
    ]
    assert batch.acked


async def test_what_could_not_be_stored_is_not_acked(fence):
    archive = FakeArchive()
    archive.failures.append(Retryable("postgres away"))
    batch = batch_of(fence, "chat.messages", 0, [codec.encode(message(1))])
    agent = ArchiveAgent(archive)
    with pytest.raises(Retryable):
        await agent.handle(batch)
    assert not batch.acked
    await agent.handle(batch)
    assert batch.acked


async def test_what_does_not_decode_is_skipped_and_counted(fence):
    archive = FakeArchive()
    agent = ArchiveAgent(archive)
    batch = batch_of(fence, "chat.messages", 0, [b"{}", codec.encode(message(1)), None])
    await agent.handle(batch)
    assert [m.position for m in archive.stored] == [1]
    assert agent.skipped == 2
    assert batch.acked
