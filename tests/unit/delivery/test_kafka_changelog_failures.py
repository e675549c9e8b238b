"""Every failure of every transaction call raises, acks nothing and leaves no producer open."""

import asyncio
from typing import Any

import pytest
from aiokafka.errors import (
    InvalidProducerEpoch,
    KafkaConnectionError,
    KafkaTimeoutError,
    MessageSizeTooLargeError,
    ProducerFenced,
    TopicAuthorizationFailedError,
)

from schemas.errors import Retryable
from schemas.kafka.records import Outgoing
from streams.delivery.changelog import Fenced
from streams.delivery.checkpoint import Checkpointer
from streams.delivery.fence import Fence, Phase
from tests.fakes.batches import batch_of
from tests.fakes.clock import settled
from tests.unit.delivery.stub_kafka import HANG, Coordinator, changelog, checkpoint, installed

TIMEOUT_S = 30.0
AWAITED = ["begin", "send_batch", "send", "arrived", "offsets", "commit"]
CALLS = ["create", "append", *AWAITED]
RAISED: list[tuple[BaseException, type[BaseException]]] = [
    (KafkaConnectionError(), Retryable),
    (KafkaTimeoutError(), Retryable),
    (TimeoutError(), Retryable),
    (OSError("connection reset"), Retryable),
    (ProducerFenced(), Fenced),
    (InvalidProducerEpoch(), Fenced),
    (MessageSizeTooLargeError(), MessageSizeTooLargeError),
    (TopicAuthorizationFailedError(), TopicAuthorizationFailedError),
    (ValueError("a bug"), ValueError),
]
BY_NAME = [pytest.param(error, is_reported, id=type(error).__name__) for error, is_reported in RAISED]


@pytest.fixture
def coordinator(monkeypatch: pytest.MonkeyPatch) -> Coordinator:
    return installed(monkeypatch)


async def test_a_transaction_makes_every_call_that_the_failure_tests_cover(coordinator):
    log = changelog()
    await log.open([2])
    await log.commit(2, checkpoint())
    assert set(coordinator.reached) == {"start", *CALLS}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(("error", "is_reported"), BY_NAME)
async def test_commit_translates_each_client_error_into_retryable_fenced_or_the_error_itself(
    coordinator, call, error, is_reported
):
    log = changelog()
    await log.open([2])
    coordinator.on(call, error)
    with pytest.raises(is_reported):
        await log.commit(2, checkpoint())
    assert coordinator.committed == []
    await log.close()
    assert coordinator.open_clients == []


@pytest.mark.parametrize("call", ["send_batch", "send", "arrived"])
async def test_commit_raises_retryable_if_a_later_one_of_repeated_calls_fails(coordinator, call):
    log = changelog()
    await log.open([2])
    coordinator.on(call, None, KafkaConnectionError())
    effects = (Outgoing(topic="a", key=None, value=b""), Outgoing(topic="b", key=None, value=b""))
    two = checkpoint()
    two = type(two)(two.rows, effects, two.batches)
    with pytest.raises(Retryable):
        await log.commit(2, two)
    assert coordinator.committed == []


@pytest.mark.parametrize("call", AWAITED)
async def test_a_commit_times_out_if_any_call_hangs(coordinator, call):
    log = changelog(timeout_s=TIMEOUT_S)
    await log.open([2])
    coordinator.on(call, HANG)
    begun = asyncio.get_running_loop().time()
    with pytest.raises(Retryable):
        await log.commit(2, checkpoint())
    assert asyncio.get_running_loop().time() - begun == pytest.approx(TIMEOUT_S)
    assert coordinator.committed == []


@pytest.mark.parametrize("call", AWAITED)
async def test_a_cancelled_commit_raises_the_cancellation_and_its_producer_is_closed(coordinator, call):
    log = changelog()
    await log.open([2])
    coordinator.on(call, HANG)
    committing = asyncio.create_task(log.commit(2, checkpoint()))
    await asyncio.sleep(1.0)
    committing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await committing
    await log.close()
    assert coordinator.committed == []
    assert coordinator.open_clients == []


class Stage:
    """A checkpointer on the changelog, with one batch applied."""

    def __init__(self) -> None:
        self.fence = Fence()
        self.failures: list[BaseException] = []
        self.checkpointer = Checkpointer(changelog(timeout_s=TIMEOUT_S), self.fence, self.failures.append)

    async def begin(self) -> None:
        await self.checkpointer.restore([2])
        self.fence.open()

    def apply(self) -> Any:
        given = batch_of(self.fence, "messages", 6, [b"x"], partition=2)
        effect = Outgoing(topic="requests", key=b"k", value=b"effect")
        self.checkpointer.record(given, {b"a": b"1", b"b": b"2", b"c": None}, [effect])
        self.checkpointer._start_due()
        return given


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(("error", "is_reported"), BY_NAME)
async def test_a_failed_checkpoint_acks_no_batch_and_is_reported_unless_it_was_fenced(
    coordinator, call, error, is_reported
):
    stage = Stage()
    await stage.begin()
    coordinator.on(call, error)
    given = stage.apply()
    await settled()
    assert not given.acked
    assert stage.fence.phase is Phase.SHUT
    assert [type(failure) for failure in stage.failures] == ([] if is_reported is Fenced else [is_reported])
    assert stage.checkpointer.counters.fenced == (is_reported is Fenced)
    await stage.checkpointer.abandon()
    assert coordinator.open_clients == []
    assert coordinator.committed == []


@pytest.mark.parametrize("call", AWAITED)
@pytest.mark.parametrize("closing", [False, True], ids=["at once", "after closing it"])
async def test_an_epoch_that_ends_at_any_await_of_a_checkpoint_leaves_no_commit_or_open_client(
    coordinator, call, closing
):
    stage = Stage()
    await stage.begin()
    coordinator.on(call, HANG)
    given = stage.apply()
    await settled()
    if closing:
        stage.fence.close()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(stage.checkpointer.settle(), TIMEOUT_S / 5)
    stage.fence.shut()
    await stage.checkpointer.abandon()
    assert (given.acked, stage.failures, coordinator.committed) == (False, [], [])
    assert coordinator.open_clients == []
    await stage.begin()
    again = stage.apply()
    await settled()
    assert again.acked
    assert len(coordinator.committed) == 1


async def test_a_commit_confirmed_while_the_epoch_closes_still_acks_its_batch(coordinator):
    stage, answer = Stage(), asyncio.Event()
    await stage.begin()
    coordinator.on("commit", answer)
    given = stage.apply()
    await settled()
    stage.fence.close()
    settling = asyncio.create_task(stage.checkpointer.settle())
    await asyncio.sleep(5.0)
    answer.set()
    await settling
    assert given.acked


@pytest.mark.parametrize("call", ["send_batch", "arrived", "commit"])
async def test_a_checkpoint_cancelled_by_the_client_library_itself_is_in_doubt(coordinator, call):
    """Happens when the sender's task ended. Otherwise the partition would wait for its checkpoint for ever."""
    stage = Stage()
    await stage.begin()
    coordinator.on(call, asyncio.CancelledError())
    given = stage.apply()
    await settled()
    assert not given.acked
    assert stage.fence.phase is Phase.SHUT
    assert [type(failure) for failure in stage.failures] == [Retryable]
