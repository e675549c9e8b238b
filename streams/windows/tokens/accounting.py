"""Token totals by role, and the token budget of a context.

Tokens are counted (by memstream's tokenizer) unless a name says billed (by the provider). A Budget converts counted to billed.
"""

from collections.abc import Iterable
from math import ceil, floor
from typing import Final

from msgspec import Struct, field

from schemas.conversations.messages import Role
from schemas.conversations.window_settings import MAX_TOKENS_SHARE, WindowSettings
from schemas.conversations.windows import Calibration, Gap, Level
from streams.windows.tokens.calibration import UNCALIBRATED
from streams.windows.traits import MessageTraits

# Tokens of a model's context reserved for the answer: this share of the context, at most this many.
ANSWER_ROOM: Final = 1_024
ANSWER_SHARE: Final = 0.1

ROLES: Final[tuple[Role, ...]] = ("system", "user", "assistant", "tool")
PLACE: Final = {role: place for place, role in enumerate(ROLES)}


class Account(Struct, array_like=True, gc=False):
    """Messages and tokens by role, in the order of ROLES."""

    by_role: list[int] = field(default_factory=lambda: [0] * len(ROLES))
    tokens_by_role: list[int] = field(default_factory=lambda: [0] * len(ROLES))

    @classmethod
    def of(cls, turns: Iterable[MessageTraits]) -> "Account":
        by_role, tokens_by_role = [0] * len(ROLES), [0] * len(ROLES)
        for turn in turns:
            at = PLACE[turn.role]
            by_role[at] += 1
            tokens_by_role[at] += turn.tokens
        return cls(by_role, tokens_by_role)

    def add(self, role: Role, tokens: int) -> None:
        at = PLACE[role]
        self.by_role[at] += 1
        self.tokens_by_role[at] += tokens

    @property
    def messages(self) -> dict[Role, int]:
        return dict(zip(ROLES, self.by_role, strict=True))

    @property
    def tokens(self) -> dict[Role, int]:
        return dict(zip(ROLES, self.tokens_by_role, strict=True))

    @property
    def total_tokens(self) -> int:
        return sum(self.tokens_by_role)

    @property
    def total_messages(self) -> int:
        return sum(self.by_role)


def used_tokens(turns: Iterable[MessageTraits], gaps: Iterable[Gap] = ()) -> int:
    """Counted tokens of a context: its messages, and the markers where messages were removed."""
    return sum(turn.tokens for turn in turns) + sum(gap.marker_tokens for gap in gaps)


class Budget(Struct, frozen=True):
    """The limits of a window's context: `size` is the model's context, `max_tokens` the most that the window may use.

    Both are billed tokens; `ratio` is billed tokens per counted token. Thresholds and targets are shares of `reference`, so that
    a `max_tokens` below 80 % of the model's size lowers them in proportion.
    """

    size: int
    max_tokens: int
    settings: WindowSettings
    ratio: float = 1.0

    @classmethod
    def of(cls, settings: WindowSettings, model_tokens: int, calibration: Calibration = UNCALIBRATED) -> "Budget":
        """The budget for a model with a context of `model_tokens`, which a setting overrides. Always leaves room for an
        answer."""
        size = settings.context_tokens or model_tokens
        default = max(1, int(MAX_TOKENS_SHARE * size))
        most = size - min(ANSWER_ROOM, int(ANSWER_SHARE * size))
        return cls(size, min(settings.max_tokens or default, most), settings, calibration.ratio)

    def within(self, max_tokens: int) -> "Budget":
        """The same budget with a lower `max_tokens`, as a request for a context may set it."""
        return Budget(self.size, min(max_tokens, self.max_tokens), self.settings, self.ratio)

    def billed(self, counted: int) -> int:
        return ceil(counted * self.ratio)

    def share(self, counted: int) -> float:
        """The share of the model's context, 1.0 for all of it."""
        return self.billed(counted) / self.size

    @property
    def reference(self) -> float:
        """The size that thresholds and targets are shares of, in billed tokens."""
        default = int(MAX_TOKENS_SHARE * self.size)
        return self.size if self.max_tokens >= default else self.max_tokens / MAX_TOKENS_SHARE

    @property
    def surely_ok_tokens(self) -> int:
        """Counted tokens up to which the level is surely `ok`: two below the threshold, against rounding."""
        return floor(min(self.settings.warning_at * self.reference, self.max_tokens) / self.ratio) - 2

    @property
    def warning_at_tokens(self) -> int:
        """The least billed tokens at which the level is no longer `ok`."""
        return min(ceil(self.settings.warning_at * self.reference), self.max_tokens + 1)

    @property
    def aggressive_at_tokens(self) -> int:
        """The least billed tokens at which the level is `aggressive`."""
        return ceil(self.settings.aggressive_at * self.reference)

    def level(self, counted: int) -> Level:
        billed, settings = self.billed(counted), self.settings
        if billed >= settings.aggressive_at * self.reference:
            return "aggressive"
        if billed > self.max_tokens or billed >= settings.warning_at * self.reference:
            return "warning"
        return "ok"

    @property
    def target_messages(self) -> int:
        """The number of messages, system prompts aside, that a window with too many is pruned to.

        It is below the limit: otherwise every further message would prune, and a provider's prompt cache would never hit.
        """
        return max(self.settings.min_recent, floor(self.settings.warning_target * self.settings.max_messages))

    def target(self, level: Level) -> float:
        """The billed tokens that a window at this level is pruned to; infinite at level `ok`."""
        shares = {"warning": self.settings.warning_target, "aggressive": self.settings.aggressive_target}
        return min(shares[level] * self.reference, self.max_tokens) if level in shares else float("inf")
