"""Builds the response shapes of conversations, windows and contexts. Pure."""

from collections.abc import Sequence
from datetime import UTC, datetime

from msgspec.structs import asdict, replace

from agents.api.conversations.shapes import (
    ContextView,
    ConversationSummary,
    ConversationView,
    GapView,
    LastPruneView,
    MessageView,
    PruningView,
    RunView,
    StatisticsView,
)
from agents.api.conversations.window_requests import SettingsInForce
from agents.conversations.listing import ListedConversation
from agents.conversations.lookup import Conversation
from schemas.conversations.contexts import ConversationContext
from schemas.conversations.window_settings import WindowSettings
from schemas.conversations.windows import Gap, LastPrune, Pruning, Statistics, WindowState
from sinks.archive.messages import ArchivedMessage
from streams.windows.context import gaps
from streams.windows.context.statistics import headline
from streams.windows.pruning.reasons import SENTENCES
from streams.windows.tokens.accounting import Budget


def conversation_view(conversation: Conversation, now: datetime) -> ConversationView:
    new = ConversationView(
        conversation_id=conversation.conversation_id,
        scope=conversation.scope,
        namespaces=conversation.namespaces,
        policy=conversation.policy.name,
        phase="new",
    )
    state = conversation.state
    if state is None:
        return new
    return replace(
        new,
        phase=state.phase,
        headline=headline(state.statistics, now.timestamp()),
        statistics=statistics_view(state.statistics, settings_in_force(conversation)),
        model=state.model,
        gaps=tuple(map(gap_view, state.gaps)),
        partition=state.partition,
        extracted_to=state.extracted_to,
        cleared_at=to_datetime(state.cleared_at),
        restorable_until=to_datetime(state.restorable.until) if state.restorable else None,
        restorable_cause=state.restorable.cause if state.restorable else None,
        restorable_messages=state.restorable.messages if state.restorable else None,
        last_message_at=to_datetime(state.last_message_at),
    )


def summary_view(listed: ListedConversation) -> ConversationSummary:
    statistics = listed.window.statistics
    return ConversationSummary(
        conversation_id=listed.scope.conversation_id,
        scope=listed.scope,
        namespaces=listed.namespaces,
        policy=listed.policy.name,
        phase=listed.window.phase,
        total_messages=statistics.total_messages,
        messages_in_context=statistics.messages_in_context,
        total_tokens=statistics.total_tokens,
        token_limit=statistics.token_limit,
        context_tokens=statistics.context_tokens,
        percent_used=statistics.percent_used,
        level=statistics.level,
        last_active_at=datetime.fromtimestamp(listed.window.active_at, UTC),
    )


def settings_in_force(conversation: Conversation) -> WindowSettings:
    return conversation.choices.applied(conversation.policy.window)


def statistics_view(statistics: Statistics, settings: WindowSettings) -> StatisticsView:
    last, budget = statistics.last_prune, Budget(statistics.context_tokens, statistics.token_limit, settings)
    times = {
        "oldest_message_at": to_datetime(statistics.oldest_message_at),
        "last_prune": last_prune_view(last) if last else None,
    }
    levels = {"warning_at_tokens": budget.warning_at_tokens, "aggressive_at_tokens": budget.aggressive_at_tokens}
    return StatisticsView(**(asdict(statistics) | times | levels))


def last_prune_view(last: LastPrune) -> LastPruneView:
    return LastPruneView(at=datetime.fromtimestamp(last.at, UTC), cause=last.cause, removed=last.removed)


def gap_view(gap: Gap) -> GapView:
    return GapView(first=gap.first, last=gap.last, count=gap.count, tokens=gap.tokens, marker=gap.marker)


def pruning_view(pruning: Pruning) -> PruningView:
    removed = tuple(RunView(**asdict(run), why=SENTENCES[run.reason]) for run in pruning.removed)
    times = {"at": to_datetime(pruning.at), "undone_at": to_datetime(pruning.undone_at)}
    fields = asdict(pruning) | times | {"removed": removed}
    return PruningView(**fields, count=pruning.count)


def message_view(archived: ArchivedMessage, state: WindowState | None, tokens: int, importance: float) -> MessageView:
    position = archived.position
    is_known = state is not None and state.partition == archived.partition
    fields = asdict(archived.message) | {"partition": archived.partition, "position": position}
    fields |= {"tokens": tokens, "importance": importance}
    if state is None or not is_known:
        return MessageView(**fields)
    return MessageView(
        **fields,
        in_context=in_context(state, position),
        extracted=position < max(state.extracted_to, state.opened),
        mark=state.adjustments.marks.get(archived.message.message_id),
        rating=state.adjustments.ratings.get(archived.message.message_id),
    )


def with_reason(message: MessageView, prunings: Sequence[Pruning]) -> MessageView:
    """Adds to a message outside the context the reason why it left. `prunings` must be newest first, and the message must be
    of the window's partition."""
    for pruning in prunings:
        for run in pruning.removed if pruning.undone_at is None else ():
            if run.first <= message.position <= run.last:
                at = datetime.fromtimestamp(pruning.at, UTC)
                return replace(message, pruned_for=run.reason, pruned_why=SENTENCES[run.reason], pruned_at=at)
    return message


def in_context(state: WindowState, position: int) -> bool:
    """Whether the message at a position of the window's partition is in context."""
    return position >= state.opened and not gaps.holds(state.gaps, position)


def context_view(conversation: Conversation, context: ConversationContext, now: datetime) -> ContextView:
    return ContextView(
        conversation_id=conversation.conversation_id,
        policy=conversation.policy.name,
        messages=context.entries,
        tokens=context.tokens,
        billed_tokens=context.billed_tokens,
        limit_tokens=context.limit_tokens,
        headline=headline(context.statistics, now.timestamp()),
        statistics=statistics_view(context.statistics, settings_in_force(conversation)),
        left_out=context.left_out,
        missing=context.missing,
        tool_tokens=context.tool_tokens,
        settings=SettingsInForce.of(settings_in_force(conversation)),
        chosen_by=conversation.choices.chosen_by(conversation.policy.window),
    )


def to_datetime(at: float | None) -> datetime | None:
    """Converts Unix seconds to a UTC datetime."""
    return None if at is None else datetime.fromtimestamp(at, UTC)
