"""The window agent decodes and applies records, and commits rows, effects and offsets together."""

import asyncio

import pytest
from msgspec.structs import replace

from schemas.conversations.windows import UNDO_S
from schemas.errors import Retryable
from schemas.policies.policies import Policies
from schemas.policies.triggers import Triggers
from streams.apps import BATCH_RECORDS
from streams.windows.rows import rows
from tests.fakes.batches import batch_of
from tests.fakes.chats import CONVERSATION, control, ended, unextracted
from tests.fakes.clock import START_S
from tests.unit.windows.stage.window_stage import CONTROL, ENDED, MESSAGES, PARTITION, POLICY, Stage, said


@pytest.fixture
async def stage() -> Stage:
    return await Stage().begin()


async def test_messages_and_their_end_become_one_request_with_the_source_partition(stage):
    batches = [await stage.say(said(1), said(2)), await stage.end(ended())]
    assert stage.requests == []
    await stage.checkpoint()
    (request,) = stage.requests
    assert [m.message_id for m in request.messages] == ["m1", "m2"]
    assert (request.partition, request.first, request.last) == (PARTITION, 0, 1)
    assert request.policy == "app"
    assert request.namespaces == ("app/user",)
    (effect,) = stage.app.broker.effects
    assert (effect.partition, effect.key) == (PARTITION, CONVERSATION.encode())
    assert [batch.acked for batch in batches] == [True, True]


async def test_rows_effects_and_offsets_are_committed_in_one_transaction(stage):
    await stage.say(said(1))
    await stage.end(ended())
    await stage.checkpoint()
    ((partition, sent),) = stage.app.broker.transactions
    assert partition == PARTITION
    assert sent.offsets() == {MESSAGES: 1, ENDED: 1}
    assert list(sent.rows)[-1] == rows.head_key(CONVERSATION)
    assert len(sent.effects) == 1


async def test_a_batch_whose_epoch_ends_while_it_is_handled_changes_nothing(stage):
    await stage.say(said(1))
    stage.app.consumer.answer.clear()
    batch = stage.batch(ENDED, [ended()])
    handling = asyncio.create_task(stage.agent.handle(batch))
    await stage.app.consumer.requested.wait()
    await stage.app.end_epoch()
    before = list(stage.app.broker.transactions)
    await stage.begin()
    stage.app.consumer.answer.set()
    await handling
    await stage.checkpoint()
    assert stage.app.broker.transactions == before
    assert not batch.acked
    assert not rows.load(CONVERSATION, stage.app.checkpointer[PARTITION].read).head.ended


async def test_a_batch_whose_epoch_closes_while_it_is_handled_changes_nothing(stage):
    stage.app.consumer.answer.clear()
    batch = stage.batch(ENDED, [ended()])
    handling = asyncio.create_task(stage.agent.handle(batch))
    await stage.app.consumer.requested.wait()
    stage.app.fence.close()
    stage.app.consumer.answer.set()
    await handling
    assert not stage.app.checkpointer[PARTITION].dirty


async def test_an_end_is_retried_unapplied_if_the_log_end_offset_cannot_be_fetched(stage):
    await stage.say(said(1))
    stage.app.consumer.failures.append(Retryable("broker away"))
    batch = stage.batch(ENDED, [ended()])
    with pytest.raises(Retryable):
        await stage.agent.handle(batch)
    await stage.agent.handle(batch)
    await stage.checkpoint()
    assert len(stage.requests) == 1


async def test_an_end_that_overtakes_its_messages_is_released_when_they_arrive(stage):
    await stage.say(said(1))
    stage.app.consumer.log_ends[MESSAGES, PARTITION] = 3
    await stage.end(ended())
    await stage.checkpoint()
    assert stage.requests == []
    await stage.deliver(MESSAGES, said(2), said(3))
    await stage.checkpoint()
    assert [m.message_id for m in stage.requests[0].messages] == ["m1", "m2", "m3"]


async def test_an_end_held_for_messages_of_another_conversation_is_released_when_these_are_read(stage):
    """The partition is read past the end's highwater by messages of somebody else."""
    await stage.say(said(1))
    stage.app.consumer.log_ends[MESSAGES, PARTITION] = 2
    await stage.end(ended())
    await stage.deliver(MESSAGES, said(2, conversation_id="another"))
    await stage.checkpoint()
    assert [m.message_id for m in stage.requests[0].messages] == ["m1"]


async def test_an_end_held_for_transaction_control_records_is_released_by_a_timer(stage):
    await stage.say(said(1))
    stage.app.consumer.log_ends[MESSAGES, PARTITION] = 2
    await stage.end(ended())
    assert await stage.due() == []
    stage.app.consumer.handed(MESSAGES, PARTITION, 2, records=False)
    (due,) = await stage.due()
    assert (due.conversation_id, due.kind, due.read_to) == (CONVERSATION, "due", 2)
    assert stage.publisher.records[0].partition == PARTITION
    await stage.tell(due)
    await stage.checkpoint()
    assert len(stage.requests) == 1


async def test_a_batch_that_waits_for_its_checkpoint_keeps_no_records_in_memory(stage):
    given = await stage.say(said(1), said(2))
    assert (given.records, given.acked) == ([], False)
    await stage.checkpoint()
    assert given.acked


async def test_a_redelivered_batch_changes_nothing(stage):
    await stage.say(said(1))
    await stage.end(ended())
    await stage.checkpoint()
    await stage.app.end_epoch()
    stage.offsets = dict.fromkeys(stage.offsets, 0)
    await stage.begin()
    await stage.say(said(1))
    await stage.end(ended())
    await stage.checkpoint()
    assert len(stage.requests) == 1
    assert len(stage.app.broker.transactions) == 2


async def test_a_batch_of_interleaved_conversations_has_the_same_result_as_single_messages(stage):
    at_once = Stage(policy=replace(POLICY, triggers=Triggers(on_exchange=True)))
    one_by_one = Stage(policy=replace(POLICY, triggers=Triggers(on_exchange=True)))
    mixed = [
        said(number, f"message {number}", conversation_id=conversation_id, role=role)
        for number, (conversation_id, role) in enumerate(
            [("a", "user"), ("b", "user"), ("a", "assistant"), ("c", "user"), ("b", "assistant"), ("a", "user")]
        )
    ]
    await (await at_once.begin()).say(*mixed)
    await one_by_one.begin()
    for each in mixed:
        await one_by_one.say(each)
    for one in (at_once, one_by_one):
        await one.checkpoint()
    assert by_id(at_once.requests) == by_id(one_by_one.requests)
    assert {each.conversation_id: len(each.messages) for each in at_once.requests} == {"a": 2, "b": 2}
    for conversation_id in ("a", "b", "c"):
        together, single = (
            rows.load(conversation_id, each.app.checkpointer[PARTITION].read) for each in (at_once, one_by_one)
        )
        assert list(together.entries.values()) == list(single.entries.values())
        assert (together.head.tally, together.head.requested_to) == (single.head.tally, single.head.requested_to)


def by_id(requests):
    return {request.request_id: request for request in requests}


async def test_an_extraction_answer_lets_the_messages_be_deleted_after_a_clear(stage):
    await stage.say(said(1))
    await stage.end(ended())
    await stage.checkpoint()
    await stage.tell(control("extraction_completed", request_id=stage.requests[0].request_id))
    assert unextracted(stage.window()) == []
    await stage.tell(control("clear"))
    await stage.checkpoint()
    left = {rows.removals_key(CONVERSATION), rows.head_key(CONVERSATION)}
    assert set(stage.app.broker.rows(PARTITION)) == {*left, rows.chunk_key(CONVERSATION, 0)}
    assert stage.window().deadline(POLICY).at <= stage.clock() + UNDO_S, "then its messages go"
    stage.clock.advance(UNDO_S)
    await stage.tell(control("due"))
    await stage.checkpoint()
    assert set(stage.app.broker.rows(PARTITION)) <= left


async def test_a_message_after_an_end_without_messages_waits_for_the_late_idle_time_of_its_policy(stage):
    await stage.end(ended())
    await stage.say(said(1))
    stage.clock.advance(POLICY.late_idle_s - 0.1)
    assert await stage.due() == []
    stage.clock.advance(0.1)
    assert len(await stage.due()) == 1


async def test_a_batch_without_records_advances_the_committed_offset(stage):
    """Control records alone: no lag may stay."""
    for topic in (MESSAGES, ENDED, CONTROL):
        given = batch_of(stage.app.fence, topic, 0, [], partition=PARTITION)
        given.end = 1
        await stage.agent.handle(given)
    await stage.checkpoint()
    assert stage.app.broker.committed == {(topic, PARTITION): 1 for topic in (MESSAGES, ENDED, CONTROL)}


async def test_requests_carry_the_time_at_which_they_were_made(stage):
    await stage.say(said(1))
    await stage.end(ended())
    await stage.checkpoint()
    assert stage.requests[0].requested_at.timestamp() == START_S


@pytest.mark.parametrize(("before", "urgent"), [(10, True), (BATCH_RECORDS["windows"] - 1, False)])
async def test_a_request_triggers_an_early_checkpoint_unless_there_is_a_backlog(before, urgent):
    eager = Stage(policy=replace(POLICY, triggers=Triggers(on_exchange=True)))
    await eager.begin()
    await eager.say(*(said(number) for number in range(before)), said(before, role="assistant"))
    assert bool(eager.app.checkpointer._requested_partitions) is urgent
    await eager.checkpoint()
    assert sum(len(request.messages) for request in eager.requests) == before + 1


async def test_a_policy_change_reschedules_the_timers_of_waiting_windows_and_governs_their_requests():
    stage = await Stage().begin()
    await stage.say(said(1), said(2))
    stage.clock.advance(60.0)
    assert await stage.due() == [], "nothing but its end, or a day of silence, asks for this conversation"
    changed = replace(POLICY, version=2, triggers=Triggers(idle_s=30.0), namespaces=("changed",))
    stage.terms.governed(Policies((changed,)))
    (due,) = await stage.due()
    assert due.conversation_id == CONVERSATION
    await stage.tell(due)
    await stage.checkpoint()
    (request,) = stage.requests
    assert (request.policy, request.policy_version, request.namespaces) == ("app", 2, ("changed",))
    assert len(request.messages) == 2


async def test_a_policy_change_applies_to_the_next_message_of_a_cached_window():
    stage = await Stage().begin()
    await stage.say(said(1))
    stage.terms.governed(Policies((replace(POLICY, triggers=Triggers(after_tokens=1)),)))
    await stage.say(said(2))
    await stage.checkpoint()
    assert [len(request.messages) for request in stage.requests] == [2]
