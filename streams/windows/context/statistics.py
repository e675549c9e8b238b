"""Statistics of a window: size and fill level of its context, removed messages, strategy."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from schemas.conversations.window_settings import Strategy, WindowSettings
from schemas.conversations.windows import Gap, LastPrune, Statistics
from schemas.counts import counted
from streams.windows.context.tally import Tally
from streams.windows.tokens.accounting import Budget
from streams.windows.traits import MessageTraits

STRATEGIES: Final[dict[Strategy, str]] = {
    "rolling_window": "The oldest messages leave first.",
    "importance": "The least important messages leave first, the oldest among equals.",
    "hybrid": "Completed tasks leave first, as a whole or, if that would remove far too much, in parts. Then old and "
    "unimportant messages leave, tool steps before users' messages.",
}


def statistics(
    turns: Sequence[MessageTraits], gaps: Sequence[Gap], budget: Budget, last_prune: LastPrune | None = None
) -> Statistics:
    """The statistics of a window: `turns` are its messages in context, in order, `gaps` the removed ones."""
    return of(Tally.of(turns, gaps), budget, last_prune)


def of(tally: Tally, budget: Budget, last_prune: LastPrune | None) -> Statistics:
    """The statistics of a tally."""
    used, messages = tally.used_tokens, tally.account.total_messages
    return Statistics(
        total_messages=messages + tally.pruned,
        messages_in_context=messages,
        pruned_messages=tally.pruned,
        total_tokens=budget.billed(used),
        tokens_by_role={role: budget.billed(tokens) for role, tokens in tally.account.tokens.items()},
        pruned_tokens=budget.billed(tally.pruned_tokens),
        token_limit=budget.max_tokens,
        context_tokens=budget.size,
        percent_used=round(100 * budget.share(used), 1),
        level=budget.level(used),
        oldest_message_at=tally.oldest_at,
        last_prune=last_prune,
        strategy=budget.settings.strategy,
        explanation=explanation(budget.settings),
    )


@lru_cache(maxsize=64)
def explanation(settings: WindowSettings) -> str:
    """The settings' strategy in words."""
    return (
        f"{STRATEGIES[settings.strategy]} The system prompt and the last {settings.min_recent} messages always stay; "
        "questions stay with their answers, tool calls with their results, and corrected errors are kept longest. "
        f"Messages leave once there are more than {settings.max_messages}, until {settings.warning_target:.0%} of this number "
        f"are left. Messages also leave once {settings.warning_at:.0%} of the model's context is used, until "
        f"{settings.warning_target:.0%} is used, and once {settings.aggressive_at:.0%} is used, until "
        f"{settings.aggressive_target:.0%} is used. A marker takes their place."
    )


def headline(found: Statistics, now: float) -> str:
    """One line for a panel: `35 messages (10 pruned 15 min ago), 42.0% of the context used`."""
    pruned = ""
    if found.last_prune is not None:
        minutes = max(0, round((now - found.last_prune.at) / 60))
        pruned = f" ({found.last_prune.removed} pruned {minutes} min ago)"
    return f"{counted(found.messages_in_context, 'messages')}{pruned}, {found.percent_used}% of the context used"
