"""What is kept and told of windows: what left their context and why, their statistics, how a model counts tokens."""

from typing import Annotated, Final, Literal

from msgspec import Meta, Struct, field

from schemas.conversations.adjustments import Adjustments
from schemas.conversations.messages import Role, Scope
from schemas.conversations.window_settings import Strategy

Level = Literal["ok", "warning", "aggressive"]
Cause = Literal["usage", "boundary", "session_start", "manual", "cleared"]
Phase = Literal["open", "ended", "forgotten"]
Reason = Literal[
    "system_prompt",
    "recent",
    "with_recent",
    "error_pair",
    "marked_important",
    "directive",
    "framing",
    "current_task",
    "fits",
    "completed_task",
    "oldest",
    "least_important",
    "last_resort",
    "repeated",
    "cleared",
]

UNDO_CLEAR_S: Final = 600.0  # that what a clear took out of the context can be brought back
MARKER_TOKENS: Final = 12  # at least what a marker without a summary counts, up to a billion messages
LONGEST_SUMMARY: Final = 2_000  # characters of what stands in one marker

Summary = Annotated[str, Meta(max_length=LONGEST_SUMMARY)]


class Calibration(Struct, frozen=True, array_like=True):
    """What is known of one model. `mean` is the moving average of billed to counted tokens, 0 before the first request."""

    mean: float = 0.0
    observed: int = 0

    @property
    def ratio(self) -> float:
        """Billed tokens for each counted one, never below 1.0: a context rather has room left than overflows."""
        return max(1.0, self.mean)


class Gap(Struct, frozen=True, array_like=True, gc=False):
    """`count` messages of `tokens` tokens left the context, all those at positions from `first` to `last`.

    A summary of them may stand in the marker; it takes `summary_tokens` tokens of the context.
    """

    first: int
    last: int
    count: int
    tokens: int
    summary: str = ""
    summary_tokens: int = 0

    @property
    def marker(self) -> str:
        """What stands in a context in their place: `... [15 messages removed] ...`."""
        messages = "1 message" if self.count == 1 else f"{self.count} messages"
        return f"... [{messages} removed: {self.summary}] ..." if self.summary else f"... [{messages} removed] ..."

    @property
    def marker_tokens(self) -> int:
        """Counted tokens of the marker, rather too many."""
        return MARKER_TOKENS + self.summary_tokens


class Run(Struct, frozen=True, array_like=True, gc=False):
    """`count` messages of one conversation that left a context together, at positions from `first` to `last`, and why."""

    reason: Reason
    first: int
    last: int
    count: int


class Pruning(Struct, frozen=True, array_like=True):
    """One time that messages left a context: the `number`-th of its window, at `at` (Unix seconds); tokens are billed ones."""

    number: int
    at: float
    cause: Cause
    level: Level
    tokens_before: int
    tokens_after: int
    removed: tuple[Run, ...]

    @property
    def count(self) -> int:
        """How many messages left."""
        return sum(run.count for run in self.removed)


class LastPrune(Struct, frozen=True, array_like=True):
    """When messages left last (Unix seconds), why, and how many."""

    at: float
    cause: Cause
    removed: int


class Statistics(Struct, frozen=True):
    """Counts of messages and billed tokens; `percent_used` is of the model's context. Times are Unix seconds."""

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


class WindowState(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What others may know of a window, as of offset `revision` of the changelog `source`.

    Its first message is at position `opened`; every message before position `extracted_to` is extracted. `gaps` say what is
    not in context, `prunings` are the latest, oldest first. Times are Unix seconds. Nothing but this is known of a window
    that is `forgotten`.
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

    @property
    def restorable_until(self) -> float | None:
        """Until when the last clear can be undone: while nothing else has left the context since."""
        if self.cleared_at is None or not self.prunings or self.prunings[-1].cause != "cleared":
            return None
        return self.cleared_at + UNDO_CLEAR_S
