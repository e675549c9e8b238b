"""The changelog on Kafka: content of a checkpoint's transaction, and fencing of writers."""

import asyncio

import pytest
from aiokafka.errors import KafkaTimeoutError, MessageSizeTooLargeError

from schemas.errors import Retryable
from streams.delivery.changelog import DISCARDED_WITHIN_S, Fenced
from tests.unit.delivery.stub_kafka import HANG, Coordinator, changelog, checkpoint, installed


@pytest.fixture
def coordinator(monkeypatch: pytest.MonkeyPatch) -> Coordinator:
    return installed(monkeypatch)


async def test_rows_effects_and_offsets_are_one_transaction_in_order(coordinator):
    log = changelog()
    await log.open([2])
    end = await log.commit(2, checkpoint())
    (sent,) = coordinator.committed
    assert [(topic, key) for topic, _, key, _ in sent["records"]] == [
        ("changelog", b"chunk-1"),
        ("changelog", b"chunk-2"),
        ("changelog", b"head"),
        ("changelog", b"gone"),
        ("test.requests", b"k"),
    ]
    assert sent["offsets"] == {("messages", 2, "group"): 7}
    assert end == 104, "the offset behind the last row; the effect lies elsewhere"


async def test_opening_a_partition_fences_its_old_owner(coordinator):
    old, new = changelog(), changelog()
    await old.open([2])
    await new.open([2])
    with pytest.raises(Fenced):
        await old.commit(2, checkpoint(b"old"))
    await new.commit(2, checkpoint(b"new"))
    assert len(coordinator.committed) == 1


async def test_an_old_owner_whose_last_commit_failed_does_not_take_the_partition_back(coordinator):
    old, new = changelog(), changelog()
    await old.open([2])
    coordinator.on("commit", KafkaTimeoutError())
    with pytest.raises(Retryable):
        await old.commit(2, checkpoint(b"old"))
    await new.open([2])  # the old owner stalls, and hears nothing of this
    await new.commit(2, checkpoint(b"new"))
    with pytest.raises(Fenced):
        await old.commit(2, checkpoint(b"old"))
    await new.commit(2, checkpoint(b"newer"))
    assert [sent["records"][0][3] for sent in coordinator.committed] == [b"new", b"newer"]


async def test_a_permanent_commit_error_is_not_raised_as_retryable(coordinator):
    log = changelog()
    await log.open([2])
    coordinator.on("commit", MessageSizeTooLargeError())
    with pytest.raises(MessageSizeTooLargeError):
        await log.commit(2, checkpoint())


async def test_closing_stops_every_producer(coordinator):
    log = changelog()
    await log.open([1, 2])
    await log.close()
    assert [producer.stopped for producer in coordinator.clients] == [True, True]
    await log.open([1])
    assert len(coordinator.clients) == 3


async def test_each_partition_has_its_own_transactional_id(coordinator):
    await changelog().open([1, 2])
    assert {producer.settings["transactional_id"] for producer in coordinator.clients} == {"group-1", "group-2"}


async def test_opening_a_partition_can_be_retried_after_a_failure(coordinator):
    log = changelog(timeout_s=30.0)
    coordinator.on("start", KafkaTimeoutError())
    with pytest.raises(Retryable, match="cannot take over partition 2"):
        await log.open([2])
    assert coordinator.open_clients == []
    await log.open([2])
    await log.commit(2, checkpoint())
    assert len(coordinator.committed) == 1


async def test_opening_a_partition_times_out(coordinator):
    loop = asyncio.get_running_loop()
    coordinator.on("start", HANG)
    begun = loop.time()
    with pytest.raises(Retryable):
        await changelog(timeout_s=30.0).open([2])
    assert loop.time() - begun == pytest.approx(30.0)


@pytest.mark.parametrize("late", ["fails", "succeeds"])
async def test_an_attempt_to_open_a_partition_that_ends_late_does_not_disturb_its_retry(coordinator, late):
    """One partition fails at once and is tried again; the other one's first attempt ends later."""
    log, slow = changelog(timeout_s=30.0), asyncio.Event()
    coordinator.on("start", slow if late == "succeeds" else HANG, KafkaTimeoutError())
    with pytest.raises(Retryable):
        await log.open([1, 2])
    await log.open([1, 2])
    slow.set()
    await asyncio.sleep(60.0)
    await log.commit(1, checkpoint())
    await log.commit(2, checkpoint())
    assert len(coordinator.committed) == 2


async def test_a_cancelled_open_leaves_no_producer_open(coordinator):
    log = changelog()
    coordinator.on("start", None, HANG)
    opening = asyncio.create_task(log.open([1, 2]))
    await asyncio.sleep(1.0)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    await log.close()
    assert coordinator.open_clients == []


@pytest.mark.parametrize("happening", [KafkaTimeoutError(), OSError("reset"), HANG], ids=["Kafka", "OS", "hangs"])
async def test_a_producer_that_fails_to_stop_is_discarded_in_time_and_leaves_no_client_open(coordinator, happening):
    log = changelog()
    await log.open([1, 2])
    coordinator.on("stop", happening)
    begun = asyncio.get_running_loop().time()
    await log.close()
    assert coordinator.open_clients == []
    assert asyncio.get_running_loop().time() - begun <= DISCARDED_WITHIN_S
    assert coordinator.dropped == 1
