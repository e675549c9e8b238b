"""Accounting: tokens by message and role, and how full a model's context is with them.

Tokens are counted ones everywhere; a budget turns them into billed ones where it compares them with a model's size.
"""

from collections.abc import Iterable
from itertools import accumulate
from math import ceil
from typing import Final

from msgspec import Struct, field

from schemas.messages import Role
from schemas.window_settings import MAX_TOKENS_SHARE, WindowSettings
from schemas.windows import Calibration, Gap, Level
from streams.windows.calibration import UNCALIBRATED
from streams.windows.turn import Turn

ROLES: Final[tuple[Role, ...]] = ("system", "user", "assistant", "tool")


class Account(Struct):
    """Messages and tokens by role; kept up to date as messages come and leave."""

    messages: dict[Role, int] = field(default_factory=lambda: dict.fromkeys(ROLES, 0))
    tokens: dict[Role, int] = field(default_factory=lambda: dict.fromkeys(ROLES, 0))

    @classmethod
    def of(cls, turns: Iterable[Turn]) -> "Account":
        account = cls()
        for turn in turns:
            account.add(turn.role, turn.tokens)
        return account

    def add(self, role: Role, tokens: int) -> None:
        self.messages[role] += 1
        self.tokens[role] += tokens

    def remove(self, role: Role, tokens: int) -> None:
        self.messages[role] -= 1
        self.tokens[role] -= tokens

    @property
    def total_tokens(self) -> int:
        return sum(self.tokens.values())

    @property
    def total_messages(self) -> int:
        return sum(self.messages.values())


def cumulative(turns: Iterable[Turn]) -> list[int]:
    """The tokens up to and including each message."""
    return list(accumulate(turn.tokens for turn in turns))


def used_tokens(turns: Iterable[Turn], gaps: Iterable[Gap] = ()) -> int:
    """Counted tokens of a context: its messages, and the markers where messages were removed."""
    return sum(turn.tokens for turn in turns) + sum(gap.marker_tokens for gap in gaps)


class Budget(Struct, frozen=True):
    """What a window's tokens are held against: `size` is the model's context, `max_tokens` what a context may hold.

    Both are billed tokens; `ratio` is how many of them a counted one is. Shares are of the model's size, or, where a
    setting allows a context less than 80 % of that, of the size whose 80 % it is: so a lower `max_tokens` lowers the
    points of pruning and their targets with it.
    """

    size: int
    max_tokens: int
    settings: WindowSettings
    ratio: float = 1.0

    @classmethod
    def of(cls, settings: WindowSettings, model_tokens: int, calibration: Calibration = UNCALIBRATED) -> "Budget":
        """`model_tokens` is the context of the conversation's model, from the table; a setting overrides it."""
        size = settings.context_tokens or model_tokens
        default = max(1, int(MAX_TOKENS_SHARE * size))
        return cls(size, min(settings.max_tokens or default, size), settings, calibration.ratio)

    def within(self, max_tokens: int) -> "Budget":
        """The budget of a context that may hold less than the window, as a single request may ask."""
        return Budget(self.size, min(max_tokens, self.max_tokens), self.settings, self.ratio)

    def billed(self, counted: int) -> int:
        return ceil(counted * self.ratio)

    def share(self, counted: int) -> float:
        """Of the model's context, 1.0 being all of it."""
        return self.billed(counted) / self.size

    @property
    def reference(self) -> float:
        """The billed tokens that thresholds and targets are shares of."""
        default = int(MAX_TOKENS_SHARE * self.size)
        return self.size if self.max_tokens >= default else self.max_tokens / MAX_TOKENS_SHARE

    def level(self, counted: int) -> Level:
        billed, settings = self.billed(counted), self.settings
        if billed >= settings.aggressive_at * self.reference:
            return "aggressive"
        if billed > self.max_tokens or billed >= settings.warning_at * self.reference:
            return "warning"
        return "ok"

    def target(self, level: Level) -> float:
        """Billed tokens that a window at this level is pruned down to; infinite where nothing asks for it."""
        shares = {"warning": self.settings.warning_target, "aggressive": self.settings.aggressive_target}
        return min(shares[level] * self.reference, self.max_tokens) if level in shares else float("inf")
