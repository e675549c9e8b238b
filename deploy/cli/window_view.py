"""Prints the state of a window: tables for people, JSON for scripts."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from msgspec import structs, to_builtins

from deploy.cli import terminal
from schemas.conversations.windows import Cause, Gap, Pruning, Restorable, Run, Statistics, WindowState
from schemas.counts import counted
from streams.windows.context.statistics import headline
from streams.windows.pruning.reasons import SENTENCES
from streams.windows.tokens.accounting import ROLES

CAUSES: Final[dict[Cause, str]] = {
    "usage": "too much in context",
    "boundary": "a task began",
    "session_start": "a session began",
    "manual": "pruned manually",
    "cleared": "cleared manually",
}


def show(state: WindowState, now: datetime) -> None:
    """Prints the headline, then statistics, prunings and gaps as tables."""
    terminal.print_line(f"{state.scope.conversation_id}: {headline(state.statistics, now.timestamp())}\n")
    show_statistics(state)
    show_prunings(state.prunings)
    show_gaps(state.gaps)


def show_statistics(state: WindowState) -> None:
    terminal.show_table("statistics", ("what", "is"), statistics_rows(state), wide="is")


def statistics_rows(state: WindowState) -> list[tuple[str, str]]:
    statistics = state.statistics
    share = f"{statistics.percent_used}% of the model's {statistics.context_tokens:,}"
    last = statistics.last_prune
    return [
        ("conversation", f"{state.phase}, model {state.model or 'not named'}, policy {state.policy}"),
        ("messages in context", f"{statistics.messages_in_context} of {statistics.total_messages}"),
        (
            "tokens in context",
            f"{statistics.total_tokens:,} of at most {statistics.token_limit:,}; {share} ({statistics.level})",
        ),
        ("tokens by role", tokens_by_role(statistics)),
        ("oldest in context", format_time(statistics.oldest_message_at, "no messages")),
        ("pruned", f"{counted(statistics.pruned_messages, 'messages')}, {statistics.pruned_tokens:,} tokens"),
        (
            "last pruned",
            f"{format_time(last.at)}: {counted(last.removed, 'messages')}, {CAUSES[last.cause]}" if last else "never",
        ),
        ("cleared manually", format_time(state.cleared_at)),
        ("restorable", restorable(state.restorable)),
        ("extracted", f"everything before position {state.extracted_to} of partition {state.partition}"),
        (f"strategy {statistics.strategy}", statistics.explanation),
    ]


def restorable(latest: Restorable | None) -> str:
    """Describes the prune or clear that `restore` would undo."""
    if latest is None:
        return "nothing"
    messages = "the removed messages" if latest.messages is None else counted(latest.messages, "messages")
    return f"{messages} until {format_time(latest.until)}, {CAUSES[latest.cause]}, unless other messages leave first"


def tokens_by_role(statistics: Statistics) -> str:
    """Lists the tokens by role in a fixed order, markers last."""
    roles = {str(role): statistics.tokens_by_role.get(role, 0) for role in ROLES}
    roles["markers"] = statistics.total_tokens - sum(roles.values())
    return ", ".join(f"{role} {tokens:,}" for role, tokens in roles.items() if tokens > 0) or "none"


def show_prunings(prunings: Sequence[Pruning]) -> None:
    if not prunings:
        return
    columns = ("#", "when", "because", "level", "messages", "tokens", "why these")
    terminal.show_table("prunings", columns, [pruning_row(each) for each in prunings], wide="why these")


def pruning_row(pruning: Pruning) -> tuple[str, ...]:
    return (
        str(pruning.number),
        format_time(pruning.at),
        CAUSES[pruning.cause] + (f"; undone {format_time(pruning.undone_at)}" if pruning.undone_at else ""),
        pruning.level,
        str(pruning.count),
        f"{pruning.tokens_before:,} -> {pruning.tokens_after:,}",
        "\n".join(reasons(pruning.removed)),
    )


def reasons(runs: Iterable[Run]) -> list[str]:
    """Returns one line per reason: the number of messages and the reason as a sentence."""
    counts: Counter[str] = Counter()
    for run in runs:
        counts[SENTENCES[run.reason]] += run.count
    return [f"{count}: {sentence}" for sentence, count in counts.items()]


def show_gaps(gaps: Sequence[Gap]) -> None:
    if not gaps:
        return
    rows = [(f"{gap.first}-{gap.last}", f"{gap.tokens:,}", gap.marker) for gap in gaps]
    terminal.show_table("markers in the context", ("positions", "tokens", "marker"), rows, wide="marker")


def format_time(at: float | None, otherwise: str = "never") -> str:
    """Formats Unix seconds as a UTC time."""
    return otherwise if at is None else f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S}"


def as_json(state: WindowState) -> dict[str, Any]:
    """Returns the state by field names, with the markers of gaps and the reasons of prunings as sentences."""
    fields: dict[str, Any] = to_builtins(structs.asdict(state))
    return fields | {
        "statistics": statistics_json(state),
        "gaps": [structs.asdict(gap) | {"marker": gap.marker} for gap in state.gaps],
        "prunings": [pruning_json(pruning) for pruning in state.prunings],
    }


def statistics_json(state: WindowState) -> dict[str, Any]:
    last = state.statistics.last_prune
    return structs.asdict(state.statistics) | {"last_prune": structs.asdict(last) if last else None}


def pruning_json(pruning: Pruning) -> dict[str, Any]:
    removed = [structs.asdict(run) | {"said": SENTENCES[run.reason]} for run in pruning.removed]
    return structs.asdict(pruning) | {"count": pruning.count, "removed": removed}
