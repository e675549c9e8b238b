"""On which terms a window is kept: its policy, and the budget of its conversation's model."""

from typing import NamedTuple

from schemas.policies import Policy
from streams.windows.accounting import Budget


class Terms(NamedTuple):
    """`calm_tokens` and `max_messages` are at hand because every message is held against them."""

    policy: Policy
    budget: Budget
    calm_tokens: int
    max_messages: int

    @classmethod
    def of(cls, policy: Policy, budget: Budget) -> "Terms":
        return cls(policy, budget, budget.calm_tokens, policy.window.max_messages)

    def calm(self, messages: int, tokens: int) -> bool:
        """Whether nothing about a context of so many messages and counted tokens calls for pruning or a warning."""
        return tokens <= self.calm_tokens and messages <= self.max_messages
