"""The settings of a token window, with the defaults and bounds of each."""

from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

Strategy = Literal["rolling_window", "importance", "hybrid"]
IntegerRange = Annotated[tuple[int, ...], Meta(min_length=2, max_length=2)]  # least and greatest value
FloatRange = Annotated[tuple[float, ...], Meta(min_length=2, max_length=2)]

MOST_MESSAGES: Final = 1_000  # per context: its removed messages and the reasons fit one row and one event
BOUNDS: Final[dict[str, tuple[float, float]]] = {  # range of every adjustable value
    "max_messages": (1, MOST_MESSAGES),
    "max_tokens": (1, 2**31),
    "min_recent": (1, MOST_MESSAGES),
    "warning_at": (0.01, 0.99),
}
MAX_TOKENS_SHARE: Final = 0.80  # share of the model's context if `max_tokens` is not set


class Adjustable(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Settings that may be chosen for a conversation, or for all of a user's. By default none.

    - `strategy`: strategies that may be chosen
    - `max_messages`, `max_tokens`, `min_recent`, `warning_at`: least and greatest value that may be chosen; null: not adjustable
    """

    strategy: tuple[Strategy, ...] = ()
    max_messages: IntegerRange | None = None
    max_tokens: IntegerRange | None = None
    min_recent: IntegerRange | None = None
    warning_at: FloatRange | None = None


class WindowSettings(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Limits of a conversation's context. Raises ValueError for settings that contradict each other.

    - `strategy`: what leaves first: the oldest messages, the least important ones, or a mix (`hybrid`)
    - `max_messages`: messages in context, besides the system prompt; `max_tokens`: billed tokens in context, None for 80 %
      of the model's context
    - `min_recent`: the last messages, which are never pruned
    - `warning_at`, `aggressive_at`: shares of the model's context from which the window is pruned, down to `warning_target`
      and `aggressive_target`
    - `task_gap_s`: pause before a user's message that ends a task
    - `prune_at_boundary`, `prune_at_session_start`: whether the beginning of a task or of a session prunes
    - `context_tokens`: the model's context, if the table of models is wrong or has no entry
    - `summarise`: markers summarise what left, in at most `summary_tokens` tokens
    - `rate_messages`: a model that extracts also rates the importance of messages for pruning
    - `confirm_clear`: the API clears a context only with a confirmation
    - `adjustable`: settings that may be chosen for a conversation or a user
    """

    strategy: Strategy = "hybrid"
    max_messages: int = 50
    max_tokens: int | None = None
    min_recent: int = 10
    warning_at: float = 0.80
    aggressive_at: float = 0.90
    warning_target: float = 0.70
    aggressive_target: float = 0.60
    task_gap_s: float = 3_600.0
    prune_at_boundary: bool = True
    prune_at_session_start: bool = True
    context_tokens: int | None = None
    summarise: bool = False
    summary_tokens: int = 100
    confirm_clear: bool = False
    rate_messages: bool = False
    adjustable: Adjustable = Adjustable()

    def __post_init__(self) -> None:
        _require(self.min_recent >= 1, "min_recent", self.min_recent, "at least 1: the current message is always kept")
        at_least = f"at least min_recent ({self.min_recent}): raise it, or lower min_recent"
        _require(self.max_messages <= MOST_MESSAGES, "max_messages", self.max_messages, f"at most {MOST_MESSAGES}")
        _require(self.max_messages >= self.min_recent, "max_messages", self.max_messages, at_least)
        _require(self.task_gap_s > 0, "task_gap_s", self.task_gap_s, "above 0 seconds")
        _require_tokens("context_tokens", self.context_tokens)
        _require_tokens("max_tokens", self.max_tokens)
        _require(self.summary_tokens >= 10, "summary_tokens", self.summary_tokens, "at least 10")
        if self.context_tokens is not None and self.max_tokens is not None:
            limit = f"at most context_tokens ({self.context_tokens}): lower it, or raise context_tokens"
            _require(self.max_tokens <= self.context_tokens, "max_tokens", self.max_tokens, limit)
        _require_shares(self)
        _require_ranges(self)


def _require_shares(settings: WindowSettings) -> None:
    falling = (
        ("aggressive_at", settings.aggressive_at, "1.0", 1.0),
        ("warning_at", settings.warning_at, "aggressive_at", settings.aggressive_at),
        ("warning_target", settings.warning_target, "warning_at", settings.warning_at),
        ("aggressive_target", settings.aggressive_target, "warning_target", settings.warning_target),
    )
    for name, value, above, limit in falling:
        _require(value > 0.0, name, value, "above 0.0, a share of the model's context")
        if name in ("warning_at", "warning_target"):
            _require(value < limit, name, value, f"below {above} ({limit}): lower it")
        _require(value <= limit, name, value, f"at most {above} ({limit}): lower it")


def _require_ranges(settings: WindowSettings) -> None:
    """Both ends of a range must be valid values of their setting."""
    bounds = {
        "max_messages": (1, MOST_MESSAGES),
        "max_tokens": (1, 2**31),
        "min_recent": (1, MOST_MESSAGES),
        "warning_at": (0.01, settings.aggressive_at - 0.01),
    }
    for name, (least, most) in bounds.items():
        chosen = getattr(settings.adjustable, name)
        holds = chosen is None or least <= chosen[0] <= chosen[1] <= most
        _require(holds, f"adjustable.{name}", chosen, f"the least and the most, within {least:g} and {most:g}")


def _require_tokens(name: str, value: int | None) -> None:
    _require(value is None or value >= 1, name, value, "at least 1 token; leave it out for the model's own")


def _require(holds: bool, name: str, value: object, rule: str) -> None:
    if not holds:
        raise ValueError(f"{name} is {value} and must be {rule}")
