"""The checkpointer on a fake changelog, in virtual time."""

import asyncio
import contextlib

import pytest

from schemas.errors import Retryable
from schemas.records import Outgoing
from streams.delivery.changelog import Fenced
from streams.delivery.checkpoint import Checkpointer
from streams.delivery.fence import Fence, Phase
from tests.fakes.batches import batch_of
from tests.fakes.changelog import Broker, FakeChangelog
from tests.fakes.clock import settled

TOPIC = "chat.messages"


def effect(name: str) -> Outgoing:
    return Outgoing(topic="memory.extraction-requests", key=None, value=name.encode())


class Stage:
    """One worker's fence, changelog and checkpointer, with its checkpoints running."""

    def __init__(self, broker: Broker | None = None, **options: float) -> None:
        self.fence = Fence()
        self.broker = broker or Broker()
        self.changelog = FakeChangelog(self.broker)
        self.failures: list[BaseException] = []
        self.checkpointer = Checkpointer(
            self.changelog,
            self.fence,
            self.failures.append,
            clock=asyncio.get_running_loop().time,
            **{"interval_s": 0.5, **options},
        )
        self.running = asyncio.create_task(self.checkpointer.run())

    async def begin(self, *partitions: int) -> None:
        await self.checkpointer.restore(partitions)
        self.fence.open()

    def apply(self, partition: int, offset: int, rows: dict, *effects: Outgoing, topic: str = TOPIC):
        given = batch_of(self.fence, topic, offset, [b"x"], partition=partition)
        self.checkpointer.record(given, rows, list(effects))
        return given

    async def end(self) -> None:
        self.fence.shut()
        await self.checkpointer.abandon()

    async def stop(self) -> None:
        self.running.cancel()
        await asyncio.gather(self.running, return_exceptions=True)
        await self.end()


@contextlib.asynccontextmanager
async def running(*partitions: int, **options):
    stage = Stage(**options)
    await stage.begin(*partitions)
    yield stage
    await stage.stop()


async def test_a_checkpoint_carries_rows_effects_and_offsets_and_then_acks():
    async with running(0) as stage:
        given = stage.apply(0, 4, {b"a": b"1"}, effect("one"))
        assert not given.acked
        await asyncio.sleep(0.6)
        assert given.acked
        assert stage.broker.rows(0) == {b"a": b"1"}
        assert stage.broker.effects == [effect("one")]
        assert stage.broker.committed == {(TOPIC, 0): 5}
        assert dict(stage.checkpointer[0].scan()) == {b"a": b"1"}
        assert stage.checkpointer[0].safe_to == 1
        counters = stage.checkpointer.counters
        assert (counters.checkpoints, counters.checkpoint_rows, counters.checkpoint_bytes) == (1, 1, 2 + len(b"one"))
        assert counters.checkpoint_s == counters.longest_checkpoint_s


async def test_nothing_is_acked_before_the_broker_has_it():
    async with running(0) as stage:
        answered = asyncio.Event()
        stage.changelog.on("committed", answered)
        given = stage.apply(0, 0, {b"a": b"1"})
        await asyncio.sleep(60)
        assert stage.broker.rows(0) == {b"a": b"1"}
        assert not given.acked
        assert stage.checkpointer[0].safe_to == 0
        answered.set()
        await settled()
        assert given.acked


async def test_a_partition_has_one_checkpoint_at_a_time_and_what_came_meanwhile_goes_together():
    async with running(0) as stage:
        arrived = asyncio.Event()
        stage.changelog.on("commit", arrived)
        stage.apply(0, 0, {b"a": b"1"})
        await asyncio.sleep(0.6)
        for offset in (1, 2):
            stage.apply(0, offset, {b"a": str(offset).encode()})
            await asyncio.sleep(5)
        assert stage.changelog.calls.count(("commit", 0)) == 1
        arrived.set()
        await asyncio.sleep(1)
        assert [len(sent.batches) for _, sent in stage.broker.transactions] == [1, 2]
        assert stage.broker.rows(0) == {b"a": b"2"}


async def test_two_who_find_a_checkpoint_due_in_the_same_moment_start_one():
    async with running(0, interval_s=1_000.0) as stage:
        given = stage.apply(0, 0, {b"a": b"1"})
        stage.checkpointer._start_due()  # the interval
        stage.fence.close()
        await stage.checkpointer.settle()  # a revocation
        assert given.acked
        assert stage.failures == []


async def test_a_slow_partition_does_not_hold_up_another():
    async with running(0, 1) as stage:
        stage.changelog.on("commit", asyncio.Event(), partition=0)
        slow, quick = stage.apply(0, 0, {b"a": b"1"}), stage.apply(1, 0, {b"b": b"1"})
        await asyncio.sleep(0.6)
        assert quick.acked
        assert not slow.acked
        again = stage.apply(1, 1, {b"b": b"2"})
        await asyncio.sleep(0.6)
        assert again.acked


async def test_asking_brings_the_next_checkpoint_forward():
    async with running(0, interval_s=100.0) as stage:
        given = stage.apply(0, 0, {b"a": b"1"})
        stage.checkpointer.ask()
        await asyncio.sleep(0.1)
        assert given.acked


async def test_a_partition_without_changes_has_no_checkpoints():
    async with running(0) as stage:
        await asyncio.sleep(10)
        assert stage.broker.transactions == []


@pytest.mark.parametrize("point", ["commit", "committed"], ids=["nothing arrived", "the answer was lost"])
async def test_a_checkpoint_in_doubt_shuts_the_fence_acks_nothing_and_is_told(point):
    async with running(0) as stage:
        doubt = Retryable("broker away")
        stage.changelog.on(point, doubt)
        given = stage.apply(0, 0, {b"a": b"1"})
        await asyncio.sleep(0.6)
        assert stage.fence.phase is Phase.SHUT
        assert stage.failures == [doubt]
        assert not given.acked
        await asyncio.sleep(60)
        assert stage.changelog.calls.count(("commit", 0)) == 1, (
            "it may have arrived, or somebody else may own it by now"
        )


async def test_when_several_partitions_are_in_doubt_the_epoch_is_begun_anew_once():
    """Twice at a time, each would close the producers of the other's recovery."""
    async with running(0, 1, 2) as stage:
        stage.changelog.on("commit", *(Retryable("broker away") for _ in range(3)))
        for partition in range(3):
            stage.apply(partition, 0, {b"a": b"1"})
        await asyncio.sleep(5)
        assert len(stage.failures) == 1


async def test_a_checkpoint_that_fails_when_its_epoch_is_over_begins_nothing_anew():
    async with running(0) as stage:
        answer = asyncio.Event()
        stage.changelog.on("commit", answer)
        stage.changelog.on("committed", Retryable("answer lost"))
        stage.apply(0, 0, {b"a": b"1"})
        await asyncio.sleep(0.6)
        stage.fence.shut()  # revoked: whoever did this goes on from here
        answer.set()
        await settled()
        assert stage.failures == []


@pytest.mark.parametrize("point", ["commit", "committed"], ids=["nothing arrived", "the answer was lost"])
async def test_an_epoch_begun_anew_after_doubt_knows_what_arrived(point):
    async with running(0) as stage:
        stage.apply(0, 0, {b"a": b"before"})
        await asyncio.sleep(0.6)
        stage.changelog.on(point, Retryable("broker away"))
        stage.apply(0, 1, {b"a": b"in doubt"}, effect("in doubt"))
        await asyncio.sleep(0.6)
        await stage.end()
        await stage.begin(0)
        arrived = point == "committed"
        assert dict(stage.checkpointer[0].scan()) == {b"a": b"in doubt" if arrived else b"before"}
        assert stage.broker.committed == {(TOPIC, 0): 2 if arrived else 1}
        assert stage.broker.effects == ([effect("in doubt")] if arrived else [])
        again = stage.apply(0, 2, {b"a": b"after"})
        await asyncio.sleep(0.6)
        assert again.acked


async def test_an_old_owner_shuts_its_fence_and_acks_nothing():
    async with running(0) as stage:
        successor = FakeChangelog(stage.broker)
        await successor.open([0])
        given = stage.apply(0, 0, {b"a": b"1"})
        await asyncio.sleep(0.6)
        assert stage.fence.phase is Phase.SHUT
        assert not given.acked
        assert not given.current
        assert stage.broker.transactions == []
        assert stage.checkpointer.counters.fenced == 1
        assert stage.failures == []


async def test_being_fenced_in_an_epoch_that_is_over_does_not_shut_the_next_one():
    async with running(0) as stage:
        gone = asyncio.Event()
        stage.changelog.on("commit", gone)
        stage.changelog.on("commit", Fenced("too late"))
        stage.apply(0, 0, {b"a": b"1"})
        await asyncio.sleep(0.6)
        stage.fence.shut()
        stage.fence.open()
        stage.broker.owners[0] = object()
        gone.set()
        await settled()
        assert stage.fence.phase is Phase.OPEN


async def test_an_unforeseen_failure_shuts_the_fence_acks_nothing_and_is_told():
    async with running(0) as stage:
        stage.changelog.on("commit", ValueError("a bug"))
        given = stage.apply(0, 0, {b"a": b"1"})
        await asyncio.sleep(0.6)
        assert stage.fence.phase is Phase.SHUT
        assert [str(error) for error in stage.failures] == ["a bug"]
        assert not given.acked


async def test_nothing_leaves_after_the_fence_is_shut():
    async with running(0) as stage:
        given = stage.apply(0, 0, {b"a": b"1"})
        stage.fence.shut()
        await asyncio.sleep(5)
        assert stage.broker.transactions == []
        assert not given.acked


async def test_an_answer_that_comes_after_the_epoch_acks_nothing_and_claims_nothing():
    async with running(0) as stage:
        answered = asyncio.Event()
        stage.changelog.on("committed", answered)
        given = stage.apply(0, 0, {b"a": b"1"})
        await asyncio.sleep(0.6)
        stage.fence.shut()
        answered.set()
        await settled()
        assert not given.acked
        assert stage.checkpointer[0].safe_to == 0


async def test_settling_finishes_what_was_applied_and_returns():
    async with running(0, 1, interval_s=1_000.0) as stage:
        given = [stage.apply(0, 0, {b"a": b"1"}), stage.apply(1, 0, {b"b": b"1"})]
        stage.fence.close()
        await stage.checkpointer.settle()
        assert [batch.acked for batch in given] == [True, True]


async def test_settling_takes_along_what_came_while_a_checkpoint_was_on_its_way():
    async with running(0, interval_s=0.1) as stage:
        arrives = asyncio.Event()
        stage.changelog.on("commit", arrives)
        stage.apply(0, 0, {b"a": b"1"})
        await asyncio.sleep(0.15)
        late = stage.apply(0, 1, {b"a": b"2"})
        stage.fence.close()
        settling = asyncio.create_task(stage.checkpointer.settle())
        await settled()
        assert not settling.done()
        arrives.set()
        await settling
        assert late.acked


async def test_settling_ends_when_a_checkpoint_fails():
    async with running(0, interval_s=1_000.0) as stage:
        stage.changelog.on("commit", Retryable("broker away"))
        given = stage.apply(0, 0, {b"a": b"1"})
        stage.fence.close()
        await stage.checkpointer.settle()
        assert not given.acked
        assert not given.held


async def test_settling_with_nothing_to_do_or_with_a_shut_fence_returns_at_once():
    async with running(0, interval_s=1_000.0) as stage:
        await stage.checkpointer.settle()
        stage.apply(0, 0, {b"a": b"1"})
        stage.fence.shut()
        await stage.checkpointer.settle()
        assert stage.broker.transactions == []


async def test_abandoning_drops_the_rest_and_a_new_epoch_begins_with_what_is_safe():
    async with running(0, 1) as stage:
        stage.apply(0, 0, {b"a": b"safe"})
        await asyncio.sleep(0.6)
        stage.changelog.on("commit", asyncio.Event())
        leaving = stage.apply(0, 1, {b"a": b"leaving"})
        await asyncio.sleep(0.6)
        pending = stage.apply(0, 2, {b"a": b"pending"})
        stage.fence.shut()
        await stage.checkpointer.abandon()
        assert dict(stage.checkpointer[0].scan()) == {b"a": b"safe"}
        await stage.begin(0, 1)
        again = stage.apply(0, 1, {b"a": b"again"})
        await asyncio.sleep(0.6)
        assert stage.broker.rows(0) == {b"a": b"again"}
        assert (leaving.acked, pending.acked, again.acked) == (False, False, True)


async def test_a_partition_goes_on_in_the_next_epoch_even_if_a_checkpoint_was_due_just_as_the_last_one_was_abandoned():
    """Whatever turn of the loop the interval ends in."""
    for turns in range(8):
        async with running(0, 1, interval_s=1_000.0) as stage:
            stage.changelog.on("commit", asyncio.Event(), partition=0)
            stage.apply(0, 0, {b"a": b"1"})
            stage.checkpointer.ask()
            await asyncio.sleep(0.1)
            stage.apply(1, 0, {b"b": b"1"})  # dirty, and not on its way yet
            stage.fence.shut()
            abandoning = asyncio.create_task(stage.checkpointer.abandon())
            for _ in range(turns):
                await asyncio.sleep(0)
            stage.checkpointer._start_due()
            await abandoning
            await settled()
            await stage.begin(0, 1)
            again = [stage.apply(0, 0, {b"a": b"1"}), stage.apply(1, 0, {b"b": b"1"})]
            stage.checkpointer.ask()
            await asyncio.sleep(1)
            assert [batch.acked for batch in again] == [True, True], f"after {turns} turns of the loop"


async def test_restoring_brings_rows_up_to_date_and_reads_only_what_is_new():
    broker = Broker()
    async with running(0, broker=broker) as stage:
        stage.apply(0, 0, {b"a": b"1", b"gone": b"1"})
        await asyncio.sleep(0.6)
        stage.fence.shut()
        await stage.checkpointer.abandon()
        broker.log[0] += [(b"a", b"2"), (b"gone", None)]
        await stage.begin(0)
        assert stage.changelog.read_from == [(0, 0), (0, 2)]
        assert dict(stage.checkpointer[0].scan()) == {b"a": b"2"}
        assert stage.checkpointer[0].safe_to == 4


async def test_a_partition_that_was_away_is_read_from_its_beginning():
    broker = Broker()
    async with running(0, 1, broker=broker) as stage:
        stage.apply(0, 0, {b"a": b"1"})
        await asyncio.sleep(0.6)
        stage.fence.shut()
        await stage.checkpointer.abandon()
        await stage.begin(1)
        assert stage.checkpointer.partitions == [1]
        with pytest.raises(KeyError):
            stage.checkpointer[0]
        broker.log[0] = [(b"b", b"compacted")]
        stage.fence.shut()
        await stage.checkpointer.abandon()
        await stage.begin(0, 1)
        assert dict(stage.checkpointer[0].scan()) == {b"b": b"compacted"}


@pytest.mark.parametrize("point", ["open", "read"])
async def test_restoring_again_after_a_failure_gives_the_same_rows(point):
    broker = Broker()
    broker.log[0] += [(b"a", b"1"), (b"a", None), (b"b", b"2")]
    broker.log[1] += [(b"c", b"3")]
    async with running(broker=broker) as stage:
        stage.changelog.on(point, None, Retryable("broker away"))
        with pytest.raises(Retryable):
            await stage.checkpointer.restore([0, 1])
        await stage.checkpointer.restore([0, 1])
        assert dict(stage.checkpointer[0].scan()) == {b"b": b"2"}
        assert dict(stage.checkpointer[1].scan()) == {b"c": b"3"}


async def test_taking_a_partition_over_comes_before_reading_it():
    async with running(0, 1) as stage:
        points = [point for point, _ in stage.changelog.calls if point in ("open", "read")]
        assert points == ["open", "open", "read", "read"]


async def test_room_waits_while_too_much_is_on_its_way_and_asks_for_a_checkpoint():
    async with running(0, interval_s=1_000.0, max_pending_bytes=10) as stage:
        stage.apply(0, 0, {b"a": b"x" * 9})
        await asyncio.wait_for(stage.checkpointer.room(0), 0.001)  # 10 bytes fit
        stage.apply(0, 1, {b"b": b"x" * 9})
        begun = asyncio.get_running_loop().time()
        await stage.checkpointer.room(0)
        assert asyncio.get_running_loop().time() - begun < 1
        assert stage.broker.rows(0).keys() == {b"a", b"b"}


async def test_room_in_one_partition_does_not_wait_for_another():
    async with running(0, 1, max_pending_bytes=10) as stage:
        stage.changelog.on("commit", asyncio.Event(), partition=0)
        stage.apply(0, 0, {b"a": b"x" * 99})
        await asyncio.wait_for(stage.checkpointer.room(1), 0.001)


async def test_everybody_who_waits_for_room_is_released():
    async with running(0, interval_s=1_000.0, max_pending_bytes=10) as stage:
        stage.apply(0, 0, {b"a": b"x" * 99})
        await asyncio.gather(*(stage.checkpointer.room(0) for _ in range(3)))


async def test_abandoning_releases_who_waits_for_room():
    async with running(0, interval_s=1_000.0, max_pending_bytes=10) as stage:
        stage.changelog.on("commit", asyncio.Event())
        stage.apply(0, 0, {b"a": b"x" * 99})
        stage.checkpointer.ask()
        await asyncio.sleep(1)
        stage.apply(0, 1, {b"a": b"x" * 99})
        waiting = asyncio.create_task(stage.checkpointer.room(0))
        await settled()
        assert not waiting.done()
        stage.fence.shut()
        await stage.checkpointer.abandon()
        await asyncio.wait_for(waiting, 0.1)
