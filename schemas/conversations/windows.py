"""Windows as stored and published: removals with reasons, statistics, and the calibration of a model's tokens."""

from typing import Annotated, Final, Literal, NamedTuple, TypeAlias

from msgspec import Meta, Struct, field

from schemas.conversations.adjustments import Adjustments
from schemas.conversations.messages import Role, Scope
from schemas.conversations.window_settings import Strategy

Level = Literal["ok", "warning", "aggressive"]
Cause = Literal["usage", "boundary", "session_start", "manual", "cleared"]
Phase = Literal["open", "ended", "forgotten"]
ReasonToStay = Literal[
    "system_prompt",
    "recent",
    "with_recent",
    "error_pair",
    "marked_important",
    "directive",
    "framing",
    "current_task",
    "fits",
]
Reason = Literal[ReasonToStay, "completed_task", "oldest", "least_important", "last_resort", "repeated", "cleared"]

UNDO_S: Final = 600.0  # time in which a manual clear or prune can be undone
MARKER_TOKENS: Final = 12  # upper bound of the tokens of a marker without a summary, up to a billion messages
LONGEST_SUMMARY: Final = 2_000  # characters of a marker

Summary = Annotated[str, Meta(max_length=LONGEST_SUMMARY)]


class Calibration(Struct, frozen=True, array_like=True):
    """The calibration of one model. `mean` is the moving average of billed to counted tokens, 0 before the first request."""

    mean: float = 0.0
    observed: int = 0

    @property
    def ratio(self) -> float:
        """Billed tokens per counted token, at least 1.0: contexts may use less than their limit, never more."""
        return max(1.0, self.mean)


class Gap(Struct, frozen=True, array_like=True, gc=False):
    """`count` messages with `tokens` tokens that left the context: all at positions `first` to `last`. The marker may have a
    summary of them, which takes `summary_tokens` tokens of the context."""

    first: int
    last: int
    count: int
    tokens: int
    summary: str = ""
    summary_tokens: int = 0

    @property
    def marker(self) -> str:
        """The text that replaces them in a context: `... [15 messages removed] ...`."""
        messages = "1 message" if self.count == 1 else f"{self.count} messages"
        return f"... [{messages} removed: {self.summary}] ..." if self.summary else f"... [{messages} removed] ..."

    @property
    def marker_tokens(self) -> int:
        """An upper bound of the counted tokens of the marker."""
        return MARKER_TOKENS + self.summary_tokens


class Run(Struct, frozen=True, array_like=True, gc=False):
    """`count` messages of one conversation that left a context together, at positions `first` to `last`, with the reason."""

    reason: Reason
    first: int
    last: int
    count: int


class Pruning(Struct, frozen=True, array_like=True):
    """The `number`-th pruning of a window, at `at` (Unix seconds); tokens are billed tokens. At `undone_at` it was undone: its
    messages returned to the context, and may have left it again."""

    number: int
    at: float
    cause: Cause
    level: Level
    tokens_before: int
    tokens_after: int
    removed: tuple[Run, ...]
    undone_at: float | None = None

    @property
    def count(self) -> int:
        """The number of removed messages."""
        return sum(run.count for run in self.removed)


class LastPrune(Struct, frozen=True, array_like=True):
    """Time (Unix seconds), cause and number of messages of the last pruning."""

    at: float
    cause: Cause
    removed: int


class Statistics(Struct, frozen=True):
    """Counts of messages and billed tokens; `percent_used` refers to the model's context. Times are Unix seconds."""

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
    oldest_message_at: float | None
    last_prune: LastPrune | None
    strategy: Strategy
    explanation: str


class Restorable(Struct, frozen=True):
    """A prune or clear by hand that `restore` can undo until `until` (Unix seconds): its `cause` (`manual`, `cleared`), and the
    number of `messages` that return; None for a clear that an earlier version stored."""

    until: float
    cause: Cause
    messages: int | None = None


class WindowAddress(NamedTuple):
    """A conversation, and the partition of its messages and its window."""

    conversation_id: str
    partition: int


class WindowState(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The published state of a window, as of offset `revision` of the changelog `source`.

    `opened` is the position of its first message; all messages before position `extracted_to` are extracted. `gaps` are out
    of context, `prunings` are the latest ones, oldest first; the last one by hand can be undone while it is `restorable`. Times
    are Unix seconds. A window in the phase `forgotten` has no other contents.
    """

    scope: Scope
    partition: int
    source: str
    revision: int
    policy: str
    phase: Phase
    statistics: Statistics
    model: str | None = None
    gaps: tuple[Gap, ...] = ()
    prunings: tuple[Pruning, ...] = ()
    opened: int = 0
    extracted_to: int = 0
    cleared_at: float | None = None
    adjustments: Adjustments = field(default_factory=Adjustments)
    last_message_at: float | None = None
    restorable: Restorable | None = None


WindowPlace: TypeAlias = tuple[float, str]  # Unix seconds of the last message, conversation_id


class WindowSummary(Struct, frozen=True, kw_only=True):
    """A window in a list. `active_at` (Unix seconds) is the time of its last message, or else of its last update."""

    scope: Scope
    phase: Phase
    statistics: Statistics
    active_at: float

    @property
    def place(self) -> WindowPlace:
        """The sort key in lists."""
        return self.active_at, self.scope.conversation_id
