"""A batch is acked once, and only within its epoch."""

import pytest

from streams.delivery.batch import Batch
from streams.delivery.fence import Fence


@pytest.fixture
def fence() -> Fence:
    fence = Fence()
    fence.open()
    return fence


def batch(fence: Fence) -> tuple[Batch, list[str]]:
    acks: list[str] = []
    return Batch("chat.messages", 1, 5, 9, ["r"], fence, lambda: acks.append("acked")), acks


def test_a_batch_is_acked_once(fence):
    given, acks = batch(fence)
    given.ack()
    given.ack()
    assert acks == ["acked"]
    assert given.acked


def test_a_batch_can_be_acked_while_its_epoch_closes(fence):
    given, acks = batch(fence)
    fence.close()
    assert not given.current
    assert given.held
    given.ack()
    assert acks == ["acked"]


def test_an_ack_after_the_epoch_has_no_effect(fence):
    given, acks = batch(fence)
    fence.shut()
    given.ack()
    assert acks == []
    assert not given.acked


def test_an_ack_in_the_next_epoch_has_no_effect(fence):
    given, acks = batch(fence)
    fence.shut()
    fence.open()
    assert not given.current
    assert not given.held
    given.ack()
    assert acks == []


def test_a_batch_that_released_its_records_can_still_be_acked(fence):
    given, acks = batch(fence)
    given.release()
    given.ack()
    assert (given.records, given.end, acks) == ([], 9, ["acked"])


def test_the_repr_of_a_batch_shows_its_topic_partition_offsets_and_epoch(fence):
    assert repr(batch(fence)[0]) == "<Batch chat.messages[1] 5..9 epoch 1>"
