"""The consumer without Faust delivers, rewinds or skips what it reads."""

import pytest
from faust.types import TP

from streams.delivery.counters import Counters
from streams.delivery.positions import Read
from tests.unit.delivery.bare_consumer import MESSAGES, OTHER, BareConsumer, read


@pytest.fixture
async def consumer() -> BareConsumer:
    consumer = BareConsumer()
    consumer._thread.offsets = {MESSAGES: 100, OTHER: 0}
    assert await consumer.begin({MESSAGES, OTHER}, set(), {})
    consumer._thread.placed.clear()
    return consumer


async def test_contiguous_reads_are_delivered_as_batches_of_the_open_epoch(consumer):
    await consumer.drain(read(MESSAGES, 100, 103, 100, 101, 102), read(MESSAGES, 103, 104, 103))
    assert consumer.extents == [(MESSAGES, 100, 103), (MESSAGES, 103, 104)]
    assert all(batch.current for batch in consumer.delivered)
    assert consumer.counters == Counters(epochs=1, batches=2, records=4)


async def test_a_gap_before_a_read_makes_the_consumer_seek_back_and_read_again(consumer):
    await consumer.drain(read(MESSAGES, 150, 151, 150))
    assert consumer.delivered == []
    assert consumer._thread.placed == [{MESSAGES: 100}]
    await consumer.drain(read(MESSAGES, 100, 151, 100, 150))
    assert consumer.extents == [(MESSAGES, 100, 151)]


async def test_a_read_with_gaps_inside_is_delivered_and_committed_to_its_end(consumer):
    await consumer.drain(read(MESSAGES, 100, 110, 100, 105))
    consumer.delivered[0].ack()
    assert consumer._new_offset(MESSAGES) == 110
    assert (consumer.counters.jumps, consumer.counters.jumped_offsets) == (1, 8)


async def test_delivered_batches_are_committed_only_when_they_are_acked(consumer):
    await consumer.drain(read(MESSAGES, 100, 103, 100, 101, 102), read(MESSAGES, 103, 104, 103))
    consumer.delivered[1].ack()
    assert consumer._new_offset(MESSAGES) == 100
    consumer.delivered[0].ack()
    assert consumer._new_offset(MESSAGES) == 104


async def test_records_drained_while_an_epoch_ends_are_not_delivered(consumer):
    consumer._thread.meanwhile = consumer.fence.open
    await consumer.drain(read(MESSAGES, 100, 103, 100, 101, 102))
    assert consumer.delivered == []
    assert consumer._thread.placed == [{MESSAGES: 100}]


async def test_records_drained_while_the_flow_stops_are_read_again(consumer):
    def stop() -> None:
        consumer.flow_active = False

    consumer._thread.meanwhile = stop
    await consumer.drain(read(MESSAGES, 100, 103, 100))
    assert consumer.delivered == []
    assert consumer._thread.placed == [{MESSAGES: 100}]


async def test_an_epoch_end_between_two_partitions_of_a_drain_stops_delivery_of_the_second(consumer):
    deliver = consumer._deliver

    async def deliver_and_end(tp: TP, given: Read) -> None:
        await deliver(tp, given)
        consumer.fence.shut()
        consumer.positions.clear()

    consumer._deliver = deliver_and_end
    await consumer.drain(read(MESSAGES, 100, 101, 100) | read(OTHER, 0, 1, 0))
    assert len(consumer.delivered) == 1


async def test_control_records_alone_leave_no_lag_without_checkpoints(consumer):
    await consumer.drain(read(MESSAGES, 100, 101))
    assert consumer.delivered == []
    assert consumer._new_offset(MESSAGES) == 101


async def test_control_records_alone_are_delivered_as_an_empty_batch_if_checkpoints_carry_offsets():
    consumer = BareConsumer(checkpoints=True)
    consumer._thread.offsets = {MESSAGES: 100, OTHER: 0}
    await consumer.begin({MESSAGES, OTHER}, set(), {})
    await consumer.drain(read(MESSAGES, 100, 101))
    (batch,) = consumer.delivered
    assert (batch.records, batch.end) == ([], 101)


async def test_partitions_that_are_not_of_the_epoch_are_not_read():
    consumer = BareConsumer()
    await consumer.begin({MESSAGES}, set(), {})
    await consumer.drain(read(MESSAGES, 7, 8, 7))
    assert consumer._thread.requested == [{MESSAGES}]
    await consumer.end_epoch(1.0)
    await consumer._drain_once()
    assert consumer._thread.requested == [{MESSAGES}]


async def test_only_stages_without_checkpoints_commit_offsets_through_the_consumer(consumer):
    assert set(consumer._filter_tps_with_pending_acks()) == {MESSAGES, OTHER}
    assert set(consumer._filter_tps_with_pending_acks({MESSAGES})) == {MESSAGES}
    assert set(consumer._filter_tps_with_pending_acks({"chat.messages"})) == {MESSAGES, OTHER}
    with_table = BareConsumer(checkpoints=True)
    await with_table.begin({MESSAGES, OTHER}, set(), {})
    assert list(with_table._filter_tps_with_pending_acks()) == []


async def test_an_epoch_begins_at_the_committed_offset_else_the_origin_else_the_log_beginning():
    consumer = BareConsumer()
    added = TP("chat.messages", 2)
    consumer._thread.assigned = {MESSAGES, OTHER, added}
    consumer._thread.offsets = {MESSAGES: 100}
    changelog = TP("changelog", 0)
    assert await consumer.begin({MESSAGES, OTHER, added}, {changelog}, {tuple(MESSAGES): 5, tuple(OTHER): 50})
    assert consumer._thread.placed == [{MESSAGES: 100, OTHER: 50, added: 7}]
    assert consumer._thread.paused == {changelog}
    assert consumer.fence.admits(1)


async def test_an_epoch_does_not_begin_with_partitions_that_were_revoked_meanwhile():
    consumer = BareConsumer()
    consumer._thread.assigned = {OTHER}
    assert not await consumer.begin({MESSAGES, OTHER}, set(), {})
    assert not consumer.fence.admits(consumer.fence.epoch)
    assert MESSAGES not in consumer.positions


async def test_a_committed_offset_of_zero_is_not_treated_as_missing():
    consumer = BareConsumer()
    consumer._thread.offsets = {MESSAGES: 0}
    await consumer.begin({MESSAGES}, set(), {tuple(MESSAGES): 50})
    assert consumer.positions.expected(MESSAGES) == 0


async def test_a_finishing_stage_reads_no_more_records_and_can_still_ack_its_batches(consumer):
    await consumer.drain(read(MESSAGES, 100, 101, 100))
    consumer.finishing = True
    await consumer.drain(read(MESSAGES, 101, 102, 101))
    assert consumer.extents == [(MESSAGES, 100, 101)]
    consumer.delivered[0].ack()
    assert consumer._new_offset(MESSAGES) == 101
