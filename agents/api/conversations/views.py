"""Conversations as the API shows them: RFC 3339 times, reasons in words."""

from datetime import UTC, datetime
from typing import Literal

from msgspec import Struct
from msgspec.structs import asdict, replace

from agents.conversations.lookup import Conversation
from schemas.conversations.adjustments import Mark
from schemas.conversations.contexts import ContextEntry, ConversationContext, OmittedMessage
from schemas.conversations.messages import Message, Role, Scope
from schemas.conversations.window_settings import Strategy
from schemas.conversations.windows import (
    Cause,
    Gap,
    LastPrune,
    Level,
    Phase,
    Pruning,
    Reason,
    Statistics,
    WindowState,
)
from sinks.archive.messages import ArchivedMessage
from streams.windows.context import gaps
from streams.windows.context.statistics import headline
from streams.windows.pruning.reasons import SENTENCES


class LastPruneView(Struct, frozen=True, kw_only=True):
    """When messages left last, why, and how many."""

    at: datetime
    cause: Cause
    removed: int


class StatisticsView(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Counts of messages and of billed tokens. `percent_used` is of the model's context of `context_tokens`; of them a context
    may hold `token_limit`. `explanation` says how it is decided what leaves."""

    total_messages: int
    messages_in_context: int
    pruned_messages: int
    total_tokens: int
    tokens_by_role: dict[Role, int]
    pruned_tokens: int
    token_limit: int
    context_tokens: int
    percent_used: float
    level: Level
    strategy: Strategy
    explanation: str
    oldest_message_at: datetime | None = None
    last_prune: LastPruneView | None = None


class GapView(Struct, frozen=True, kw_only=True):
    """Where `count` messages of `tokens` tokens left the context, at positions from `first` to `last`."""

    first: int
    last: int
    count: int
    tokens: int
    marker: str


class ConversationView(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is known of a conversation, about a second behind what happens in it.

    `phase` is `new` until its window is known, which then has statistics; of a `forgotten` one nothing more will be told.
    Every message before position `extracted_to` of `partition` is extracted. `namespaces` are all that it feeds.
    Until `restorable_until` a clear can be undone, unless something else leaves the context before.
    """

    conversation_id: str
    scope: Scope
    namespaces: tuple[str, ...]
    policy: str
    phase: Phase | Literal["new"]
    headline: str = ""
    statistics: StatisticsView | None = None
    model: str | None = None
    gaps: tuple[GapView, ...] = ()
    partition: int | None = None
    extracted_to: int = 0
    cleared_at: datetime | None = None
    restorable_until: datetime | None = None


class RunView(Struct, frozen=True, kw_only=True):
    """`count` messages left for one `reason`, which `why` says in words, at positions from `first` to `last`."""

    reason: Reason
    why: str
    first: int
    last: int
    count: int


class PruningView(Struct, frozen=True, kw_only=True):
    """One time that messages left the context."""

    number: int
    at: datetime
    cause: Cause
    level: Level
    tokens_before: int
    tokens_after: int
    count: int
    removed: tuple[RunView, ...]


class PruningPage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The newest first; `next` is the cursor of the page behind them, absent on the last."""

    prunings: tuple[PruningView, ...]
    next: str | None = None


class MessageView(Message, frozen=True, kw_only=True, omit_defaults=True):
    """A message as it was said, and where it lies in Kafka; its counted `tokens`, and its `importance` now, from 0 to 1.
    Whether it is `in_context` and `extracted` is said as far as it is known of its partition's window,
    and so is the `mark` that it was given after it was sent, and the `rating` of a model, from 0 to 10."""

    partition: int
    position: int
    tokens: int
    importance: float
    in_context: bool | None = None
    extracted: bool | None = None
    mark: Mark | None = None
    rating: int | None = None


class MessagePage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Messages in the order asked for; `next` is the cursor of the page behind them, absent on the last."""

    messages: tuple[MessageView, ...]
    next: str | None = None


class ContextView(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a model is to be shown of the conversation: `messages` in order, with markers (of the role `marker`) where others
    were. `tokens` are counted ones. `billed_tokens` are what the model's provider is expected to bill for a request with this
    context and the `tools` that were named, which take `tool_tokens` of them; `limit_tokens` is never exceeded. `left_out` had
    no room in this context; `missing` messages of the context are not in the archive any more.
    """

    conversation_id: str
    policy: str
    messages: tuple[ContextEntry, ...]
    tokens: int
    billed_tokens: int
    limit_tokens: int
    headline: str
    statistics: StatisticsView
    left_out: tuple[OmittedMessage, ...] = ()
    missing: int = 0
    tool_tokens: int = 0


def view(conversation: Conversation, now: datetime) -> ConversationView:
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
        statistics=statistics_view(state.statistics),
        model=state.model,
        gaps=tuple(map(gap_view, state.gaps)),
        partition=state.partition,
        extracted_to=state.extracted_to,
        cleared_at=moment(state.cleared_at),
        restorable_until=moment(state.restorable_until),
    )


def statistics_view(found: Statistics) -> StatisticsView:
    last = found.last_prune
    times = {"oldest_message_at": moment(found.oldest_message_at), "last_prune": last_view(last) if last else None}
    return StatisticsView(**(asdict(found) | times))


def last_view(last: LastPrune) -> LastPruneView:
    return LastPruneView(at=datetime.fromtimestamp(last.at, UTC), cause=last.cause, removed=last.removed)


def gap_view(gap: Gap) -> GapView:
    return GapView(first=gap.first, last=gap.last, count=gap.count, tokens=gap.tokens, marker=gap.marker)


def pruning_view(pruning: Pruning) -> PruningView:
    removed = tuple(RunView(**asdict(run), why=SENTENCES[run.reason]) for run in pruning.removed)
    fields = asdict(pruning) | {"at": datetime.fromtimestamp(pruning.at, UTC), "removed": removed}
    return PruningView(**fields, count=pruning.count)


def message_view(archived: ArchivedMessage, state: WindowState | None, tokens: int, importance: float) -> MessageView:
    position = archived.position
    known = state is not None and state.partition == archived.partition
    fields = asdict(archived.message) | {"partition": archived.partition, "position": position}
    fields |= {"tokens": tokens, "importance": importance}
    if state is None or not known:
        return MessageView(**fields)
    return MessageView(
        **fields,
        in_context=in_context(state, position),
        extracted=position < max(state.extracted_to, state.opened),
        mark=state.adjustments.marks.get(archived.message.message_id),
        rating=state.adjustments.ratings.get(archived.message.message_id),
    )


def in_context(state: WindowState, position: int) -> bool:
    """Whether a message of the window's partition is in its context."""
    return position >= state.opened and not gaps.holds(state.gaps, position)


def context_view(conversation: Conversation, shown: ConversationContext, now: datetime) -> ContextView:
    return ContextView(
        conversation_id=conversation.conversation_id,
        policy=conversation.policy.name,
        messages=shown.entries,
        tokens=shown.tokens,
        billed_tokens=shown.billed_tokens,
        limit_tokens=shown.limit_tokens,
        headline=headline(shown.statistics, now.timestamp()),
        statistics=statistics_view(shown.statistics),
        left_out=shown.left_out,
        missing=shown.missing,
        tool_tokens=shown.tool_tokens,
    )


def moment(at: float | None) -> datetime | None:
    """Unix seconds."""
    return None if at is None else datetime.fromtimestamp(at, UTC)
