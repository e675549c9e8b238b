"""Response shapes of conversations: RFC 3339 times, reasons as sentences."""

from datetime import datetime
from typing import Literal

from msgspec import Struct

from agents.api.conversations.window_requests import SettingsInForce
from schemas.conversations.adjustments import Mark
from schemas.conversations.contexts import ContextEntry, OmittedMessage
from schemas.conversations.messages import Message, Role, Scope
from schemas.conversations.window_choices import ChosenBy
from schemas.conversations.window_settings import Strategy
from schemas.conversations.windows import Cause, Level, Phase, Reason


class LastPruneView(Struct, frozen=True, kw_only=True):
    """The latest pruning: its time, its cause and the number of messages removed."""

    at: datetime
    cause: Cause
    removed: int


class StatisticsView(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Counts of messages and of billed tokens. `percent_used` relates to `context_tokens`, the context size of the model.
    `token_limit` is the most that this context may use of it. Pruning starts at `warning_at_tokens` and removes more at
    `aggressive_at_tokens`, as the current settings say. `explanation` describes the pruning strategy."""

    total_messages: int
    messages_in_context: int
    pruned_messages: int
    total_tokens: int
    tokens_by_role: dict[Role, int]
    pruned_tokens: int
    token_limit: int
    context_tokens: int
    warning_at_tokens: int
    aggressive_at_tokens: int
    percent_used: float
    level: Level
    strategy: Strategy
    explanation: str
    oldest_message_at: datetime | None = None
    last_prune: LastPruneView | None = None


class GapView(Struct, frozen=True, kw_only=True):
    """A run of pruned messages: `count` messages with `tokens` tokens, from position `first` to position `last`."""

    first: int
    last: int
    count: int
    tokens: int
    marker: str


class ConversationView(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The state of a conversation, about one second behind its events.

    `phase` is `new` until a window exists; fields of the window are absent until then. The state of a `forgotten`
    conversation no longer changes. All messages before position `extracted_to` of `partition` are extracted. `namespaces`
    are those that the conversation feeds. The last manual prune or clear (`restorable_cause`: `manual` or `cleared`) can be
    undone until `restorable_until`, unless other messages leave the context first; the undo restores `restorable_messages`
    messages. `last_message_at` is the time of the last message.
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
    restorable_cause: Cause | None = None
    restorable_messages: int | None = None
    last_message_at: datetime | None = None


class ConversationSummary(Struct, frozen=True, kw_only=True):
    """A conversation in a list. `total_messages` counts all messages; `total_tokens` are the billed tokens of those in
    context, and `percent_used` relates to `context_tokens`, the context size of the model. `last_active_at` is the time
    of the last message; for conversations stored by an earlier version it is the time of the window's last change."""

    conversation_id: str
    scope: Scope
    namespaces: tuple[str, ...]
    policy: str
    phase: Phase
    total_messages: int
    messages_in_context: int
    total_tokens: int
    token_limit: int
    context_tokens: int
    percent_used: float
    level: Level
    last_active_at: datetime


class ConversationPage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Conversations, the one with the latest message first. `next` is the cursor of the following page, absent on the last
    page. A page may be shorter than `limit`, or empty, and still have a `next`."""

    conversations: tuple[ConversationSummary, ...]
    next: str | None = None


class RunView(Struct, frozen=True, kw_only=True):
    """`count` messages, from position `first` to position `last`, that left the context for the same `reason`; `why` is the
    reason as a sentence."""

    reason: Reason
    why: str
    first: int
    last: int
    count: int


class PruningView(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One pruning. `undone_at` is the time at which a manual prune or clear was undone."""

    number: int
    at: datetime
    cause: Cause
    level: Level
    tokens_before: int
    tokens_after: int
    count: int
    removed: tuple[RunView, ...]
    undone_at: datetime | None = None


class PruningPage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Prunings, newest first. `next` is the cursor of the following page, absent on the last page."""

    prunings: tuple[PruningView, ...]
    next: str | None = None


class MessageView(Message, frozen=True, kw_only=True, omit_defaults=True):
    """An archived message with its Kafka partition and position, its counted `tokens` and its current `importance` from 0 to
    1.

    `in_context` and `extracted` are absent if the window of the partition is unknown. So are `mark`, the mark set after the
    message was sent, and `rating`, a model's rating from 0 to 10. A message that left the context in one of the latest 200
    prunings has the reason (`pruned_for`), the reason as a sentence (`pruned_why`) and the time (`pruned_at`).
    """

    partition: int
    position: int
    tokens: int
    importance: float
    in_context: bool | None = None
    extracted: bool | None = None
    mark: Mark | None = None
    rating: int | None = None
    pruned_for: Reason | None = None
    pruned_why: str | None = None
    pruned_at: datetime | None = None


class MessagePage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Messages in the requested order. `next` is the cursor of the following page, absent on the last page."""

    messages: tuple[MessageView, ...]
    next: str | None = None


class ContextView(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The context of a conversation for a model: `messages` in order, with entries of the role `marker` in place of pruned
    messages.

    `tokens` is the counted size. `billed_tokens` is the expected billed size of a request with this context and the named
    `tools`; the tools account for `tool_tokens` of it. It never exceeds `limit_tokens`. `left_out` lists messages that did
    not fit. `missing` counts messages of the context that the archive no longer has. `settings` are the pruning settings in
    effect; `chosen_by` says who set each adjustable one.
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
    settings: SettingsInForce | None = None
    chosen_by: dict[str, ChosenBy] = {}
