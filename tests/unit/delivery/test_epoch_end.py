"""At the end of an epoch finished work is committed in time, and later work has no effect."""

import asyncio
from typing import Any

import pytest
from aiokafka.errors import KafkaConnectionError

from streams.delivery.fence import Phase
from tests.unit.delivery.bare_consumer import MESSAGES, OTHER, BareConsumer, read

BOUND_S = 6.0


@pytest.fixture
async def consumer() -> BareConsumer:
    consumer = BareConsumer()
    consumer._thread.offsets = {MESSAGES: 100, OTHER: 0}
    assert await consumer.begin({MESSAGES, OTHER}, set(), {})
    await consumer.drain(
        read(MESSAGES, 100, 103, 100, 101, 102), read(MESSAGES, 103, 104, 103), read(OTHER, 0, 2, 0, 1)
    )
    return consumer


def noting(consumer: BareConsumer, *names: str) -> list[tuple[str, Phase]]:
    """The order in which these are called, and how the fence stands then."""
    calls: list[tuple[str, Phase]] = []

    def note(owner: Any, name: str) -> None:
        called = getattr(owner, name)

        async def noted(*args: Any) -> Any:
            calls.append((name, consumer.fence.phase))
            return await called(*args)

        setattr(owner, name, noted)

    for name in names:
        note(consumer if name == "force_commit" else consumer.app, name)
    note(consumer.app.tables.recovery, "interrupt")
    return calls


async def test_the_end_of_an_epoch_commits_exactly_the_finished_batches(consumer):
    consumer.delivered[0].ack()
    consumer.delivered[2].ack()
    await consumer.end_epoch(BOUND_S)
    assert consumer.committed == [{MESSAGES: 103, OTHER: 2}]
    assert consumer.fence.phase is Phase.SHUT
    assert MESSAGES not in consumer.positions


async def test_an_epoch_settles_and_commits_while_closing_and_abandons_when_shut(consumer):
    calls = noting(consumer, "settle", "force_commit", "abandon")
    await consumer.end_epoch(BOUND_S)
    assert calls == [
        ("interrupt", Phase.OPEN),
        ("settle", Phase.CLOSING),
        ("force_commit", Phase.CLOSING),
        ("abandon", Phase.SHUT),
    ]


async def test_acks_while_the_epoch_closes_are_committed_and_later_acks_have_no_effect(consumer):
    early, _, late = consumer.delivered

    async def settle() -> None:
        early.ack()

    consumer.app.settle = settle
    await consumer.end_epoch(BOUND_S)
    late.ack()
    assert consumer.committed == [{MESSAGES: 103}]
    assert not late.acked


@pytest.mark.parametrize("failure", [KafkaConnectionError(), ValueError("a bug")], ids=repr)
@pytest.mark.parametrize("step", ["settle", "force_commit"])
async def test_an_epoch_ends_even_if_settling_or_committing_fails(consumer, step, failure):
    async def fail(*_: Any) -> None:
        raise failure

    setattr(consumer if step == "force_commit" else consumer.app, step, fail)
    calls = noting(consumer, "abandon")
    await consumer.end_epoch(BOUND_S)
    assert calls[-1] == ("abandon", Phase.SHUT)
    assert MESSAGES not in consumer.positions


@pytest.mark.parametrize("step", ["settle", "force_commit"])
async def test_settling_or_committing_that_hangs_is_abandoned_after_the_bound(consumer, step):
    async def hang(*_: Any) -> None:
        await asyncio.get_running_loop().create_future()

    setattr(consumer if step == "force_commit" else consumer.app, step, hang)
    begun = asyncio.get_running_loop().time()
    await consumer.end_epoch(BOUND_S)
    assert asyncio.get_running_loop().time() - begun == pytest.approx(BOUND_S)
    assert consumer.fence.phase is Phase.SHUT


async def test_an_epoch_ends_even_if_the_consumer_thread_cancels_the_commit(consumer):
    """Faust's thread cancels what waits for it when it ends."""

    async def cancelled(*_: Any) -> None:
        raise asyncio.CancelledError

    consumer.force_commit = cancelled
    await consumer.end_epoch(BOUND_S)
    assert consumer.fence.phase is Phase.SHUT


async def test_a_cancelled_end_epoch_shuts_the_epoch_and_raises_the_cancellation(consumer):
    async def hang(*_: Any) -> None:
        await asyncio.get_running_loop().create_future()

    consumer.app.settle = hang
    ending = asyncio.create_task(consumer.end_epoch(BOUND_S))
    await asyncio.sleep(1.0)
    ending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await ending
    assert consumer.fence.phase is Phase.SHUT
    assert MESSAGES not in consumer.positions


async def test_end_epoch_without_a_begun_epoch_commits_nothing():
    consumer = BareConsumer()
    await consumer.end_epoch(BOUND_S)
    assert consumer.committed == []
    assert consumer.counters.stale_batches == 0
