"""Window settings have the documented defaults, and invalid ones are explained."""

import pytest

from schemas import codec
from schemas.conversations.window_settings import WindowSettings
from schemas.errors import Rejected


def test_default_settings_match_the_requirements():
    settings = WindowSettings()
    assert (settings.strategy, settings.max_messages, settings.max_tokens, settings.min_recent) == (
        "hybrid",
        50,
        None,
        10,
    )
    assert (settings.warning_at, settings.aggressive_at) == (0.8, 0.9)
    assert (settings.warning_target, settings.aggressive_target) == (0.7, 0.6)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"min_recent": 0}, "min_recent is 0 and must be at least 1"),
        ({"max_messages": 5}, "max_messages is 5 and must be at least min_recent (10): raise it, or lower min_recent"),
        ({"max_tokens": 0}, "max_tokens is 0 and must be at least 1 token"),
        ({"context_tokens": -1}, "context_tokens is -1 and must be at least 1 token"),
        ({"max_tokens": 9, "context_tokens": 8}, "max_tokens is 9 and must be at most context_tokens (8)"),
        ({"task_gap_s": 0}, "task_gap_s is 0 and must be above 0 seconds"),
        ({"aggressive_at": 1.5}, "aggressive_at is 1.5 and must be at most 1.0 (1.0): lower it"),
        ({"warning_at": 0.9}, "warning_at is 0.9 and must be below aggressive_at (0.9): lower it"),
        ({"warning_target": 0.8}, "warning_target is 0.8 and must be below warning_at (0.8): lower it"),
        ({"aggressive_target": 0.75}, "aggressive_target is 0.75 and must be at most warning_target (0.7): lower it"),
        ({"aggressive_target": 0.0}, "aggressive_target is 0.0 and must be above 0.0"),
        ({"warning_at": float("nan")}, "warning_at is nan and must be"),
    ],
)
def test_invalid_settings_are_rejected_with_the_value_the_limit_and_the_remedy(fields, said):
    with pytest.raises(ValueError, match=r"(?s).*") as refused:
        WindowSettings(**fields)
    assert said in str(refused.value)


def test_invalid_or_unknown_fields_in_encoded_settings_are_rejected():
    with pytest.raises(Rejected, match="min_recent is 0"):
        codec.decode(b'{"min_recent": 0}', WindowSettings)
    with pytest.raises(Rejected, match="unknown field"):
        codec.decode(b'{"max_mesages": 20}', WindowSettings)
    assert codec.decode(b'{"strategy": "rolling_window"}', WindowSettings).strategy == "rolling_window"
