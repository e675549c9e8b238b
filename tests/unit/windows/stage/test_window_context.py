"""Context changes emit activity events in the transaction of the rows that record them."""

import pytest
from msgspec.structs import replace

from schemas.conversations.window_settings import WindowSettings
from schemas.conversations.windows import Calibration
from schemas.kafka import topics
from tests.fakes.chats import CONVERSATION, control, ended, in_context
from tests.unit.windows.stage.window_stage import PARTITION, POLICY, Stage, said

LONG = "x" * 100  # a token a character


def types(stage: Stage) -> list[str]:
    return [event.type.removeprefix("memstream.window.") for event in stage.activity]


@pytest.fixture
async def stage() -> Stage:
    return await Stage(policy=replace(POLICY, window=WindowSettings(min_recent=2))).begin()


async def test_a_context_that_fills_up_emits_a_warning_and_a_pruned_event(stage):
    await stage.say(*(said(n, LONG, model="small") for n in range(8)))
    await stage.checkpoint()
    warned, pruned = stage.activity
    assert types(stage) == ["warned", "pruned"]
    assert warned.subject == CONVERSATION
    assert warned.data["level"] == "warning"
    assert warned.data["statistics"]["percent_used"] == 82.4
    assert pruned.data["cause"] == "usage"
    assert pruned.data["removed"] == len(pruned.data["reasons"]) == 2
    assert pruned.data["app_id"] == "app"
    assert pruned.data["tokens_after"] == 630
    ((_, sent),) = stage.app.broker.transactions
    assert [effect.topic for effect in sent.effects] == [topics.ACTIVITY] * 2
    assert dict(sent.effects[0].headers)["content-type"] == b"application/cloudevents+json"


async def test_the_latest_model_named_in_a_message_determines_the_context_size(stage):
    await stage.say(*(said(n, LONG, model="large" if n < 8 else None) for n in range(9)))
    await stage.checkpoint()
    assert stage.activity == []
    await stage.say(said(9, LONG, model="small"))
    await stage.checkpoint()
    assert types(stage) == ["warned", "pruned"]
    assert stage.activity[0].data["level"] == "aggressive"


async def test_a_new_token_calibration_of_a_model_applies_from_the_next_message(stage):
    await stage.say(*(said(n, LONG, model="small") for n in range(6)))
    stage.terms.calibrated({"small": Calibration(1.5, 30)})
    await stage.say(said(6, "x", model="small"))
    await stage.checkpoint()
    assert types(stage) == ["warned", "pruned"]
    assert stage.activity[0].data["statistics"]["total_tokens"] == 933


async def test_a_batch_applied_again_after_a_crash_emits_events_with_the_same_ids(stage):
    event_ids = []
    for _ in range(2):
        again = await Stage(policy=stage_policy()).begin()
        await again.say(*(said(n, LONG, model="small") for n in range(8)))
        await again.checkpoint()
        event_ids.append([event.id for event in again.activity])
    assert event_ids[0] == event_ids[1]
    assert len(set(event_ids[0])) == 2


def stage_policy():
    return replace(POLICY, window=WindowSettings(min_recent=2))


async def test_a_manual_clear_empties_the_context_and_emits_an_event(stage):
    await stage.say(said(0, role="system"), said(1), said(2))
    await stage.tell(control("clear"))
    await stage.checkpoint()
    (cleared,) = stage.activity
    assert types(stage) == ["cleared"]
    assert cleared.data["removed"] == 2
    assert set(cleared.data["reasons"].values()) == {"cleared"}
    assert in_context(stage.window()) == [0]
    await stage.tell(control("flush"))
    await stage.checkpoint()
    assert [m.message_id for m in stage.requests[0].messages] == ["m0", "m1", "m2"]


async def test_each_undo_emits_an_event_of_its_own_that_names_the_undone_cause(stage):
    await stage.say(said(0, role="system"), said(1), said(2))
    for _ in range(2):
        await stage.tell(control("clear"), control("restore"))
        await stage.checkpoint()
    assert types(stage) == ["cleared", "restored"] * 2
    first, second = (each for each in stage.activity if each.type.endswith("restored"))
    assert first.id != second.id
    assert (first.data["restored"], first.data["cause"]) == (2, "cleared")


async def test_a_redelivered_clear_changes_nothing(stage):
    await stage.say(said(1), said(2))
    await stage.tell(control("clear"))
    await stage.checkpoint()
    await stage.app.end_epoch()
    stage.offsets = dict.fromkeys(stage.offsets, 0)
    await stage.begin()
    await stage.say(said(1), said(2))
    await stage.tell(control("clear"))
    await stage.checkpoint()
    assert types(stage) == ["cleared"]


async def test_a_mark_emits_an_event_and_survives_a_crash(stage):
    await stage.say(said(1), said(2))
    await stage.tell(control("mark", message_id="m1", importance="pinned"))
    await stage.checkpoint()
    (marked,) = stage.activity
    assert (types(stage), marked.data["outcome"], marked.data["message_id"]) == (["marked"], "applied", "m1")
    await stage.app.end_epoch()
    stage.offsets = dict.fromkeys(stage.offsets, 0)
    await stage.begin()
    await stage.tell(control("mark", message_id="m1", importance="pinned"))
    await stage.checkpoint()
    assert types(stage) == ["marked"]
    assert stage.window().adjustments.marks == {"m1": "pinned"}


async def test_a_summary_is_requested_on_the_partition_of_the_conversation_and_stored_in_its_marker():
    stage = await Stage(policy=replace(POLICY, window=WindowSettings(min_recent=2, summarise=True))).begin()
    await stage.say(*(said(n, LONG, model="small") for n in range(8)))
    await stage.checkpoint()
    (request,) = stage.requests
    assert (request.purpose, request.partition, request.namespaces) == ("summarise", PARTITION, ())
    answer = control("summarised", first=request.first, last=request.last, summary="They said x.")
    await stage.tell(answer)
    window = stage.window()
    (gap,) = window.history.removals.gaps
    assert gap.marker == "... [2 messages removed: They said x.] ..."
    assert gap.summary_tokens == len("They said x.")


async def test_a_pruned_window_leaves_no_rows_when_it_expires(stage):
    await stage.say(*(said(n, LONG, model="small") for n in range(20)))
    await stage.tell(control("flush"))
    await stage.checkpoint()
    extractions = [request.request_id for request in stage.requests]
    await stage.tell(*(control("extraction_completed", request_id=request_id) for request_id in extractions))
    stage.clock.advance(POLICY.triggers.abandoned_s + POLICY.grace_s)
    (due,) = await stage.due()
    await stage.tell(due)
    await stage.checkpoint()
    assert stage.app.broker.rows(PARTITION) == {}
    await stage.say(said(30))
    assert in_context(stage.window()) == [20]
    assert stage.window().head.received == 1


async def test_an_end_without_the_messages_that_it_announces_emits_one_event_and_one_log_line(stage, caplog):
    await stage.say(said(1))
    await stage.end(ended(message_count=3))
    stage.clock.advance(POLICY.straggler_wait_s)
    await stage.tell(*await stage.due())
    await stage.say(said(2))
    await stage.checkpoint()
    (event,) = stage.activity
    assert types(stage) == ["ended_incomplete"]
    assert (event.data["received"], event.data["message_count"]) == (1, 3)
    assert "last_message_id" not in event.data
    (line,) = [each for each in caplog.messages if CONVERSATION in each]
    assert "(message_count 3, last_message_id None): 1 arrived" in line
