"""Settings of one conversation: those that its policy allows, and their effects."""

import pytest
from msgspec.structs import replace

from schemas.conversations.window_choices import WindowChoice, WindowChoices
from schemas.conversations.window_settings import Adjustable, WindowSettings
from tests.fakes.chats import control, in_context
from tests.unit.windows.stage.window_stage import POLICY, Stage, said

RANGES = Adjustable(
    strategy=("rolling_window", "hybrid"), max_messages=(4, 60), min_recent=(2, 20), max_tokens=(100, 9_000)
)
SETTINGS = WindowSettings(max_messages=20, min_recent=2, adjustable=RANGES)
CHOSEN = WindowChoice(max_messages=5)


@pytest.fixture
async def stage() -> Stage:
    return await Stage(policy=replace(POLICY, window=SETTINGS)).begin()


def test_an_allowed_choice_replaces_the_settings_of_the_policy():
    choice = WindowChoice(strategy="rolling_window", max_messages=30, max_tokens=500, min_recent=3)
    choice.require_allowed(SETTINGS)
    found = choice.applied(SETTINGS)
    assert (found.strategy, found.max_messages, found.max_tokens, found.min_recent) == ("rolling_window", 30, 500, 3)


def test_a_choice_beyond_the_ranges_of_a_changed_policy_is_clamped_or_ignored():
    assert WindowChoice(max_messages=900, min_recent=1).applied(SETTINGS).max_messages == 60
    assert WindowChoice(strategy="importance", warning_at=0.5).applied(SETTINGS) == SETTINGS
    assert WindowChoice(max_messages=900).applied(WindowSettings()) == WindowSettings()


def test_contradictory_choices_are_rejected_and_leave_the_settings_unchanged():
    choice = WindowChoice(max_messages=4, min_recent=20)
    with pytest.raises(ValueError, match="max_messages is 4 and must be at least min_recent"):
        choice.require_allowed(SETTINGS)
    assert choice.applied(SETTINGS) == SETTINGS


def test_a_lower_warning_level_lowers_its_targets():
    settings = WindowSettings(adjustable=Adjustable(warning_at=(0.4, 0.85)))
    found = WindowChoice(warning_at=0.4).applied(settings)
    assert (found.warning_target, found.aggressive_target) == pytest.approx((0.35, 0.3))
    assert WindowChoice(warning_at=0.85).applied(settings).warning_target == settings.warning_target


@pytest.mark.parametrize("ranges", [{"max_messages": (9, 3)}, {"warning_at": (0.5, 0.95)}, {"min_recent": (0, 3)}])
def test_an_adjustable_range_that_no_valid_setting_fits_is_rejected(ranges):
    with pytest.raises(ValueError, match="adjustable"):
        WindowSettings(adjustable=Adjustable(**ranges))


async def test_a_context_that_exceeds_newly_chosen_settings_is_pruned_at_once(stage):
    await stage.say(*(said(n) for n in range(12)))
    await stage.tell(control("settings", settings=CHOSEN))
    assert len(in_context(stage.window())) <= 5
    await stage.say(*(said(n) for n in range(12, 30)))
    assert len(in_context(stage.window())) <= 5


async def test_choices_survive_a_crash_and_a_redelivered_choice_changes_nothing(stage):
    await stage.say(*(said(n) for n in range(12)))
    await stage.tell(control("settings", settings=CHOSEN), control("settings", settings=WindowChoice()))
    await stage.checkpoint()
    await stage.app.end_epoch()
    stage.offsets = dict.fromkeys(stage.offsets, 0)
    await stage.begin()
    await stage.tell(control("settings", settings=CHOSEN))
    assert stage.window().adjustments.settings is None


async def test_a_choice_for_one_conversation_applies_to_no_other(stage):
    await stage.say(*(said(n) for n in range(3)))
    await stage.tell(control("settings", settings=WindowChoice(max_tokens=700)))
    await stage.checkpoint()
    window = stage.window()
    assert stage.terms.now(window).budget.max_tokens == 700
    assert stage.terms.of(window.head.scope, window.head.model).budget.max_tokens != 700


def test_the_choice_of_the_conversation_wins_over_a_contradictory_choice_of_the_user():
    choices = WindowChoices(user=WindowChoice(max_messages=5), conversation=WindowChoice(min_recent=20))
    found = choices.applied(SETTINGS)
    assert (found.max_messages, found.min_recent, choices.chosen_by(SETTINGS)["max_messages"]) == (20, 20, "policy")
    assert choices.chosen_by(SETTINGS)["min_recent"] == "conversation"


def test_a_conversation_strategy_the_policy_forbids_leaves_the_choice_of_the_user_in_force():
    choices = WindowChoices(WindowChoice(strategy="rolling_window"), WindowChoice(strategy="importance"))
    assert choices.applied(SETTINGS).strategy == "rolling_window"
    assert choices.chosen_by(SETTINGS)["strategy"] == "user"
