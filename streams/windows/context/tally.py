"""Running totals of a context, so that statistics need not go through its messages."""

from collections.abc import Iterable, Sequence

from msgspec import Struct, field

from schemas.conversations.messages import Role
from schemas.conversations.windows import MARKER_TOKENS, Gap
from streams.windows.tokens.accounting import Account
from streams.windows.traits import MessageTraits


class Tally(Struct, array_like=True, gc=False):
    """`account` covers the messages in context. `pruned` messages with `pruned_tokens` left it, at `gaps` places, whose
    summaries take `summary_tokens`. `oldest_at` is the time of the oldest message in context, system prompts aside (Unix
    seconds)."""

    account: Account = field(default_factory=Account)
    gaps: int = 0
    pruned: int = 0
    pruned_tokens: int = 0
    summary_tokens: int = 0
    oldest_at: float | None = None

    @classmethod
    def of(cls, turns: Sequence[MessageTraits], gaps: Iterable[Gap]) -> "Tally":
        """Totals from scratch: `turns` are the messages in context, in order."""
        tally = cls(Account.of(turns))
        tally.oldest_at = next((turn.timestamp for turn in turns if turn.role != "system"), None)
        tally.remove(gaps)
        return tally

    def add(self, role: Role, tokens: int, sent_at: float) -> None:
        """Adds a message to the context."""
        self.account.add(role, tokens)
        if self.oldest_at is None and role != "system":
            self.oldest_at = sent_at

    def remove(self, gaps: Iterable[Gap]) -> None:
        """Updates the totals after a removal; `gaps` are all gaps now."""
        self.gaps = self.pruned = self.pruned_tokens = self.summary_tokens = 0
        for gap in gaps:
            self.gaps += 1
            self.pruned += gap.count
            self.pruned_tokens += gap.tokens
            self.summary_tokens += gap.summary_tokens

    @property
    def used_tokens(self) -> int:
        """Counted tokens of the context, markers included."""
        return sum(self.account.tokens_by_role) + MARKER_TOKENS * self.gaps + self.summary_tokens

    @property
    def message_count(self) -> int:
        """Messages in context besides system prompts."""
        by_role = self.account.by_role
        return sum(by_role) - by_role[0]  # the first role is system
