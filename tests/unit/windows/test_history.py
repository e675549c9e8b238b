"""What is in context: pruned when the conversation calls for it, told with its reasons, and counted without looking."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from agents.window_told import outgoing
from schemas.ids import summary_id
from schemas.messages import ToolCall
from schemas.policies import Policy
from schemas.requests import ExtractionRequest
from schemas.window_settings import MOST_MESSAGES, WindowSettings
from schemas.windows import LONGEST_SUMMARY, Calibration
from streams.windows import rows, statistics
from streams.windows.accounting import Budget
from streams.windows.head import REMEMBERED_PRUNINGS
from streams.windows.history import MOST_PROMPTS, MOST_REASONS, SUMMARIES_IN_ONE_MARKER
from streams.windows.pruning import prune
from streams.windows.tally import Tally
from streams.windows.terms import Terms
from streams.windows.told import Pruned, Told, Warned
from streams.windows.window import Window
from tests.fakes.chats import CONVERSATION, control, ended, in_context, message, requests_among, unextracted
from tests.fakes.turns import window_settings

NOW = 1_800_000_000.0
SIZE = 1_000  # tokens of the model


class Talk:
    """A conversation under a policy; `told` is all that its window told so far."""

    def __init__(self, extract: bool = True, model_tokens: int = SIZE, **settings: Any) -> None:
        self.policy = Policy(name="p", extract=extract, window=WindowSettings(**settings))
        self.terms = Terms.of(self.policy, Budget.of(self.policy.window, model_tokens))
        self.window = Window.opened(CONVERSATION, 0)
        self.told: list[Told] = []
        self.offset = self.controls = 0

    def say(self, role: str = "user", tokens: int = 10, content: str = "hello", at: int | None = None, **fields: Any):
        said = message(
            self.offset if at is None else at, content, role=role, **{"message_id": f"m{self.offset}"} | fields
        )
        return self.note(self.window.add(said, self.offset, tokens, self.terms, NOW), said=1)

    def exchange(self, times: int = 1, tokens: int = 10) -> None:
        for _ in range(times):
            self.say("user", tokens)
            self.say("assistant", tokens)

    def answer(self, request: ExtractionRequest, summary: str, tokens: int = 5) -> None:
        """As the LLM stage answers a request for a summary."""
        known = summary_id(request.summary) if request.summary else None
        self.control("summarised", tokens, first=request.first, last=request.last, summary=summary, known=known)

    def control(self, kind: str, tokens: int = 0, **fields: Any) -> list[Told]:
        self.controls += 1
        return self.note(self.window.control(control(kind, **fields), self.controls, self.terms, NOW, tokens))

    def note(self, told: list[Told], said: int = 0) -> list[Told]:
        self.offset += said
        self.told += told
        return told

    def pruned(self) -> list[Pruned]:
        return [each for each in self.told if isinstance(each, Pruned)]

    def warned(self) -> list[str]:
        return [each.statistics.level for each in self.told if isinstance(each, Warned)]


def test_at_the_warning_level_it_is_told_and_pruned_down_to_the_target():
    talk = Talk(max_messages=200)
    talk.say("system", 100)
    talk.exchange(34)
    assert talk.told == []
    warned, pruned = talk.say("user", 20)
    assert isinstance(warned, Warned)
    assert warned.statistics.percent_used == 80.0
    assert isinstance(pruned, Pruned)
    assert pruned.pruning.cause == "usage"
    assert pruned.pruning.tokens_before == 800
    assert 600 < pruned.pruning.tokens_after <= 700
    assert pruned.statistics.total_tokens == pruned.pruning.tokens_after
    assert talk.window.head.tally.used_tokens == pruned.pruning.tokens_after


def test_a_message_that_reaches_the_aggressive_level_at_once_is_pruned_to_the_lower_target():
    talk = Talk(max_messages=200)
    talk.exchange(35)
    talk.say("user", 210)
    assert talk.warned() == ["aggressive"]
    (pruned,) = talk.pruned()
    assert pruned.pruning.level == "aggressive"
    assert pruned.pruning.tokens_after <= 600


def test_a_warning_is_told_again_only_after_the_level_was_lower():
    talk = Talk(max_messages=200, min_recent=100)
    talk.exchange(45)  # nothing may leave: everything is recent
    assert talk.warned() == ["warning", "aggressive"]
    assert talk.pruned() == []
    talk.control("clear")
    talk.exchange(40)
    assert talk.warned() == ["warning", "aggressive", "warning"]


def test_too_many_messages_are_pruned_once_in_a_while_not_at_every_message():
    talk = Talk(model_tokens=1_000_000)
    talk.exchange(100)
    assert 8 <= len(talk.pruned()) <= 12
    assert {pruned.pruning.cause for pruned in talk.pruned()} == {"usage"}
    assert talk.warned() == []
    assert len(in_context(talk.window)) <= 50


def test_a_task_that_is_finished_leaves_when_the_next_one_begins():
    talk = Talk(model_tokens=100_000, min_recent=2)
    talk.say("user", content="Please fix the login page, it crashes.")
    talk.say("assistant", content="Fixed: the session was read before it was opened.")
    talk.say("user", content="Great, that works now. Thanks!")
    talk.say("assistant", content="You are welcome.")
    told = talk.say("user", content="Next task: write a migration for the invoices table.")
    (pruned,) = told
    assert isinstance(pruned, Pruned)
    assert pruned.pruning.cause == "boundary"
    assert set(pruned.reasons.values()) == {"completed_task"}


def test_what_is_not_pruned_at_boundaries_stays():
    talk = Talk(model_tokens=100_000, min_recent=1, prune_at_boundary=False, prune_at_session_start=False)
    talk.say("user", content="Great, that works now. Thanks!")
    talk.say("user", content="Next task: write a migration for the invoices table.")
    talk.say("user", at=100_000)
    assert talk.told == []


def test_after_a_long_pause_a_task_begins_and_what_is_unfinished_stays():
    talk = Talk(model_tokens=100_000, min_recent=1)
    talk.exchange(3)
    assert talk.say("user", at=100_000) == []
    assert [turn.segment for turn in talk.window.history.turns()] == [0] * 6 + [1]


def test_a_conversation_that_goes_on_after_its_end_begins_a_session_once():
    talk = Talk(model_tokens=100_000, min_recent=1)
    talk.exchange(2)
    talk.note(talk.window.end(ended(timestamp=message(10).timestamp), 0, 0, 100, talk.terms, NOW))
    assert talk.say("user", at=9) == [], "it was said before the end and came late"
    (pruned,) = talk.say("user", at=20_000)
    assert isinstance(pruned, Pruned)
    assert pruned.pruning.cause == "session_start"
    assert in_context(talk.window) == [5]
    assert talk.say("user", at=20_001) == []
    assert talk.window.head.ended


def test_what_comes_after_the_end_is_asked_for_after_silence_once_and_then_as_ever():
    talk = Talk(model_tokens=100_000)
    talk.exchange(2)
    talk.note(talk.window.end(ended(timestamp=message(10).timestamp), 0, 0, 100, talk.terms, NOW))
    talk.say("user", at=20_000)
    assert talk.window.alarm(talk.policy).at == NOW + talk.policy.late_idle_s
    (request,) = requests_among(talk.window.due(0, talk.terms, NOW + talk.policy.late_idle_s))
    assert [each.position for each in request.messages] == [4]
    assert not talk.window.head.ended
    talk.say("user", at=20_060)
    assert requests_among(talk.window.due(0, talk.terms, NOW + 600)) == []


def test_a_system_prompt_that_comes_again_takes_the_place_of_the_one_before():
    talk = Talk(model_tokens=100_000)
    for _ in range(300):
        talk.say("system", content="You are a helpful assistant.")
        talk.exchange(1)
    prompts = [turn for turn in talk.window.history.turns() if turn.role == "system"]
    assert len(prompts) == 1
    assert len(talk.window.history.removals.gaps) <= 60
    assert {reason for pruned in talk.pruned() for reason in pruned.reasons.values()} >= {"repeated"}


def test_of_very_many_different_system_prompts_the_first_and_the_latest_stay():
    talk = Talk(model_tokens=100_000)
    for number in range(50):
        talk.say("system", content=f"It is {number} o'clock.")
    positions = [turn.position for turn in talk.window.history.turns()]
    assert positions == [0, *range(50 - MOST_PROMPTS + 1, 50)]


def test_a_call_with_thousands_of_results_does_not_keep_them_all():
    talk = Talk(model_tokens=1_000_000)
    talk.say("assistant", tool_calls=(ToolCall(id="x", name="n"),))
    for _ in range(500):
        talk.say("tool", tool_call_id="x")
    assert len(in_context(talk.window)) <= 60


def test_a_pruning_of_very_many_messages_is_told_in_an_event_of_bounded_size():
    talk = Talk(max_messages=MOST_MESSAGES, model_tokens=10_000_000)
    for number in range(MOST_MESSAGES):
        talk.say("user", message_id=f"{number:06}" + "\x01" * 250)
    (cleared,) = talk.control("clear")
    assert isinstance(cleared, Pruned)
    assert cleared.pruning.count == MOST_MESSAGES
    assert len(cleared.reasons) == MOST_REASONS
    assert len(outgoing(cleared, 0, datetime.now(UTC)).value or b"") < 1_048_576


def test_under_a_policy_without_extraction_what_was_cleared_never_comes_back():
    talk = Talk(extract=False)
    talk.say("system", 10)
    talk.exchange(2)
    talk.control("clear")
    talk.control("flush")
    assert talk.window.head.cut_to == 5
    loaded = rows.load(CONVERSATION, rows.save(talk.window).get)
    assert loaded is not None
    assert list(loaded.entries) == list(talk.window.entries) == [0]


def test_what_leaves_when_a_policy_stops_extracting_is_still_known_by_its_id():
    talk = Talk(max_messages=2, min_recent=1)
    talk.exchange(2)
    talk.terms = Terms.of(replace(talk.policy, extract=False), talk.terms.budget)
    talk.note(talk.window.end(ended(), 0, 0, 100, talk.terms, NOW))
    loaded = rows.load(CONVERSATION, rows.save(talk.window).get)
    assert loaded is not None
    assert list(loaded.entries) == list(talk.window.entries)
    loaded.add(message(0, message_id="m0"), 99, 10, talk.terms, NOW)
    assert loaded.head.received == 4


def test_by_hand_a_window_is_pruned_to_the_lower_target():
    talk = Talk(max_messages=200)
    talk.exchange(37)
    assert talk.pruned() == []
    (pruned,) = talk.control("prune")
    assert isinstance(pruned, Pruned)
    assert (pruned.pruning.cause, pruned.pruning.level) == ("manual", "ok")
    assert pruned.pruning.tokens_after <= 600
    assert talk.control("prune") == []


def test_clear_empties_the_context_but_the_system_prompt_and_keeps_what_is_not_extracted():
    talk = Talk()
    talk.say("system", 50)
    talk.exchange(3)
    (cleared,) = talk.control("clear")
    assert isinstance(cleared, Pruned)
    assert cleared.pruning.cause == "cleared"
    assert cleared.pruning.count == 6
    assert in_context(talk.window) == [0]
    assert unextracted(talk.window) == list(range(7))
    assert talk.window.head.cleared_at == NOW
    (request,) = requests_among(talk.control("flush"))
    assert [each.position for each in request.messages] == list(range(7))
    talk.control("extraction_completed", request_id=request.request_id)
    assert list(talk.window.entries) == [0]


def test_clearing_what_is_empty_is_told_too():
    talk = Talk()
    (cleared,) = talk.control("clear")
    assert isinstance(cleared, Pruned)
    assert cleared.pruning.count == 0


def test_each_message_that_left_is_told_with_its_reason_and_runs_add_up():
    talk = Talk(model_tokens=1_000_000)
    talk.exchange(26)
    (pruned,) = talk.pruned()
    assert set(pruned.reasons) == {f"m{at}" for at in range(talk.offset) if at not in in_context(talk.window)}
    assert sum(run.count for run in pruned.pruning.removed) == len(pruned.reasons)
    assert all(run.first <= run.last for run in pruned.pruning.removed)


def test_without_extraction_a_message_is_forgotten_once_it_left_the_context():
    talk = Talk(extract=False, model_tokens=1_000_000)
    talk.exchange(40)
    assert requests_among(talk.told) == []
    assert list(talk.window.entries) == in_context(talk.window)
    assert talk.window.head.waiting_since == 0.0
    assert talk.window.alarm(talk.policy).at == NOW + talk.policy.triggers.abandoned_s + talk.policy.grace_s


def test_what_waits_when_a_policy_stops_extracting_is_not_asked_for_any_more():
    talk = Talk()
    talk.exchange(2)
    talk.terms = Terms.of(replace(talk.policy, extract=False), talk.terms.budget)
    assert talk.control("flush") == []
    assert unextracted(talk.window) == []


def test_the_counts_at_hand_are_those_of_the_messages():
    talk = Talk(model_tokens=2_000, min_recent=3)
    for step in range(200):
        talk.say(("user", "assistant", "tool", "user", "assistant", "system")[step % 6], 1 + step % 40)
        if step == 120:
            talk.control("clear")
        gaps = talk.window.history.removals.gaps
        assert talk.window.head.tally == Tally.of(talk.window.history.turns(), gaps)
    shown = statistics.statistics(talk.window.history.turns(), gaps, talk.terms.budget, talk.window.head.last_prune)
    assert shown == statistics.of(talk.window.head.tally, talk.terms.budget, talk.window.head.last_prune)
    assert shown.total_messages == 200


def test_what_a_model_bills_is_held_against_its_size():
    talk = Talk(max_messages=200)
    talk.terms = Terms.of(talk.policy, Budget.of(talk.policy.window, SIZE, Calibration(1.25, 20)))
    talk.exchange(31)
    assert talk.told == []
    talk.exchange(1)
    assert talk.warned() == ["warning"]


def test_the_latest_prunings_are_remembered_and_survive_a_restart():
    talk = Talk(extract=False, model_tokens=1_000_000)
    talk.exchange(150)
    prunings = talk.window.history.removals.prunings
    assert len(prunings) == REMEMBERED_PRUNINGS
    assert [each.number for each in prunings] == list(range(len(talk.pruned()) - 7, len(talk.pruned()) + 1))
    stored = rows.save(talk.window)
    loaded = rows.load(CONVERSATION, stored.get)
    assert loaded is not None
    assert loaded.history.removals == talk.window.history.removals
    assert in_context(loaded) == in_context(talk.window)


@pytest.fixture
def summarised() -> Talk:
    talk = Talk(model_tokens=1_000_000, summarise=True)
    talk.exchange(26)
    return talk


def summaries(told: list[Told]) -> list[ExtractionRequest]:
    return [request for request in requests_among(told) if request.purpose == "summarise"]


def test_a_summary_of_what_left_is_asked_for_and_comes_into_the_marker(summarised):
    (request,) = summaries(summarised.told)
    (gap,) = summarised.window.history.removals.gaps
    assert (request.first, request.last) == (gap.first, gap.last)
    assert len(request.messages) == gap.count
    used = summarised.window.head.tally.used_tokens
    summarised.answer(request, "They said hello.", 12)
    (told,) = summarised.window.history.removals.gaps
    assert told.marker == f"... [{gap.count} messages removed: They said hello.] ..."
    assert summarised.window.head.tally.used_tokens == used + 12


def test_what_leaves_next_is_summarised_together_with_the_summary_that_is_there(summarised):
    (first,) = summaries(summarised.told)
    summarised.answer(first, "They said hello.", 12)
    summarised.exchange(10)
    (_, second) = summaries(summarised.told)
    assert second.summary == "They said hello."
    summarised.answer(second, "They greeted each other.", 9)
    (gap,) = summarised.window.history.removals.gaps
    assert (gap.summary, gap.summary_tokens) == ("They greeted each other.", 9)
    summarised.answer(second, "They greeted each other.", 9)
    assert summarised.window.history.removals.gaps == (gap,), "told twice"


def test_two_summaries_that_know_the_same_earlier_one_lose_nothing(summarised):
    (first,) = summaries(summarised.told)
    summarised.answer(first, "One.")
    summarised.exchange(20)
    _, second, third = summaries(summarised.told)
    assert second.summary == third.summary == "One."
    summarised.answer(second, "One and two.")
    summarised.answer(third, "One and three.")
    (gap,) = summarised.window.history.removals.gaps
    assert "two" in gap.summary and "three" in gap.summary


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_summaries_that_come_in_any_order_or_twice_lose_nothing(summarised, order):
    summarised.exchange(10)
    requests = summaries(summarised.told)
    texts = ("Early greetings.", "Later greetings.")
    for at in (*order, *order):
        summarised.answer(requests[at], texts[at])
    (gap,) = summarised.window.history.removals.gaps
    assert gap.summary == "Early greetings. Later greetings."
    assert gap.summary_tokens == 10


def test_summaries_do_not_fill_the_context(summarised):
    talk = summarised
    for _ in range(20):
        talk.exchange(10)
        for request in summaries(talk.told)[-1:]:
            part = "x" * (LONGEST_SUMMARY // 5) + str(talk.offset)
            talk.control("summarised", 90, first=request.last, last=request.last, summary=part, known="another")
    assert talk.window.head.tally.summary_tokens <= SUMMARIES_IN_ONE_MARKER * talk.policy.window.summary_tokens


def test_a_summary_that_fills_the_context_has_it_pruned():
    talk = Talk(max_messages=200, summarise=True)
    talk.exchange(40)
    (request,) = summaries(talk.told)
    left = talk.window.head.tally.used_tokens
    talk.answer(request, "A very long summary.", 800 - left)
    assert talk.warned() == ["warning", "warning"]
    assert talk.window.head.tally.used_tokens <= 700


@pytest.mark.parametrize("strategy", ["rolling_window", "importance", "hybrid"])
def test_a_question_stays_until_its_answer_has_come(strategy):
    talk = Talk(model_tokens=1_000_000, strategy=strategy)
    talk.exchange(5)
    talk.say("user", content="Which of these files has the bug?")
    for number in range(60):
        talk.say("assistant", tool_calls=(ToolCall(id=f"c{number}", name="read"),))
        talk.say("tool", tool_call_id=f"c{number}")
        assert 10 in in_context(talk.window)
    talk.say("assistant", content="It is in the parser.")
    assert in_context(talk.window)[-1] == talk.offset - 1
    assert 10 in in_context(talk.window)


def test_a_summary_of_what_no_gap_holds_any_more_changes_nothing(summarised):
    before = replace(summarised.window.history.removals)
    summarised.control("summarised", 5, first=0, last=10_000, summary="too wide")
    summarised.control("summarised", 5, first=0, last=3)
    assert summarised.window.history.removals == before


TEXTS = (
    "hello",
    "Thanks!",
    "Error: it failed",
    "No, I meant five.",
    "Always answer in French.",
    "Done, that works now.",
)
OPENINGS = ("Next task: book a flight.", "Let's start over.", "Can you write a test?")
turns = st.lists(
    st.tuples(
        st.sampled_from(["user", "user", "assistant", "assistant", "tool", "system"]),
        st.integers(0, 200),
        st.sampled_from(TEXTS + OPENINGS),
        st.sampled_from([0, 1, 60, 10_000, -300]),
        st.sampled_from(["say", "say", "say", "say", "prune", "clear", "summary", "end", "restart"]),
    ),
    max_size=40,
)


@settings(max_examples=150)
@given(window_settings(), st.integers(50, 3_000), st.booleans(), turns)
def test_whatever_is_said_and_done_a_context_is_within_its_limit_and_counts_add_up(
    limits, model_tokens, extract, turns
):
    talk, at, stored = Talk(extract, model_tokens), 0, rows.Rows()
    talk.policy = replace(talk.policy, window=replace(limits, summarise=True))
    talk.terms = Terms.of(talk.policy, Budget.of(talk.policy.window, model_tokens, Calibration(1.2, 9)))
    for role, tokens, text, pause, what in turns:
        at = max(0, at + pause)
        talk.say(role, tokens, text, at, tool_call_id="c" if role == "tool" else None)
        match what:
            case "prune" | "clear":
                talk.control(what)
            case "summary":
                for request in summaries(talk.told)[-1:]:
                    talk.answer(request, f"They said {talk.offset} things.", 80)
            case "end":
                event = ended(timestamp=message(at).timestamp)
                talk.note(talk.window.end(event, talk.offset, 0, talk.offset, talk.terms, NOW))
            case "restart":
                stored |= rows.save(talk.window)
                talk.window = rows.load(CONVERSATION, stored.get) or talk.window
        history, budget, tally = talk.window.history, talk.terms.budget, talk.window.head.tally
        shown = history.turns()
        assert tally == Tally.of(shown, history.removals.gaps)
        assert tally.account.total_messages + tally.pruned == talk.window.head.received == talk.offset
        assert [turn.position for turn in shown] == sorted(turn.position for turn in shown)
        fits = budget.billed(tally.used_tokens) <= budget.max_tokens and tally.said <= limits.max_messages
        assert fits or not prune(shown, history.removals.gaps, budget, NOW).removed
        if what != "clear":
            recent = [number for number in range(talk.offset) if number in talk.window.entries][-1:]
            assert set(recent) <= set(in_context(talk.window))
