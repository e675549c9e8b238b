"""Timers notify due windows and write nothing; they are restored with their partition."""

import pytest

from agents.windows.agent import DUE_AGAIN_AFTER_S
from schemas import codec
from schemas.errors import Retryable
from schemas.kafka import topics
from schemas.policies.policies import Policy
from schemas.windows.window_controls import WindowControl
from streams.delivery.fence import Phase
from tests.fakes.chats import CONVERSATION, control, ended, message
from tests.unit.windows.stage.window_stage import MESSAGES, PARTITION, POLICY, Stage, said


@pytest.fixture
async def stage() -> Stage:
    return await Stage().begin()


async def test_a_timer_publishes_one_due_event_and_repeats_it_only_if_it_had_no_effect(stage):
    await stage.say(said(1))
    await stage.end(ended())
    await stage.say(said(2))
    stage.clock.advance(POLICY.late_idle_s)
    assert len(await stage.due()) == 1
    assert await stage.due() == []
    stage.clock.advance(DUE_AGAIN_AFTER_S - 0.1)
    assert await stage.due() == []
    stage.clock.advance(0.1)
    assert len(await stage.due()) == 1


async def test_a_timer_publishes_its_due_event_later_if_publishing_failed(stage):
    await stage.end(ended())
    await stage.say(said(1))
    stage.clock.advance(POLICY.late_idle_s)
    stage.publisher.failures.append(Retryable("broker away"))
    with pytest.raises(Retryable):
        await stage.agent.tick()
    stage.clock.advance(DUE_AGAIN_AFTER_S)
    assert len(await stage.due()) == 1


async def test_timers_never_write_the_table(stage):
    await stage.end(ended())
    await stage.say(said(1))
    await stage.checkpoint()
    stage.clock.advance(POLICY.late_idle_s)
    assert len(await stage.due()) == 1
    assert not stage.app.checkpointer[PARTITION].dirty


@pytest.mark.parametrize("phase", [Phase.CLOSING, Phase.SHUT])
async def test_timers_publish_nothing_unless_the_epoch_is_open(stage, phase):
    await stage.end(ended())
    await stage.say(said(1))
    stage.clock.advance(POLICY.late_idle_s)
    stage.app.fence.phase = phase
    assert await stage.due() == []
    stage.app.fence.phase = Phase.OPEN
    assert len(await stage.due()) == 1


async def test_alarms_are_restored_from_the_rows_after_an_epoch_change(stage):
    await stage.end(ended())
    await stage.say(said(1))
    await stage.app.end_epoch()
    stage.clock.advance(POLICY.late_idle_s)
    assert await stage.due() == []
    await stage.begin()
    (due,) = await stage.due()
    assert due.conversation_id == CONVERSATION


async def test_alarms_move_with_their_partition_to_another_worker(stage):
    await stage.end(ended())
    await stage.say(said(1))
    await stage.app.end_epoch()
    successor = Stage(stage.app.broker, stage.clock)
    successor.offsets = dict(stage.offsets)
    await successor.begin()
    stage.clock.advance(POLICY.late_idle_s)
    assert len(await successor.due()) == 1
    assert await stage.due() == []


async def test_in_memory_changes_of_an_abandoned_epoch_are_discarded_in_the_next(stage):
    await stage.say(said(1))
    await stage.checkpoint()
    await stage.say(said(2))  # never reaches the broker
    stage.app.fence.shut()
    await stage.app.checkpointer.abandon()
    stage.offsets[MESSAGES] = 1
    await stage.begin()
    await stage.say(said(2))
    await stage.end(ended())
    await stage.checkpoint()
    assert [m.position for m in stage.requests[0].messages] == [0, 1]


async def test_a_request_without_an_answer_is_sent_again(stage):
    await stage.say(said(1))
    await stage.end(ended())
    await stage.checkpoint()
    stage.clock.advance(POLICY.reask_after_s)
    (due,) = await stage.due()
    await stage.tell(due, due)
    await stage.checkpoint()
    first, again = stage.requests
    assert again.request_id == first.request_id
    assert again.attempt == 2


async def test_a_finished_window_is_deleted_after_its_grace_period(stage):
    await stage.say(said(1))
    await stage.end(ended())
    await stage.checkpoint()
    await stage.tell(control("extraction_completed", request_id=stage.requests[0].request_id))
    stage.clock.advance(POLICY.grace_s - 1)
    assert await stage.due() == []
    stage.clock.advance(1)
    (due,) = await stage.due()
    await stage.tell(due)
    await stage.checkpoint()
    assert stage.app.broker.rows(PARTITION) == {}
    stage.clock.advance(10_000)
    assert await stage.due() == []
    await stage.say(said(2))
    await stage.end(ended())
    await stage.checkpoint()
    first, second = stage.requests
    assert [m.message_id for m in second.messages] == ["m2"]
    assert first.request_id != second.request_id
    assert stage.window().head.received == 1


async def test_answers_and_due_events_for_a_deleted_window_are_ignored(stage):
    await stage.tell(control("due"), control("extraction_completed", request_id="r"), control("summarised"))
    await stage.checkpoint()
    assert stage.app.broker.rows(PARTITION) == {}
    assert stage.app.broker.effects == []
    await stage.say(said(1))
    await stage.end(ended())
    await stage.checkpoint()
    assert len(stage.requests) == 1


async def test_a_busy_conversation_does_not_pile_up_alarms(stage):
    await stage.say(said(0))
    await stage.tell(control("flush"))
    for number in range(1, 200):
        await stage.say(said(number))
    waiting = sum(len(times) for times in stage.agent._cache._times.values())
    assert waiting < 20


async def test_a_long_conversation_has_one_alarm_in_the_queue():
    stage = await Stage().begin()
    for number in range(200):
        await stage.say(message(number))
        stage.clock.advance(1.0)
    assert len(stage.agent._cache._times[PARTITION]) == 1
    stage.clock.advance(Policy(name="p").triggers.abandoned_s)
    await stage.agent.tick()
    assert [codec.decode(record.value, WindowControl).kind for record in stage.publisher.on(topics.WINDOW_CONTROL)] == [
        "due"
    ]


async def test_a_postponed_alarm_fires_at_its_new_time():
    stage = await Stage().begin()
    await stage.say(message(1))
    stage.clock.advance(80_000.0)
    await stage.say(message(2))
    stage.clock.advance(10_000.0)
    await stage.agent.tick()
    assert stage.publisher.on(topics.WINDOW_CONTROL) == []
    stage.clock.advance(76_400.0)
    await stage.agent.tick()
    assert len(stage.publisher.on(topics.WINDOW_CONTROL)) == 1
