"""Every call of a transaction fails in every way: what is raised, that nothing is acked, and that no producer stays open."""

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
BY_NAME = [pytest.param(error, told, id=type(error).__name__) for error, told in RAISED]


@pytest.fixture
def coordinator(monkeypatch: pytest.MonkeyPatch) -> Coordinator:
    return installed(monkeypatch)


async def test_a_transaction_makes_all_the_calls_that_fail_below(coordinator):
    log = changelog()
    await log.open([2])
    await log.commit(2, checkpoint())
    assert set(coordinator.reached) == {"start", *CALLS}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(("error", "told"), BY_NAME)
async def test_what_a_call_raises_is_told_by_what_is_to_be_done_about_it(coordinator, call, error, told):
    log = changelog()
    await log.open([2])
    coordinator.on(call, error)
    with pytest.raises(told):
        await log.commit(2, checkpoint())
    assert coordinator.committed == []
    await log.close()
    assert coordinator.open_clients == []


@pytest.mark.parametrize("call", ["send_batch", "send", "arrived"])
async def test_it_does_not_matter_which_of_several_calls_fails(coordinator, call):
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
async def test_a_call_without_an_answer_is_given_up_in_time(coordinator, call):
    log = changelog(timeout_s=TIMEOUT_S)
    await log.open([2])
    coordinator.on(call, HANG)
    begun = asyncio.get_running_loop().time()
    with pytest.raises(Retryable):
        await log.commit(2, checkpoint())
    assert asyncio.get_running_loop().time() - begun == pytest.approx(TIMEOUT_S)
    assert coordinator.committed == []


@pytest.mark.parametrize("call", AWAITED)
async def test_a_commit_that_is_cancelled_is_cancelled_and_its_producer_closed(coordinator, call):
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
@pytest.mark.parametrize(("error", "told"), BY_NAME)
async def test_a_failed_checkpoint_acks_nothing_and_is_told_unless_somebody_else_owns_the_partition(
    coordinator, call, error, told
):
    stage = Stage()
    await stage.begin()
    coordinator.on(call, error)
    given = stage.apply()
    await settled()
    assert not given.acked
    assert stage.fence.phase is Phase.SHUT
    assert [type(failure) for failure in stage.failures] == ([] if told is Fenced else [told])
    assert stage.checkpointer.counters.fenced == (told is Fenced)
    await stage.checkpointer.abandon()
    assert coordinator.open_clients == []
    assert coordinator.committed == []


@pytest.mark.parametrize("call", AWAITED)
@pytest.mark.parametrize("closing", [False, True], ids=["at once", "after closing it"])
async def test_an_epoch_that_ends_at_any_await_of_a_checkpoint_leaves_nothing_behind(coordinator, call, closing):
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


async def test_an_answer_that_comes_while_the_epoch_closes_still_counts(coordinator):
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
async def test_a_checkpoint_that_the_client_library_cancels_by_itself_is_in_doubt(coordinator, call):
    """As when its sender's task is gone. Else the partition would wait for ever for a checkpoint that is over."""
    stage = Stage()
    await stage.begin()
    coordinator.on(call, asyncio.CancelledError())
    given = stage.apply()
    await settled()
    assert not given.acked
    assert stage.fence.phase is Phase.SHUT
    assert [type(failure) for failure in stage.failures] == [Retryable]
