"""Accounting: tokens by message and role, and how full a model's context is with them.

Tokens are counted ones everywhere; a budget turns them into billed ones where it compares them with a model's size.
"""

from collections.abc import Iterable
from itertools import accumulate
from math import ceil, floor
from typing import Final

from msgspec import Struct, field

from schemas.conversations.messages import Role
from schemas.conversations.window_settings import MAX_TOKENS_SHARE, WindowSettings
from schemas.conversations.windows import Calibration, Gap, Level
from streams.windows.tokens.calibration import UNCALIBRATED
from streams.windows.traits import MessageTraits

# Tokens of a model's context that no context may take, so that there is room for an answer: a share of it, up to this many.
ANSWER_ROOM: Final = 1_024
ANSWER_SHARE: Final = 0.1

ROLES: Final[tuple[Role, ...]] = ("system", "user", "assistant", "tool")
PLACE: Final = {role: place for place, role in enumerate(ROLES)}


class Account(Struct, array_like=True, gc=False):
    """Messages and tokens by role, in the order of ROLES; kept up to date as messages come."""

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


def cumulative(turns: Iterable[MessageTraits]) -> list[int]:
    """The tokens up to and including each message."""
    return list(accumulate(turn.tokens for turn in turns))


def used_tokens(turns: Iterable[MessageTraits], gaps: Iterable[Gap] = ()) -> int:
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
        """`model_tokens` is the context of the conversation's model, from the table; a setting overrides it. Whatever
        `max_tokens` says, room for an answer is left."""
        size = settings.context_tokens or model_tokens
        default = max(1, int(MAX_TOKENS_SHARE * size))
        most = size - min(ANSWER_ROOM, int(ANSWER_SHARE * size))
        return cls(size, min(settings.max_tokens or default, most), settings, calibration.ratio)

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

    @property
    def calm_tokens(self) -> int:
        """Counted tokens up to which the level is surely `ok`: two less than the first that could be another."""
        return floor(min(self.settings.warning_at * self.reference, self.max_tokens) / self.ratio) - 2

    def level(self, counted: int) -> Level:
        billed, settings = self.billed(counted), self.settings
        if billed >= settings.aggressive_at * self.reference:
            return "aggressive"
        if billed > self.max_tokens or billed >= settings.warning_at * self.reference:
            return "warning"
        return "ok"

    @property
    def target_messages(self) -> int:
        """Messages besides the system prompt that a window of too many is pruned down to, at the warning level's target.

        Not to the limit itself: then every further message would prune, and no provider's prompt cache would ever hit.
        """
        return max(self.settings.min_recent, floor(self.settings.warning_target * self.settings.max_messages))

    def target(self, level: Level) -> float:
        """Billed tokens that a window at this level is pruned down to; infinite where nothing asks for it."""
        shares = {"warning": self.settings.warning_target, "aggressive": self.settings.aggressive_target}
        return min(shares[level] * self.reference, self.max_tokens) if level in shares else float("inf")
