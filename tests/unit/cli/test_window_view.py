"""The output of a window's state, for people and scripts."""

import json

from deploy.cli import window_view
from schemas import codec
from schemas.conversations.messages import Scope
from schemas.conversations.windows import Gap, LastPrune, Pruning, Run, Statistics, WindowState

PRUNING = Pruning(
    number=1,
    at=1_700_000_000.0,
    cause="boundary",
    level="ok",
    tokens_before=900,
    tokens_after=400,
    removed=(Run("completed_task", 2, 3, 2), Run("oldest", 5, 5, 1), Run("completed_task", 7, 7, 1)),
)


def statistics(last: LastPrune | None) -> Statistics:
    return Statistics(
        total_messages=14,
        messages_in_context=10,
        pruned_messages=4,
        total_tokens=436,
        tokens_by_role={"tool": 0, "user": 250, "assistant": 100, "system": 50},
        pruned_tokens=500,
        token_limit=800,
        context_tokens=1_000,
        percent_used=43.6,
        level="ok",
        oldest_message_at=None,
        last_prune=last,
        strategy="hybrid",
        explanation="Completed tasks leave first.",
    )


def state(last: LastPrune | None = None, **known: object) -> WindowState:
    shown = {"policy": "default", "phase": "open", "statistics": statistics(last)} | known
    return WindowState(scope=Scope(conversation_id="talk"), partition=3, source="s", revision=7, **shown)  # type: ignore[arg-type]


def rows(shown: WindowState) -> dict[str, str]:
    return dict(window_view.statistics_rows(shown))


def test_removed_messages_are_counted_by_reason_with_an_explanation():
    assert window_view.reasons(PRUNING.removed) == [
        "3: It belonged to a completed task.",
        "1: It was the oldest that could leave.",
    ]


def test_a_pruning_row_has_its_time_cause_message_count_and_tokens():
    row = window_view.pruning_row(PRUNING)
    assert row[:6] == ("1", "2023-11-14 22:13:20", "a task began", "ok", "4", "900 -> 400")


def test_tokens_are_shown_by_role_and_for_markers():
    assert rows(state())["tokens by role"] == "system 50, user 250, assistant 100, markers 36"


def test_missing_values_are_shown_as_words():
    shown = rows(state())
    assert shown["last pruned"] == shown["cleared manually"] == "never"
    assert shown["oldest in context"] == "no messages"
    assert shown["conversation"] == "open, model not named, policy default"


def test_the_last_pruning_is_shown_with_its_cause():
    shown = rows(state(LastPrune(1_700_000_000.0, "manual", 1)))
    assert shown["last pruned"] == "2023-11-14 22:13:20: 1 message, pruned manually"


def test_the_json_output_has_named_fields():
    last = LastPrune(1_700_000_000.0, "boundary", 4)
    whole = state(last, gaps=(Gap(2, 7, 4, 500),), prunings=(PRUNING,))
    shown = json.loads(codec.encode(window_view.as_json(whole)))
    assert shown["scope"] == {"conversation_id": "talk"}
    assert shown["statistics"]["last_prune"] == {"at": 1_700_000_000.0, "cause": "boundary", "removed": 4}
    assert (shown["gaps"][0]["first"], shown["gaps"][0]["marker"]) == (2, "... [4 messages removed] ...")
    assert shown["prunings"][0]["count"] == 4
    assert shown["prunings"][0]["removed"][1] == {
        "reason": "oldest",
        "first": 5,
        "last": 5,
        "count": 1,
        "said": "It was the oldest that could leave.",
    }
