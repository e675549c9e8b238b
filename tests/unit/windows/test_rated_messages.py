"""Model ratings of messages are kept with the window, used by pruning and deleted with their messages."""

from schemas.conversations.window_settings import WindowSettings
from schemas.policies.policies import Policy
from streams.windows.pruning.importance import importance
from streams.windows.rows import rows
from streams.windows.window import Window
from tests.fakes.chats import CONVERSATION, always, control, message, terms
from tests.unit.windows.one_window import NOW

SMALL = terms(Policy(name="small", extract=False, window=WindowSettings(max_messages=10, min_recent=2)))
BY_IMPORTANCE = terms(
    Policy(name="small", extract=False, window=WindowSettings(max_messages=10, min_recent=2, strategy="importance"))
)


def opened(*numbers: int) -> Window:
    window = Window.opened(CONVERSATION, partition=2)
    say(window, *numbers)
    return window


def say(window: Window, *numbers: int, kept=SMALL) -> None:
    for number in numbers:
        window.add(message(number), number, 10, always(kept), NOW)


def rate(window: Window, offset: int, **ratings: int) -> None:
    window.control(control("rated", ratings=ratings), offset, SMALL, NOW)


def test_a_message_rated_high_outlives_older_and_newer_ones():
    window = opened(*range(1, 9))
    rate(window, 0, m3=9)
    for strategy in (SMALL, BY_IMPORTANCE):
        say(window, *range(window.head.received + 1, window.head.received + 6), kept=strategy)
        assert 3 in window.history.in_context


def test_a_message_rated_low_is_removed_before_older_ones():
    window = opened(*range(1, 11))
    rate(window, 0, m6=0)
    say(window, 11)
    assert 6 not in window.history.in_context and 5 in window.history.in_context


def test_a_rating_replaces_the_text_based_importance_but_age_and_recency_still_count():
    window = opened(1)
    plain = window.history.in_context[1]
    rate(window, 0, m1=8)
    rated = window.history.in_context[1]
    assert (importance(plain, 30, NOW), importance(rated, 30, NOW)) == (0.3, 0.8)
    assert importance(rated, 15, NOW) == 0.9
    assert importance(rated, 30, rated.timestamp + 3 * 86_400) == 0.5


def test_a_mark_overrides_a_rating():
    window = opened(1, 2)
    rate(window, 0, m1=9)
    window.control(control("mark", message_id="m1", importance="expendable"), 1, SMALL, NOW)
    assert importance(window.history.in_context[1], 30, NOW) == 0.0


def test_ratings_are_applied_once_survive_a_crash_and_are_removed_with_their_messages():
    window = opened(*range(1, 9))
    rate(window, 3, m2=4, m7=9, nobody=9)
    rate(window, 3, m7=1)
    again = rows.load(CONVERSATION, rows.save(window).get)
    assert again is not None
    assert again.adjustments.ratings == {"m2": 4, "m7": 9}
    assert again.history.in_context[7].rating == 9
    say(again, *range(9, 30))
    assert set(again.adjustments.ratings) <= {f"m{at}" for at in again.history.in_context}
