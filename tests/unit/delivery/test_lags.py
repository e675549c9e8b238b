"""The lag of a stage, also while it fetches nothing."""

import asyncio

import pytest
from aiokafka.errors import KafkaConnectionError, KafkaError, NotLeaderForPartitionError
from faust.types import TP

from schemas.errors import Retryable
from streams.delivery.consumer_thread import ENDS_WITHIN_S
from tests.fakes.leader import BareThread
from tests.fakes.record_batches import numbered_batch
from tests.unit.delivery.bare_consumer import MESSAGES, OTHER, BareConsumer, read

LOGS = {MESSAGES: {2: numbered_batch(0, 2), 8: numbered_batch(2, 8)}, OTHER: {3: numbered_batch(0, 3)}}


@pytest.fixture
async def consumer() -> BareConsumer:
    """It has 3 records of MESSAGES under way, and its last fetch saw no more."""
    consumer = BareConsumer()
    consumer._thread.offsets = {MESSAGES: 100, OTHER: 0}
    assert await consumer.begin({MESSAGES, OTHER}, set(), {})
    await consumer.drain(read(MESSAGES, 100, 103, 100, 101, 102))
    consumer._thread.fetched_ends = {MESSAGES: 103}
    return consumer


async def test_the_lag_grows_with_the_broker_end_offset_while_the_partition_is_not_fetched(consumer):
    assert consumer.lags() == {MESSAGES: 3}
    consumer._thread.broker_ends = {MESSAGES: 5_100, OTHER: 7}
    await consumer.fetch_log_ends()
    assert consumer.lags() == {MESSAGES: 5_000, OTHER: 7}, "also of what was never fetched"


async def test_a_later_fetch_overrides_the_end_offset_requested_from_the_broker(consumer):
    consumer._thread.broker_ends = {MESSAGES: 110, OTHER: 7}
    await consumer.fetch_log_ends()
    consumer._thread.fetched_ends = {MESSAGES: 120}
    assert consumer.lags()[MESSAGES] == 20


async def test_the_last_known_lag_stays_while_no_broker_answers(consumer):
    consumer._thread.broker_ends = {MESSAGES: 110, OTHER: 7}
    await consumer.fetch_log_ends()
    consumer._thread.broker_ends = None
    with pytest.raises(Retryable, match="cannot read the end offsets of 2 partitions"):
        await consumer.fetch_log_ends()
    assert consumer.lags() == {MESSAGES: 10, OTHER: 7}


async def test_partitions_not_assigned_have_no_lag_and_their_end_offsets_are_not_requested(consumer):
    consumer._thread.broker_ends = {MESSAGES: 110, OTHER: 7}
    await consumer.fetch_log_ends()
    await consumer.end_epoch(1.0)
    consumer._thread.broker_ends = None
    await consumer.fetch_log_ends()
    assert consumer.lags() == {}


@pytest.fixture
async def thread():
    thread = BareThread(LOGS)
    yield thread
    await thread.end()


async def test_end_offsets_are_fetched_from_the_partition_leaders(thread):
    assert await thread.ends([MESSAGES, OTHER]) == {MESSAGES: 8, OTHER: 3}


@pytest.mark.parametrize(
    "trouble",
    [{"leader": None}, {"leader": -1}, {"code": NotLeaderForPartitionError.errno}, {"refusal": KafkaConnectionError()}],
    ids=lambda trouble: next(iter(trouble)),
)
async def test_fetching_end_offsets_fails_within_seconds_if_no_leader_answers(thread, trouble):
    for name, value in trouble.items():
        setattr(thread.broker, name, value)
    clock = asyncio.get_running_loop().time
    since = clock()
    with pytest.raises(KafkaError):
        await thread.ends([MESSAGES])
    assert clock() - since <= ENDS_WITHIN_S + 0.1


async def test_fetching_end_offsets_fails_if_a_leader_never_responds(thread, monkeypatch):
    async def silent(node_id: int, request: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(thread.broker, "send", silent)
    with pytest.raises(KafkaError):
        await thread.ends([TP(*MESSAGES)])
