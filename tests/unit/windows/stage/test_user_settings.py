"""A user's settings apply to the windows of all their conversations."""

import asyncio
from collections.abc import Collection
from datetime import timedelta

import pytest
from msgspec.structs import replace

from agents.windows.user_choices import CACHE_S
from schemas.conversations.user_settings import User
from schemas.conversations.window_choices import WindowChoice
from schemas.conversations.window_settings import Adjustable, WindowSettings
from schemas.erasure.erasures import Fence
from schemas.errors import Retryable
from schemas.kafka import topics
from tests.fakes.chats import BEGAN, CONVERSATION, control, in_context
from tests.fakes.user_settings import FakeUserSettings
from tests.unit.windows.stage.window_stage import MESSAGES, POLICY, Stage, said

SETTINGS = WindowSettings(max_messages=20, min_recent=2, adjustable=Adjustable(max_messages=(4, 60), min_recent=(2, 9)))
USER = User(user_id="user", app_id="app")
FEW = WindowChoice(max_messages=5)


@pytest.fixture
async def stage() -> Stage:
    return await Stage(policy=replace(POLICY, window=SETTINGS)).begin()


def messages_held(stage: Stage) -> int:
    return len(in_context(stage.window()))


async def test_a_new_conversation_uses_the_settings_of_its_user(stage):
    await stage.user_settings.choose(USER, FEW, BEGAN)
    await stage.say(*(said(n) for n in range(12)))
    assert messages_held(stage) <= 5
    assert stage.window().adjustments.user_settings == FEW


async def test_conversations_of_other_users_use_the_settings_of_the_policy(stage):
    await stage.user_settings.choose(replace(USER, user_id="somebody"), FEW, BEGAN)
    await stage.say(*(said(n) for n in range(12)))
    assert messages_held(stage) == 12


async def test_a_group_conversation_uses_the_settings_of_the_first_user_named_in_its_messages(stage):
    await stage.user_settings.choose(replace(USER, user_id="guest"), FEW, BEGAN)
    await stage.say(said(0), *(said(n, user_id="guest") for n in range(1, 12)))
    assert messages_held(stage) == 12


async def test_settings_of_the_conversation_override_settings_of_its_user(stage):
    await stage.user_settings.choose(USER, WindowChoice(max_messages=5, min_recent=3), BEGAN)
    await stage.say(said(0))
    await stage.tell(control("settings", settings=WindowChoice(max_messages=9)))
    in_force = stage.terms.now(stage.window()).policy.window
    assert (in_force.max_messages, in_force.min_recent) == (9, 3)
    await stage.tell(control("settings", settings=WindowChoice()))
    assert stage.terms.now(stage.window()).policy.window.max_messages == 5


async def test_a_user_settings_event_prunes_the_context_at_once(stage):
    await stage.say(*(said(n) for n in range(12)))
    await stage.user_settings.choose(USER, FEW, BEGAN)
    await stage.tell(control("user_settings"))
    assert messages_held(stage) <= 5


async def test_without_an_event_new_user_settings_apply_at_the_first_message_after_the_cache_time(stage):
    await stage.say(*(said(n) for n in range(12)))
    await stage.user_settings.choose(USER, FEW, BEGAN)
    await stage.say(said(12))
    assert messages_held(stage) == 13
    stage.clock.advance(CACHE_S)
    await stage.say(said(13))
    assert messages_held(stage) <= 5


class Overtaken(FakeUserSettings):
    """Answers the first question once it is let: with what held when it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.reached, self.let = asyncio.Event(), asyncio.Event()

    async def chosen_by(self, users: Collection[User]) -> dict[User, WindowChoice]:
        found = await super().chosen_by(users)
        if not self.reached.is_set():
            self.reached.set()
            await self.let.wait()
        return found


async def test_a_slow_lookup_does_not_overwrite_newer_user_settings_received_meanwhile(stage):
    await stage.say(*(said(n) for n in range(12)))
    stage.clock.advance(CACHE_S)
    slow = Overtaken()
    stage.users._store = slow
    saying = asyncio.create_task(stage.say(said(12)))
    await slow.reached.wait()
    stage.clock.advance(0.5)
    await slow.choose(USER, FEW, BEGAN)
    await stage.tell(control("user_settings"))
    slow.let.set()
    await saying
    assert stage.window().adjustments.user_settings == FEW
    assert messages_held(stage) <= 5


async def test_a_full_settings_cache_keeps_the_users_of_the_current_batch(stage, monkeypatch):
    monkeypatch.setattr("agents.windows.user_choices.MAX_CACHED", 2)
    await stage.user_settings.choose(USER, FEW, BEGAN)
    await stage.say(said(0, conversation_id="c1"), said(1, conversation_id="c2", user_id="ada"))
    await stage.say(said(2), said(3, conversation_id="c3", user_id="bob"))
    assert stage.window().adjustments.user_settings == FEW
    assert stage.user_settings.calls == 2
    assert len(stage.users._known) == 2


async def test_users_are_looked_up_once_per_cache_time_and_never_if_nothing_is_adjustable(stage):
    for n in range(10):
        await stage.say(said(n))
    assert stage.user_settings.calls == 1
    strict = await Stage(policy=POLICY).begin()
    await strict.say(said(0))
    assert strict.user_settings.calls == 0


async def test_a_user_settings_event_stores_the_choice_and_an_older_event_changes_nothing(stage):
    await stage.say(*(said(n) for n in range(12)))
    chosen = control("user_settings", settings=FEW, at=BEGAN + timedelta(seconds=9))
    await stage.tell(chosen, control("user_settings", settings=WindowChoice(), at=BEGAN))
    assert messages_held(stage) <= 5
    assert (await stage.user_settings.chosen_for(USER)) == FEW


async def test_for_a_missing_window_a_settings_notice_is_ignored_and_a_choice_is_dead_lettered(stage):
    await stage.tell(control("user_settings"), control("user_settings", settings=FEW))
    await stage.checkpoint()
    (letter,) = [effect for effect in stage.app.broker.effects if effect.topic == topics.DEAD_LETTERS]
    assert ("memstream-reason", b"no_window") in letter.headers
    assert stage.user_settings.kept == {}


async def test_user_settings_for_a_conversation_without_a_user_are_dead_lettered(stage):
    await stage.say(said(0, user_id=None))
    await stage.tell(control("user_settings", settings=FEW), control("user_settings"))
    await stage.checkpoint()
    (letter,) = [effect for effect in stage.app.broker.effects if effect.topic == topics.DEAD_LETTERS]
    assert ("memstream-reason", b"no_user") in letter.headers


async def test_user_settings_survive_a_crash_without_a_new_lookup(stage):
    await stage.user_settings.choose(USER, FEW, BEGAN)
    await stage.say(said(0))
    await stage.checkpoint()
    await stage.app.end_epoch()
    again = await Stage(stage.app.broker, stage.clock, replace(POLICY, window=SETTINGS)).begin()
    assert again.terms.now(again.window()).policy.window.max_messages == 5
    assert again.user_settings.calls == 0


async def test_a_batch_that_opens_a_window_is_retried_while_its_user_cannot_be_looked_up(stage):
    stage.user_settings.failures.append(Retryable("PostgreSQL is down"))
    batch = stage.batch(MESSAGES, [said(0)])
    with pytest.raises(Retryable):
        await stage.agent.handle(batch)
    await stage.agent.handle(batch)
    assert messages_held(stage) == 1


async def test_an_open_window_keeps_its_user_settings_while_lookups_fail(stage):
    await stage.user_settings.choose(USER, FEW, BEGAN)
    await stage.say(said(0))
    stage.clock.advance(CACHE_S)
    stage.user_settings.failures.append(Retryable("PostgreSQL is down"))
    await stage.say(*(said(n) for n in range(1, 12)))
    assert stage.window().adjustments.user_settings == FEW
    assert messages_held(stage) <= 5
    await stage.user_settings.choose(USER, WindowChoice(max_messages=7), BEGAN)
    await stage.say(said(12))
    assert stage.user_settings.calls == 1, "an outage is not asked about at each batch"
    stage.clock.advance(CACHE_S)
    await stage.say(said(13))
    assert stage.window().adjustments.user_settings == WindowChoice(max_messages=7)


async def test_during_a_lookup_outage_a_window_keeps_settings_applied_by_another_worker(stage):
    await stage.say(said(0))
    await stage.checkpoint()
    await stage.app.end_epoch()
    other = Stage(stage.app.broker, stage.clock, replace(POLICY, window=SETTINGS))
    other.offsets = stage.offsets
    await other.begin()
    await other.user_settings.choose(USER, FEW, BEGAN)
    await other.say(said(1))
    await other.checkpoint()
    await other.app.end_epoch()
    await stage.begin()
    stage.clock.advance(CACHE_S)
    stage.user_settings.failures.append(Retryable("PostgreSQL is down"))
    await stage.say(said(2))
    assert stage.window().adjustments.user_settings == FEW


async def test_an_erasure_of_the_user_removes_the_user_settings_from_windows_for_good(stage):
    await stage.user_settings.choose(USER, FEW, BEGAN)
    await stage.say(said(0), said(1, user_id="guest"))
    stage.user_settings.kept.clear()  # as the erasure does
    fence = Fence(BEGAN + timedelta(seconds=60))
    await stage.tell(control("erase", at=fence.at, users=("user",)))
    assert stage.window().adjustments.user_settings is None
    await stage.say(said(70, user_id="guest"))
    assert stage.window().adjustments.user_settings is None
    assert stage.window().head.scope.conversation_id == CONVERSATION
