"""A window's state for people, as tables, and for scripts, as JSON with names."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from msgspec import structs, to_builtins

from deploy.cli import terminal
from schemas.conversations.windows import Cause, Gap, Pruning, Run, Statistics, WindowState
from streams.windows.context.statistics import headline
from streams.windows.pruning.reasons import SENTENCES
from streams.windows.tokens.accounting import ROLES

CAUSES: Final[dict[Cause, str]] = {
    "usage": "too much in context",
    "boundary": "a task began",
    "session_start": "a session began",
    "manual": "asked for by hand",
    "cleared": "cleared by hand",
}


def show(state: WindowState, now: datetime) -> None:
    """The headline, then statistics, prunings and gaps as tables."""
    terminal.print_line(f"{state.scope.conversation_id}: {headline(state.statistics, now.timestamp())}\n")
    show_statistics(state)
    show_prunings(state.prunings)
    show_gaps(state.gaps)


def show_statistics(state: WindowState) -> None:
    terminal.show_table("statistics", ("what", "is"), statistics_rows(state), wide="is")


def statistics_rows(state: WindowState) -> list[tuple[str, str]]:
    found = state.statistics
    share = f"{found.percent_used}% of the model's {found.context_tokens:,}"
    last = found.last_prune
    return [
        ("conversation", f"{state.phase}, model {state.model or 'not named'}, policy {state.policy}"),
        ("messages in context", f"{found.messages_in_context} of {found.total_messages}"),
        ("tokens in context", f"{found.total_tokens:,} of at most {found.token_limit:,}; {share} ({found.level})"),
        ("tokens by role", tokens_by_role(found)),
        ("oldest in context", moment(found.oldest_message_at, "nothing was said")),
        ("pruned", f"{counted(found.pruned_messages)}, {found.pruned_tokens:,} tokens"),
        ("last pruned", f"{moment(last.at)}: {counted(last.removed)}, {CAUSES[last.cause]}" if last else "never"),
        ("cleared by hand", moment(state.cleared_at)),
        ("extracted", f"everything before position {state.extracted_to} of partition {state.partition}"),
        (f"strategy {found.strategy}", found.explanation),
    ]


def tokens_by_role(found: Statistics) -> str:
    """In the usual order, markers last: they are in the context as well."""
    roles = {str(role): found.tokens_by_role.get(role, 0) for role in ROLES}
    roles["markers"] = found.total_tokens - sum(roles.values())
    return ", ".join(f"{role} {tokens:,}" for role, tokens in roles.items() if tokens > 0) or "none"


def show_prunings(prunings: Sequence[Pruning]) -> None:
    if not prunings:
        return
    columns = ("#", "when", "because", "level", "messages", "tokens", "why these")
    terminal.show_table("prunings", columns, [pruning_row(each) for each in prunings], wide="why these")


def pruning_row(pruning: Pruning) -> tuple[str, ...]:
    return (
        str(pruning.number),
        moment(pruning.at),
        CAUSES[pruning.cause],
        pruning.level,
        str(pruning.count),
        f"{pruning.tokens_before:,} -> {pruning.tokens_after:,}",
        "\n".join(reasons(pruning.removed)),
    )


def reasons(runs: Iterable[Run]) -> list[str]:
    """One line for each reason: how many messages left for it, and what it says."""
    counts: Counter[str] = Counter()
    for run in runs:
        counts[SENTENCES[run.reason]] += run.count
    return [f"{count}: {sentence}" for sentence, count in counts.items()]


def show_gaps(gaps: Sequence[Gap]) -> None:
    if not gaps:
        return
    rows = [(f"{gap.first}-{gap.last}", f"{gap.tokens:,}", gap.marker) for gap in gaps]
    terminal.show_table("markers in the context", ("positions", "tokens", "marker"), rows, wide="marker")


def moment(at: float | None, otherwise: str = "never") -> str:
    """Unix seconds as a time in UTC."""
    return otherwise if at is None else f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S}"


def counted(messages: int) -> str:
    return "1 message" if messages == 1 else f"{messages} messages"


def as_json(state: WindowState) -> dict[str, Any]:
    """The state with names where its schema has places: `gaps` with their markers, `prunings` with their reasons in words."""
    told: dict[str, Any] = to_builtins(structs.asdict(state))
    return told | {
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
